"""What an answer shows of the files that a search finds (specs/search.md)."""

from __future__ import annotations

from collections.abc import Mapping

from obsidian_mcp.core.search.groups import GROUP_CHARACTERS, parse_facet
from obsidian_mcp.core.search.hits import Grouped, Hits, Request, Snippet
from obsidian_mcp.core.search.sort import VALUE_CHARACTERS, order

from .test_search import indexed, search_of


def found(notes: Mapping[str, str | bytes], request: Request) -> Hits:
    with indexed(notes) as vault:
        return search_of(vault).find(request)


def grouped(notes: Mapping[str, str | bytes], request: Request, by: str) -> Grouped:
    with indexed(notes) as vault:
        answer = search_of(vault).find(request, None, parse_facet(by))
    assert isinstance(answer, Grouped)
    return answer


def snippets(text: str, request: Request) -> list[Snippet] | None:
    hits = found({"Note.md": text, "Other.md": "fox"}, request).hits
    return next(hit.snippets for hit in hits if hit.path == "Note.md")


def test_the_lines_with_most_of_the_words_are_shown_in_the_order_of_the_note() -> None:
    """SEARCH-70"""
    text = "a fox\nan owl\nfox and owl\nan owl\na fox meets an owl\n"
    shown = snippets(text, Request("fox owl"))
    assert shown is not None
    assert [snippet.text for snippet in shown] == ["fox and owl", "a fox meets an owl"]


def test_two_lines_that_have_all_the_words_together_are_shown() -> None:
    """SEARCH-70"""
    text = "a fox, an owl\na fox, an owl again\na heron\na fox\n"
    shown = snippets(text, Request("fox owl heron"))
    assert shown is not None
    assert [snippet.text for snippet in shown] == ["a fox, an owl", "a heron"]


def test_of_a_long_line_the_part_with_most_of_the_words_is_shown() -> None:
    """SEARCH-71"""
    text = f"a fox {'and then ' * 60} a fox meets an owl {'and then ' * 60}"
    shown = snippets(text, Request("fox owl"))
    assert shown is not None
    assert "a fox meets an owl" in shown[0].text


def test_a_heading_is_shown_under_the_heading_of_its_section() -> None:
    """SEARCH-72"""
    text = "# Birds\n## Herons\n### Grey\ntext\n## Owls\n# Owls elsewhere\n"
    shown = snippets(text, Request("owls"))
    assert shown is not None
    assert [(snippet.text, snippet.heading) for snippet in shown] == [("## Owls", "Birds"), ("# Owls elsewhere", None)]


def test_a_snippet_has_its_line_in_the_file_and_the_heading_above() -> None:
    """SEARCH-72"""
    text = "---\na: 1\n---\n# One\n\n## Two owls\nan owl\n"
    shown = snippets(text, Request("owl", "exact"))
    assert shown is not None
    assert [(snippet.line, snippet.heading) for snippet in shown] == [(6, "One"), (7, "Two owls")]


def test_a_file_that_matches_by_its_path_only_has_no_snippets() -> None:
    """SEARCH-73"""
    assert snippets("nothing of it", Request("path:note")) is None


def test_without_snippets_only_paths_are_shown() -> None:
    """SEARCH-77"""
    assert snippets("an owl", Request("owl", snippets=0)) is None


def test_of_a_file_that_needs_too_much_room_snippets_are_left_out_then_a_part_of_the_path() -> None:
    """SEARCH-75"""
    name = "n" * 200
    notes = {f"{'d' * 200}/{name}.md": f"owl {'w' * 150}\n" * 3}
    (hit,) = found(notes, Request("owl", snippets=3, characters=760)).hits
    assert hit.snippets is None or len(hit.snippets) < 3
    (hit,) = found(notes, Request("owl", snippets=3, characters=500)).hits
    assert hit.snippets is None
    assert hit.path.endswith("…")


def test_names_of_groups_and_values_are_cut() -> None:
    """SEARCH-76"""
    note = f"---\nstatus: {'long ' * 100}\n---\nowl\n"
    (group,) = grouped({"A.md": note}, Request("owl"), "status").groups
    assert len(group.group) <= GROUP_CHARACTERS + 1
    assert group.group.endswith("…")
    (hit,) = found({"A.md": note}, Request("owl", order=order("status"))).hits
    assert hit.value is not None
    assert len(hit.value) <= VALUE_CHARACTERS + 1


def test_a_property_without_a_value_counts_as_absent() -> None:
    """SEARCH-65"""
    notes = {"A.md": "---\nrating:\n---\nowl", "B.md": "---\nrating: 3\n---\nowl", "C.md": "owl"}
    assert [hit.path for hit in found(notes, Request("owl", order=order("rating"))).hits] == ["B.md", "A.md", "C.md"]
    assert [group.group for group in grouped(notes, Request("owl"), "rating").groups] == ["3", "(none)"]


def test_files_are_sorted_and_grouped_by_their_modification_time() -> None:
    """SEARCH-13"""
    with indexed({"A.md": "owl", "B.md": "owl"}) as vault:
        search = search_of(vault)
        assert [hit.path for hit in search.find(Request("owl", order=order("modified"))).hits] == ["B.md", "A.md"]
        vault.write("A.md", "owl")
        vault.look()
        assert [hit.path for hit in search.find(Request("owl", order=order("modified"))).hits] == ["A.md", "B.md"]
        found = search.find(Request("owl"), None, parse_facet("modified"))
        assert isinstance(found, Grouped)
        (group,) = found.groups
        assert (group.group, group.count) == ("1970-01", 2)
