"""One search on one state of the vault: which files, in which order, and what is shown of them (specs/search.md)."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import regex

from . import deadline, ranking, stems, terms
from .hits import ANSWER_CHARACTERS, Hit, Hits, Request
from .letters import SPACED, is_spaced, literal
from .match import Matcher
from .meaning import Reading, groups, literal_terms
from .paths import VaultPath, name_key
from .query import Node, Phrase
from .ranking import Judge
from .scene import Scene
from .snippets import Place, Snippet, choose
from .terms import Term
from .text import Span


@dataclass(frozen=True, slots=True)
class _Results:
    """Files by number, and what they are weighed by."""

    files: AbstractSet[int]
    terms: Sequence[Term]
    asked: str
    """For the full-text index."""
    exact: Sequence[Node]
    widened: str | None = None


class Question:
    def __init__(self, request: Request, tree: Node | None, scene: Scene) -> None:
        """`tree` None: a query that we cannot read, for `shown` alone."""
        self._request = request
        self._tree = tree if tree is not None else Phrase("")
        self._scene = scene

    def answer(self, building: str | None) -> Hits:
        results = self._exactly() if self._request.match == "exact" else self._smartly()
        others = self._scene.others_matching(self._tree)
        files = {number for number in results.files if self._inside(self._scene.path(number))}
        names = [entry for entry in others if self._inside(entry.path)]
        total = len(files) + len(names)
        start, stop = self._request.offset, self._request.offset + self._request.limit
        ranked = self._ranked(files, results, stop)
        page: list[Hit] = []
        room = ANSWER_CHARACTERS
        shown = _Shown(results.terms, results.exact, self._rarities(results.terms))
        for number, score in ranked[start:stop]:
            deadline.checkpoint()
            hit = Hit(self._scene.path(number), round(score, 2), self._snippets(number, shown))
            room -= hit.size
            if room < 0 and page:
                break
            page.append(hit)
        else:
            page += [Hit(entry.path) for entry in names[max(0, start - len(files)) : max(0, stop - len(files))]]
        following = start + len(page)
        return Hits(total, page, following if following < total else None, results.widened, building)

    def shown(self, named: Sequence[VaultPath]) -> Hits:
        """These files, in this order; hidden ones are left out."""
        listed = [path for path in named if self._inside(path) and not self._scene.hides(path)]
        shown = _Shown((), [self._tree], ())
        page: list[Hit] = []
        room = ANSWER_CHARACTERS
        for path in listed[self._request.offset : self._request.offset + self._request.limit]:
            deadline.checkpoint()
            number = self._scene.number(path)
            hit = Hit(path, None, None if number is None else self._snippets(number, shown))
            room -= hit.size
            if room < 0 and page:
                break
            page.append(hit)
        following = self._request.offset + len(page)
        return Hits(len(listed), page, following if following < len(listed) else None)

    def _inside(self, path: str) -> bool:
        folder = self._request.folder
        return folder is None or name_key(path).startswith(name_key(folder) + "/")

    # -- which -------------------------------------------------------------------------------------------------

    def _exactly(self) -> _Results:
        files = self._scene.matching(self._tree) | self._scene.fresh_matching(self._tree)
        found = literal_terms(self._tree, self._scene.vocabulary)
        return _Results(files, found, " OR ".join(term.asked for term in found), [self._tree])

    def _smartly(self) -> _Results:
        asked = groups(self._tree)
        exact = [group.exact for group in asked if group.exact is not None]
        if not any(group.choices for group in asked):
            return self._exactly()
        fresh = {number: self._scene.contents(number) for number in self._scene.fresh}
        words = self._scene.vocabulary.and_also(told.words for told in fresh.values())
        languages = stems.languages(words.count if fresh else self._scene.lookup.known_words)
        for width in range(len(terms.WIDENINGS)):
            reading = Reading(asked, words, languages, width)
            files = reading.rows(self._scene, asked)
            for group, read in zip(asked, reading.groups, strict=True):
                told = {number for number, each in fresh.items() if not read or reading.is_told_by(read, each)}
                files |= told if group.exact is None else told & self._scene.fresh_matching(group.exact)
            if files:
                break
        found = [term for term in reading.terms if term.asked]
        expression = " OR ".join(f"({each})" for each in map(reading.asked, reading.groups) if each)
        return _Results(files, found, expression, exact, terms.WIDENINGS[width] if files and width else None)

    # -- in which order ----------------------------------------------------------------------------------------

    def _ranked(self, files: AbstractSet[int], results: _Results, most: int) -> list[tuple[int, float]]:
        """The first `most` files with their scores."""
        scene = self._scene
        weights = ranking.weighed(scene.connection, results.asked, {number for number in files if number > 0})
        if len(files) > ranking.FEW:
            first = sorted(weights, key=lambda number: (-weights[number], -self._time(number)))[:most]
            chosen = set(first)
            if len(first) < most:
                first += islice(
                    (number for number in scene.newest() if number in files and number not in chosen), most - len(first)
                )
                first += [number for number in files if number < 0]
            return [(number, weights.get(number, 0.0)) for number in first]
        order = sorted(files, key=lambda number: (-weights.get(number, 0.0), -self._time(number), scene.path(number)))
        if not results.terms:
            return [(number, 0.0) for number in order[:most]]
        judge = Judge(results.terms, self._rarities(results.terms), self._request.query)
        fresh = [number for number in order if number < 0]
        best = [number for number in order if number > 0][: ranking.CLOSELY] + fresh
        judged = {number: judge.score(scene.fields(number)) for number in best}
        best.sort(key=lambda number: (-round(judged[number], 1), -self._time(number), scene.path(number)))
        rest = [(number, 0.0) for number in order if number not in judged]
        return ([(number, judged[number]) for number in best] + rest)[:most]

    def _time(self, number: int) -> int:
        entry = self._scene.entry(number)
        return entry.mtime_ns if entry else 0

    def _rarities(self, found: Sequence[Term]) -> list[float]:
        everything = len(self._scene.files)
        return [ranking.rarity(everything, self._scene.lookup.count(term.asked)) for term in found]

    # -- what is shown -----------------------------------------------------------------------------------------

    def _snippets(self, number: int, shown: _Shown) -> list[Snippet] | None:
        if not self._request.snippets:
            return None
        subject = self._scene.subject(number)
        text = subject.text
        places = shown.places(text)
        for query in shown.exact:
            match = Matcher(query).find(subject)
            places += [Place(span, -1) for span in (match.content if match else ())]
        if not places:
            return None
        return choose(text, places, self._scene.headings(number, subject), self._request.snippets)


class _Shown:
    """Finds in a text what is worth to be shown."""

    def __init__(self, found: Sequence[Term], exact: Sequence[Node], rarities: Sequence[float]) -> None:
        self.exact = exact
        self._rarities = rarities
        self._pattern = pattern(tuple((tuple(term.variants), term.phrases) for term in found)) if found else None

    def places(self, text: str) -> list[Place]:
        if self._pattern is None:
            return []
        return [
            Place(Span(*found.span()), found.lastindex or 0, self._rarities[(found.lastindex or 1) - 1])
            for found in self._pattern.finditer(text)
        ]


@lru_cache(maxsize=64)
def pattern(found: tuple[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], ...]) -> regex.Pattern[str]:
    """Finds the words and phrases of some terms, each term in a group of its own."""
    sources = []
    for variants, phrases in found:
        ways = [_bounded(literal(word, match_case=False), word, word) for word in variants]
        between = rf"(?!{SPACED})\P{{L}}{{0,3}}"
        ways += [
            _bounded(between.join(literal(word, match_case=False) for word in phrase), phrase[0], phrase[-1])
            for phrase in phrases
        ]
        sources.append(f"({'|'.join(ways)})")
    return regex.compile("|".join(sources), regex.VERSION0 | regex.IGNORECASE)


def _bounded(source: str, first: str, last: str) -> str:
    before = rf"(?<!{SPACED})" if is_spaced(first[0]) else ""
    after = rf"(?!{SPACED})" if is_spaced(last[-1]) else ""
    return before + source + after
