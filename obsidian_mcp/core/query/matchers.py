"""What finds a word, a phrase or a regular expression in a text (specs/query.md, QUERY-20 to QUERY-34)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import regex

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.casefold import phrase, substring
from obsidian_mcp.core.text.text import Span

from .parser import Phrase, Regex, Word
from .regexp import RegExp, translate


class Finder(Protocol):
    """Looks at `text[start:end]` as if there were nothing around it. Raises: OperationTimeout."""

    def found(self, text: str, start: int, end: int) -> bool: ...

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]: ...


@dataclass(frozen=True, slots=True)
class Literal:
    """Keeps the interpreter's lock: a search takes 1 µs for 2 KB, and of thousands each would wait for the lock when
    another thread is at work (five times the time during a checkout)."""

    pattern: regex.Pattern[str]
    looks_around: bool
    """Whether it looks at the neighbours, which a part of a text does not have."""

    def found(self, text: str, start: int, end: int) -> bool:
        if self.looks_around and (start > 0 or end < len(text)):
            return self.pattern.search(text[start:end], concurrent=False) is not None
        return self.pattern.search(text, start, end, concurrent=False) is not None

    def first(self, text: str, start: int, end: int) -> int:
        """Where it begins for the first time, with a look at the neighbours; -1 for nowhere."""
        found = self.pattern.search(text, start, end, concurrent=False)
        return found.start() if found else -1

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:
        for found in self.pattern.finditer(text[start:end]):
            yield Span(start + found.start(), start + found.end())


@dataclass(frozen=True, slots=True)
class Expression:
    regexp: RegExp

    def found(self, text: str, start: int, end: int) -> bool:
        return self.regexp.found(text[start:end])

    def first(self, text: str, start: int, end: int) -> int:
        """Where it begins for the first time, -1 for nowhere; only of one that does not look around."""
        return self.regexp.first(text, start, end)

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:
        for first, last in self.regexp.spans(text[start:end]):
            yield Span(start + first, start + last)


@dataclass(frozen=True, slots=True)
class Line:
    """Finds lines in which all of some things stand (QUERY-40)."""

    parts: tuple[Finder, ...]
    anchor: Literal | Expression
    """One of the parts, to be looked for in the whole text instead of line after line."""

    def found(self, text: str, start: int, end: int) -> bool:
        return any(True for _ in self.spans(text, start, end))

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:
        at = start
        while at <= end and (place := self.anchor.first(text, at, end)) >= 0:
            low = max(start, text.rfind("\n", start, place) + 1)
            high = text.find("\n", place, end)
            high = end if high < 0 else high
            at = high + 1
            if high > low and text[high - 1] == "\r":
                high -= 1
            if all(part.found(text, low, high) for part in self.parts):
                yield Span(low, high)


def line(leaves: Sequence[Word | Phrase | Regex], match_case: bool | None) -> Line | None:
    """Finds lines in which all leaves stand; None where nothing of them can be looked for in a whole text."""
    parts = [finder(leaf, match_case) for leaf in leaves]
    anchors: list[Literal | Expression] = [
        part
        for _, part in sorted(zip(leaves, parts, strict=True), key=lambda each: _telling(each[0]), reverse=True)
        if isinstance(part, Literal) or (isinstance(part, Expression) and not part.regexp.looks_around)
    ]
    return Line(tuple(parts), anchors[0]) if anchors else None


def _telling(leaf: Word | Phrase | Regex) -> int:
    """The longer a text the rarer; any text is found faster than an expression."""
    return 0 if isinstance(leaf, Regex) else len(leaf.text)


class _Anywhere:
    """The empty phrase: in every text, at no place of it."""

    def found(self, text: str, start: int, end: int) -> bool:  # noqa: ARG002
        return True

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:  # noqa: ARG002
        return iter(())


def finder(leaf: Word | Phrase | Regex, match_case: bool | None, *, path: bool = False) -> Finder:
    """`match_case` None: as by default. `path`: for paths, which are NFC."""
    if isinstance(leaf, Regex):
        return Expression(expression_of(leaf, match_case))
    text = unicodedata.normalize("NFC", leaf.text) if path else leaf.text
    if not text:
        return _Anywhere()
    if isinstance(leaf, Phrase):
        return Literal(phrase(text, match_case=bool(match_case)), looks_around=True)
    return Literal(substring(text, match_case=bool(match_case)), looks_around=False)


def expression_of(leaf: Regex, match_case: bool | None) -> RegExp:
    case = match_case if match_case is not None else not compat.SEARCH_REGEX_IGNORES_CASE
    return translate(leaf.source, match_case=case)
