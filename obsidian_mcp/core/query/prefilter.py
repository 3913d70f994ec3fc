"""Turn a query into conditions that an index can look up (QUERY-60 to QUERY-63)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.casefold import fold, is_caseless

from .nodes import And, Node, Not, Operator, Or, Phrase, Property, Regex, Scope, Word
from .regexp import translate

Where = Literal["content", "path", "text"]
"""`text` is the content or the path. Only notes and canvases have content, and only they match `text`."""


@dataclass(slots=True, unsafe_hash=True)
class Holds:
    """The folded place contains the folded `text`; if `bounded`, where it does not continue into a word."""

    text: str
    where: Where
    bounded: bool = False


@dataclass(slots=True, unsafe_hash=True)
class HasWord:
    """A regular expression matches in a word of the place, or in several words with underscores between them."""

    leaf: Regex
    where: Where


@dataclass(slots=True, unsafe_hash=True)
class HasTask:
    """The file has a task of the operator's kind."""

    operator: Operator


@dataclass(slots=True, unsafe_hash=True)
class HasTag:
    """The file has the tag."""

    leaf: Word | Phrase | Regex


@dataclass(slots=True, unsafe_hash=True)
class HasProperty:
    """The file has the property, with the value if there is one."""

    property: Property
    match_case: bool | None


@dataclass(slots=True, unsafe_hash=True)
class AllOf:
    parts: tuple[Filter, ...]


@dataclass(slots=True, unsafe_hash=True)
class AnyOf:
    parts: tuple[Filter, ...]


@dataclass(slots=True, unsafe_hash=True)
class NoneOf:
    part: Filter


@dataclass(slots=True, unsafe_hash=True)
class AtMost:
    """Every matching file satisfies the part; a file that satisfies the part may not match."""

    part: Filter


@dataclass(slots=True, unsafe_hash=True)
class Anything:
    """True of every file."""


Filter = Holds | HasWord | HasTask | HasTag | HasProperty | AllOf | AnyOf | NoneOf | AtMost | Anything
ANYTHING = AtMost(Anything())
"""Every file may match."""


def prefilter(query: Node) -> Filter:
    """Return the conditions of a query; outside of `AtMost` they are exact for notes and canvases."""
    return _narrow(query, _Place("text"))


def required(query: Node) -> tuple[str, ...]:
    """Return folded texts that all content contains which satisfies the operand of a scope, the longest first."""
    found = _bare(_narrow(query, _Place("content", scoped=True)))
    parts = found.parts if isinstance(found, AllOf) else (found,)
    texts = {part.text for part in map(_bare, parts) if isinstance(part, Holds) and part.where == "content"}
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


def _bare(found: Filter) -> Filter:
    return found.part if isinstance(found, AtMost) else found


class _Place(NamedTuple):
    """Where the leaves search. `scoped`: in a part of the text, so that a condition on the whole file is not exact."""

    where: Literal["content", "path", "text", "tag"]
    scoped: bool = False
    match_case: bool | None = None


def _narrow(node: Node, place: _Place) -> Filter:
    match node:
        case And():
            return all_of(_narrow(part, place) for part in node.parts)
        case Or():
            return any_of(_narrow(part, place) for part in node.parts)
        case Not():
            return ANYTHING if place.scoped else NoneOf(_narrow(node.part, place))
        case Scope():
            return _scope(node, place)
        case Property():
            return HasProperty(node, place.match_case)
        case Word() | Phrase() | Regex():
            if place.where == "tag":
                return AtMost(HasTag(node)) if place.scoped else HasTag(node)
            return _text(node, place, place.where)
    raise TypeError(f"{type(node).__name__} stands only in the brackets of a property")


def _scope(node: Scope, place: _Place) -> Filter:
    match node.operator:
        case "match-case" | "ignore-case":
            return _narrow(node.part, place._replace(match_case=node.operator == "match-case"))
        case "tag" | "path" | "content":
            return _narrow(node.part, place._replace(where=node.operator))
        case "file":  # the path contains the name
            return _narrow(node.part, place._replace(where="path", scoped=True))
    if node.operator == "line" and not place.scoped:
        return _line(node.part, place)
    inner = _narrow(node.part, place._replace(where="content", scoped=True))
    if node.operator in ("task", "task-todo", "task-done"):
        inner = all_of([HasTask(node.operator), inner])
    if node.operator == "section" and not place.scoped and compat.SEARCH_TEXT_BEFORE_FIRST_HEADING_IS_A_SECTION:
        in_line = _line(node.part, place)
        if not isinstance(in_line, AtMost):
            return in_line  # every line lies in one section
    return AtMost(inner)


def _line(operand: Node, place: _Place) -> Filter:
    """Return what `line:` requires of a whole file: exactly so if one of some texts must be in a line."""
    parts = operand.parts if isinstance(operand, And) else (operand,)
    leaves = parts[0].parts if isinstance(parts[0], Or) else parts[:1]
    found = _narrow(operand, place._replace(where="content", scoped=True))
    if len(parts) == 1 and compat.SEARCH_FRONTMATTER_IS_CONTENT:
        texts = [leaf for leaf in leaves if isinstance(leaf, Word | Phrase) and _in_one_line(leaf, place.match_case)]
        if len(texts) == len(leaves):
            return any_of(Holds(fold(leaf.text), "content", isinstance(leaf, Phrase)) for leaf in texts)
    return AtMost(found)


def _in_one_line(leaf: Word | Phrase, match_case: bool | None) -> bool:
    """Whether every line that contains the folded text matches."""
    cased = match_case and not is_caseless(leaf.text)
    return bool(leaf.text) and not cased and "\n" not in leaf.text and "\r" not in leaf.text


def _text(leaf: Word | Phrase | Regex, place: _Place, where: Where) -> Filter:
    if isinstance(leaf, Regex):
        expression = translate(leaf.source)
        if expression.in_words and not place.scoped and compat.SEARCH_FRONTMATTER_IS_CONTENT:
            ignores_case = not place.match_case and compat.SEARCH_REGEX_IGNORES_CASE
            return HasWord(leaf, where) if ignores_case else AtMost(HasWord(leaf, where))
        return AtMost(all_of(any_of(Holds(text, where) for text in clause) for clause in expression.clauses))
    if not leaf.text:
        return ANYTHING if place.scoped else Anything()
    text = fold(leaf.text)
    composed = fold(unicodedata.normalize("NFC", leaf.text))  # the form of every path
    bounded = isinstance(leaf, Phrase)
    found: Filter = Holds(composed if where == "path" else text, where, bounded)
    if where == "text" and composed != text:
        found = AnyOf((Holds(text, "content", bounded), Holds(composed, "path", bounded)))
    cased = bool(place.match_case) and not is_caseless(leaf.text)
    return found if not (cased or place.scoped) and compat.SEARCH_FRONTMATTER_IS_CONTENT else AtMost(found)


def all_of(parts: Iterable[Filter]) -> Filter:
    flat: list[Filter] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, AllOf) else [part])
    left = tuple(dict.fromkeys(part for part in flat if part != Anything()))
    return AllOf(left) if len(left) > 1 else left[0] if left else Anything()


def any_of(parts: Iterable[Filter]) -> Filter:
    left = tuple(dict.fromkeys(parts))
    return AnyOf(left) if len(left) > 1 else left[0]
