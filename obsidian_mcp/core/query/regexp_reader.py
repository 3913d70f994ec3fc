"""Read a JavaScript regular expression and write it for `regex` (QUERY-30 to QUERY-34), with the
flags `u` for escapes, though lenient as without it, and `m` for anchors, at LF or CRLF."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from obsidian_mcp.core.text.analysis import fold, is_caseless, literal

MAX_DEPTH = 40
"""Deepest nesting of groups."""

MAX_SIZE = 100_000
"""Most elements of an expression with its counted repeats unrolled, as the module does."""

Clause = tuple[str, ...]
"""Folded strings of which every matching text contains at least one."""

CLASSES = {
    "d": "0-9",
    "w": "0-9A-Za-z_",
    "s": r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
}
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]+)\}|c([A-Za-z])")
_SURROGATES = re.compile(r"u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")

_LETTER = f"(?-i:[{CLASSES['w']}])"
_ANCHORS = {
    "^": "(?m:^)",
    "$": r"(?=\r?\n|\Z)",
    "b": f"(?:(?<={_LETTER})(?!{_LETTER})|(?<!{_LETTER})(?={_LETTER}))",
    "B": f"(?:(?<={_LETTER})(?={_LETTER})|(?<!{_LETTER})(?!{_LETTER}))",
}
_TEXT_ANCHORS = {"^": r"\A", "$": r"\Z"}
"""What the two mean without the flag `m`."""
_ANY_BUT_LINE_END = r"(?-i:[^\n\r\u2028\u2029])"
_ANY = r"(?-i:[\s\S])"
_QUANTIFIER = re.compile(r"\*|\+|\?|\{(\d++)(,?)(\d*+)\}", re.ASCII)
_PROPERTY = re.compile(r"[pP]\{[A-Za-z_0-9]+(?:=[A-Za-z_0-9]+)?\}")
_NAMED = re.compile(r"\(\?<([^\s<>(=!][^\s<>(]*+)>")
_CAPTURES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|\((?!\?)|\(\?<(?![=!])", re.DOTALL)
_DIGITS = re.compile(r"[0-9]+")
_NAME = re.compile(r"k<([^<>]*+)>")
_GROUPS = ("(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?-i:")


class InvalidRegExp(ValueError):
    """The source cannot be read. `at` is the index of the character in it; `problem` says what is
    wrong there."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at
        self.problem = problem


class _Element(NamedTuple):
    """One element or several: the folded letter if it is one, what a match requires, and the
    size."""

    letter: str | None = None
    clauses: tuple[Clause, ...] = ()
    size: int = 1
    """Elements, with counted repeats unrolled."""
    repeats: bool = True


_MARK = _Element(repeats=False)
_CLASS = _Element()


class RegExpReader:
    """Reads a JavaScript source from left to right, and writes the source for the `regex` module to
    `out`."""

    def __init__(self, source: str, *, match_case: bool, multiline: bool, dot_all: bool) -> None:
        self.source = source
        self._dot = _ANY if dot_all else _ANY_BUT_LINE_END
        self._anchors = _ANCHORS if multiline else _ANCHORS | _TEXT_ANCHORS
        self.at = 0
        self.out: list[str] = []
        self.caseless = True
        self._places: list[tuple[int, int]] = []
        self._written = 0
        self._match_case = match_case
        self._depth = 0
        self._opened = 0
        self._open: set[int] = set()
        captures = [
            capture.start() for capture in _CAPTURES.finditer(source) if capture.group()[0] == "("
        ]
        self.groups = tuple(
            named[1] if (named := _NAMED.match(source, start)) else None for start in captures
        )
        """Names of the capturing groups in their order."""

    def whole(self) -> _Element:
        element = self._alternatives()
        if self.at < len(self.source):
            raise InvalidRegExp(self.at, "there is no '(' for this ')'")
        return element

    def place(self, written: int) -> int:
        """Return the index in the source of a position in the written pattern."""
        found = bisect_right(self._places, (written, len(self.source))) - 1
        return self._places[found][1] if found >= 0 else 0

    def _write(self, text: str, place: int) -> None:
        self._places.append((self._written, place))
        self.out.append(text)
        self._written += len(text)

    def _peek(self, length: int = 1) -> str:
        return self.source[self.at : self.at + length]

    # Structure

    def _alternatives(self) -> _Element:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._write("|", self.at)
            self.at += 1
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        clauses: tuple[Clause, ...] = ()
        if all(branch.clauses for branch in branches):
            # One string of each branch: the longest excludes the most texts.
            best = [
                max(branch.clauses, key=lambda clause: min(map(len, clause))) for branch in branches
            ]
            clauses = (tuple(sorted({part for clause in best for part in clause})),)
        return _Element(clauses=clauses, size=sum(branch.size for branch in branches))

    def _sequence(self) -> _Element:
        clauses, run, size = list[Clause](), "", 0
        while self.at < len(self.source) and self._peek() not in "|)":
            start = self.at
            element = self._element()
            least, most = self._quantifier(element)
            size += element.size * max(least, 1)
            if size > MAX_SIZE:
                raise InvalidRegExp(start, "the repeats ask for too many copies")
            letter = (element.letter or "") if least else ""
            run += letter
            if letter and most == 1:
                continue
            if len(run) > 1:
                clauses.append((run,))
            run = letter
            if least:
                clauses.extend(element.clauses)
        if len(run) > 1:
            clauses.append((run,))
        return _Element(clauses=tuple(dict.fromkeys(clauses)), size=size)

    def _quantifier(self, element: _Element) -> tuple[int, int]:
        """(the least number of times, the most)."""
        found = _QUANTIFIER.match(self.source, self.at)
        if found is None:
            return 1, 1
        if not element.repeats:
            raise InvalidRegExp(self.at, "there is nothing to repeat before the quantifier")
        least = int(found.group() == "+")
        most = 1 if found.group() == "?" else MAX_SIZE
        if found.group(1) is not None:
            if max(len(found.group(1)), len(found.group(3))) > 9:
                raise InvalidRegExp(self.at, "the repeats ask for too many copies")
            least = int(found.group(1))
            most = least if not found.group(2) else int(found.group(3) or MAX_SIZE + least)
            if most < least:
                raise InvalidRegExp(self.at, "the numbers of the quantifier are out of order")
        self._write(found.group(), self.at)
        self.at = found.end()
        if self._peek() == "?":
            self._write("?", self.at)
            self.at += 1
        if _QUANTIFIER.match(self.source, self.at):
            raise InvalidRegExp(self.at, "there is nothing to repeat before the quantifier")
        return least, most

    def _element(self) -> _Element:
        char = self._peek()
        start = self.at
        match char:
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise InvalidRegExp(start, "there is nothing to repeat before the quantifier")
            case "{" if _QUANTIFIER.match(self.source, start):
                raise InvalidRegExp(start, "there is nothing to repeat before the quantifier")
        self.at += 1
        if char in "^$":
            self._write(self._anchors[char], start)
            return _MARK
        if char == ".":
            self._write(self._dot, start)
            return _CLASS
        return self._letter(char, start)

    def _letter(self, char: str, start: int) -> _Element:
        self.caseless = self.caseless and is_caseless(char)
        self._write(literal(char, match_case=self._match_case), start)
        return _Element(letter=None if char in "\r\n" else fold(char))

    def _group(self) -> _Element:
        start = self.at
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise InvalidRegExp(start, f"groups are nested more than {MAX_DEPTH} deep")
        named = _NAMED.match(self.source, start)
        opening = next((form for form in _GROUPS if self.source.startswith(form, start)), "(")
        self.at = named.end() if named else start + len(opening)
        if opening == "(" and not named and self._peek() == "?":
            raise InvalidRegExp(
                start,
                "JavaScript knows no such group; it has (?:…), (?<name>…), (?=…), (?!…), (?<=…) "
                "and (?<!…)",
            )
        outer = self._match_case
        if opening in {"(?i:", "(?-i:"}:
            self._match_case = opening == "(?-i:"
        self._write(opening, start)
        self._opened += opening == "("
        number = self._opened if opening == "(" else 0
        self._open.add(number)
        inside = self._alternatives()
        self._open.discard(number)
        if self._peek() != ")":
            raise InvalidRegExp(start, "this '(' is not closed")
        self._write(")", self.at)
        self.at += 1
        self._match_case = outer
        self._depth -= 1
        if opening in {"(?!", "(?<!"}:
            inside = _Element(size=inside.size)
        return inside._replace(size=inside.size + 1, repeats=not opening.startswith("(?<"))

    # Escapes

    def _escape(self) -> _Element:
        start = self.at
        self.at += 1
        char = self._peek()
        if not char:
            raise InvalidRegExp(start, "the expression ends with a lone backslash")
        if char in "bB":
            self.at += 1
            self._write(self._anchors[char], start)
            return _MARK
        if char.lower() in CLASSES:
            self.at += 1
            members = CLASSES[char.lower()]
            self._write(without(members) if char.isupper() else f"(?-i:[{members}])", start)
            return _CLASS
        if found := _PROPERTY.match(self.source, self.at):
            self.at = found.end()
            self.caseless = False
            self._write("\\" + found.group(), start)
            return _CLASS
        if char in "123456789" or (char == "k" and any(self.groups)):
            return self._reference(start)
        char, self.at = read_character(self.source, start, self.at)
        return self._letter(char, start)

    def _reference(self, start: int) -> _Element:
        if digits := _DIGITS.match(self.source, self.at):
            self.at = digits.end()
            number = int(digits.group()) if len(digits.group()) < 9 else len(self.groups) + 1
            if number > len(self.groups):
                raise InvalidRegExp(start, f"there is no group {digits.group()} to refer to")
        else:
            named = _NAME.match(self.source, self.at)
            if named is None or named.group(1) not in self.groups:
                raise InvalidRegExp(start, "there is no group of this name to refer to")
            self.at = named.end()
            number = self.groups.index(named.group(1)) + 1
        self.caseless = False
        # In JavaScript a group that did not take part, or is not closed yet, matches the empty
        # text.
        self._write("(?:)" if number in self._open else f"(?({number})\\{number}|)", start)
        return _CLASS

    # Classes

    def _class(self) -> _Element:
        start = self.at
        self.at += 1
        negated = self._peek() == "^"
        self.at += negated
        members, others, words, cased = list[str](), list[str](), "", False
        while self._peek() != "]":
            if self.at >= len(self.source):
                raise InvalidRegExp(start, "this '[' is not closed")
            place = self.at
            first = self._member()
            if len(first) > 1:
                if first.startswith("[^"):
                    others.append(f"(?-i:{first})")
                elif first == CLASSES["w"]:
                    words = first
                else:
                    members.append(first)
                    cased = cased or (first[0] == "\\" and first[1] in "pP")
                continue
            last = first
            if self._peek() == "-" and self._peek(2)[1:] not in ("", "]"):
                back = self.at
                self.at += 1
                last = self._member()
                if len(last) > 1:
                    self.at = back
                    last = first
                elif last < first:
                    raise InvalidRegExp(place, "the range is out of order")
            cased = cased or not is_caseless_range(first, last)
            members.append(
                write_member(first)
                if first == last
                else f"{write_member(first)}-{write_member(last)}"
            )
        self.at += 1
        self.caseless = self.caseless and not cased
        self._write(
            write_class("".join(members), words, others, negated=negated, cased=cased), start
        )
        return _CLASS

    def _member(self) -> str:
        """One character, or the inside of a class (longer than one character; `[^` first for a
        complement)."""
        start = self.at
        char = self._peek()
        self.at += 1
        if char != "\\":
            return char
        escaped = self._peek()
        if not escaped:
            raise InvalidRegExp(start, "the expression ends with a lone backslash")
        if escaped in "bB-":
            self.at += 1
            return "\b" if escaped == "b" else escaped
        if escaped.lower() in CLASSES:
            self.at += 1
            inside = CLASSES[escaped.lower()]
            return f"[^{inside}]" if escaped.isupper() else inside
        if found := _PROPERTY.match(self.source, self.at):
            self.at = found.end()
            return "\\" + found.group()
        char, self.at = read_character(self.source, start, self.at)
        return char


# Characters and classes of them


def read_character(source: str, start: int, at: int) -> tuple[str, int]:
    """The character of the escape from `start` on, and its end; `at` is behind the backslash.
    Raises: InvalidRegExp."""
    if found := _SURROGATES.match(source, at):
        high, low = (int(code, 16) for code in found.groups())
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), found.end()
    if found := _CODE.match(source, at):
        if found.group(4):
            return chr(ord(found.group(4)) % 32), found.end()
        code = int(found.group(1) or found.group(2) or found.group(3), 16)
        if code > 0x10FFFF:
            raise InvalidRegExp(start, "there is no such character: the highest is \\u{10FFFF}")
        return chr(code), found.end()
    char = source[at : at + 1]
    if char == "0" and not source[at + 1 : at + 2].isdigit():
        return "\0", at + 1
    return _CONTROLS.get(char, char), at + 1


def write_member(char: str) -> str:
    return char if char.isalnum() or not char.isascii() else f"\\x{ord(char):02x}"


def is_caseless_range(first: str, last: str) -> bool:
    if ord(last) - ord(first) < 256:
        return is_caseless("".join(map(chr, range(ord(first), ord(last) + 1))))
    return first >= "\u2e80" and last <= "\ua4cf"  # the East Asian scripts


def without(members: str) -> str:
    """Any character but some: with IGNORECASE the `regex` module loses `ı` and the like in
    `a*(?-i:[^A-Za-z])`."""
    return rf"(?-i:(?![{members}])[\s\S])"


def write_class(members: str, words: str, others: list[str], *, negated: bool, cased: bool) -> str:
    """A class of the `regex` module. `\\w` and complements must not meet the case flag, which would
    widen them."""
    if words and not cased:
        members += words
        words = ""
    if members and not words and not others:
        if negated and not cased:
            return without(members)
        plain = f"[{'^' if negated else ''}{members}]"
        return plain if cased else f"(?-i:{plain})"
    parts = others + ([f"(?-i:[{words}])"] if words else [])
    if members:
        parts.append(f"[{members}]" if cased else f"(?-i:[{members}])")
    if not parts:
        return "(?s:.)" if negated else "(?!)"
    either = "|".join(parts)
    return f"(?:(?!{either})(?s:.))" if negated else f"(?:{either})"
