"""Characters of a JavaScript regular expression, and classes of them, written for `regex`."""

from __future__ import annotations

import re

from obsidian_mcp.core.text.analysis import is_caseless
from obsidian_mcp.core.text.text import join_surrogate_pair

CLASSES = {
    "d": "0-9",
    "w": "0-9A-Za-z_",
    "s": r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
}
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]+)\}|c([A-Za-z])")
_DIGITS = frozenset("0123456789")
_SURROGATES = re.compile(r"u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")


class InvalidRegExp(ValueError):
    """The source cannot be read.

    `at` is the index of the character in it; `problem` says what is wrong there.
    """

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at
        self.problem = problem


def read_character(source: str, start: int, at: int) -> tuple[str, int]:
    """Return the character of the escape whose backslash is at `start`, and where it ends.

    `at` is behind the backslash.
    Raises: InvalidRegExp.
    """
    if pair := _SURROGATES.match(source, at):
        high, low = (int(code, 16) for code in pair.groups())
        return join_surrogate_pair(high, low), pair.end()
    if escape := _CODE.match(source, at):
        if escape.group(4):
            return chr(ord(escape.group(4)) % 32), escape.end()
        code = int(escape.group(1) or escape.group(2) or escape.group(3), 16)
        if code > 0x10FFFF:
            raise InvalidRegExp(start, "there is no such character: the highest is \\u{10FFFF}")
        return chr(code), escape.end()
    char = source[at : at + 1]
    if char == "0" and source[at + 1 : at + 2] not in _DIGITS:
        return "\0", at + 1
    if problem := _refuse_escape(char):
        raise InvalidRegExp(start, problem)
    return _CONTROLS.get(char, char), at + 1


def _refuse_escape(char: str) -> str:
    """Return what is wrong with an escape that no JavaScript reads as the character itself.

    With the flag `u` JavaScript refuses these escapes; without it some are octal numbers and some
    a backslash. An escaped letter without meaning is accepted: it can only be itself.
    """
    if char == "0":
        return "\\0 stands before a digit, as in an octal number; write the character as \\xHH"
    if char in _DIGITS:
        return (
            f"\\{char} refers to no group in a class; write the character of this number as \\xHH"
        )
    return "\\c needs a letter from A to Z behind it" if char == "c" else ""


def write_member(char: str) -> str:
    return char if char.isalnum() or not char.isascii() else f"\\x{ord(char):02x}"


def is_caseless_range(first: str, last: str) -> bool:
    if ord(last) - ord(first) < 256:
        return is_caseless("".join(map(chr, range(ord(first), ord(last) + 1))))
    return first >= "\u2e80" and last <= "\ua4cf"  # the East Asian scripts


def write_complement(members: str) -> str:
    """Return a class of any character but some.

    With IGNORECASE the `regex` module loses `ı` and the like in `a*(?-i:[^A-Za-z])`, so the
    complement is not written that way.
    """
    return rf"(?-i:(?![{members}])[\s\S])"


def write_class(
    members: str, words: str, complements: list[str], *, negated: bool, cased: bool
) -> str:
    r"""Return a class of the `regex` module.

    `\w` and complements must not meet the case flag, which would widen them.
    """
    if words and not cased:
        members += words
        words = ""
    if members and not words and not complements:
        if negated and not cased:
            return write_complement(members)
        plain = f"[{'^' if negated else ''}{members}]"
        return plain if cased else f"(?-i:{plain})"
    parts = complements + ([f"(?-i:[{words}])"] if words else [])
    if members:
        parts.append(f"[{members}]" if cased else f"(?-i:[{members}])")
    if not parts:
        return "(?s:.)" if negated else "(?!)"
    either = "|".join(parts)
    return f"(?:(?!{either})(?s:.))" if negated else f"(?:{either})"
