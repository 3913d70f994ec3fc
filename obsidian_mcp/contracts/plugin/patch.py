"""Unified diffs, parsed and applied exactly (specs/http.md PLUGIN-04).

    @@ -2,1 +2,2 @@
     Today
    +Tomorrow

A hunk applies where its old lines stand, or not at all; there is no fuzz. Line numbers count from
1, lines end at LF.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from obsidian_mcp.core.text.fit import cut_text, name_first
from obsidian_mcp.core.text.text import BOM, Text, split_lines, write_count
from obsidian_mcp.errors import InvalidArguments, TextNotFound, TextNotUnique

SHOWN = 80
"""Characters of a line that an error shows."""
PLACES_SHOWN = 10
_RANGES = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*")
_BARE = re.compile(r"@@(?:[ .]*@@)?[ \t]*")
_FILE_HEADER = re.compile(
    r"(?:diff |index |--- |\+\+\+ |Index: |={3,}$"
    r"|(?:old|new|deleted file|new file) mode |similarity index |rename )"
)
_SIGNS = (" ", "-", "+")


@dataclass(slots=True)
class PatchHunk:
    """Consecutive lines of a note and what replaces them."""

    start: int | None
    """0-based number of the first old line, or of the line before which lines are added; None
    without a range."""
    lines: list[tuple[str, str]] = field(default_factory=list)
    """Sign (space, `-` or `+`) and text without its line end, in the order of the patch."""
    old_marked: bool = False
    """The last old line is marked as having no line end."""
    new_marked: bool = False

    @property
    def old(self) -> list[str]:
        return [_strip_line_end(text) for sign, text in self.lines if sign != "+"]

    def mark(self) -> None:
        """Note a `\\ No newline at end of file` after the last line so far."""
        sign = self.lines[-1][0]
        self.old_marked = self.old_marked or sign != "+"
        self.new_marked = self.new_marked or sign != "-"


def parse(patch: str) -> list[PatchHunk]:
    """Return the hunks of a unified diff for one note; headers of files and of hunks may be
    missing. Raises: InvalidArguments naming the line that cannot be part of one."""
    text = patch.removeprefix(BOM)
    # the line ends of the message, not those of the note
    if text.count("\n") == text.count("\r\n"):
        text = text.replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n")
    at = _skip_file_header(lines, 0)
    hunks: list[PatchHunk] = []
    while at < len(lines):
        header = lines[at].rstrip("\r")
        if not header.strip():
            at += 1
            continue
        ranges = _RANGES.fullmatch(header)
        if ranges is None and not _BARE.fullmatch(header) and (hunks or header[0] not in _SIGNS):
            if hunks and _skip_file_header(lines, at) > at:
                raise _malformed_error(
                    lines, at, "the patch goes on to another file; send one patch for each note"
                )
            raise _malformed_error(
                lines, at, "expected a line that begins with @@, a space, - or +"
            )
        hunk, at = _read_hunk(lines, at + header.startswith("@@"), ranges)
        hunks.append(hunk)
    if not any(sign != " " for hunk in hunks for sign, _ in hunk.lines):
        raise InvalidArguments(
            "The patch adds and removes no line. Send a unified diff.", argument="patch"
        )
    return hunks


def _skip_file_header(lines: Sequence[str], at: int) -> int:
    """Return the number of the first line after a file's header; `at` where there is none."""
    start = at
    while at < len(lines) and (not lines[at].strip() or _FILE_HEADER.match(lines[at])):
        # A removed line "-- x" looks like a header, but only a header is followed by "+++ ".
        if lines[at].startswith("--- ") and not (
            at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
        ):
            break
        if lines[at].startswith("+++ ") and not (at > start and lines[at - 1].startswith("--- ")):
            break
        at += 1
    return at


def _read_hunk(
    lines: Sequence[str], first: int, ranges: re.Match[str] | None
) -> tuple[PatchHunk, int]:
    """Return the hunk whose lines begin at `first`, as many as its ranges say, and the number of
    the line after it."""
    old, new = (int(ranges[2] or 1), int(ranges[4] or 1)) if ranges is not None else (inf, inf)
    left = {"-": old, "+": new}
    hunk = PatchHunk(int(ranges[1]) - (old > 0) if ranges is not None else None)
    at = first
    while at < len(lines):
        sign, text = lines[at][:1], lines[at][1:]
        if sign == "\\" and hunk.lines:
            hunk.mark()
            at += 1
            continue
        if not lines[at].strip("\r"):
            sign, text = " ", lines[at]  # an empty line whose leading space got lost on the way
        sides = "-+" if sign == " " else sign
        if sign not in _SIGNS or not all(left[side] for side in sides):
            break
        for side in sides:
            left[side] -= 1
        hunk.lines.append((sign, text))
        at += 1
    if ranges is None:
        while hunk.lines and hunk.lines[-1] in {
            (" ", ""),
            (" ", "\r"),
        }:  # blank lines at the end of the message
            hunk.lines.pop()
        return hunk, at
    surplus = (
        at < len(lines)
        and lines[at].strip()
        and lines[at][0] in _SIGNS
        and _skip_file_header(lines, at) == at
    )
    if left["-"] or left["+"] or surplus:
        raise _malformed_error(
            lines,
            first - 1,
            f"it announces {old} old and {new} new lines, and other lines follow. Correct the "
            "numbers, or leave them out: a plain @@ takes all lines up to the next one",
        )
    return hunk, at


def _malformed_error(lines: Sequence[str], at: int, problem: str) -> InvalidArguments:
    return InvalidArguments(
        f"Line {at + 1} of the patch is {_quote(lines[at])}: {problem}. Send a unified diff.",
        argument="patch",
        line=at + 1,
    )


def apply(body: str, hunks: Sequence[PatchHunk]) -> str:
    r"""Return the body with every hunk applied at its line, or at the only place of its old lines;
    kept lines keep their bytes, added ones get the note's line end, and only `\ No newline at end
    of file` changes whether it ends with one. Raises: TextNotFound, TextNotUnique, InvalidArguments
    for added lines that belong nowhere."""
    lines = split_lines(body)
    texts = [_strip_line_end(line) for line in lines]
    newline, had_end = Text(body).newline, not body or body.endswith("\n")
    has_end = had_end
    result: list[str] = []
    done = moved = 0
    for number, hunk in enumerate(hunks, 1):
        place = _find_line(texts, hunk, number, done, moved)
        end = place + len(hunk.old)
        at_end = end == len(lines)
        if (hunk.old_marked and (not at_end or body.endswith("\n"))) or (
            hunk.new_marked and not at_end
        ):
            raise TextNotFound(
                f"Hunk {number} of the patch ends at the last line of the note, without a line "
                "end; the note is not so. Read it again and make the patch from that text."
            )
        moved += 0 if hunk.start is None else place - hunk.start - moved
        old = iter(lines[place:end])
        both = [
            (sign, next(old) if sign != "+" else _with_line_end(text, newline))
            for sign, text in hunk.lines
        ]
        new = [line for sign, line in both if sign != "-"]
        result += [*lines[done:place], *new]
        if at_end and hunk.lines:
            has_end = (
                not hunk.new_marked if hunk.old_marked or hunk.new_marked else had_end or not new
            )
        done = end
    result += lines[done:]
    ended = [line if line.endswith("\n") else _with_line_end(line, newline) for line in result]
    if ended and not has_end:
        ended[-1] = result[-1].removesuffix(newline).removesuffix("\n")
    return "".join(ended)


def _find_line(texts: Sequence[str], hunk: PatchHunk, number: int, done: int, moved: int) -> int:
    """Return the line at which a hunk applies; `done` lines are taken by earlier hunks, which were
    `moved` lines off."""
    old = hunk.old
    expected = None if hunk.start is None else hunk.start + moved
    if not old:
        return _insertion(texts, expected, number, done, moved)
    if expected is not None and expected >= done and texts[expected : expected + len(old)] == old:
        return expected
    found = [
        at for at in range(done, len(texts) - len(old) + 1) if texts[at : at + len(old)] == old
    ]
    if len(found) == 1:
        return found[0]
    if found:
        places = [at + 1 for at in found]
        raise TextNotUnique(
            f"Hunk {number} of the patch fits at lines {name_first(places, PLACES_SHOWN)} and not "
            "at the line that it names."
            " Make it from the note as it is now, with more lines around the change.",
            lines=places[:PLACES_SHOWN],
        )
    raise TextNotFound(
        f"Hunk {number} of the patch does not fit: {_difference(texts, old, expected)}. Read the "
        "note again and make the patch from that text."
    )


def _insertion(
    texts: Sequence[str], expected: int | None, number: int, done: int, moved: int
) -> int:
    """Return the line before which a hunk without old lines adds its own."""
    if not texts:
        return 0
    if expected is None or moved:
        raise InvalidArguments(
            f"Hunk {number} of the patch only adds lines, and nothing says where. Put unchanged "
            "lines of the note around them.",
            argument="patch",
        )
    if not done <= expected <= len(texts):
        raise TextNotFound(
            f"Hunk {number} of the patch adds lines after line {expected}; the note has "
            f"{write_count(len(texts), 'line')}. Line numbers count from the first line below "
            "the frontmatter."
        )
    return expected


def _difference(texts: Sequence[str], old: Sequence[str], expected: int | None) -> str:
    """Return the first line that keeps a hunk from fitting."""
    missing = next((line for line in old if line not in texts), None)
    if missing is not None:
        return f"the line {_quote(missing)} is not in the note"
    for at, (now, line) in enumerate(zip(texts[expected:], old, strict=False), expected or 0):
        if expected is not None and now != line:
            return f"line {at + 1} of the note is {_quote(now)}, not {_quote(line)}"
    return f"its lines from {_quote(old[0])} on do not stand together below the hunk before it"


def _with_line_end(line: str, newline: str) -> str:
    return line + ("\n" if line.endswith("\r") else newline)


def _strip_line_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _quote(line: str) -> str:
    return repr(cut_text(line, SHOWN))
