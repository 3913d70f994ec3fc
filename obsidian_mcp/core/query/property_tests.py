"""Tests of the names and values of properties (QUERY-50 to QUERY-55)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from obsidian_mcp.core.text.analysis import fold, substring
from obsidian_mcp.core.text.javascript_number import LEAST_EXPONENTIAL
from obsidian_mcp.core.text.vault_path import basename
from obsidian_mcp.core.text.wikilink import read_whole_wikilink

from . import nodes
from .nodes import And, Not, Or, Phrase, QueryNode, Regex, Word
from .regexp import translate


def make_name_test(key: QueryNode) -> Callable[[str], bool]:
    """Return a test of property names: the whole name, in any case (QUERY-50).

    Raises: TypeError for a node that the parser puts into no key.
    """
    match key:
        case Or():
            tests = [make_name_test(part) for part in key.parts]
            return lambda name: any(accepts(name) for accepts in tests)
        case Regex():
            return translate(key.source).is_found_in
        case Word() | Phrase():
            folded_key = fold(key.text)
            return lambda name: fold(name) == folded_key
    raise TypeError(f"{type(key).__name__} cannot be the name of a property")


def make_value_test(node: QueryNode | None, match_case: bool | None) -> Callable[[object], bool]:
    """Return a test of property values (QUERY-51 to QUERY-55).

    A term is true of a list if it is true of one of its items.
    Raises: TypeError for a node that the parser puts into no value.
    """
    match node:
        case None:
            return lambda _: True
        case And() | Or():
            tests = [make_value_test(part, match_case) for part in node.parts]
            combine = all if isinstance(node, And) else any
            return lambda value: combine(accepts(value) for accepts in tests)
        case Not():
            inner = make_value_test(node.part, match_case)
            return lambda value: not inner(value)
        case nodes.Constant(value=None):
            return lambda value: value is None
        case nodes.Constant() | nodes.Compare():
            accepts = _item_test(node)
            return lambda value: any(map(accepts, _items(value)))
        case Word() | Phrase() | Regex():
            matches = _text_test(node, match_case)
            return lambda value: any(map(matches, _texts(_items(value))))
    raise TypeError(f"{type(node).__name__} cannot be the value of a property")


def _item_test(node: nodes.Constant | nodes.Compare) -> Callable[[object], bool]:
    if isinstance(node, nodes.Constant):
        return lambda item: item is node.value
    compare = operator.gt if node.sign == ">" else operator.lt
    if (limit := nodes.number(node.scalar)) is not None:
        return lambda item: (
            isinstance(item, int | float) and not isinstance(item, bool) and compare(item, limit)
        )
    time_limit = nodes.moment(node.scalar) or ""

    def is_in_time(item: object) -> bool:
        time = nodes.moment(item.strip()) if isinstance(item, str) else None
        return time is not None and compare(time, time_limit)

    return is_in_time


def _text_test(leaf: Word | Phrase | Regex, match_case: bool | None) -> Callable[[str], object]:
    if isinstance(leaf, Regex):
        return translate(leaf.source, match_case=bool(match_case)).is_found_in
    if isinstance(leaf, Word):
        return substring(leaf.text, match_case=bool(match_case)).search
    fold_case = str if match_case else fold
    return partial(_is_named, fold_case(leaf.text), fold_case)


def _is_named(folded: str, fold_case: Callable[[str], str], text: str) -> bool:
    """Return whether a value is a text, or a link with this path, name or alias."""
    names = [text]
    link = read_whole_wikilink(text.strip()) if "[[" in text else None
    if link is not None and link.path and not link.is_embed:
        path = link.path.strip()
        names += [path, basename(path), *([link.display.strip()] if link.display else [])]
    return folded in map(fold_case, names)


def _items(value: object) -> list[object]:
    return [item for part in value for item in _items(part)] if isinstance(value, list) else [value]


def _texts(items: Iterable[object]) -> Iterator[str]:
    """Yield the texts of some values; null and mappings have none."""
    for item in items:
        if isinstance(item, bool):
            yield "true" if item else "false"
        elif isinstance(item, float) and item.is_integer() and abs(item) < LEAST_EXPONENTIAL:
            yield str(int(item))  # as JavaScript writes 7.0
        elif isinstance(item, str | int | float):
            yield str(item)
