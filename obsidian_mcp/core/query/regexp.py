"""Translate regular expressions of JavaScript for the `regex` module (semantics 5.3; QUERY-30 to QUERY-34).

The dialect is JavaScript's with the flag `u` for escapes and `m` for anchors; what JavaScript takes leniently without
`u` (an escaped letter without meaning, a lone `{` or `]`) is taken here too. A line ends at LF or CRLF.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache

import regex

from obsidian_mcp.core.text.casefold import SPACED, fold, is_caseless, literal, substring
from obsidian_mcp.errors import OperationTimeout

SECONDS = 1.0
"""Longest time of one regular expression on one text."""

MAX_DEPTH = 40
"""Deepest nesting of groups."""

MAX_SIZE = 100_000
"""Most elements of an expression with its counted repeats unrolled, as the module does."""

Clause = tuple[str, ...]
"""Folded strings of which every matching text contains at least one."""

_CLASSES = {
    "d": "0-9",
    "w": "0-9A-Za-z_",
    "s": r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
}
_LETTER = f"[{_CLASSES['w']}]"
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
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_QUANTIFIER = re.compile(r"\*|\+|\?|\{(\d+)(,?)(\d*)\}", re.ASCII)
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]+)\}|c([A-Za-z])")
_SURROGATES = re.compile(r"u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_PROPERTY = re.compile(r"[pP]\{[A-Za-z_0-9]+(?:=[A-Za-z_0-9]+)?\}")
_NAMED = re.compile(r"\(\?<([^\s>=!][^\s>]*)>")
_CAPTURES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?)|\(\?<(?![=!])", re.DOTALL)
_DIGITS = re.compile(r"[0-9]+")
_NAME = re.compile(r"k<([^>]*)>")
_IN_WORDS = regex.compile(
    rf"(?:[A-Za-z0-9]|(?={SPACED})[^\x00-\x7f]|\\[wdb]|\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9]|\\[wd])+\]"
    r"|\((?:\?:)?|\)|\||[*+?]|\{[0-9]+(?:,[0-9]*)?\})+"
)
"""Sources made only of letters, digits and classes of them, groups and repeats."""
_COMPLEX = re.compile(r"\(|\\[1-9k]")
"""Begins an element that is no single character: a group, or a reference to one."""
_GROUPS = ("(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?-i:")


class InvalidRegExp(ValueError):
    """The source cannot be read. `at` is the index of the character in it; `problem` says what is wrong there."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at
        self.problem = problem


@dataclass(frozen=True, slots=True)
class RegExp:
    """A compiled source, made by `translate`. A search in one text takes at most SECONDS."""

    source: str
    pattern: regex.Pattern[str]
    clauses: tuple[Clause, ...]
    """Every matching text contains a string of each clause; strings have two letters or more."""
    looks_around: bool
    """Whether it has a lookahead or lookbehind. Without one, a match in a line is a match in the whole text."""
    shorter: RegExp | None = None
    """An expression that matches the same texts, in shorter matches and less time."""
    groups: tuple[str | None, ...] = ()
    """Names of the capturing groups; None for a group without a name."""

    @property
    def shortest(self) -> RegExp:
        """The expression to use if only whether a text matches counts, and not where."""
        return self.shorter or self

    @property
    def in_words(self) -> bool:
        """Whether it can only match letters and digits that are parts of one word, or `_` between them."""
        return _IN_WORDS.fullmatch(self.source) is not None and self.pattern.search("") is None

    @property
    def sees_underscores(self) -> bool:
        """Whether an underscore beside or in a word matters; for an expression that is `in_words`."""
        return "\\w" in self.source or "\\b" in self.source

    def first(self, text: str, start: int, end: int) -> int:
        """Return where the first match in `text[start:end]` begins, -1 without one. Raises: OperationTimeout."""
        try:
            found = self.pattern.search(text, start, end, timeout=SECONDS)
        except TimeoutError:
            raise self._timeout() from None
        return found.start() if found else -1

    def found(self, text: str) -> bool:
        """Return whether a text matches. Raises: OperationTimeout."""
        # A search for a plain string is several times faster than most expressions.
        for clause in self.clauses:
            if not any(substring(part, match_case=False).search(text) for part in clause):
                return False
        return self.shortest.first(text, 0, len(text)) >= 0

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the matches that are not empty. Raises: OperationTimeout."""
        try:
            return [m.span() for m in self.pattern.finditer(text, timeout=SECONDS) if m.end() > m.start()]
        except TimeoutError:
            raise self._timeout() from None

    def _timeout(self) -> OperationTimeout:
        shown = self.source if len(self.source) < 100 else f"{self.source[:99]}…"
        return OperationTimeout(
            f"The regular expression /{shown}/ ran for more than {SECONDS:g} s on one file and was stopped. "
            "Make it simpler: a repeat inside a repeat, as in (a+)+, is the usual cause.",
            regex=self.source,
            seconds=SECONDS,
        )


@lru_cache(maxsize=256)
def translate(source: str, *, match_case: bool = False, multiline: bool = True, dot_all: bool = False) -> RegExp:
    """Translate a source. `multiline` and `dot_all` are JavaScript's flags `m` and `s`. Raises: InvalidRegExp."""
    reader = _Reader(source, match_case=match_case, multiline=multiline, dot_all=dot_all)
    whole = reader.whole()
    flags = regex.VERSION0 | (0 if match_case or reader.caseless else regex.IGNORECASE)
    try:
        pattern = regex.compile("".join(reader.out), flags)
    except regex.error as problem:
        at = getattr(problem, "pos", None) or 0  # the stubs do not know these two
        raise InvalidRegExp(reader.place(at), getattr(problem, "msg", "it cannot be read")) from None
    rest = reader.shorter()
    shorter = None
    if rest:
        simpler = translate(rest, match_case=match_case, multiline=multiline, dot_all=dot_all)
        shorter = replace(simpler.shortest, source=source)
    return RegExp(source, pattern, whole.clauses, reader.looks_around, shorter, reader.groups)


@dataclass(frozen=True, slots=True)
class _Element:
    """One element or several: the folded letter if it is one, what a match requires, and the size."""

    letter: str | None = None
    clauses: tuple[Clause, ...] = ()
    size: int = 1
    """Elements, with counted repeats unrolled."""
    repeats: bool = True


@dataclass(frozen=True, slots=True)
class _Part:
    """An element outside of all groups: where it and its repeats are in the source."""

    start: int = 0
    end: int = 0
    """Of the element without its repeats."""
    stop: int = 0
    least: int = 1
    is_endless: bool = False
    """Whether it is one character with an unlimited repeat."""
    branches: bool = False
    """Whether it is no element but `|`."""


_MARK = _Element(repeats=False)
_CLASS = _Element()


class _Reader:
    """Reads a JavaScript source from left to right, and writes the source for the `regex` module to `out`."""

    def __init__(self, source: str, *, match_case: bool, multiline: bool, dot_all: bool) -> None:
        self.source = source
        self._dot = _ANY if dot_all else _ANY_BUT_LINE_END
        self._anchors = _ANCHORS if multiline else _ANCHORS | _TEXT_ANCHORS
        self.at = 0
        self.out: list[str] = []
        self.caseless = True
        self.looks_around = False
        self._places: list[tuple[int, int]] = []
        self._written = 0
        self._match_case = match_case
        self._depth = 0
        self._groups: list[str | None] = []
        self._opened = 0
        self._open: set[int] = set()
        self._parts: list[_Part] = []
        for capture in _CAPTURES.finditer(source):
            if capture.group()[0] == "(":
                named = _NAMED.match(source, capture.start())
                self._groups.append(named.group(1) if named else None)

    def whole(self) -> _Element:
        element = self._alternatives()
        if self.at < len(self.source):
            raise InvalidRegExp(self.at, "there is no '(' for this ')'")
        return element

    def shorter(self) -> str:
        """Return the source with no more repeats at its ends than a match needs: `a+b*` matches where `a` does.

        Empty if there is nothing to leave out. To be called after `whole`.
        """
        if any(part.branches for part in self._parts):
            return ""
        for part in self._parts[:1] + self._parts[-1:]:
            if part.is_endless:
                before, after = self.source[: part.start], self.source[part.stop :]
                repeats = "" if part.least == 1 else f"{{{part.least}}}"
                return before + (self.source[part.start : part.end] + repeats if part.least else "") + after
        return ""

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

    @property
    def groups(self) -> tuple[str | None, ...]:
        """Names of the capturing groups in their order."""
        return tuple(self._groups)

    # Structure

    def _alternatives(self) -> _Element:
        branches: list[_Element] = []
        while True:
            branches.append(self._sequence())
            if self._peek() != "|":
                break
            if not self._depth:
                self._parts.append(_Part(branches=True))
            self._write("|", self.at)
            self.at += 1
        if len(branches) == 1:
            return branches[0]
        clauses: tuple[Clause, ...] = ()
        if all(branch.clauses for branch in branches):
            # One string of each branch: the longest excludes the most texts.
            best = [max(branch.clauses, key=lambda clause: min(map(len, clause))) for branch in branches]
            clauses = (tuple(sorted({part for clause in best for part in clause})),)
        return _Element(clauses=clauses, size=sum(branch.size for branch in branches))

    def _sequence(self) -> _Element:
        clauses: list[Clause] = []
        run = ""
        size = 0
        while self.at < len(self.source) and self._peek() not in "|)":
            start = self.at
            element = self._element()
            end = self.at
            least, most = self._quantifier(element)
            if not self._depth:
                repeated = self.source[end : self.at].rstrip("?")
                endless = repeated in ("*", "+") or repeated.endswith(",}")
                whole = element.repeats and not _COMPLEX.match(self.source, start)
                self._parts.append(_Part(start, end, self.at, least, is_endless=endless and whole))
            size += element.size * max(least, 1)
            if size > MAX_SIZE:
                raise InvalidRegExp(start, "the repeats ask for too many copies")
            if element.letter is not None and least == most == 1:
                run += element.letter
                continue
            if element.letter is not None and least:
                run += element.letter
            if len(run) > 1:
                clauses.append((run,))
            run = element.letter if element.letter is not None and least else ""
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
        if named := _NAMED.match(self.source, start):
            opening = "("
            self.at = named.end()
        else:
            opening = next((form for form in _GROUPS if self.source.startswith(form, start)), "(")
            self.at += len(opening)
        if opening == "(" and not named and self._peek() == "?":
            raise InvalidRegExp(
                start, "JavaScript knows no such group; it has (?:…), (?<name>…), (?=…), (?!…), (?<=…) and (?<!…)"
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
        self.looks_around = self.looks_around or opening[2:3] in ("=", "!", "<")
        if opening in {"(?!", "(?<!"}:
            inside = _Element(size=inside.size)
        return replace(inside, size=inside.size + 1, repeats=not opening.startswith("(?<"))

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
        if char.lower() in _CLASSES:
            self.at += 1
            members = _CLASSES[char.lower()]
            self._write(_without(members) if char.isupper() else f"(?-i:[{members}])", start)
            return _CLASS
        if found := _PROPERTY.match(self.source, self.at):
            self.at = found.end()
            self.caseless = False
            self._write("\\" + found.group(), start)
            return _CLASS
        if char in "123456789" or (char == "k" and self._groups and any(self._groups)):
            return self._reference(start)
        return self._letter(self._character(start), start)

    def _reference(self, start: int) -> _Element:
        if digits := _DIGITS.match(self.source, self.at):
            self.at = digits.end()
            number = int(digits.group()) if len(digits.group()) < 9 else len(self._groups) + 1
            if number > len(self._groups):
                raise InvalidRegExp(start, f"there is no group {digits.group()} to refer to")
        else:
            named = _NAME.match(self.source, self.at)
            if named is None or named.group(1) not in self._groups:
                raise InvalidRegExp(start, "there is no group of this name to refer to")
            self.at = named.end()
            number = self._groups.index(named.group(1)) + 1
        self.caseless = False
        # In JavaScript a group that did not take part, or is not closed yet, matches the empty text.
        self._write("(?:)" if number in self._open else f"(?({number})\\{number}|)", start)
        return _CLASS

    def _character(self, start: int) -> str:
        """The character of the escape whose backslash is at `start`."""
        char = self._peek()
        if found := _SURROGATES.match(self.source, self.at):
            self.at = found.end()
            high, low = (int(code, 16) for code in found.groups())
            return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        if found := _CODE.match(self.source, self.at):
            self.at = found.end()
            if found.group(4):
                return chr(ord(found.group(4)) % 32)
            code = int(found.group(1) or found.group(2) or found.group(3), 16)
            if code > 0x10FFFF:
                raise InvalidRegExp(start, "there is no such character: the highest is \\u{10FFFF}")
            return chr(code)
        self.at += 1
        if char == "0" and not self._peek().isdigit():
            return "\0"
        return _CONTROLS.get(char, char)

    # Classes

    def _class(self) -> _Element:
        start = self.at
        self.at += 1
        negated = self._peek() == "^"
        self.at += negated
        members: list[str] = []
        cased = False
        words = ""
        others: list[str] = []
        while self._peek() != "]":
            if self.at >= len(self.source):
                raise InvalidRegExp(start, "this '[' is not closed")
            place = self.at
            first = self._member()
            if len(first) > 1:
                if first.startswith("[^"):
                    others.append(f"(?-i:{first})")
                elif first == _CLASSES["w"]:
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
            cased = cased or not _caseless_range(first, last)
            members.append(_member(first) if first == last else f"{_member(first)}-{_member(last)}")
        self.at += 1
        self.caseless = self.caseless and not cased
        self._write(_set("".join(members), words, others, negated=negated, cased=cased), start)
        return _CLASS

    def _member(self) -> str:
        """One character, or the inside of a class (longer than one character; `[^` first for a complement)."""
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
        if escaped.lower() in _CLASSES:
            self.at += 1
            inside = _CLASSES[escaped.lower()]
            return f"[^{inside}]" if escaped.isupper() else inside
        if found := _PROPERTY.match(self.source, self.at):
            self.at = found.end()
            return "\\" + found.group()
        return self._character(start)


def _member(char: str) -> str:
    return char if char.isalnum() or not char.isascii() else f"\\x{ord(char):02x}"


def _caseless_range(first: str, last: str) -> bool:
    if ord(last) - ord(first) < 256:
        return is_caseless("".join(map(chr, range(ord(first), ord(last) + 1))))
    return first >= "\u2e80" and last <= "\ua4cf"  # the East Asian scripts


def _without(members: str) -> str:
    """Any character but some: with IGNORECASE the `regex` module loses `ı` and the like in `a*(?-i:[^A-Za-z])`."""
    return rf"(?-i:(?![{members}])[\s\S])"


def _set(members: str, words: str, others: list[str], *, negated: bool, cased: bool) -> str:
    """A class of the `regex` module. `\\w` and complements must not meet the case flag, which would widen them."""
    if words and not cased:
        members += words
        words = ""
    if members and not words and not others:
        if negated and not cased:
            return _without(members)
        plain = f"[{'^' if negated else ''}{members}]"
        return plain if cased else f"(?-i:{plain})"
    parts = others + ([f"(?-i:[{words}])"] if words else [])
    if members:
        parts.append(f"[{members}]" if cased else f"(?-i:[{members}])")
    if not parts:
        return "(?s:.)" if negated else "(?!)"
    either = "|".join(parts)
    return f"(?:(?!{either})(?s:.))" if negated else f"(?:{either})"
