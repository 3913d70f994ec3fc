"""The structure that the index stores is the structure of the text (SEARCH-27, QUERY-41 to QUERY-43)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.query.document import Document, PartScope, lines_within, parts_within, structure_of
from obsidian_mcp.core.query.evaluate import Matcher
from obsidian_mcp.core.query.finders import LiteralFinder
from obsidian_mcp.core.query.parser import parse as parse_query
from obsidian_mcp.core.text.analysis import fold, substring
from tests.core.search.naive_search import PlainFile
from tests.examples import examples

from .test_evaluate import WORDS, files

ANYWHERE = LiteralFinder(substring("", match_case=False)).find_first
SCOPES: tuple[PartScope, ...] = ("block", "section", "section-tree", "task", "task-todo", "task-done")


def test_items_of_a_list_in_a_quote_belong_to_the_quote() -> None:
    """QUERY-41"""
    text = "> - quoted one\n> - quoted two\n\n- listed one\n- listed two\n"
    starts, ends, *_ = structure_of(parse(text)).parts("block")
    blocks = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    assert blocks == ["> - quoted one\n> - quoted two", "- listed one", "- listed two"]


@given(files(), st.sampled_from(WORDS))
@examples(200)
def test_only_the_parts_with_a_word_are_looked_at(plain: PlainFile, word: str) -> None:
    """QUERY-40 to QUERY-43"""
    text, must = plain.text, LiteralFinder(substring(word, match_case=False)).find_first
    place = must(text, 0, len(text))

    def with_word(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        return [part for part in parts if fold(word) in fold(text[slice(*part)])]

    structure = structure_of(parse(text))
    assert list(lines_within(text, (0, len(text)), must, place)) == with_word(
        lines_within(text, (0, len(text)), ANYWHERE, 0)
    )
    for scope in SCOPES:
        parts = structure.parts(scope)
        expected = with_word(parts_within(parts, text, (0, len(text)), ANYWHERE, 0))
        assert (list(parts_within(parts, text, (0, len(text)), must, place)) if place >= 0 else []) == expected


def test_a_structure_has_blocks_sections_tasks_and_tags() -> None:
    text = "---\na: 1\n---\n# One #t/\n\ntext #b\n\n## Two\n- [ ] x\n  - [-] y\n# Three"
    structure = structure_of(parse(text))

    def shown(scope: PartScope) -> list[str]:
        return [text[slice(*part)] for part in parts_within(structure.parts(scope), text, (0, len(text)), ANYWHERE, 0)]

    assert shown("block")[1:] == ["# One #t/", "text #b", "## Two", "- [ ] x", "- [-] y", "# Three"]
    assert [part.split("\n")[0] for part in shown("section")] == ["---", "# One #t/", "## Two", "# Three"]
    assert shown("section-tree")[1].endswith("[-] y")
    assert (shown("task"), shown("task-todo"), shown("task-done")) == (["- [ ] x", "- [-] y"], ["- [ ] x"], ["- [-] y"])
    assert [(name, span.slice(text)) for name, span in Document("N.md", text).text_tags] == [("t", "#t"), ("b", "#b")]


@pytest.mark.parametrize("operator", ["line", "section"])
def test_an_empty_note_is_one_empty_line_and_one_empty_section(operator: str) -> None:
    """QUERY-40, QUERY-42: `section:-foo` and `line:-foo` disagreed on empty notes"""
    empty = Document("Empty.md", "")
    assert Matcher(parse_query(f"{operator}:-foo")).matches(empty)
    assert not Matcher(parse_query(f"{operator}:foo")).matches(empty)
