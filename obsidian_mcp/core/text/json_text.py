"""JSON text with the places of its values, and edits that keep all other bytes (specs/install.md).

Reads strict JSON and JSON with comments and trailing commas. `put` and `remove` keep everything
that they do not change: order, indentation, comments, line ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from .call import checkpoint

DEEPEST = 200
"""Maximum nesting depth. Settings files have less than a tenth of it."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_REST_OF_LINE = re.compile(r"(?:[ \t]|/\*(?:(?!\*/)[^\r\n])*\*/)*(?://[^\r\n]*)?(?=\r?\n|\Z)")


class Unreadable(Exception):
    """The text is not JSON. Holds the problem and its offset."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset

    def line(self, text: str) -> int:
        """Return the line of the problem in the text, counted from 1."""
        return text.count("\n", 0, self.offset) + 1


class JsonNode(NamedTuple):
    """A value and its source, `text[start:end]`."""

    start: int
    end: int
    value: Any
    members: tuple[JsonMember, ...] = ()
    """The members of an object, in order."""
    items: tuple[JsonNode, ...] = ()
    """The items of an array."""

    def member(self, key: str) -> JsonMember | None:
        """Return the member of this name; of duplicates the last one, as in JavaScript."""
        return next((member for member in reversed(self.members) if member.key == key), None)


class JsonMember(NamedTuple):
    key: str
    start: int
    node: JsonNode
    comma: int
    """Offset of the comma behind it, -1 without one."""


class JsonDocument(NamedTuple):
    root: JsonNode
    beyond: tuple[str, int] | None
    """The first construct that strict JSON does not allow, and its offset."""


# A change reads the text before and after it several times, and Claude Code's settings can have 5
# MB.
@lru_cache(maxsize=2)
def parse(text: str) -> JsonDocument:
    """Return the parsed text. Its values are shared and must not be changed.

    Raises: Unreadable.
    """
    return _JsonReader(text).document()


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with `value` at a path of member names; missing members are created.

    A text without any value counts as an empty object.
    Raises: Unreadable; ValueError when the path leads through a value that is no object.
    """
    if _end_of_blank(text) == len(text):
        gap = "\n" if text and not text.endswith("\n") else ""
        return text + gap + json.dumps(_nest(path, value), indent=2, ensure_ascii=False) + "\n"
    node = parse(text).root
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        member = node.member(key)
        if member is None:
            return _insert(text, node, key, _nest(path[depth + 1 :], value))
        node = member.node
    return (
        text[: node.start]
        + _JsonLayout(text).value(value, _indent(text, node.start))
        + text[node.end :]
    )


def remove(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at a path.

    All duplicates of it go, because else an earlier one would count again.
    Raises: Unreadable.
    """
    while True:
        node = parse(text).root
        for key in path[:-1]:
            member = node.member(key)
            if member is None:
                return text
            node = member.node
        doomed = node.member(path[-1])
        if doomed is None:
            return text
        text = _cut(text, node, doomed)


def _nest(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


# Writing


class _JsonLayout:
    """The layout of a text: its line end, indentation and separators."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.lines = "\n" in text.strip()
        indented = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
        self.unit = indented[1] if indented else "  "
        self.comma, self.colon = (
            (", ", ": ") if self.lines or '": ' in text or '":' not in text else (",", ":")
        )

    def value(self, value: Any, indent: str) -> str:
        if not self.lines:
            return json.dumps(value, ensure_ascii=False, separators=(self.comma, self.colon))
        rendered = json.dumps(value, ensure_ascii=False, indent=self.unit)
        return rendered.replace("\n", self.newline + indent)

    def member(self, key: str, value: Any, indent: str) -> str:
        return json.dumps(key, ensure_ascii=False) + self.colon + self.value(value, indent)


def _insert(text: str, node: JsonNode, key: str, value: Any) -> str:
    """Return the text with a member added at the end of an object."""
    style = _JsonLayout(text)
    outer = _indent(text, node.start)
    inner = outer + style.unit
    if not node.members:
        inside = text[node.start + 1 : node.end - 1].rstrip()
        if not style.lines and text[: node.start].strip():  # inside a document that is one line
            member = style.member(key, value, "")
            return f"{text[: node.start + 1]}{inside}{member}{text[node.end - 1 :]}"
        style.lines = True
        line = style.newline + inner + style.member(key, value, inner)
        return f"{text[: node.start + 1]}{inside}{line}{style.newline}{outer}{text[node.end - 1 :]}"
    last = node.members[-1]
    behind = last.node.end
    if "\n" not in text[node.start : node.members[0].start]:  # all on one line
        style.lines = False
        if last.comma >= 0:  # a trailing comma: ours gets one too
            behind = last.comma + 1
            return (
                text[:behind] + style.comma[1:] + style.member(key, value, "") + "," + text[behind:]
            )
        return text[:behind] + style.comma + style.member(key, value, "") + text[behind:]
    inner = _indent(text, last.start)
    line = style.newline + inner + style.member(key, value, inner)
    if last.comma >= 0:
        anchor = _line_end(text, last.comma + 1)
        return text[:anchor] + line + "," + text[anchor:]
    anchor = _line_end(text, behind)
    return text[:behind] + "," + text[behind:anchor] + line + text[anchor:]


def _cut(text: str, node: JsonNode, doomed: JsonMember) -> str:
    """Return the text without one member: the reverse of `_insert` where nothing has changed
    since."""
    index = node.members.index(doomed)
    end = doomed.node.end if doomed.comma < 0 else doomed.comma + 1
    if len(node.members) == 1:
        inside = text[node.start + 1 : doomed.start].rstrip() + text[end : node.end - 1]
        return text[: node.start + 1] + (inside if inside.strip() else "") + text[node.end - 1 :]
    if index + 1 < len(node.members):
        following = node.members[index + 1].start
        if not text[end:following].strip():
            end = following
        return text[: doomed.start] + text[end:]
    previous = node.members[index - 1]
    start = _line_end(text, previous.comma + 1)
    if text[start : doomed.start].strip():  # comments stand before it: they stay
        start = doomed.start
    if doomed.comma >= 0:  # with a trailing comma, the previous member keeps its own
        return text[:start] + text[end:]
    return text[: previous.comma] + text[previous.comma + 1 : start] + text[end:]


def _indent(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_end(text: str, offset: int) -> int:
    """Return the end of the line if only blanks and comments follow `offset` on it, else
    `offset`."""
    match = _REST_OF_LINE.match(text, offset)
    return match.end() if match else offset


def _end_of_blank(text: str, offset: int = 0) -> int:
    """Return the end of the blanks and comments that start at `offset`."""
    match = _BLANK.match(text, offset)
    return match.end() if match else offset


# Reading


class _JsonReader:
    """Reads a text once, from its start; `at` is the offset of the next character.

    `beyond` is the first construct that strict JSON does not allow.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.beyond: tuple[str, int] | None = None

    def document(self) -> JsonDocument:
        self.skip()
        root = self.value(0)
        self.skip()
        if self.at < len(self.text):
            raise Unreadable("something follows after the end", self.at)
        return JsonDocument(root, self.beyond)

    def skip(self) -> None:
        end = _end_of_blank(self.text, self.at)
        if (comment := self.text.find("/", self.at, end)) >= 0:
            self.note("a comment", comment)
        self.at = end

    def note(self, construct: str, offset: int) -> None:
        if self.beyond is None:
            self.beyond = (construct, offset)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> JsonNode:
        checkpoint()
        start, opening = self.at, self.peek()
        if depth > DEEPEST:
            raise Unreadable(f"it is nested deeper than {DEEPEST} levels", start)
        if opening == "{":
            return self.object(depth)
        if opening == "[":
            return self.array(depth)
        match = (_STRING if opening == '"' else _SCALAR).match(self.text, start)
        if match is None:
            raise Unreadable(
                "a string that does not end"
                if opening == '"'
                else self.describe_unexpected("a value"),
                start,
            )
        self.at = match.end()
        if opening == '"' and "\\" not in match[0]:
            return JsonNode(start, self.at, match[0][1:-1])
        try:
            return JsonNode(start, self.at, json.loads(match[0]))
        except ValueError as error:
            raise Unreadable(f"{match[0][:40]} is no JSON value", start) from error

    def describe_unexpected(self, expected: str) -> str:
        return f"{expected} is expected, but " + (
            f"{self.peek()!r} came" if self.peek() else "the file ends"
        )

    def object(self, depth: int) -> JsonNode:
        start = self.at
        members: list[JsonMember] = []
        self.at += 1
        while self.has_more("}", bool(members) and members[-1].comma < 0):
            at = self.at
            if self.peek() != '"':
                raise Unreadable(self.describe_unexpected('a name in "quotes"'), at)
            key = self.value(depth).value
            self.skip()
            if self.peek() != ":":
                raise Unreadable(self.describe_unexpected("':'"), self.at)
            self.at += 1
            self.skip()
            node = self.value(depth + 1)
            members.append(JsonMember(key, at, node, self.comma("}")))
        return JsonNode(
            start, self.at, {member.key: member.node.value for member in members}, tuple(members)
        )

    def array(self, depth: int) -> JsonNode:
        start = self.at
        items: list[JsonNode] = []
        comma = start
        self.at += 1
        while self.has_more("]", comma < 0):
            items.append(self.value(depth + 1))
            comma = self.comma("]")
        return JsonNode(start, self.at, [item.value for item in items], items=tuple(items))

    def has_more(self, closing: str, complete: bool) -> bool:
        """Return whether another item follows; steps over the closing bracket when none does."""
        self.skip()
        if self.peek() == closing:
            self.at += 1
            return False
        if complete:
            raise Unreadable(self.describe_unexpected(f"',' or '{closing}'"), self.at)
        return True

    def comma(self, closing: str) -> int:
        """Return the offset of the following comma; -1 without one."""
        self.skip()
        if self.peek() != ",":
            return -1
        offset = self.at
        self.at += 1
        self.skip()
        if self.peek() == closing:
            self.note("a trailing comma", offset)
        return offset
