"""Text and templates put into notes change nothing else (PERIODIC-17, PERIODIC-18)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.frontmatter.edits import merge_properties
from obsidian_mcp.core.frontmatter.yaml_values import YamlValue
from obsidian_mcp.core.note.edits import Position, insert_text
from obsidian_mcp.core.operations.templates import insert_template
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import PropertiesUnreadable, TemplateFailed

LINE = st.text(alphabet="ab #-[]é漢:`>", max_size=8)
BODY = st.builds(
    lambda lines, newline, ended: newline.join(lines) + (newline if ended else ""),
    st.lists(LINE, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
FRONT = st.sampled_from(["", "---\na: 1 # own\ntags: [x]\n---\n", "---\n---\n"])


@given(FRONT, BODY, st.sampled_from(["append", "prepend"]))
def test_inserted_text_leaves_every_line_as_it_was(front: str, body: str, position: Position) -> None:
    """PERIODIC-18, EDIT-10: taken out again, the note is the one before; at most its last line end or a blank line
    beside the text is new."""
    note = front + body
    lines = insert_text(note, "\u2603new", position).splitlines(keepends=True)
    (place,) = (number for number, line in enumerate(lines) if "\u2603new" in line)
    above, below = "".join(lines[:place]), "".join(lines[place + 1 :])
    left = {(above + text).rstrip("\r\n") for text in (below, re.sub(r"\A\r?\n", "", below))}
    assert note.rstrip("\r\n") in left


@given(FRONT, BODY)
def test_properties_of_a_template_leave_the_text_as_it_was(front: str, body: str) -> None:
    """PERIODIC-17"""
    note = front + body
    own = parser.read_frontmatter(note)
    if own is not None and own.error:
        with pytest.raises(PropertiesUnreadable):
            insert_template(note, "---\nnew: 1\na: 2\n---\n")
        return
    before = note[text_start(note) :]
    after = insert_template(note, "---\nnew: 1\na: 2\n---\n")
    read = parser.read_frontmatter(after)
    assert after[text_start(after) :] == before
    assert read is not None
    assert read.values is not None
    assert read.values["new"] == 1
    if front.startswith("---\na"):
        assert "a: 1 # own" in after


@pytest.mark.parametrize(
    ("own", "other", "merged"),
    [
        ("tags: [b]", {"tags": ["a"]}, {"tags": ["b", "a"]}),
        ("tags: b", {"tags": ["#B", "c"]}, {"tags": ["b", "c"]}),
        ("aliases: One", {"aliases": "Two"}, {"aliases": ["One", "Two"]}),
        ("list: [1, 2]", {"list": [2, 3]}, {"list": [1, 2, 3]}),
        ("list: [1]", {"list": 3}, {"list": [1]}),
        ("kind: own", {"Kind": "other"}, {"kind": "own"}),
        ("kind:", {"kind": "other"}, {"kind": "other"}),
        ("kind: ''", {"kind": "other", "new": None}, {"kind": "other", "new": None}),
        ("a: 1", {"b": {"c": [1]}}, {"a": 1, "b": {"c": [1]}}),
    ],
)
def test_properties_are_merged(own: str, other: dict[str, YamlValue], merged: dict[str, YamlValue]) -> None:
    """PERIODIC-17"""
    read = parser.read_frontmatter(merge_properties(f"---\n{own}\n---\ntext\n", other))
    assert read is not None
    assert read.values == merged


def test_broken_properties_on_either_side_change_nothing() -> None:
    """PERIODIC-18"""
    with pytest.raises(TemplateFailed):
        insert_template("text", "---\na: [\n---\n")
    with pytest.raises(PropertiesUnreadable):
        insert_template("---\na: [\n---\ntext", "---\nb: 1\n---\n")


@pytest.mark.parametrize(
    ("block", "content", "parts"),
    [
        ("- a\n  b\n", "- x\n", False),
        ("- a\n  b\n", "x\n", True),
        ("a\nb\n", "x\n", False),
        ("> a\n> b\n", "x\n", True),
        ("| 1 |\n", "x\n", True),
        ("| 1 |\n", "| x |\n", False),
    ],
)
def test_of_a_very_long_block_the_first_and_last_lines_tell_what_parts_it_from_text(
    block: str, content: str, parts: bool
) -> None:
    """EDIT-10, SAFE-17: all of its lines take seconds and half a gigabyte to read"""
    body = ("| a |\n|---|\n" if block[0] == "|" else "") + block * 300_000

    with call_with(limit=Deadline(4)):
        assert insert_text(body, content) == body + "\n" * parts + content


def test_a_very_long_block_that_may_hold_code_is_read_whole() -> None:
    """EDIT-10"""
    for fence, parts in (("```\n", False), ("```\n```\n", True)):
        body = "- a\n" * 20_000 + fence + "- a\n" * 20_000
        assert insert_text(body, "x\n") == body + "\n" * parts + "x\n"
