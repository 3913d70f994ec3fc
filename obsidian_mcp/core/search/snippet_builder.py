"""The lines of files that answer a query (specs/search.md, SEARCH-70 to 73)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from obsidian_mcp.core.query.document import Subject
from obsidian_mcp.core.query.evaluate import Matcher
from obsidian_mcp.core.query.parser import Node, Word
from obsidian_mcp.core.text.casefold import fold

from . import ordering
from .expand import Term
from .snapshot import Scene
from .snippets import LOOKED_AT, Place, Snippet, choose

FIRST_PLACES = 8
"""Places of the only word asked for among which the lines to show are chosen."""

AT_ONCE = 12
"""Files that are read together: about half a page."""
MANY = 2_000


class Showing:
    """Shows files of one search."""

    def __init__(self, scene: Scene, terms: Sequence[Term], exact: Sequence[Node], most: int) -> None:
        """`most` snippets a file."""
        self._scene = scene
        self._most = most
        self._terms = list(zip(terms, ordering.rarities(scene, terms), strict=True)) if most else []
        self._expected: Sequence[int] = ()
        self._next: dict[int, int] = {}
        self._read: set[int] = set()
        self._matchers = [Matcher(query) for query in exact]
        self._several = len(self._terms) + len(exact) > 1 or not all(isinstance(query, Word) for query in exact)

    def expect(self, numbers: Sequence[int]) -> None:
        """Files that will be asked for in this order, as far as there is room: they are read some at a time."""
        self._expected = numbers
        self._next = dict(zip(numbers, range(len(numbers)), strict=True)) if len(numbers) <= MANY else {}

    def snippets(self, number: int) -> list[Snippet] | None:
        """The lines to show of a file; None where there are none."""
        if not self._most:
            return None
        if number not in self._read and number in self._next:
            at = self._next[number]
            some = self._expected[at : at + AT_ONCE]
            self._read.update(some)
            self._scene.fetch(some)
            self._scene.fetch_headings(some)
        subject = self._scene.subject(number)
        places = islice(self._places(subject), None if self._several else FIRST_PLACES)
        alike = not self._several and not self._terms
        found = choose(subject.text, places, lambda: self._scene.headings(number, subject), self._most, alike=alike)
        return found or None

    def _places(self, subject: Subject) -> Iterator[Place]:
        if self._terms:
            text = fold(subject.text)
            for number, (term, rarity) in enumerate(self._terms):
                for span, weight in term.places(text, LOOKED_AT):
                    yield Place(span, number, rarity * weight)
        number = len(self._terms)
        for matcher in self._matchers:
            for spans in matcher.places(subject):
                yield from (Place(span, number) for span in islice(spans, LOOKED_AT))
                number += 1
