"""Read a JavaScript regular expression and write it for the `regex` module (QUERY-30 to QUERY-34).

The dialect is JavaScript's with the flag `u` for escapes and `m` for anchors. What JavaScript
accepts leniently without `u` (an escaped letter without meaning, a lone `{` or `]`) is accepted,
too. A line ends at LF or CRLF.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from obsidian_mcp.core.text.analysis import fold, is_caseless, literal

from .regexp_characters import (
    CLASSES,
    InvalidRegExp,
    is_caseless_range,
    read_character,
    write_class,
    write_complement,
    write_member,
)

MAX_DEPTH = 40
"""Deepest nesting of groups."""

MAX_SIZE = 100_000
"""Maximum number of elements with counted repeats unrolled, as the `regex` module unrolls them."""

_MAX_DIGITS = 9
"""Digits of a number in an expression; longer numbers are refused without being read."""

Clause = tuple[str, ...]
"""Folded strings of which every matching text contains at least one."""

_LETTER = f"(?-i:[{CLASSES['w']}])"
_ANCHORS = {
    "^": "(?m:^)",
    "$": r"(?=\r?\n|\Z)",
    "b": f"(?:(?<={_LETTER})(?!{_LETTER})|(?<!{_LETTER})(?={_LETTER}))",
    "B": f"(?:(?<={_LETTER})(?={_LETTER})|(?<!{_LETTER})(?!{_LETTER}))",
}
_TEXT_ANCHORS = {"^": r"\A", "$": r"\Z"}
"""The meaning of these two without the flag `m`."""
_ANY_BUT_LINE_END = r"(?-i:[^\n\r\u2028\u2029])"
_ANY = r"(?-i:[\s\S])"
_QUANTIFIER = re.compile(r"\*|\+|\?|\{(\d++)(,?)(\d*+)\}", re.ASCII)
_PROPERTY = re.compile(r"[pP]\{[A-Za-z_0-9]+(?:=[A-Za-z_0-9]+)?\}")
_NAMED = re.compile(r"\(\?<([^\s<>(=!][^\s<>(]*+)>")
_CAPTURES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|\((?!\?)|\(\?<(?![=!])", re.DOTALL)
_DIGITS = re.compile(r"[0-9]+")
_NAME = re.compile(r"k<([^<>]*+)>")
_GROUPS = ("(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?-i:")
"""How the groups begin that capture nothing."""


class _Element(NamedTuple):
    """One element of an expression, or several.

    `letter` is the folded letter, if the element is one. `clauses` are what every match contains.
    """

    letter: str | None = None
    clauses: tuple[Clause, ...] = ()
    size: int = 1
    """Number of elements, with counted repeats unrolled."""
    repeats: bool = True
    """Whether a quantifier may follow."""


_MARK = _Element(repeats=False)
"""An anchor: it has no width, so no quantifier may follow."""
_CLASS = _Element()
"""Any one character of several: what it is says nothing that a text must contain."""


class RegExpReader:
    """Reads a JavaScript source from left to right, and writes the source for the `regex` module
    to `out`."""

    def __init__(self, source: str, *, match_case: bool, multiline: bool, dot_all: bool) -> None:
        self.source = source
        self._dot = _ANY if dot_all else _ANY_BUT_LINE_END
        self._anchors = _ANCHORS if multiline else _ANCHORS | _TEXT_ANCHORS
        self.at = 0
        """Index in the source of what is read next."""
        self.out: list[str] = []
        """The parts of the written source."""
        self.caseless = True
        """Whether nothing read so far has upper and lower case: then ignoring case costs nothing
        more, and is left out."""
        self._places: list[tuple[int, int]] = []
        """Where each part begins in the written source, and what it was made of in the source."""
        self._written = 0
        """Length of the written source."""
        self._match_case = match_case
        self._depth = 0
        """Groups that are open."""
        self._opened = 0
        """Capturing groups that have begun."""
        self._open: set[int] = set()
        """The numbers of those that have not ended: a reference to one matches the empty text."""
        captures = [
            capture.start() for capture in _CAPTURES.finditer(source) if capture.group()[0] == "("
        ]
        self.groups = tuple(
            named[1] if (named := _NAMED.match(source, start)) else None for start in captures
        )
        """Names of the capturing groups in their order."""

    def read_source(self) -> _Element:
        """Read the whole source.

        Raises: InvalidRegExp.
        """
        element = self._alternatives()
        if self.at < len(self.source):
            raise InvalidRegExp(self.at, "there is no '(' for this ')'")
        return element

    def place(self, written: int) -> int:
        """Return the index in the source of a position in the written pattern."""
        number = bisect_right(self._places, (written, len(self.source))) - 1
        return self._places[number][1] if number >= 0 else 0

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
            least, highest = self._quantifier(element)
            size += element.size * max(least, 1)
            if size > MAX_SIZE:
                raise InvalidRegExp(start, "the repeats ask for too many copies")
            letter = (element.letter or "") if least else ""
            run += letter
            if letter and highest == 1:
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
        """Return the least and the highest number of times that an element is repeated."""
        quantifier = _QUANTIFIER.match(self.source, self.at)
        if quantifier is None:
            return 1, 1
        if not element.repeats:
            raise InvalidRegExp(self.at, "there is nothing to repeat before the quantifier")
        least = int(quantifier.group() == "+")
        highest = 1 if quantifier.group() == "?" else MAX_SIZE
        if quantifier.group(1) is not None:
            if max(len(quantifier.group(1)), len(quantifier.group(3))) > _MAX_DIGITS:
                raise InvalidRegExp(self.at, "the repeats ask for too many copies")
            least = int(quantifier.group(1))
            highest = least
            if quantifier.group(2):
                highest = int(quantifier.group(3) or MAX_SIZE + least)
            if highest < least:
                raise InvalidRegExp(self.at, "the numbers of the quantifier are out of order")
        self._write(quantifier.group(), self.at)
        self.at = quantifier.end()
        if self._peek() == "?":
            self._write("?", self.at)
            self.at += 1
        if _QUANTIFIER.match(self.source, self.at):
            raise InvalidRegExp(self.at, "there is nothing to repeat before the quantifier")
        return least, highest

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
            self._write(
                write_complement(members) if char.isupper() else f"(?-i:[{members}])", start
            )
            return _CLASS
        if unicode_property := _PROPERTY.match(self.source, self.at):
            self.at = unicode_property.end()
            self.caseless = False
            self._write("\\" + unicode_property.group(), start)
            return _CLASS
        if char in "123456789" or (char == "k" and any(self.groups)):
            return self._reference(start)
        char, self.at = read_character(self.source, start, self.at)
        return self._letter(char, start)

    def _reference(self, start: int) -> _Element:
        if digits := _DIGITS.match(self.source, self.at):
            self.at = digits.end()
            is_number = len(digits.group()) < _MAX_DIGITS
            number = int(digits.group()) if is_number else len(self.groups) + 1
            if number > len(self.groups):
                raise InvalidRegExp(start, f"there is no group {digits.group()} to refer to")
        else:
            named = _NAME.match(self.source, self.at)
            if named is None or named.group(1) not in self.groups:
                raise InvalidRegExp(start, "there is no group of this name to refer to")
            self.at = named.end()
            number = self.groups.index(named.group(1)) + 1
        self.caseless = False
        # In JavaScript a group that took no part, or is not closed yet, matches the empty text.
        self._write("(?:)" if number in self._open else f"(?({number})\\{number}|)", start)
        return _CLASS

    # Classes

    def _class(self) -> _Element:
        start = self.at
        self.at += 1
        negated = self._peek() == "^"
        self.at += negated
        members, complements, words, cased = list[str](), list[str](), "", False
        while self._peek() != "]":
            if self.at >= len(self.source):
                raise InvalidRegExp(start, "this '[' is not closed")
            place = self.at
            first = self._member()
            if len(first) > 1:
                if first.startswith("[^"):
                    complements.append(f"(?-i:{first})")
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
            write_class("".join(members), words, complements, negated=negated, cased=cased), start
        )
        return _CLASS

    def _member(self) -> str:
        """Return one character of a class, or the inside of another class.

        The inside is longer than one character; for a complement it begins with `[^`.
        """
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
        if unicode_property := _PROPERTY.match(self.source, self.at):
            self.at = unicode_property.end()
            return "\\" + unicode_property.group()
        char, self.at = read_character(self.source, start, self.at)
        return char
