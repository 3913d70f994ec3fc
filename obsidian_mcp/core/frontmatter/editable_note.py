"""A note whose properties can be edited (FM-60 to FM-72).

Every edit yields texts, the best one first: `settle` takes the first that reads back as expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from obsidian_mcp.core.text.line_matcher import LineMatcher
from obsidian_mcp.core.text.text import Span, Text
from obsidian_mcp.errors import PropertiesUnreadable

from . import parser, yaml_style
from .block import Block, locate_block
from .yaml12 import Outline, PropertyEntry
from .yaml_problems import InvalidYaml, NoValue
from .yaml_values import YamlValue

_DIFFED_ITEMS = 1000
"""Longest list, in items, that is compared item by item; longer lists are rewritten as a whole."""
_LITERAL_HEADER = re.compile(r"(?:[&!][^ \t]*[ \t]+)*[|>][-+0-9]*")
_COLON = re.compile(r"[ \t]*:")
_INDENTED = re.compile(r"(?:[ \t]+#[^\n]*\n|[ \t]*\r?\n)*")
_SEPARATOR = re.compile(r"\s*:\s*\Z")
_BLANKS = re.compile(r"[ \t]*")
_COMMA_OR_COMMENT = re.compile(r",|(?<=\s)#[^\n]*|^#[^\n]*", re.MULTILINE)


class EditableNote(NamedTuple):
    """A body with readable frontmatter; `block` is None without one."""

    body: str
    block: Block | None
    outline: Outline

    @classmethod
    def from_body(cls, body: str) -> EditableNote:
        """Return a body with its properties and their places.

        Raises: PropertiesUnreadable.
        """
        block = locate_block(body)
        if block is None:
            fault = parser.find_fault(body)
            if fault is not None:  # a second block above it would hide it for good
                raise PropertiesUnreadable(
                    f"The note's properties cannot be changed. {fault.message} Add the line --- "
                    "below it as text first.",
                    line=fault.line,
                )
            return cls(body, None, Outline())
        try:
            return cls(body, block, parser.outline(body, block))
        except NoValue:
            return cls(body, block, Outline())
        except InvalidYaml as e:
            line = e.line + 1
            raise PropertiesUnreadable(
                "The note's properties cannot be changed because its frontmatter is broken: line "
                f"{line}: {e.problem}. Correct that line as text first.",
                line=line,
            ) from e

    @property
    def values(self) -> dict[str, YamlValue]:
        return {entry.key: entry.value for entry in self.outline.entries}

    @property
    def text_below(self) -> str:
        """Return the text below the frontmatter."""
        return self.body[self.block.body_start :] if self.block else self.body

    @property
    def newline(self) -> str:
        return Text(self.body).newline

    def entry(self, name: str) -> PropertyEntry:
        # The last one counts where two keys (`1` and `"1"`) are the same text.
        return next(entry for entry in reversed(self.outline.entries) if entry.key == name)

    def settle(self, expected: Mapping[str, YamlValue], candidates: Iterable[str], key: str) -> str:
        """Return the first candidate that reads back exactly as expected.

        The text below the frontmatter must be unchanged, too.
        Raises: PropertiesUnreadable where no candidate does.
        """
        expected_items = list(expected.items())
        for candidate in candidates:
            with suppress(PropertiesUnreadable):
                note = EditableNote.from_body(candidate)
                is_as_expected = is_same_value(list(note.values.items()), expected_items)
                if is_as_expected and note.text_below == self.text_below:
                    return candidate
        raise PropertiesUnreadable(
            f"The property {key!r} cannot be changed without touching others: the frontmatter "
            "repeats values through anchors, or is written in an unusual way. Edit it as text.",
            line=1,
        )

    # Properties on lines of their own

    def with_new(self, key: str, value: YamlValue) -> Iterator[str]:
        """Yield the body with a property added after all others, before blank lines at the end
        of the block."""
        body, newline, entries = self.body, self.newline, self.outline.entries
        if self.block is None:
            written, below = yaml_style.lines(value, "")
            lines = ["---", _opening(yaml_style.key(key) + ":", written, ""), *below, "---"]
            yield newline.join(lines) + newline + body
            return
        if self.outline.flow is not None:
            yield self._with_new_in_braces(self.outline.flow, key, value)
            return
        indent = self._indent(entries[0]) if entries else ""
        text = self.block.yaml_span.slice(body)
        content = text.rstrip()
        before_blanks = self.block.yaml_span.start + (
            text.index("\n", len(content)) + 1 if content else 0
        )
        places = [
            before_blanks,
            self.block.yaml_span.end,
            *(entry.span.end for entry in entries[-1:]),
        ]
        for place in dict.fromkeys(places):
            for literal in (True, False):
                written, below = yaml_style.lines(value, indent, literal=literal)
                lines = [_opening(f"{indent}{yaml_style.key(key)}:", written, ""), *below]
                yield body[:place] + "".join(line + newline for line in lines) + body[place:]

    def with_value(self, entry: PropertyEntry, value: YamlValue) -> Iterator[str]:
        """Yield the body with a new value for a property.

        In a block list, only items that differ change.
        """
        body = self.body
        if self.outline.flow is not None:
            between = body[entry.key_span.end : entry.value_span.start]
            has_value = entry.value_span.start < entry.value_span.end
            separator = between if has_value and _SEPARATOR.match(between) else ": "
            written = yaml_style.flow(value, as_json=self._as_json)
            yield body[: entry.key_span.end] + separator + written + body[entry.value_span.end :]
            return
        is_block_list = entry.items and body[entry.value_span.start] == "-"
        longest = max(len(value), len(entry.items)) if isinstance(value, list) and value else 0
        if is_block_list and 0 < longest <= _DIFFED_ITEMS:
            yield self._with_items(entry, value, literal=True)
            yield self._with_items(entry, value, literal=False)
        indent = self._indent(entry)
        head = body[entry.span.start : entry.key_span.end]
        if body[entry.span.start : entry.key_span.start].strip():  # `? key`
            head = indent + yaml_style.key(entry.key)
        end = "\r\n" if body[: entry.span.end].endswith("\r\n") else "\n"
        for literal in (True, False):
            written, below = yaml_style.lines(value, indent, literal=literal)
            lines = [_opening(head + ":", written, _comment(body, entry)), *below]
            yield body[: entry.span.start] + self.newline.join(lines) + end + body[entry.span.end :]

    def without(self, block: Block, entry: PropertyEntry) -> Iterator[str]:
        """Yield the body without a property.

        Without the only property the block goes, too, unless it contains comments.
        """
        body = self.body
        if len(self.outline.entries) == 1:
            before = body[block.yaml_span.start : entry.span.start]
            if "#" in before + body[entry.span.end : block.yaml_span.end]:
                yield body[: entry.span.start] + body[entry.span.end :]
            yield self.text_below
            # Without an empty block in front, the next lines would become the frontmatter.
            yield f"---{self.newline}---{self.newline}{self.text_below}"
        elif self.outline.flow is not None:
            yield self._without_in_braces(self.outline.flow, entry)
        else:
            yield body[: entry.span.start] + body[entry.span.end :]
            # Indented comments and blank lines that stay could become part of a text block (`|`)
            # above them.
            if comments := _INDENTED.match(body, entry.span.end, block.yaml_span.end):
                yield body[: entry.span.start] + body[comments.end() :]

    def _with_items(self, entry: PropertyEntry, value: list[YamlValue], *, literal: bool) -> str:
        """Return the body with the changed items of a block list.

        Other items and comments keep their lines.
        """
        body = self.body
        column = entry.value_span.start - _line_start(body, entry.value_span.start)
        ranges = [_item_lines(body, item.start, item.end, column) for item in entry.items]
        before, after = [repr(item) for item in entry.value], [repr(item) for item in value]
        parts = []
        copied_to = entry.span.start
        opcodes = LineMatcher(before, after).get_opcodes()
        for operation, first, last, new_first, new_last in opcodes:
            if operation == "equal":
                continue
            place = ranges[first][0] if first < len(ranges) else ranges[-1][1]
            parts.append(body[copied_to:place])
            lines = yaml_style.list_lines(value[new_first:new_last], " " * column, literal=literal)
            parts.extend(line + self.newline for line in lines)
            copied_to = place
            for start, end in ranges[first:last]:
                parts.append(body[copied_to:start])
                copied_to = end
        return body[: entry.span.start] + "".join(parts) + body[copied_to:]

    def _indent(self, entry: PropertyEntry) -> str:
        line = self.body[entry.span.start : entry.key_span.start]
        return line[: len(line) - len(line.lstrip(" "))]

    # Properties inside braces, as JSON has them

    @property
    def _as_json(self) -> bool:
        return all(self.body[entry.key_span.start] == '"' for entry in self.outline.entries)

    def _with_new_in_braces(self, flow: Span, key: str, value: YamlValue) -> str:
        """Return the body with a property added last, on a line of its own if the last property
        has one."""
        body, entries, as_json = self.body, self.outline.entries, self._as_json
        written = (
            yaml_style.key(key, in_flow=True, as_json=as_json)
            + ": "
            + yaml_style.flow(value, as_json=as_json)
        )
        if not entries:
            return body[: flow.start + 1] + written + body[flow.start + 1 :]
        end = entries[-1].value_span.end
        line = _line_start(body, entries[-1].key_span.start)
        indent = body[line : entries[-1].key_span.start]
        if line <= flow.start or indent.strip():
            return body[:end] + ", " + written + body[end:]
        line_end = body.index("\n", end) + 1
        if line_end > flow.end:
            return body[:end] + "," + self.newline + indent + written + body[end:]
        comma, trailing = (",", "") if _comma(body, end, line_end) is None else ("", ",")
        return (
            body[:end]
            + comma
            + body[end:line_end]
            + indent
            + written
            + trailing
            + self.newline
            + body[line_end:]
        )

    def _without_in_braces(self, flow: Span, entry: PropertyEntry) -> str:
        """Return the body without a property and one comma.

        Comments stay, and a line that is then empty is removed.
        """
        body, entries = self.body, self.outline.entries
        at = next(number for number, candidate in enumerate(entries) if candidate is entry)
        start, end = entry.key_span.start, entry.value_span.end
        before = None if at == 0 else _comma(body, entries[at - 1].value_span.end, start)
        after = _comma(
            body, end, entries[at + 1].key_span.start if at + 1 < len(entries) else flow.end - 1
        )
        if after is not None and not body[end:after].strip():
            end = after + 1
            before = None
        line, line_end = _line_start(body, start), body.find("\n", end)
        if (
            line > flow.start
            and line_end < flow.end
            and not (body[line:start] + body[end:line_end]).strip()
        ):
            start, end = line, line_end + 1
        elif before is not None and not body[before + 1 : start].strip():
            start, before = before, None
        else:
            blanks = _BLANKS.match(body, end)
            end = blanks.end() if blanks and body[blanks.end()] != "#" else end
        changed = body[:start] + body[end:]
        return changed if before is None else changed[:before] + changed[before + 1 :]


def _item_lines(body: str, start: int, end: int, column: int) -> tuple[int, int]:
    """Return the span of the whole lines of a list item whose dash is in a given column."""
    line = _line_start(body, start)
    while body[line + column : line + column + 1] != "-" or body[line : line + column].strip(" "):
        line = _line_start(body, line - 1)
    return line, body.index("\n", max(end - 1, start)) + 1


def _line_start(body: str, offset: int) -> int:
    return body.rfind("\n", 0, offset) + 1


def _opening(head: str, written: str, comment: str) -> str:
    return f"{head} {written}{comment}" if written else head + comment


def _comment(body: str, entry: PropertyEntry) -> str:
    """Return the comment on a property's first line or after its value, with the space before it.

    Return "" without one.
    """
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


def _comma(body: str, start: int, end: int) -> int | None:
    return next(
        (m.start() for m in _COMMA_OR_COMMENT.finditer(body, start, end) if m.group() == ","), None
    )


def is_same_value(a: YamlValue, b: YamlValue) -> bool:
    """Return whether two values are equal in YAML.

    `true` is not 1; the order of a mapping's keys does not matter.
    """
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(is_same_value, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(
            is_same_value(value, b[key]) for key, value in a.items()
        )
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)
