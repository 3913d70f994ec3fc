"""Links both ways, what hangs together, tags, properties and aliases over a vault (specs/index.md, semantics 14)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from obsidian_mcp.core.graph.graph import Graph
from obsidian_mcp.core.graph.results import LinkMaps, Neighbour, PropertyUse, PropertyValue, TagUse, Unresolved
from obsidian_mcp.core.index.rows import FileNumbers
from obsidian_mcp.core.text.vault_path import VaultPath
from tests.core.memory import MemoryVault


def vault(files: dict[str, str | bytes], *excluded: str) -> Iterator[MemoryVault]:
    with MemoryVault(files) as made:
        made.graph = Graph(made.indexer, FileNumbers(made.catalog), lambda: lambda path: path.startswith(excluded))
        made.indexer.pending.begin()
        yield made


@pytest.fixture
def linked() -> Iterator[MemoryVault]:
    yield from vault(
        {
            "Home.md": "# Home\n[[Alpha]] and [[Beta|the second]]\n![[pic.png]]\n[[Nowhere#x]] [[Nowhere]]",
            "Alpha.md": "Go [home](Home.md#Home).\n\nMore about [[Alpha#Top]], [[#Top]].",
            "Projects/Beta.md": '---\nup: "[[Home]]"\nrelated: ["[[Alpha]]", "not [[Home]]"]\n---\n',
            "Projects/Gamma.md": "`[[Home]]` only in code",
            "Hidden/Template.md": "[[Alpha]] [[{{title}}]] #hidden",
            "pic.png": b"\x89PNG",
            "spare.png": b"\x89PNG",
        },
        "Hidden/",
    )


def path(name: str) -> VaultPath:
    return VaultPath(name)


def test_outgoing_links_come_in_order_with_their_targets(linked: MemoryVault) -> None:
    """INDEX-30"""
    found = linked.graph.outgoing_links(path("Home.md")).value
    assert [(found_link.link.kind, found_link.link.path, found_link.target) for found_link in found] == [
        ("link", "Alpha", "Alpha.md"),
        ("link", "Beta", "Projects/Beta.md"),
        ("embed", "pic.png", "pic.png"),
        ("link", "Nowhere", None),
        ("link", "Nowhere", None),
    ]
    assert [found_link.link.line for found_link in found] == [1, 1, 2, 3, 3]
    assert found[3].link.subpath == "#x"
    assert found[1].link.display == "the second"


def test_backlinks_come_from_every_kind_of_link(linked: MemoryVault) -> None:
    """INDEX-31"""
    found = linked.graph.backlinks(path("Alpha.md")).value
    assert [(found_link.source, found_link.link.kind, found_link.link.original) for found_link in found] == [
        ("Alpha.md", "link", "[[Alpha#Top]]"),
        ("Alpha.md", "link", "[[#Top]]"),
        ("Hidden/Template.md", "link", "[[Alpha]]"),
        ("Home.md", "link", "[[Alpha]]"),
        ("Projects/Beta.md", "property", "[[Alpha]]"),
    ]
    assert found[-1].link.at == "related.0"
    assert found[-1].link.line is None


def test_the_context_of_a_link_is_its_line(linked: MemoryVault) -> None:
    """INDEX-39"""
    found = linked.graph.backlinks(path("Home.md")).value
    assert list(linked.graph.contexts(found)) == ["Go [home](Home.md#Home).", "up: [[Home]]"]


def test_the_context_in_a_long_line_is_what_stands_around_the_link(linked: MemoryVault) -> None:
    linked.write("Long.md", "x" * 5000 + " [[Gamma]] " + "y" * 5000 + "\n" + "[[Gamma]]" + "z" * 300)
    linked.look()
    first, second = linked.graph.contexts(linked.graph.backlinks(path("Projects/Gamma.md")).value)
    assert first.startswith("…xxx")
    assert " [[Gamma]] " in first
    assert first.endswith("yyy…")
    assert len(first) <= 202
    assert second.startswith("[[Gamma]]zzz")


def test_a_context_survives_that_its_file_changed_or_went(linked: MemoryVault) -> None:
    found = linked.graph.backlinks(path("Alpha.md")).value[2:4]
    linked.write("Home.md", "new first line\nsee [[Alpha]]")
    linked.delete("Hidden/Template.md")
    assert list(linked.graph.contexts(found)) == ["[[Alpha]]", "see [[Alpha]]"]


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("[[Note]]", "b/Note.md"),
        ("[[NOTE.md]]", "b/Note.md"),
        ("[[a/Note]]", "a/Note.md"),
        ("[[note.md.md]]", "note.md.md"),
        ("[[v1.2]]", "v1.2.md"),
        ("![[Figure 1.PNG]]", "img/Figure 1.png"),
        ("[t](<img/Figure 1.png>)", "img/Figure 1.png"),
        ("[[e\u0301te\u0301]]", "\u00e9t\u00e9.md"),
        ("[[ΟΔΟΣ]]", "οδος.md"),
    ],
)
def test_a_link_is_among_the_backlinks_of_the_file_it_leads_to(link: str, found: str) -> None:
    files: dict[str, str | bytes] = dict.fromkeys(
        ["a/Note.md", "b/Note.md", "note.md.md", "v1.2.md", "img/Figure 1.png", "\u00e9t\u00e9.md", "οδος.md"], ""
    )
    for made in vault(files | {"b/s.md": link}):
        assert [found_link.source for found_link in made.graph.backlinks(path(found)).value] == ["b/s.md"]
        assert [found_link.target for found_link in made.graph.outgoing_links(path("b/s.md")).value] == [found]
        assert made.graph.link_maps().value.resolved[path("b/s.md")] == {found: 1}


def test_a_name_with_md_in_it_prefers_the_file_that_has_exactly_this_name() -> None:
    for made in vault({"Note.md.md": "", "s.md": "[[Note.md]]"}):
        assert made.graph.link_maps().value.resolved[path("s.md")] == {"Note.md.md": 1}
        assert [found_link.source for found_link in made.graph.backlinks(path("Note.md.md")).value] == ["s.md"]
        made.write("Note.md", "")
        made.look()
        assert made.graph.link_maps().value.resolved[path("s.md")] == {"Note.md": 1}
        assert made.graph.backlinks(path("Note.md.md")).value == ()


def test_link_maps_have_the_shape_of_the_app(linked: MemoryVault) -> None:
    """INDEX-32"""
    assert linked.graph.link_maps().value == LinkMaps(
        {
            path("Alpha.md"): {path("Home.md"): 1, path("Alpha.md"): 2},
            path("Hidden/Template.md"): {path("Alpha.md"): 1},
            path("Home.md"): {path("Alpha.md"): 1, path("Projects/Beta.md"): 1, path("pic.png"): 1},
            path("Projects/Beta.md"): {path("Home.md"): 1, path("Alpha.md"): 1},
            path("Projects/Gamma.md"): {},
        },
        {
            path("Alpha.md"): {},
            path("Hidden/Template.md"): {"{{title}}": 1},
            path("Home.md"): {"Nowhere": 2},
            path("Projects/Beta.md"): {},
            path("Projects/Gamma.md"): {},
        },
    )


def test_unresolved_names_are_counted_without_md_and_subpath() -> None:
    for made in vault({"a.md": "[[broken - x.md#h]] [[broken - x.md#h]] [[Al]]", "b.md": "---\naliases: [Al]\n---\n"}):
        assert made.graph.unresolved_links().value == (
            Unresolved("Al", {path("a.md"): 1}),
            Unresolved("broken - x", {path("a.md"): 2}),
        )


def test_links_of_hidden_files_count_for_backlinks_and_not_as_unresolved(linked: MemoryVault) -> None:
    """INDEX-33"""
    assert [link.name for link in linked.graph.unresolved_links().value] == ["Nowhere"]
    assert linked.graph.orphans().value == ("Projects/Gamma.md",)
    assert [use.tag for use in linked.graph.tags().value] == []


def test_an_orphan_has_no_link_from_another_file() -> None:
    """INDEX-34: the table of semantics 14"""
    files: dict[str, str | bytes] = {
        "a.md": "[[b]]",
        "b.md": "[[b]]",
        "self.md": "[[#x]] [[self]]",
        "property.md": "",
        "p.md": '---\nup: "[[property]]"\n---\n[[p2]]',
        "p2.md": "`[[code]]` [[p]]",
        "code.md": "[[a b]]",
        "base.md": "",
        "b.base": "formulas:\n  x: link('base')\n",
    }
    for made in vault(files):
        assert made.graph.orphans().value == ("a.md", "base.md", "code.md", "self.md")
        assert made.graph.orphans(attachments=True).value == ("a.md", "b.base", "base.md", "code.md", "self.md")
        assert made.graph.dead_ends().value == ("b.md", "base.md", "property.md", "self.md")


def test_neighbours_spread_over_links_in_both_directions(linked: MemoryVault) -> None:
    """INDEX-35"""
    assert linked.graph.neighbours(path("Projects/Beta.md")).value == (
        Neighbour(path("Alpha.md"), 1, path("Projects/Beta.md")),
        Neighbour(path("Home.md"), 1, path("Projects/Beta.md")),
    )
    assert linked.graph.neighbours(path("Projects/Beta.md"), 2).value[2:] == (
        Neighbour(path("pic.png"), 2, path("Home.md")),
    )
    assert linked.graph.neighbours(path("Projects/Gamma.md"), 9).value == ()


def test_the_shortest_way_between_two_notes_is_found() -> None:
    chain: dict[str, str | bytes] = {f"{n}.md": f"[[{n + 1}]]" for n in range(6)}
    for made in vault(chain | {"6.md": "[[h]]", "h.md": "[[0]]", "alone.md": ""}, "h"):
        assert made.graph.shortest_path(path("1.md"), path("4.md")).value == ("1.md", "2.md", "3.md", "4.md")
        assert made.graph.shortest_path(path("4.md"), path("1.md")).value == ("4.md", "3.md", "2.md", "1.md")
        assert len(made.graph.shortest_path(path("0.md"), path("6.md")).value) == 7  # not over the hidden h
        assert made.graph.shortest_path(path("0.md"), path("h.md")).value == ("0.md", "h.md")
        assert made.graph.shortest_path(path("0.md"), path("0.md")).value == ("0.md",)
        assert made.graph.shortest_path(path("0.md"), path("alone.md")).value == ()


def test_a_tag_counts_for_the_tags_above_it() -> None:
    """INDEX-36"""
    for made in vault(
        {"a.md": "#Work/Big #work/big #home", "b.md": "---\ntags: [work, work/big/x]\n---\n", "c.md": "#ab"}
    ):
        assert made.graph.tags().value == (
            TagUse("ab", 1, 1),
            TagUse("home", 1, 1),
            TagUse("work", 4, 2),
            TagUse("work/big", 3, 2),
            TagUse("work/big/x", 1, 1),
        )


@pytest.mark.parametrize("tag", ["#A", "a", "A/"])
def test_notes_of_a_tag_are_those_of_its_descendants_too(tag: str) -> None:
    for made in vault({"1.md": "#a/b", "2.md": "#ab #a-b #b", "3.md": "x\n\n#a #A/c", "4.md": "---\ntags: a\n---\n"}):
        found = made.graph.files_with_tag(tag).value
        assert [(note.path, [(fact.tag, fact.line) for fact in note.tags]) for note in found] == [
            ("1.md", [("a/b", 0)]),
            ("3.md", [("a", 2), ("A/c", 2)]),
            ("4.md", [("a", None)]),
        ]


def test_properties_are_listed_with_their_types_and_files() -> None:
    """INDEX-37"""
    files: dict[str, str | bytes] = {
        "a.md": "---\nStatus: done\nn: 1\nwhen: 2026-01-02\n---\n",
        "b.md": "---\nstatus: [x, y]\nn: two\n---\n",
        "c.md": "---\nstatus:\n---\n",
        "broken.md": "---\nstatus: [\n---\n",
        "t/hidden.md": "---\nstatus: x\n---\n",
    }
    for made in vault(files, "t/"):
        assert made.graph.properties().value == (
            PropertyUse("n", 2, {"number": 1, "text": 1}),
            PropertyUse("status", 3, {"text": 2, "multitext": 1}),
            PropertyUse("when", 1, {"date": 1}),
        )
        assert made.graph.with_property("STATUS").value == (
            PropertyValue(path("a.md"), "done"),
            PropertyValue(path("b.md"), ["x", "y"]),
            PropertyValue(path("c.md"), None),
        )
        assert list(made.graph.warnings().value) == ["broken.md"]


def test_an_alias_finds_its_notes_in_any_case_and_normal_form() -> None:
    """INDEX-38"""
    files: dict[str, str | bytes] = {
        "a.md": "---\naliases: [Caf\u00e9, Other]\n---\n",
        "b.md": "---\nAliases: CAFE\u0301\n---\n",
        "caf\u00e9.md": "",
    }
    for made in vault(files):
        assert made.graph.notes_with_alias("cafe\u0301 ").value == ("a.md", "b.md")
        assert made.graph.notes_with_alias("nobody").value == ()
