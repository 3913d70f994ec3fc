"""Texts that an edit of a property on its lines may give, best first, for reading back (specs/frontmatter.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from . import yaml_style
from .parser import Block
from .yaml12 import Entry, Value

_DIFFED_ITEMS = 1000
"""Longest list, in items, that is compared item by item; longer lists are rewritten as a whole."""

_LITERAL_HEADER = re.compile(r"(?:[&!][^ \t]*[ \t]+)*[|>][-+0-9]*")
_COLON = re.compile(r"[ \t]*:")
_INDENTED = re.compile(r"(?:[ \t]+#[^\n]*\n|[ \t]*\r?\n)*")


def first(key: str, value: Value, newline: str) -> str:
    """Return a block with one property."""
    written, below = yaml_style.lines(value, "")
    lines = ["---", _opening(yaml_style.key(key) + ":", written, ""), *below, "---"]
    return newline.join(lines) + newline


def with_new(body: str, block: Block, entries: Sequence[Entry], key: str, value: Value, newline: str) -> Iterator[str]:
    """Return the body with a property added after all others, before blank lines at the end of the block."""
    indent = _indent(body, entries[0]) if entries else ""
    text = block.yaml_span.slice(body)
    content = text.rstrip()
    before_blanks = block.yaml_span.start + (text.index("\n", len(content)) + 1 if content else 0)
    places = [before_blanks, block.yaml_span.end, *(entry.span.end for entry in entries[-1:])]
    for place in dict.fromkeys(places):
        for literal in (True, False):
            written, below = yaml_style.lines(value, indent, literal=literal)
            lines = [_opening(f"{indent}{yaml_style.key(key)}:", written, ""), *below]
            yield body[:place] + "".join(line + newline for line in lines) + body[place:]


def with_value(body: str, entry: Entry, value: Value, newline: str) -> Iterator[str]:
    """Return the body with a new value for a property; in a block list, only the items that differ change."""
    is_block_list = entry.items and body[entry.value_span.start] == "-"
    if isinstance(value, list) and value and is_block_list and max(len(value), len(entry.items)) <= _DIFFED_ITEMS:
        yield _with_items(body, entry, value, newline, literal=True)
        yield _with_items(body, entry, value, newline, literal=False)
    indent = _indent(body, entry)
    explicit = body[entry.span.start : entry.key_span.start].strip() != ""  # `? key`
    head = indent + yaml_style.key(entry.key) if explicit else body[entry.span.start : entry.key_span.end]
    end = "\r\n" if body[: entry.span.end].endswith("\r\n") else "\n"
    for literal in (True, False):
        written, below = yaml_style.lines(value, indent, literal=literal)
        lines = [_opening(head + ":", written, _comment(body, entry)), *below]
        yield body[: entry.span.start] + newline.join(lines) + end + body[entry.span.end :]


def without(body: str, block: Block, entry: Entry) -> Iterator[str]:
    """Return the body without a property's lines."""
    yield body[: entry.span.start] + body[entry.span.end :]
    # indented comments and blank lines left behind could become part of a text block (`|`) above them
    comments = _INDENTED.match(body, entry.span.end, block.yaml_span.end)
    if comments:
        yield body[: entry.span.start] + body[comments.end() :]


def without_last(body: str, block: Block, entry: Entry, newline: str) -> Iterator[str]:
    """Return the body without its only property; the block goes too unless it contains comments."""
    before = body[block.yaml_span.start : entry.span.start]
    after = body[entry.span.end : block.yaml_span.end]
    rest = body[block.body_start :]
    if "#" in before + after:
        yield body[: entry.span.start] + body[entry.span.end :]
    yield rest
    # without an empty block in front, the next lines would become the frontmatter
    yield f"---{newline}---{newline}{rest}"


def _with_items(body: str, entry: Entry, value: list[Value], newline: str, *, literal: bool) -> str:
    """Return the body with the changed items of a block list; other items and comments keep their lines."""
    column = entry.value_span.start - _line_start(body, entry.value_span.start)
    ranges = [_item_lines(body, item.start, item.end, column) for item in entry.items]
    before, after = [repr(item) for item in entry.value], [repr(item) for item in value]
    parts = []
    done = entry.span.start
    for operation, first, last, new_first, new_last in SequenceMatcher(None, before, after, False).get_opcodes():
        if operation == "equal":
            continue
        place = ranges[first][0] if first < len(ranges) else ranges[-1][1]
        parts.append(body[done:place])
        lines = yaml_style.list_lines(value[new_first:new_last], " " * column, literal=literal)
        parts.extend(line + newline for line in lines)
        done = place
        for start, end in ranges[first:last]:
            parts.append(body[done:start])
            done = end
    return body[: entry.span.start] + "".join(parts) + body[done:]


def _item_lines(body: str, start: int, end: int, column: int) -> tuple[int, int]:
    """Return the span of the whole lines of a list item whose dash is in a given column."""
    line = _line_start(body, start)
    while body[line + column : line + column + 1] != "-" or body[line : line + column].strip(" "):
        line = _line_start(body, line - 1)
    return line, body.index("\n", max(end - 1, start)) + 1


def _line_start(body: str, offset: int) -> int:
    return body.rfind("\n", 0, offset) + 1


def _indent(body: str, entry: Entry) -> str:
    line = body[entry.span.start : entry.key_span.start]
    return line[: len(line) - len(line.lstrip(" "))]


def _opening(head: str, written: str, comment: str) -> str:
    return f"{head} {written}{comment}" if written else head + comment


def _comment(body: str, entry: Entry) -> str:
    """Return the comment on a property's first line or after its value, with the space before it; "" without one."""
    start, end = entry.value_span.start, entry.value_span.end
    line_end = body.index("\n", entry.key_span.end)
    if end <= line_end:
        comment = body[end:line_end]
    elif start > line_end:
        colon = _COLON.match(body, entry.key_span.end)
        comment = body[colon.end() : line_end] if colon else ""
    elif header := _LITERAL_HEADER.match(body, start):
        comment = body[header.end() : line_end]
    else:
        comment = body[end : body.index("\n", end)]
    comment = comment.rstrip()
    return comment if comment.lstrip().startswith("#") else ""
