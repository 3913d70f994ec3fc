"""Find words, phrases and regular expressions in texts, tags and property values (QUERY-13, QUERY-20 to QUERY-55)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import regex

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.casefold import fold, phrase, substring
from obsidian_mcp.core.text.text import Span

from .nodes import And, Compare, Constant, Node, Not, Or, Phrase, Regex, Word, moment, number
from .regexp import RegExp, translate


class Finder(Protocol):
    """Searches `text[start:end]` as if there were nothing around it. Raises: OperationTimeout."""

    def found(self, text: str, start: int, end: int) -> bool: ...

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]: ...


@dataclass(frozen=True, slots=True)
class Literal:
    """A word or phrase. Searching keeps the interpreter's lock: it takes 1 µs for 2 KB, and thousands of searches would
    all wait for the lock while another thread works (five times the time during a checkout)."""

    pattern: regex.Pattern[str]
    looks_around: bool
    """Whether the neighbours of a match count, which a part of a text does not have."""

    def found(self, text: str, start: int, end: int) -> bool:
        if self.looks_around and (start > 0 or end < len(text)):
            return self.pattern.search(text[start:end], concurrent=False) is not None
        return self.pattern.search(text, start, end, concurrent=False) is not None

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:
        for found in self.pattern.finditer(text[start:end]):
            yield Span(start + found.start(), start + found.end())


@dataclass(frozen=True, slots=True)
class Expression:
    regexp: RegExp

    def found(self, text: str, start: int, end: int) -> bool:
        return self.regexp.found(text[start:end])

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:
        for first, last in self.regexp.spans(text[start:end]):
            yield Span(start + first, start + last)


class _Anywhere:
    """The empty phrase matches every text, at no place of it."""

    def found(self, text: str, start: int, end: int) -> bool:  # noqa: ARG002
        return True

    def spans(self, text: str, start: int, end: int) -> Iterator[Span]:  # noqa: ARG002
        return iter(())


def finder(leaf: Word | Phrase | Regex, match_case: bool | None, *, path: bool = False) -> Finder:
    """Return what finds a leaf. `match_case` None: the default; `path`: in paths, which are NFC."""
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


# Tags and properties


def tag_name(text: str) -> str:
    """Return a tag of a query folded, without `#` and a trailing slash."""
    return fold(text).removeprefix("#").rstrip("/")


def tag_test(leaf: Word | Phrase | Regex) -> Callable[[str], bool]:
    """Return a test of tags without `#`: the tag itself or one below it, in any case (semantics 3.4; QUERY-13)."""
    if isinstance(leaf, Regex):
        expression = translate(leaf.source)
        return lambda tag: expression.found(tag) or expression.found(f"#{tag}")
    name = tag_name(leaf.text)
    below = f"{name}/"
    return lambda tag: not name or (folded := fold(tag)) == name or folded.startswith(below)


def name_test(key: Node) -> Callable[[str], bool]:
    """Return a test of property names: the whole name, in any case (QUERY-50)."""
    match key:
        case Or():
            names = [name_test(part) for part in key.parts]
            return lambda name: any(accepts(name) for accepts in names)
        case Regex():
            return translate(key.source).found
        case Word() | Phrase():
            wanted = fold(key.text)
            return lambda name: fold(name) == wanted
    raise TypeError(f"{type(key).__name__} cannot be the name of a property")


def value_test(node: Node | None, match_case: bool | None) -> Callable[[object], bool]:
    """Return a test of property values. A term is true of a list if it is true of one item (QUERY-51 to QUERY-55)."""
    match node:
        case None:
            return lambda _: True
        case And():
            every = [value_test(part, match_case) for part in node.parts]
            return lambda value: all(accepts(value) for accepts in every)
        case Or():
            some = [value_test(part, match_case) for part in node.parts]
            return lambda value: any(accepts(value) for accepts in some)
        case Not():
            inner = value_test(node.part, match_case)
            return lambda value: not inner(value)
        case Constant(value=None):
            return lambda value: value is None
        case Constant():
            wanted = node.value
            return lambda value: any(item is wanted for item in _items(value))
        case Compare():
            return _comparison(node)
        case Word() | Phrase() | Regex():
            return _text_value(node, match_case)
    raise TypeError(f"{type(node).__name__} cannot be the value of a property")


def _text_value(leaf: Word | Phrase | Regex, match_case: bool | None) -> Callable[[object], bool]:
    if isinstance(leaf, Regex) or (isinstance(leaf, Word) and compat.SEARCH_PROPERTY_WORD_IS_PART):
        searched = finder(leaf, match_case)
        return lambda value: any(searched.found(text, 0, len(text)) for text in _texts(value))
    wanted = leaf.text if match_case else fold(leaf.text)
    return lambda value: any((text if match_case else fold(text)) == wanted for text in _texts(value))


def _comparison(node: Compare) -> Callable[[object], bool]:
    sign = 1 if node.sign == ">" else -1
    limit = number(node.scalar)
    if limit is not None:
        numeric = limit
        return lambda value: any(
            (item > numeric) - (item < numeric) == sign
            for item in _items(value)
            if isinstance(item, int | float) and not isinstance(item, bool)
        )
    time = moment(node.scalar) or ""
    return lambda value: any(
        (other > time) - (other < time) == sign
        for item in _items(value)
        if isinstance(item, str) and (other := moment(item.strip())) is not None
    )


def _items(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for item in value:
            yield from _items(item)
    else:
        yield value


def _texts(value: object) -> Iterator[str]:
    """The texts of a value and of the items of a list; null and mappings have none."""
    for item in _items(value):
        if isinstance(item, bool):
            yield "true" if item else "false"
        elif isinstance(item, float) and item.is_integer() and abs(item) < 1e21:
            yield str(int(item))  # as JavaScript writes 7.0
        elif isinstance(item, str | int | float):
            yield str(item)
