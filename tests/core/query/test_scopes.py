"""The structure that the index stores is the structure of the text (SEARCH-27, QUERY-41 to QUERY-43)."""

from __future__ import annotations

from hypothesis import given, settings

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.query.scopes import Scope, structure_of, unpack
from tests.core.search.naive_search import PlainFile

from .test_evaluate import files

SCOPES: tuple[Scope, ...] = ("block", "section", "section-tree", "task", "task-todo", "task-done")


@given(files())
@settings(max_examples=200, deadline=None)
def test_a_packed_structure_has_the_parts_and_tags_of_the_note(plain: PlainFile) -> None:
    structure = structure_of(parse(plain.text))
    packed = structure.pack()
    assert packed
    unpacked = unpack(packed, plain.text)
    assert list(unpacked.tags) == list(structure.tags)
    for scope in SCOPES:
        found, expected = unpacked.parts(scope), structure.parts(scope)
        assert [list(column) for column in found] == [list(column) for column in expected]


def test_a_structure_has_blocks_sections_tasks_and_tags() -> None:
    text = "---\na: 1\n---\n# One #t/\n\ntext #b\n\n## Two\n- [ ] x\n  - [-] y\n# Three"
    structure = structure_of(parse(text))

    def shown(scope: Scope) -> list[str]:
        starts, ends, _ = structure.parts(scope)
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]

    assert shown("block")[1:] == ["# One #t/", "text #b", "## Two", "- [ ] x", "- [-] y", "# Three"]
    assert [part.split("\n")[0] for part in shown("section")] == ["---", "# One #t/", "## Two", "# Three"]
    assert shown("section-tree")[1].endswith("[-] y")
    assert (shown("task"), shown("task-todo"), shown("task-done")) == (["- [ ] x", "- [-] y"], ["- [ ] x"], ["- [-] y"])
    assert [(name, span.of(text)) for name, span in structure.tags] == [("t", "#t"), ("b", "#b")]
