"""Patches in diff-match-patch's text format, as the plugin's `edit_note` takes them (specs/http.md PLUGIN-04).

    @@ -1,13 +1,14 @@
     Go to the
    -cat
    +bank
     %0Aagain

The text of a line is percent-encoded; a line end stands in it as %0A, never as the end of the line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from obsidian_mcp.core.text.text import Lines, Text
from obsidian_mcp.errors import InvalidArguments, TextNotFound, TextNotUnique

from .edits import adapted

SHOWN = 120
"""Characters of the missing text that an error shows."""
_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_RESERVED = frozenset(";/?:@&=+$,#")
"""What the format's own writer leaves bare, so that its escape is meant literally."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """`before` stood about `start` and becomes `after`.

    The place counts code points in some programs and UTF-16 units in others.
    """

    start: int
    before: str
    after: str


def parse(patch: str) -> list[Hunk]:
    """Raises: InvalidArguments naming the line that is no patch."""
    hunks: list[Hunk] = []
    start: int | None = None
    before: list[str] = []
    after: list[str] = []
    for number, line in enumerate([*patch.strip("\r\n").split("\n"), "@@ -0,0 +0,0 @@"], 1):
        line = line.removesuffix("\r")
        sign, text = line[:1], _decoded(line[1:])
        if header := _HEADER.fullmatch(line.strip()):
            if start is not None:
                hunks.append(Hunk(start, "".join(before), "".join(after)))
            start, before, after = int(header[3]) - (header[4] != "0"), [], []
        elif start is None or sign not in (" ", "-", "+", ""):
            raise InvalidArguments(
                f"Line {number} of the patch is {line[:SHOWN]!r}; expected a line that begins with @@, a space, - "
                "or +, in diff-match-patch's text format.",
                argument="patch",
                line=number,
            )
        else:
            before += [text] if sign in (" ", "-") and sign else []
            after += [text] if sign in (" ", "+") and sign else []
    return hunks


def apply(body: str, hunks: Sequence[Hunk]) -> str:
    """The body with every hunk applied, each where its text stands: at its place, or where it stands just once.

    Raises: TextNotFound, TextNotUnique; unlike the original never guesses at text that is only similar.
    """
    newline = Text(body).newline
    moved = 0
    for hunk in hunks:
        before, after = hunk.before, hunk.after
        if before not in body:
            before, after = adapted(before, newline), adapted(after, newline)
        place = _place(body, before, max(0, hunk.start + moved))
        body = body[:place] + after + body[place + len(before) :]
        moved = place - hunk.start
    return body


def _place(body: str, before: str, expected: int) -> int:
    for place in (expected, _from_utf16(body, expected)):
        if body.startswith(before, place):
            return min(place, len(body))
    first = body.find(before)
    if first < 0:
        raise TextNotFound(
            f"The patch does not fit: {before[:SHOWN]!r} is not in the note as it is now. Read it again and make the "
            "patch from that text.",
        )
    if body.find(before, first + 1) >= 0:
        lines = Lines(body)
        found = [lines.line(at.start()) + 1 for at in re.finditer(f"(?={re.escape(before)})", body)]
        raise TextNotUnique(
            f"The patch fits at several places (lines {', '.join(map(str, found[:10]))}) and at none of them just "
            "where it says. Make it from the note as it is now, with more of the text around the change.",
            lines=found[:10],
        )
    return first


def _from_utf16(body: str, units: int) -> int:
    if body.isascii():
        return units
    return len(body.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore"))


def _decoded(text: str) -> str:
    """Escapes as `decodeURI` reads them; what is no UTF-8 stays as it is."""

    def decode(run: re.Match[str]) -> str:
        try:
            plain = bytes.fromhex(run[0].replace("%", "")).decode("utf-8")
        except UnicodeDecodeError:
            return run[0]
        return "".join(f"%{ord(char):02X}" if char in _RESERVED else char for char in plain)

    return _ESCAPES.sub(decode, text)
