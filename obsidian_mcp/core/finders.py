"""What finds a word, a phrase or a regular expression in a text (specs/query.md, QUERY-20 to QUERY-36)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import regex

from . import compat
from .letters import phrase, substring
from .query import Phrase, Regex, Word
from .regexp import RegExp, translate
from .text import Span


class Finder(Protocol):
    """Looks at `text[start:end]` as if there were nothing around it. Raises: OperationTimeout."""

    def found(self, text: str, start: int, end: int) -> bool: ...

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]: ...


@dataclass(frozen=True, slots=True)
class _Literal:
    pattern: regex.Pattern[str]
    looks_around: bool
    """Whether it looks at the neighbours, which a part of a text does not have."""

    def found(self, text: str, start: int, end: int) -> bool:
        if self.looks_around and (start > 0 or end < len(text)):
            return self.pattern.search(text[start:end]) is not None
        return self.pattern.search(text, start, end) is not None

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:
        for found in self.pattern.finditer(text[start:end]):
            yield Span(start + found.start(), start + found.end())


@dataclass(frozen=True, slots=True)
class _Expression:
    regexp: RegExp

    def found(self, text: str, start: int, end: int) -> bool:
        return self.regexp.found(text[start:end])

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:
        for first, last in self.regexp.spans(text[start:end]):
            yield Span(start + first, start + last)


class _Anywhere:
    """The empty phrase: in every text, at no place of it."""

    def found(self, text: str, start: int, end: int) -> bool:  # noqa: ARG002
        return True

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:  # noqa: ARG002
        return iter(())


def finder(leaf: Word | Phrase | Regex, match_case: bool | None, *, path: bool = False) -> Finder:
    """`match_case` None: as by default. `path`: for paths, which are NFC."""
    if isinstance(leaf, Regex):
        return _Expression(expression_of(leaf, match_case))
    text = unicodedata.normalize("NFC", leaf.text) if path else leaf.text
    if not text:
        return _Anywhere()
    if isinstance(leaf, Phrase):
        return _Literal(phrase(text, match_case=bool(match_case)), looks_around=True)
    return _Literal(substring(text, match_case=bool(match_case)), looks_around=False)


def expression_of(leaf: Regex, match_case: bool | None) -> RegExp:
    case = match_case if match_case is not None else not compat.SEARCH_REGEX_IGNORES_CASE
    return translate(leaf.source, match_case=case)
