"""Tests of the properties of a note: their names and values (QUERY-50 to QUERY-55)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from obsidian_mcp.core.text.analysis import fold, substring
from obsidian_mcp.core.text.vault_path import basename

from .nodes import And, Compare, Constant, Node, Not, Or, Phrase, Regex, Word, moment, number
from .regexp import translate

_LINK = re.compile(r"\s*\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]\s*")
"""A value that is a link: group 1 is the path, group 2 the alias."""


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
    if isinstance(leaf, Regex):
        searched = translate(leaf.source, match_case=bool(match_case))
        return lambda value: any(map(searched.found, _texts(_items(value))))
    if isinstance(leaf, Word):
        pattern = substring(leaf.text, match_case=bool(match_case))
        return lambda value: any(map(pattern.search, _texts(_items(value))))
    wanted = leaf.text if match_case else fold(leaf.text)
    return lambda value: any(
        (name if match_case else fold(name)) == wanted for text in _texts(_items(value)) for name in _names(text)
    )


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


def _names(text: str) -> tuple[str, ...]:
    """Return what a quoted text may be of a value: all of it; of a link also the path, the name and the alias."""
    link = _LINK.fullmatch(text)
    if link is None:
        return (text,)
    path, shown = link[1].strip(), link[2]
    return text, path, basename(path), *((shown.strip(),) if shown else ())


def _items(value: object) -> list[object]:
    return [item for part in value for item in _items(part)] if isinstance(value, list) else [value]


def _texts(items: Iterable[object]) -> Iterator[str]:
    """The texts of some values; null and mappings have none."""
    for item in items:
        if isinstance(item, bool):
            yield "true" if item else "false"
        elif isinstance(item, float) and item.is_integer() and abs(item) < 1e21:
            yield str(int(item))  # as JavaScript writes 7.0
        elif isinstance(item, str | int | float):
            yield str(item)
