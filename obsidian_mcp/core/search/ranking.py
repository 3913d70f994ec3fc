"""How well a note answers a query: BM25 over its fields, then names, nearness and order (specs/search.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.index.search_document import FIELDS, ITEMS, Content
from obsidian_mcp.core.text import tokenizer
from obsidian_mcp.core.text.casefold import fold

from .expand import Term

WEIGHTS = {"body": 1.0, "name": 10.0, "alias": 9.0, "heading": 4.0, "tag": 4.0, "folder": 1.5}
"""What a word counts in a field, in the first pass."""
CLOSELY = 20
"""The best of the first pass whose texts are looked at."""
OFTEN = 20
"""Places of one word in a text that are counted."""

LIGHT = 0.3
"""What a word counts that only asks, beside those that are looked for."""
SATURATION = 1.2
USUAL_LENGTH = 3_000
"""Characters of a usual note."""
WORD = 6
"""Characters from one word to the next."""

_BM25 = f"bm25(search, {', '.join(str(WEIGHTS[field]) for field in FIELDS)})"


def weighed(connection: Connection, asked: str) -> dict[int, float]:
    """The first pass: what the files weigh that have the words `asked` for. 2 µs a file."""
    if not asked:
        return {}
    sql = f"SELECT rowid, -{_BM25} FROM search WHERE search MATCH ?"  # noqa: S608 - our own names
    return dict(connection.execute(sql, (asked,)).fetchall())


def weight(told: Content, terms: Sequence[Term], rarities: Sequence[float]) -> float:
    """The same, roughly, of a file that the index does not have."""
    fields = [
        (factor, {word.decode() for word in tokenizer.words(getattr(told, field))}) for field, factor in WEIGHTS.items()
    ]
    return sum(
        rarity_ * sum(factor for factor, words_ in fields if term.may_be_in(words_))
        for term, rarity_ in zip(terms, rarities, strict=True)
    )


def rarity(files: int, having: int) -> float:
    """What a word counts that so many of the files have."""
    return max(0.2, math.log(1 + (files - having + 0.5) / (having + 0.5)))


@dataclass(frozen=True, slots=True)
class Fields:
    """What the second pass looks at; all but the name and the text are `words.spread`."""

    name: str
    aliases: str
    headings: str
    tags: str
    folder: str
    text: str


class Judge:
    """The second pass: a score for one note."""

    def __init__(self, terms: Sequence[Term], rarities: Sequence[float], query: str) -> None:
        """`rarities` are what each term counts; `query` is the whole text that was asked for."""
        self._terms = terms
        self._rarities = rarities
        self._query = _plainly(fold(query))
        self._first_words = [
            word
            for term in terms
            for word in ([term.text] if term.part else [*term.variants, *(each[0] for each in term.phrases)])
        ]

    def score(self, note: Fields) -> float:
        text = fold(note.text)
        length = SATURATION * (0.3 + 0.7 * len(text) / USUAL_LENGTH)
        places: list[tuple[int, int]] = []
        score = 0.0
        for number, (term, rarity_) in enumerate(zip(self._terms, self._rarities, strict=True)):
            count, met = 0.0, 0
            for span, weight in term.places(text, OFTEN):
                count += weight
                met += 1
                places.append((span.start, number))
            score += rarity_ * count / (met + length)
        nearness = self._nearness(places)
        name, aliases, headings, tags, folder = map(
            fold, (note.name, note.aliases, note.headings, note.tags, note.folder)
        )
        for weight, items in (
            (1.6, [name]),
            (1.4, self._promising(aliases)),
            (0.7, self._promising(headings)),
            (0.6, [tags]),
            (0.3, [folder]),
        ):
            counted = [self._field(item) for item in items]
            score += weight * max((one for one, _ in counted), default=0.0)
            nearness = max([nearness, *(near for _, near in counted)])
        return score + nearness

    def _promising(self, items: str) -> list[str]:
        """The items, where any of them can count."""
        if not items or not any(word in items for word in self._first_words):
            return []
        return items.split(ITEMS)

    def _field(self, text: str) -> tuple[float, float]:
        """What a short text counts, more the fewer other words are in it; and how near the terms stand in it."""
        score, met = 0.0, 0
        places: list[tuple[int, int]] = []
        for number, (term, rarity_) in enumerate(zip(self._terms, self._rarities, strict=True)):
            best = 0.0
            for span, weight in term.places(text, 2):
                best = max(best, weight)
                met += _letters(span.of(text))
                places.append((span.start, number))
            score += rarity_ * best
        if not score:
            return 0.0, 0.0
        nearness = self._nearness(places)
        letters = _letters(text)
        share = min(1.0, met / letters) if letters else 1.0  # nothing but symbols
        if _plainly(text) == self._query:
            return 2.2 * score, nearness
        if share == 1.0 and len({number for _, number in places}) == len(self._terms):
            return 1.6 * score, nearness
        return score * (0.5 + 0.5 * share), nearness

    def _nearness(self, places: Sequence[tuple[int, int]]) -> float:
        """More the closer together the terms stand somewhere in the text."""
        present = {number for _, number in places}
        if len(present) < 2:
            return 0.0
        closest = math.inf
        last: dict[int, int] = {}
        for at, number in sorted(places):
            last[number] = at
            if len(last) == len(present):
                closest = min(closest, at - min(last.values()))
        gaps = max(closest / WORD, len(present) - 1)
        return 0.6 * sum(self._rarities[number] for number in present) * (len(present) - 1) / gaps


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _plainly(text: str) -> list[str]:
    found = tokenizer.words(tokenizer.spread(text).replace(tokenizer.GAP, " "))
    return [tokenizer.plain(word.decode()) for word in found]
