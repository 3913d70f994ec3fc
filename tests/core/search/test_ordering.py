"""In which order results come, and that the order is one and the same for every page (specs/search.md)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from obsidian_mcp.core.search import first_pass, rank
from obsidian_mcp.core.search.hits import MatchMode, Request
from obsidian_mcp.core.search.search import Search
from tests.core.memory import MemoryVault
from tests.examples import examples

from .test_search import indexed, search_of

WORDS = ["zebra", "quagga", "okapi", "zebras", "日本", "Zebra"]


def notes() -> dict[str, str | bytes]:
    """Sixty notes with the words in names, headings, tags and texts, none twice the same."""
    found: dict[str, str | bytes] = {}
    for n in range(60):
        word, other = WORDS[n % 6], WORDS[n // 6 % 6]
        name = f"{word} {n}" if n % 5 == 0 else f"Note {n}"
        lines = [f"# {other} heading" if n % 7 == 0 else "", f"{word} {'filler ' * (n % 9)}{other}", "zebra" * (n % 2)]
        found[f"{'Deep/' * (n % 3)}{name}.md"] = "\n".join([*lines, "#okapi" * (n % 11 == 0), ""])
    found["zebra.png"] = b""
    return found


@pytest.fixture(scope="module")
def vault() -> Iterator[MemoryVault]:
    with indexed(notes()) as filled:
        yield filled


@pytest.fixture(params=[(1_000, 3_000, 30), (5, 20, 4), (0, 0, 3)], ids=["few", "many", "very many"])
def search(request: pytest.FixtureRequest, vault: MemoryVault, monkeypatch: pytest.MonkeyPatch) -> Search:
    """With all results weighed, with some, and with none but by their names."""
    few, many, closely = request.param
    monkeypatch.setattr(rank, "MOST_WEIGHED_ONE_TERM", few)
    for module in (rank, first_pass):
        monkeypatch.setattr(module, "MOST_WEIGHED", many)
    monkeypatch.setattr(rank, "CLOSE_FILES", closely)
    return search_of(vault)


QUERIES = st.sampled_from(
    ["zebra", "zebra quagga", "okapi OR 日本", '"zebra"', "/z.b/", "-quagga", "tag:okapi", "file:zebra",
     "zebra zebras filler", "zebar", "quagga okapi zebra 日本", "line:(zebra okapi)", "# OR zebra", "? zebra"]
)  # fmt: skip


@given(QUERIES, st.sampled_from(["smart", "exact"]), st.integers(1, 25))
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_put_together_are_the_whole(search: Search, query: str, match: MatchMode, size: int) -> None:
    """SEARCH-16"""
    whole = search.find(Request(query, match, limit=500, snippets=0))
    assert len({hit.path for hit in whole.hits}) == len(whole.hits) == whole.total

    paged, offset = [], 0
    while offset is not None:
        page = search.find(Request(query, match, limit=size, offset=offset, snippets=0))
        paged += page.hits
        offset = page.next_offset  # type: ignore[assignment]  # None ends the loop
    assert [hit.path for hit in paged] == [hit.path for hit in whole.hits]


def first(vault: MemoryVault, query: str, match: MatchMode = "smart") -> list[str]:
    return [hit.path for hit in search_of(vault).find(Request(query, match, snippets=0)).hits]


def test_a_note_whose_name_is_asked_for_comes_before_those_that_speak_of_it() -> None:
    """SEARCH-61"""
    texts = {f"Log {n}.md": "The tower clock, the tower clock, and again the tower clock.\n" for n in range(5)}
    with indexed({**texts, "Tower clock.md": "It stands in the square.\n"}) as vault:
        assert first(vault, "tower clock")[0] == "Tower clock.md"
        assert first(vault, "tower clock", "exact")[0] == "Tower clock.md"


def test_the_word_itself_is_weighed_however_many_words_contain_it() -> None:
    """SEARCH-60"""
    others = {f"{n:02}.md": "indecision indecisions decisional decisionless decisions" for n in range(30)}
    with indexed(others) as vault:
        vault.write("Best.md", "# decision\n\ndecision decision")
        for name, text in others.items():  # all of them are newer
            vault.write(name, f"{text} again")
        vault.look()
        assert search_of(vault).find(Request("decision", "exact")).hits[0].path == "Best.md"


def test_headings_aliases_and_tags_count_more_than_the_text() -> None:
    """SEARCH-61"""
    filler = "Some more words that say nothing of it.\n" * 5
    contents: dict[str, str | bytes] = {
        "Text.md": f"{filler}Here an okapi is named in passing.\n",
        "Heading.md": f"# Okapi\n{filler}",
        "Alias.md": f"---\naliases: [Okapi]\n---\n{filler}",
        "Tag.md": f"{filler}#okapi\n",
    }
    with indexed(contents) as vault:
        listed = first(vault, "okapi")
        assert listed[-1] == "Text.md"
        assert listed[0] == "Alias.md"


def test_of_equal_notes_the_one_changed_last_comes_first() -> None:
    """SEARCH-63"""
    with indexed({f"{name}.md": "an okapi\n" for name in "cab"}) as vault:
        assert first(vault, "okapi") == ["b.md", "a.md", "c.md"]
        assert first(vault, '""') == ["b.md", "a.md", "c.md"]
        assert first(vault, "-quagga", "exact") == ["b.md", "a.md", "c.md"]


def test_words_that_stand_together_count_more_than_words_apart() -> None:
    """SEARCH-62"""
    apart = "The brass was bought. " + "Nothing of it here. " * 20 + "The wheel turned.\n"
    with indexed({"Together.md": "The brass wheel. " + "Nothing of it here. " * 20, "Apart.md": apart}) as vault:
        assert first(vault, "brass wheel") == ["Together.md", "Apart.md"]


def test_files_without_contents_come_last() -> None:
    with indexed({"zebra.png": b"", "Other zebra.md": "text\n", "A zebra.jpg": b""}) as vault:
        assert first(vault, "file:zebra") == ["Other zebra.md", "A zebra.jpg", "zebra.png"]
