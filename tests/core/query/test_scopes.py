"""What the index keeps of a note's structure is what its text says (specs/search.md)."""

from __future__ import annotations

from hypothesis import given, settings

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.query import scopes
from tests.core.search.naive_search import PlainFile

from .test_evaluate import files


@given(files())
@settings(max_examples=200, deadline=None)
def test_a_packed_structure_is_read_as_it_was(plain: PlainFile) -> None:
    told = scopes.of(parse(plain.text))
    packed = scopes.pack(told, plain.text)
    assert packed
    assert scopes.unpack(packed, plain.text) == told


def test_a_structure_tells_blocks_headings_tasks_and_tags() -> None:
    text = "---\na: 1\n---\n# One #t/\n\ntext #b\n\n- [ ] x\n  - [-] y\n"
    told = scopes.of(parse(text))
    assert [span.of(text) for span in told.blocks][1:] == ["# One #t/", "text #b", "- [ ] x", "- [-] y"]
    assert [(text[start:].split("\n", maxsplit=1)[0], level) for start, level in told.headings] == [("# One #t/", 1)]
    assert [(mark, span.of(text)) for mark, span in told.tasks] == [(" ", "- [ ] x"), ("-", "- [-] y")]
    assert [(name, span.of(text)) for name, span in told.tags] == [("t", "#t"), ("b", "#b")]
