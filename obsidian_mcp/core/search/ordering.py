"""In which order the files of a search are listed (specs/search.md, SEARCH-60 to 63)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from . import ranking
from .expand import Term
from .ranking import Judge
from .retrieve import Found
from .snapshot import Scene

Scored = tuple[int, float | None]

FEW = 1_000
MANY = 3_000
"""Up to so many files are weighed one by one, for one word and for several; of more only their names, headings and
times are looked at."""

ONE_BY_ONE = 100
"""Of so many files the times are compared; where more are, their places among all."""
IN_NAME = 1.5
"""How much more a file weighs at first that has a word in its path which only asks."""

PARSED = 12
"""Files that are not in the index yet, of which the first are parsed for one search, 0.6 ms each."""

SPELLINGS = 8
"""Forms of a word that are looked for in so many names."""


def best(scene: Scene, found: Found, query: str, most: int) -> list[Scored]:
    """The first `most` files with their scores; None where the query has nothing that can be weighed. Those after the
    closely weighed ones have a rough score, no greater than theirs.
    """
    if not found.terms:
        return [(number, None) for number in _newest_first(scene, found.files, most)]
    few = FEW if len(found.terms) == 1 else MANY
    if len(found.files) <= ranking.CLOSELY:
        first = dict.fromkeys(_newest_first(scene, found.files, ranking.CLOSELY), 0.0)
    elif len(found.files) <= few and scene.lookup.count(found.asked) <= few:
        first = _weighed(scene, found, max(most, ranking.CLOSELY))
    else:
        first = _roughly(scene, found, max(most, ranking.CLOSELY))
        if len(found.files) > few and len(found.terms) == 1:  # then the text of a note tells little
            return list(islice(first.items(), most))
    counted = rarities(scene, found.terms, found.files)
    lightly = [ranking.LIGHT * each for each in rarities(scene, found.light, found.files)]
    judge = Judge([*found.terms, *found.light], [*counted, *lightly], query)
    closely = list(islice(first, ranking.CLOSELY))
    if len(scene.fresh) > PARSED:
        unread = set([number for number in closely if number in scene.fresh][PARSED:])
        closely = [number for number in closely if number not in unread]
    scene.fetch(closely)
    scores = {number: judge.score(scene.fields(number)) for number in closely}
    closely.sort(key=lambda number: (-round(scores[number], 2), -scene.time(number), scene.path(number)))
    listed: list[Scored] = [(number, round(scores[number], 2)) for number in closely]
    least = min(scores.values(), default=math.inf)
    listed += ((number, round(min(least, rough), 2)) for number, rough in first.items() if number not in scores)
    return listed[:most]


def rarities(scene: Scene, terms: Sequence[Term], files: AbstractSet[int] = frozenset()) -> list[float]:
    """What each term counts. Of the files without rows only `files` are looked at."""
    if len(terms) == 1:
        return [1.0]
    told = [set(scene.contents(number).words.split()) for number in _fresh(scene, files)]
    everything = len(scene.files) + len(told)
    having = [_having(scene, term) + sum(map(term.may_be_in, told)) for term in terms]
    return [ranking.rarity(everything, count) for count in having]


def _having(scene: Scene, term: Term) -> int:
    """Files of the rows with a term; those with a part of a word are known from the search."""
    known = scene.lookup.holding(term.text) if term.part else None
    return scene.lookup.count(term.asked) if known is None else known


def _weighed(scene: Scene, found: Found, most: int) -> dict[int, float]:
    """The first `most` files with their weights, the one with the greatest first."""
    weights = ranking.weighed(scene.connection, found.asked)
    fresh = _fresh(scene, found.files)
    if fresh:
        each = rarities(scene, found.terms, found.files)
        weights |= {number: ranking.weight(scene.contents(number), found.terms, each) for number in fresh}
    for term in found.light:
        weights |= {number: weights[number] * IN_NAME for number in _in_path(scene, term) & weights.keys()}
    files = found.files
    if len(files) > most:  # with the files of the least weight among the first
        least = heapq.nlargest(most, (weights.get(number, 0.0) for number in files))[-1]
        files = {number for number in files if weights.get(number, 0.0) >= least}
    newest = _newest_first(scene, files, len(files))
    return {number: weights.get(number, 0.0) for number in sorted(newest, key=lambda n: -weights.get(n, 0.0))[:most]}


def _fresh(scene: Scene, files: AbstractSet[int]) -> list[int]:
    """Those of some files without rows that are weighed: each has to be parsed for that, so of many the last ones to
    change."""
    return _newest_first(scene, files & scene.fresh.keys(), PARSED)


def _roughly(scene: Scene, found: Found, most: int) -> dict[int, float]:
    """Of very many files: those with the words in their names, then in headings and tags, then the newest; with what a
    word counts there.
    """
    files = found.files
    chosen: dict[int, float] = {}

    def take(among: AbstractSet[int], field: str) -> None:
        newest = _newest_first(scene, among, most - len(chosen), chosen)
        chosen.update(dict.fromkeys(newest, ranking.WEIGHTS[field]))

    take(files & _named(scene, found.terms), "name")
    if len(chosen) < most and found.asked:
        headed = scene.lookup.having(f"{{alias heading tag}} : ({found.asked})")
        take(files & headed, "heading")
    if len(chosen) < most:
        take(files, "body")
    return chosen


def _named(scene: Scene, terms: Sequence[Term]) -> AbstractSet[int]:
    """Files with all terms in their paths, as letters: a look that costs 0.1 ms a word."""
    found: AbstractSet[int] | None = None
    for term in terms:
        having = _in_path(scene, term)
        found = having if found is None else found & having
    return found or frozenset()


def _in_path(scene: Scene, term: Term) -> AbstractSet[int]:
    spellings = [term.text] if term.part else [*term.variants, *map("".join, term.phrases)]
    return {number for spelling in spellings[:SPELLINGS] for number in scene.path_holds(spelling)}


def _newest_first(scene: Scene, files: AbstractSet[int], most: int, without: Container[int] = frozenset()) -> list[int]:
    """The first `most`, the one that changed last first, and none of those in `without`."""
    if len(files) > ONE_BY_ONE and not scene.fresh:
        if most * len(scene.files) < len(files) ** 2:  # they are met soon enough
            newest = scene.lookup.newest()
            return list(islice((each for each in newest if each in files and each not in without), most))
        left = [number for number in files if number not in without]
        return heapq.nsmallest(most, left, key=scene.lookup.places().__getitem__)
    left = [number for number in files if number not in without]
    return heapq.nsmallest(most, left, key=lambda number: (-scene.time(number), scene.path(number)))
