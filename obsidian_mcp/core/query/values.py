"""What a query asks of properties: `[key]`, `[key:value]` (semantics 5.4; specs/query.md, QUERY-50 to QUERY-55)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.casefold import fold

from .matchers import finder
from .parser import And, Compare, Constant, Node, Not, Or, Phrase, Regex, Word, moment, number
from .regexp import translate


def name_test(key: Node) -> Callable[[str], bool]:
    """Whether a property's name is the one asked for: the whole name, in any case."""
    match key:
        case Or():
            names = [name_test(part) for part in key.parts]
            return lambda name: any(accepts(name) for accepts in names)
        case Regex():
            return translate(key.source).found
        case Word() | Phrase():
            wanted = fold(key.text)
            return lambda name: fold(name) == wanted
    raise TypeError(f"{type(key).__name__} is no name of a property")


def value_test(node: Node | None, match_case: bool | None) -> Callable[[object], bool]:
    """Whether a property's value is the one asked for. A term holds for a list when it holds for one of its items."""
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
    raise TypeError(f"{type(node).__name__} is no value of a property")


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
