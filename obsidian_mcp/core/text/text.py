"""A note's text: bytes to str and back without loss, lines, UTF-16 positions, hidden text.

Inside the program a position is an index into the Python string (code points) of the text *after*
the byte order mark. Only Dataview's positions of list items are in UTF-16 code units, as the app
counts. (semantics 0.4; hidden text: SAFE-30)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from obsidian_mcp.errors import StorageFailed

from .fit import name_first

BOM = "\ufeff"
UNREADABLE = "\ufffd"
"""Replaces a byte that is not UTF-8, and half of a surrogate pair, wherever a text is shown."""
MAX_FILE_BYTES = 64 * 2**20
"""Largest file that is read at once, and so the largest that is written: 64 MiB."""
MOST_BYTES_OF_CHARACTER = 4
SNIFFED_BYTES = 8192
"""A file with a NUL character among its first bytes is no text: it is binary data or UTF-16."""
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LINE_END = re.compile("\n")
_SURROGATE = re.compile("[\ud800-\udfff]")


def join_surrogate_pair(high: int, low: int) -> str:
    """Return the character of two UTF-16 code units, as in the escapes of JSON and JavaScript."""
    return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)


def to_printable(text: str) -> str:
    """Return a text that every encoder accepts, of the same length.

    U+FFFD takes the place of bytes that are not UTF-8 and of halves of surrogate pairs.
    """
    return text if text.isascii() else _SURROGATE.sub(UNREADABLE, text)


def write_count(number: int, noun: str) -> str:
    """Return a number with a noun that has its plural in `s`: `1 line`, `2 lines`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 code units, as the app and JavaScript count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Span(NamedTuple):
    """A half-open range of code points: `text[span.start:span.end]` is the source."""

    start: int
    end: int

    def slice(self, text: str) -> str:
        return text[self.start : self.end]


def too_large(path: str, size: int, limit: int = MAX_FILE_BYTES) -> StorageFailed:
    """Return the refusal to read a file of more bytes than are read at once."""
    return StorageFailed(
        f"{to_printable(path)!r} is {size:,} bytes; the most that is read at once is {limit:,}.",
        path=to_printable(path),
        size=size,
    )


def byte_count(text: str) -> int:
    """Return the size of a text in a file."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def check_size(size: int, path: str = "") -> None:
    """Check the size of a file that is about to be written, in bytes or in characters.

    A file above MAX_FILE_BYTES could be written but not read back.
    Raises: StorageFailed.
    """
    if size > MAX_FILE_BYTES:
        subject = repr(to_printable(path)) if path else "The file"
        raise StorageFailed(
            f"{subject} would be larger than {MAX_FILE_BYTES:,} bytes, the most that can be read "
            "back. Write less, or into several files.",
            **({"path": to_printable(path)} if path else {}),
        )


def check_growth(body: str, content: str) -> None:
    """Check the size of a file to which a text is added, before the file is worked on (SAFE-24).

    Raises: StorageFailed.
    """
    if (len(body) + len(content)) * MOST_BYTES_OF_CHARACTER > MAX_FILE_BYTES:
        check_size(sum(len(text.encode("utf-8", "surrogateescape")) for text in (body, content)))


class Text(NamedTuple):
    """The content of a text file, from which `encode` gives back every byte.

    `body` is the text without a leading byte order mark, with line ends as stored. Bytes that are
    not UTF-8 are lone surrogates in it (`surrogateescape`).
    """

    body: str
    bom: bool = False

    @classmethod
    def decode(cls, data: bytes) -> Text:
        body = data.decode("utf-8", "surrogateescape")
        return cls(body[1:], bom=True) if body.startswith(BOM) else cls(body)

    def encode(self) -> bytes:
        return ((BOM if self.bom else "") + self.body).encode("utf-8", "surrogateescape")

    @property
    def newline(self) -> str:
        """Return the line end in use: the more frequent one, LF on a tie or without any."""
        crlf = self.body.count("\r\n")
        return "\r\n" if crlf > self.body.count("\n") - crlf else "\n"

    @property
    def is_utf8(self) -> bool:
        try:
            self.body.encode()
        except UnicodeEncodeError:
            return False
        return True


def common_start(first: str, second: str) -> int:
    """Return how many characters two texts begin with in common, without a look at each of them."""
    equal, shorter = 0, min(len(first), len(second))
    while equal < shorter:
        middle = (equal + shorter + 1) // 2
        if first[equal:middle] == second[equal:middle]:
            equal = middle
        else:
            shorter = middle - 1
    return equal


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends.

    Only LF ends a line: `str.splitlines` also breaks at U+2028 and others, which the app does not.
    """
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


class Lines:
    """Line numbers (0-based) and UTF-16 columns of code-point offsets in one text.

    LF ends a line.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.starts = [0, *map(re.Match.end, _LINE_END.finditer(text))]

    @cached_property
    def _astral(self) -> list[int]:
        """Return the offsets of characters of two UTF-16 units, in which Dataview counts
        columns."""
        return (
            []
            if self._text.isascii()
            else [character.start() for character in _ASTRAL.finditer(self._text)]
        )

    def line(self, offset: int) -> int:
        """Return the 0-based line that contains the code point at `offset`."""
        return bisect_right(self.starts, offset) - 1

    def utf16(self, offset: int) -> int:
        """Return the number of UTF-16 code units before the code point at `offset`."""
        return offset + bisect_right(self._astral, offset - 1) if self._astral else offset

    def column_utf16(self, offset: int) -> int:
        """Return the number of UTF-16 code units between the start of the line and `offset`."""
        return self.utf16(offset) - self.utf16(self.starts[self.line(offset)])


def line_count(text: str) -> int:
    """Return the number of lines, at least 1.

    Text behind the last LF is a line if it is not empty.
    """
    return text.count("\n") + (not text.endswith("\n"))


_LINES_SHOWN = 5
"""Numbers of lines that a warning lists; it counts the others."""

_HIDDEN_KINDS = {
    "invisible": "zero-width characters",
    "direction": "characters that reverse the direction of writing",
    "tags": "invisible tag characters",
    "comment": "HTML comments",
    "style": "HTML that is not displayed",
}
_INVISIBLE = "\u200b\u2060-\u2064\ufeff"
_DIRECTION = "\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"
_TAG_CHARACTERS = frozenset(map(chr, range(0xE0000, 0xE0080)))
_HIDDEN = re.compile(
    f"(?P<invisible>[{_INVISIBLE}])"
    f"|(?P<direction>[{_DIRECTION}])"
    f"|(?P<tags>(?<![\U0001f3f4\U000e0020-\U000e007f])[{_TAGS}])"
    "|(?P<comment><!--)"
    r"|(?P<style><[^<>\n]*\b(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0"
    r"|hidden[\s>]))",
    re.IGNORECASE,
)
_SUSPECT = re.compile(f"[<{_INVISIBLE}{_DIRECTION}{_TAGS}]")
"""A character with which hidden text begins.

A search for one set of characters is four times as fast as a search for `_HIDDEN`.
"""
_MARKUP = re.compile("<")
"""The only such character in ASCII text: a search for it is six times as fast."""


def hidden_text_warnings(text: str, path: str, note: Callable[[str], None]) -> list[str]:
    """Return a sentence for each kind of text that a model sees and a person does not (SAFE-30).

    A sentence names the first lines with that kind of text. Joiners inside emoji and words are no
    hidden text, nor is a byte order mark at the beginning.

    `note` is called with `path` if the text has any hidden text, because the user's policy may then
    ask for a person's consent to later changes (POL-13).
    """
    lines: dict[str, dict[int, None]] = {}
    line, counted = 1, 0
    suspects = _MARKUP if text.isascii() else _SUSPECT
    for suspect in suspects.finditer(text, 1 if text.startswith("\ufeff") else 0):
        if hidden := _HIDDEN.match(text, suspect.start()):
            line += text.count("\n", counted, hidden.start())
            counted = hidden.start()
            lines.setdefault(hidden.lastgroup or "", {})[line] = None
    if lines:
        note(path)
    return [
        f"Hidden from readers of this note: {_HIDDEN_KINDS[kind]}, on {_list_lines([*numbers])}. "
        "It is no request of the user."
        for kind, numbers in lines.items()
    ]


def remove_hidden_text(text: str) -> str:
    """Return a text without what a person does not see: such characters, whole comments, and the
    lines of HTML that is not displayed (SAFE-30)."""
    parts, start = [], 0
    for suspect in _SUSPECT.finditer(text):
        hidden = _HIDDEN.match(text, suspect.start()) if suspect.start() >= start else None
        if hidden is None:
            continue
        end = hidden.end()
        if hidden.lastgroup == "comment":
            closing = text.find("-->", end)
            end = len(text) if closing < 0 else closing + len("-->")
        elif hidden.lastgroup == "style":
            closing = text.find("\n", end)
            end = len(text) if closing < 0 else closing
        elif hidden.lastgroup == "tags":
            while text[end : end + 1] and text[end] in _TAG_CHARACTERS:
                end += 1
        parts.append(text[start : hidden.start()])
        start = end
    return "".join([*parts, text[start:]])


def _list_lines(numbers: list[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {name_first(numbers, _LINES_SHOWN)}"
