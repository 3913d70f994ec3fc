"""How well a note answers a query: BM25 over its fields, then names, nearness and order (specs/search.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from . import words
from .content import FIELDS
from .database import Connection
from .terms import Term

WEIGHTS = {"body": 1.0, "name": 10.0, "alias": 9.0, "heading": 4.0, "tag": 4.0, "folder": 1.5}
"""What a word counts in a field, in the first pass."""
FEW = 3_000
"""Up to so many files are weighed one by one (2 µs each); of more only those that have the words in a field."""
CLOSELY = 30
"""The best of the first pass whose texts are looked at."""

SATURATION = 1.2
USUAL_LENGTH = 500
"""Words of a usual note."""

_BM25 = f"bm25(search, {', '.join(str(WEIGHTS[field]) for field in FIELDS)})"


def weighed(connection: Connection, asked: str, files: AbstractSet[int]) -> dict[int, float]:
    """The first pass: a weight for files of `files` that have the words `asked` for; 0 for all others is left out."""
    if not asked:
        return {}
    if len(files) > FEW:
        found = _weighed(connection, f"{{name alias}} : ({asked})")
        if len(found) < CLOSELY:
            headed = _weighed(connection, f"{{heading tag folder}} : ({asked})")
            found = {file: found.get(file, 0.0) + headed.get(file, 0.0) for file in {*found, *headed}}
    else:
        found = _weighed(connection, asked)
    return {file: weight for file, weight in found.items() if file in files}


def _weighed(connection: Connection, asked: str) -> dict[int, float]:
    return dict(
        connection.execute(f"SELECT rowid, -{_BM25} FROM search WHERE search MATCH ?", (asked,)).fetchall()  # noqa: S608
    )


@dataclass(frozen=True, slots=True)
class Fields:
    """What the second pass looks at."""

    name: str
    aliases: str
    headings: str
    tags: str
    folder: str
    text: str


_Start = tuple[int, float, tuple[bytes, ...]]
"""A term, what it counts when it is met so, and the words that must follow."""


class Judge:
    """The second pass: a score for one note."""

    def __init__(self, terms: Sequence[Term], rarities: Sequence[float], query: str) -> None:
        """`rarities` are what each term counts; `query` is the whole text that was asked for, folded."""
        self._rarities = rarities
        self._query = tuple(words.words(words.plain(words.spread(query))))
        self._starts: dict[bytes, list[_Start]] = {}
        for number, term in enumerate(terms):
            for word, weight in term.variants.items():
                self._starts.setdefault(word.encode(), []).append((number, weight, ()))
            for phrase in term.phrases:
                first, *rest = (word.encode() for word in phrase)
                share = 1.0 / len(term.phrases) if term.every else 1.0
                self._starts.setdefault(first, []).append((number, share, tuple(rest)))

    def score(self, note: Fields) -> float:
        body = words.words(words.spread(note.text))
        found = self._found(body)
        counts = [0.0] * len(self._rarities)
        for _, term, weight in found:
            counts[term] += weight
        length = SATURATION * (0.3 + 0.7 * len(body) / USUAL_LENGTH)
        score = sum(rarity * count / (count + length) for rarity, count in zip(self._rarities, counts, strict=True))
        for weight, items in (
            (1.6, [words.words(note.name)]),
            (1.4, _items(note.aliases)),
            (0.7, _items(note.headings)),
            (0.6, [words.words(note.tags)]),
            (0.3, [words.words(note.folder)]),
        ):
            score += weight * max(map(self._field, items), default=0.0)
        return score + self._nearness(found)

    def _found(self, text: Sequence[bytes]) -> list[tuple[int, int, float]]:
        """Place, term and weight of everything in a text."""
        return [
            (at, number, weight)
            for at, word in enumerate(text)
            if word in self._starts
            for number, weight, rest in self._starts[word]
            if not rest or tuple(text[at + 1 : at + 1 + len(rest)]) == rest
        ]

    def _field(self, text: Sequence[bytes]) -> float:
        """What a short text counts: more the fewer other words are in it."""
        best = [0.0] * len(self._rarities)
        places = set()
        for at, number, weight in self._found(text):
            best[number] = max(best[number], weight)
            places.add(at)
        if not places:
            return 0.0
        score = sum(rarity * weight for rarity, weight in zip(self._rarities, best, strict=True))
        if tuple(words.plain(word.decode()).encode() for word in text) == self._query:
            return 2.2 * score
        return score * (0.5 + 0.5 * min(1.0, len(places) / len(text)))

    def _nearness(self, found: Sequence[tuple[int, int, float]]) -> float:
        """More the closer together the terms stand somewhere in the text."""
        present = {number for _, number, _ in found}
        if len(present) < 2:
            return 0.0
        closest = math.inf
        last: dict[int, int] = {}
        for at, number, _ in found:
            last[number] = at
            if len(last) == len(present):
                closest = min(closest, at - min(last.values()))
        return 0.6 * sum(self._rarities[number] for number in present) * (len(present) - 1) / max(closest, 1)


def _items(field: str) -> list[list[bytes]]:
    return [words.words(item) for item in field.split(" . ") if item]


def rarity(files: int, having: int) -> float:
    """What a word counts that so many of the files have."""
    return max(0.2, math.log(1 + (files - having + 0.5) / (having + 0.5)))
