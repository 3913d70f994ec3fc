"""Changes to a note's text: each gives back the text with what was asked changed, and no other character (EDIT-01).

All take and give the body after a byte order mark. New text takes over the line ends of the note it goes into.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from obsidian_mcp.core.text.line_matcher import matcher
from obsidian_mcp.core.text.text import Lines, Span, Text, split_lines
from obsidian_mcp.errors import TextNotFound, TextNotUnique

from .seams import joins

LINES_SHOWN = 10
CONTEXT_LINES = 2
_LONE_LF = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters of a file's body that become `text`."""

    span: Span
    text: str


def apply(body: str, edits: Iterable[Edit]) -> str:
    """`body` with edits that do not overlap; every other character stays."""
    parts, done = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        parts += [body[done : edit.span.start], edit.text]
        done = edit.span.end
    return "".join([*parts, body[done:]])


def adapted(content: str, body: str) -> str:
    """`content` with the line ends of a note. Its own CRLF stay in a note that has some, or no line end at all."""
    return adapting(body)(content)


def adapting(body: str) -> Callable[[str], str]:
    """`adapted` for many texts that go into one note."""
    if Text(body).newline == "\r\n":
        return partial(_LONE_LF.sub, "\r\n")
    if "\r\n" in body or "\n" not in body:
        return str
    return lambda content: content.replace("\r\n", "\n")


def newline_of(body: str, content: str) -> str:
    """The line end between a note and text that is added: the note's, or the text's where the note has none."""
    return Text(body if "\n" in body else content).newline


def overwritten(data: bytes, content: str) -> bytes:
    """The bytes of a file after its whole text becomes `content`; its line ends and byte order mark stay."""
    old = Text.decode(data)
    return Text(adapted(content, old.body), old.bom).encode()


def append(body: str, content: str) -> str:
    """`content` on lines of its own at the end; a missing last newline stays missing (EDIT-02, EDIT-10)."""
    content = adapted(content, body)
    newline = newline_of(body, content)
    if not body:
        return content
    apart = newline if joins(_ended(body, newline), content) else ""
    if body.endswith("\n"):
        return body + apart + _ended(content, newline)
    return body + newline + apart + content.removesuffix(newline)


def insert(body: str, at: int, content: str) -> str:
    """`content` on lines of its own at the offset `at`, which begins a line (EDIT-03, EDIT-10)."""
    content = adapted(content, body)
    newline = newline_of(body, content)
    before, after = body[:at], body[at:]
    if joins(_ended(content, newline), after):
        content = _ended(content, newline) + newline
    ended = not before or before.endswith("\n")
    before = before if ended else before + newline
    if before and joins(before, content):
        before += newline
    if not ended:
        return before + (_ended(content, newline) if after else content.removesuffix(newline)) + after
    return before + (_ended(content, newline) if after or before else content) + after


def replace_text(body: str, find: str, content: str, *, every: bool) -> str:
    """`find` replaced by `content`: its one occurrence, or every one (EDIT-04).

    Raises: TextNotFound with the line that is nearest, TextNotUnique with the lines that hold it.
    """
    content = adapted(content, body)
    if find not in body:
        find = adapted(find, body)
    count = body.count(find)
    if count == 0:
        raise _nowhere(body, find)
    if every:
        return body.replace(find, content)
    first = body.find(find)
    if body.find(find, first + 1) >= 0:
        raise _several(body, find)
    return body[:first] + content + body[first + len(find) :]


def replace_span(body: str, span: Span, content: str) -> str:
    """The text of a section replaced; blank lines around it stay, so that its neighbours keep their distance."""
    content = adapted(content, body)
    inner = trimmed(body, span)
    if inner.start == inner.end:
        return insert(body, span.start, content)
    return body[: inner.start] + content.removesuffix(newline_of(body, content)) + body[inner.end :]


def append_to_span(body: str, span: Span, content: str) -> str:
    """`content` on the lines after the last one of a section that is not blank."""
    inner = trimmed(body, span)
    if inner.start == inner.end:
        return insert(body, span.start, content)
    end = body.find("\n", inner.end)
    return insert(body, len(body) if end < 0 else end + 1, content)


def trimmed(body: str, span: Span) -> Span:
    """A section without the blank lines at its beginning and end; indentation of its first line stays."""
    text = span.of(body)
    leading = re.match(r"(?:[ \t]*\r?\n)*", text)
    start = leading.end() if leading else 0
    end = len(text.rstrip())
    return Span(span.start + start, span.start + end) if end > start else Span(span.start, span.start)


def diff(path: str, before: str, after: str) -> str:
    """Unified diff for people and models; a missing last newline is said as diff(1) says it."""
    old, new = split_lines(before), split_lines(after)
    parts = [f"--- a/{path}\n+++ b/{path}\n"]
    for hunk in _hunks(old, new):
        counts = [sum(line[0] != other for line in hunk.lines) for other in "+-"]
        ranges = [_range(first, count) for first, count in zip((hunk.old, hunk.new), counts, strict=True)]
        parts += [f"@@ -{ranges[0]} +{ranges[1]} @@\n", *hunk.lines]
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts]
    return "".join(shown) if len(shown) > 1 else ""


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first if count else first - 1},{count}"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a file that change, with those around them. `old` and `new` number the first line, from 1."""

    old: int
    new: int
    lines: list[str]
    """The first character is a space, `-` or `+`."""


def hunks(before: str, after: str) -> list[Hunk]:
    """Return what `diff` shows, as lines without line ends."""
    return list(_hunks(before.split("\n"), after.split("\n")))


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[Hunk]:
    for group in matcher(old, new).get_grouped_opcodes(CONTEXT_LINES):
        lines = []
        for kind, start, end, new_start, new_end in group:
            if kind == "equal":
                lines += [f" {line}" for line in old[start:end]]
            else:
                lines += [f"-{line}" for line in old[start:end]]
                lines += [f"+{line}" for line in new[new_start:new_end]]
        yield Hunk(group[0][1] + 1, group[0][3] + 1, lines)


def _ended(content: str, newline: str) -> str:
    return content if content.endswith("\n") else content + newline


def shown_lines(lines: Sequence[int]) -> str:
    """Return the numbers of the first lines as a text."""
    return ", ".join(map(str, lines[:LINES_SHOWN])) + (" and more" if len(lines) > LINES_SHOWN else "")


def _several(body: str, find: str) -> TextNotUnique:
    lines = Lines(body)
    at, found = body.find(find), []
    while at >= 0:
        found.append(lines.line(at) + 1)
        at = body.find(find, at + 1)
    return TextNotUnique(
        f"The text to find stands {len(found)} times in the note (lines {shown_lines(found)}). Give more of the text "
        "around the one you mean, or set all to true to replace every one.",
        count=len(found),
        lines=found[:LINES_SHOWN],
    )


def _nowhere(body: str, find: str) -> TextNotFound:
    wanted = next((line.strip() for line in find.splitlines() if line.strip()), "")
    present = {line.strip(): number for number, line in reversed(list(enumerate(body.splitlines(), 1))) if line.strip()}
    near = difflib.get_close_matches(wanted, present, 1, 0.6) if len(present) < 5000 else []
    if near:
        return TextNotFound(
            f"The text to find is not in the note. The nearest is line {present[near[0]]}: {near[0][:200]!r}. "
            "It must match exactly, spaces and line breaks too.",
            line=present[near[0]],
        )
    return TextNotFound("The text to find is not in the note. Read the note and copy the text exactly as it stands.")
