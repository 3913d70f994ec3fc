"""Pages of one list are pages of one order (TOOL-39).

A list may change between two pages: while an index is being built the ranking moves, and files come
and go. What the pages before have given is remembered, so that the next one neither repeats nor
skips anything.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from .call import current_call

T = TypeVar("T")

MOST_LISTS: Final = 200
"""Lists whose pages are remembered."""
MOST_BYTES: Final = 4_000_000
"""Of all of them together."""

Entries = Mapping[str, "array[int]"]
"""Of each list of an answer the entries that its pages have given, by their hashes."""


_OF_A_PAGE: Final = frozenset(("offset", "limit"))
"""Arguments in which the pages of one list differ."""


class PageOrder:
    """The order of the lists of one call."""

    def __init__(self, tool: str, arguments: Mapping[str, Any], earlier: Entries) -> None:
        """`earlier` is what the pages before have given."""
        self._tool = tool
        self._arguments = arguments
        self._earlier = earlier
        self.starts: dict[str, int] = {}
        """Of each list where the page begins now that some of what was given is gone."""
        self._lists: dict[str, tuple[Sequence[Any], Callable[[Any], object]]] = {}

    def arrange(
        self, items: Sequence[T], offset: int, key: Callable[[T], object], name: str
    ) -> tuple[Sequence[T], int]:
        """Return the items in the order in which the pages began, and where the page begins.

        Those that earlier pages gave come first.
        """
        earlier = self._earlier.get(name) if offset else None
        arranged, start = items, offset
        if earlier and not self.is_same(items, key, name):
            by_hash = dict(zip(_hashes(items, key), items, strict=True))
            start -= sum(1 for number in earlier[:offset] if number not in by_hash)
            arranged = [by_hash.pop(number) for number in earlier if number in by_hash]
            arranged += by_hash.values()
        self._lists[name] = arranged, key
        self.starts[name] = start
        return arranged, start

    def is_same(self, items: Sequence[T], key: Callable[[T], object], name: str) -> bool:
        """Whether the items begin as the pages before did."""
        earlier = self._earlier.get(name, ())
        return [*_hashes(items[: len(earlier)], key)] == [*earlier]

    @property
    def question(self) -> object:
        """What the pages of one list have in common: who asks, and for what."""
        return _question_of(self._tool, self._arguments)

    def entries(self, end: int) -> Entries:
        """Return what the pages up to this one have given; `end` is where the next one begins."""
        return {
            name: array("q", _hashes(items[:end], key))
            for name, (items, key) in self._lists.items()
        }


def _hashes(items: Iterable[T], key: Callable[[T], object]) -> Iterator[int]:
    """Yield the hash of each item; of the second one with a key another than of the first."""
    counts: dict[object, int] = {}
    for item in items:
        item_key = key(item)
        counts[item_key] = count = counts.get(item_key, 0) + 1
        yield hash((item_key, count))


class PageOrders:
    """What the pages of lists have given, of the last calls of all clients. Safe to share between
    threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[object, Entries] = {}

    def begin(self, tool: str, arguments: Mapping[str, Any]) -> PageOrder:
        """Return the order of a page that a call asks for."""
        earlier: Entries = {}
        if arguments.get("offset"):
            with self._lock:
                earlier = self._entries.get(_question_of(tool, arguments), {})
        return PageOrder(tool, arguments, earlier)

    def keep(self, pages: PageOrder | None, end: int) -> None:
        """Remember what the pages of a list have given; the next one begins at `end`."""
        if pages is None:
            return
        question, entries = pages.question, pages.entries(end)
        with self._lock:
            self._entries.pop(question, None)
            self._entries[question] = entries
            total = sum(
                part.itemsize * len(part)
                for lists in self._entries.values()
                for part in lists.values()
            )
            while len(self._entries) > MOST_LISTS or (total > MOST_BYTES and self._entries):
                oldest = self._entries.pop(next(iter(self._entries)))
                total -= sum(part.itemsize * len(part) for part in oldest.values())


def _question_of(tool: str, arguments: Mapping[str, Any]) -> object:
    record = current_call.get()
    parts = sorted((key, repr(value)) for key, value in arguments.items() if key not in _OF_A_PAGE)
    return record.client, record.key, tool, tuple(parts)


def continue_order(
    items: Sequence[T], offset: int, key: Callable[[T], object], name: str = ""
) -> tuple[Sequence[T], int]:
    """Return the items of a list in the order in which its pages began, and where the page begins.

    `key` is what an entry is known by, such as its path; `name` tells the lists of one answer
    apart.
    """
    order: PageOrder | None = current_call.get().page_order
    return (items, offset) if order is None else order.arrange(items, offset, key, name)


def page_start(offset: int) -> int:
    """Return where the page of a list begins that was asked for at an offset."""
    order: PageOrder | None = current_call.get().page_order
    return offset if order is None else order.starts.get("", offset)


def has_moved(items: Sequence[T], key: Callable[[T], object]) -> bool:
    """Return whether the items no longer begin as the pages before the call's did."""
    order: PageOrder | None = current_call.get().page_order
    return order is not None and not order.is_same(items, key, "")
