"""In which order the files of a search are listed: BM25 first, then a closer look at the best (SEARCH-60 to 63, 86)."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.index.search_document import FIELDS, ITEMS
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.text import analysis

from .plan import SearchPlan
from .retrieve import path_contains
from .snapshot import Snapshot
from .vocabulary import Term, without_gaps

Scored = tuple[int, float | None]
"""Number and score of a file."""

WEIGHTS = {"body": 1.0, "name": 10.0, "alias": 9.0, "heading": 4.0, "tag": 4.0, "folder": 1.5}
"""Weight of a word in each field, in the first pass."""
CLOSE_FILES = 20
"""The best files of the first pass whose texts are read."""
WEIGHED_FILES_ONE_TERM, WEIGHED_FILES = 1_000, 3_000
"""Most results scored with BM25, for one term and for several; of more, only paths, headings and times count."""
WIDE_FILES = 30
"""As `CLOSE_FILES`, where any of the words is enough; of more, only those with all the words are listed."""
LINK_SHARE = 0.5
"""Of what a query says, what the text of a link must say to count for the note that it leads to."""
WIDE_SHARE = 0.5
"""Of the first file's score, what another one must have to be listed then."""
FIRST_PLACES = 10
"""About so many places of each kind count much where files are found by words and by meaning."""
LIGHT = 0.3
"""Weight of words that only ask, beside those that are required."""
LIGHT_IN_PATH = 1.5
"""How much more a file weighs in the first pass that has such a word in its path."""
NAMED_FILES = 500
"""Up to so many files are named to SQLite to be sorted; of more, those of all are read in order."""
PLACES = 20
"""Places of one word in a text that are counted."""
SPELLINGS = 8
"""Forms of a word that are looked up in paths."""
OTHER = 0.9
"""Weight of a word that says the same, beside that of the word itself."""
MOST_OF_WORD = 1.8
"""Times its rarity, what BM25 gives a word at most: one word in a name shall not outweigh several in a text."""
SATURATION = 1.2
USUAL_CHARACTERS = 3_000
"""Of a usual note."""
WORD_CHARACTERS = 6
"""From one word to the next."""
PASSAGE_CHARACTERS = 100
"""Of a passage that may answer a question."""
PASSAGE = 1.5
"""Weight of the passage with the most words, beside the text."""
READ_CHARACTERS = 20_000
"""Of a text, what is looked at for a wide plan: of a list of links, words anywhere say little."""
NAME = 2.0
"""Weight of the name, beside the text."""
LENGTH = 0.3
"""Of a wide plan: exponent of the length of the text."""

_BM25 = f"bm25(search, {', '.join(str(WEIGHTS[field]) for field in FIELDS)})"


class Fields(NamedTuple):
    """What a search shows and weighs of a file; all but the text are prepared by `analysis.spread`."""

    is_truncated: bool
    """Whether the text is only the beginning of the file's."""
    aliases: str
    headings: str
    tags: str
    folder: str
    text: str
    links: str = ""
    """Texts of links to it, where these were looked at."""


Ranked = tuple[list[Scored], dict[int, Fields]]
"""Files with their scores, best first, and what was read of some."""


def fetch(snapshot: Snapshot, files: Collection[int]) -> dict[int, Fields]:
    """Return the fields of some files."""
    some = ", ".join(map(str, files))
    sql = f"SELECT file, odd & ?, alias, heading, tag, folder, text FROM texts WHERE file IN ({some})"  # noqa: S608
    rows = snapshot.rows.connection.execute(sql, (search_document.TRUNCATED,))
    return {number: Fields(bool(truncated), *rest) for number, truncated, *rest in rows}


def rank(snapshot: Snapshot, plan: SearchPlan, files: AbstractSet[int], query: str, most: int) -> Ranked:
    """Return the first `most` files, best first, and the fields of those that were read for it. Scores are None if
    nothing is weighed; from the 21st file on they are rough, and no greater than those before."""
    if not plan.terms:
        return [(number, None) for number in newest_first(snapshot, files, most)], {}
    few = WEIGHED_FILES_ONE_TERM if len(plan.terms) == 1 else WEIGHED_FILES
    if len(files) <= CLOSE_FILES:
        first = dict.fromkeys(newest_first(snapshot, files, CLOSE_FILES), 0.0)
    elif len(files) <= few and _count(snapshot, plan.expression) <= few:
        first = _weighed(snapshot, plan, files, max(most, CLOSE_FILES))
    else:
        first = _roughly(snapshot, plan, files, max(most, CLOSE_FILES))
        if len(files) > few and len(plan.terms) == 1:  # then the text of a note says little
            return list(islice(first.items(), most)), {}
    fields = fetch(snapshot, list(islice(first, CLOSE_FILES)))
    listed = _scored(snapshot, _Scores(snapshot, plan, query), fields)
    least = min((score for _, score in listed), default=math.inf)
    listed += ((number, round(min(least, rough), 2)) for number, rough in first.items() if number not in fields)
    return list(listed[:most]), fields


def rank_wide(
    snapshot: Snapshot,
    plan: SearchPlan,
    files: AbstractSet[int],
    complete: AbstractSet[int],
    query: str,
    *,
    complete_first: bool,
    is_question: bool,
    may_follow: Callable[[int], bool],
) -> Ranked:
    """As `rank`, of a wide plan: files with all the words, `complete`, and those that have much (SEARCH-86).
    `may_follow` says whether a file may be added that has none of the words, but is linked to under them."""
    has_all = bool(complete)
    if not has_all and plan.complete:
        sql = "SELECT rowid FROM search WHERE search MATCH ?"
        complete = files & {number for (number,) in snapshot.rows.connection.execute(sql, (plan.complete,))}
    terms = weighted_terms(snapshot, plan.terms)
    covering = set(_covering(snapshot, terms, files))
    first = complete | covering if len(complete) < WIDE_FILES else covering
    linked = _linked(snapshot, terms, first, may_follow)
    fields = fetch(snapshot, first | linked.keys())
    fields |= {number: fields[number]._replace(links=ITEMS.join(texts)) for number, texts in linked.items()}
    listed = _scored(snapshot, _Scores(snapshot, plan, query), fields)
    if complete and complete_first:
        most = min(score for number, score in listed if number in complete)
        listed = [(number, score if number in complete else min(score, most)) for number, score in listed]
        listed.sort(key=lambda pair: (pair[0] in complete, pair[1]), reverse=True)
    elif (
        has_all
        and not is_question
        and (best := next((pair for pair in listed if pair[0] in complete), None)) is not None
    ):
        listed.remove(best)
        listed.insert(0, (best[0], max(best[1], *(score for _, score in listed), 0.0)))
    least = WIDE_SHARE * listed[0][1] if listed else 0.0
    listed = [(number, score) for number, score in listed if score >= least or number in complete]
    rest = newest_first(snapshot, complete, len(complete), fields) if complete - first else []
    lowest = min((score for _, score in listed), default=0.0)
    return [*listed, *((number, lowest) for number in rest)], fields


def fuse(scored: Sequence[Scored], near: Iterable[int]) -> list[Scored]:
    """Files found by words and by meaning, ordered by their places: two models' scores do not compare (SEM-04)."""
    total: dict[int, float] = {}
    for found in ([number for number, _ in scored], near):
        for place, number in enumerate(found):
            total[number] = total.get(number, 0.0) + FIRST_PLACES / (FIRST_PLACES + place) / 2
    return [(number, round(score, 2)) for number, score in sorted(total.items(), key=itemgetter(1), reverse=True)]


def _scored(snapshot: Snapshot, scores: _Scores, fields: Mapping[int, Fields]) -> list[tuple[int, float]]:
    """Files with the scores of the second pass, best first; of equal ones the newest."""
    paths = snapshot.table.paths
    scored = {number: round(scores.score(paths[number], its), 2) for number, its in fields.items()}
    newest = newest_first(snapshot, fields.keys(), len(fields))
    return sorted([(number, scored[number]) for number in newest], key=itemgetter(1), reverse=True)


class Weighted(NamedTuple):
    """A term, and what it weighs."""

    word: int
    """Number of the word of the query that it stands for."""
    term: Term
    weight: float


def weighted_terms(snapshot: Snapshot, terms: Sequence[Term]) -> list[Weighted]:
    """Return some terms with their weights; other words weigh no more than those that they stand for (SEARCH-87)."""
    if len(terms) == 1:
        return [Weighted(0, terms[0], OTHER if terms[0].instead_of else 1.0)]
    everything, rarities = len(snapshot.table.paths), list[float]()
    for term in terms:  # the rarer, the more
        known = snapshot.text_counts.get(term.text) if term.is_part else None
        count = _count(snapshot, term.expression) if known is None else known
        rarities.append(max(0.2, math.log(1 + (everything - count + 0.5) / (count + 0.5))))
    most = {term.text: rarity for term, rarity in zip(terms, rarities, strict=True) if not term.instead_of}
    numbers: dict[str, int] = {}
    weighted: list[Weighted] = []
    for term, rarity in zip(terms, rarities, strict=True):
        weight = OTHER * min(rarity, most.get(term.word, rarity)) if term.instead_of else rarity
        weighted.append(Weighted(numbers.setdefault(term.word, len(numbers)), term, weight))
    return weighted


def _count(snapshot: Snapshot, expression: str) -> int:
    """How many files of the index satisfy an expression; each is looked up once in a search."""
    if expression and expression not in snapshot.expression_counts:
        sql = "SELECT count(*) FROM search WHERE search MATCH ?"
        snapshot.expression_counts[expression] = snapshot.rows.connection.execute(sql, (expression,)).fetchone()[0]
    return snapshot.expression_counts.get(expression, 0)


def newest_first(
    snapshot: Snapshot, files: Collection[int], most: int, without: Collection[int] = frozenset()
) -> list[int]:
    """Return the first `most` files, the one changed last first, and none of those in `without` (SEARCH-63)."""
    left = [number for number in files if number not in without] if without else files
    if len(left) <= NAMED_FILES:
        some = ", ".join(map(str, left))
        sql = f"SELECT id FROM files WHERE id IN ({some}) ORDER BY mtime_ns DESC, path LIMIT ?"  # noqa: S608
        return [number for (number,) in snapshot.rows.connection.execute(sql, (most,))]
    wanted = left if isinstance(left, AbstractSet) else set(left)
    rows = snapshot.rows.connection.execute("SELECT id FROM files ORDER BY mtime_ns DESC, path")
    return list(islice((number for (number,) in rows if number in wanted), most))


# The first pass


def _covering(snapshot: Snapshot, terms: Sequence[Weighted], files: AbstractSet[int]) -> list[int]:
    """The files that have most of what the terms of a wide plan say, by BM25. Forms of a word count together no more
    than a word as rare; very common words select none, unless there are no others."""
    best: dict[int, dict[int, float]] = {}
    sql = f"SELECT rowid, -{_BM25} FROM search WHERE search MATCH ?"  # noqa: S608 - our own names
    left = WEIGHED_FILES
    for word, term, rarity in sorted(terms, key=lambda term: -term.weight):
        left -= _count(snapshot, term.expression)
        if best and left < 0:
            break
        most, of_word = MOST_OF_WORD * rarity, best.setdefault(word, {})
        for number, weight in snapshot.rows.connection.execute(sql, (term.expression,)):
            if number in files:
                of_word[number] = max(of_word.get(number, 0.0), min(weight, most))
    weights: Counter[int] = Counter()
    for of_word in best.values():
        weights.update(of_word)
    return heapq.nlargest(WIDE_FILES, weights, key=lambda number: weights[number])


def _linked(
    snapshot: Snapshot, terms: Sequence[Weighted], files: Collection[int], may_follow: Callable[[int], bool]
) -> dict[int, set[str]]:
    """The notes to which some files link with a text that says much of the query, and these texts."""
    found: dict[int, set[str]] = {}
    own = [(term, weight) for _, term, weight in terms if not term.instead_of]
    least = LINK_SHARE * sum([weight for _, weight in own])
    for source, _, path, display in snapshot.rows.column(
        "links", "path, display", files=files, where="display NOTNULL"
    ):
        text = analysis.fold(display)
        if sum([weight for term, weight in own if term.places(text, 1)]) >= least:
            target = resolve(snapshot.catalog, snapshot.table.paths[source], path)
            number = snapshot.table.numbers.get(target) if target is not None else None
            if number is not None and (number in files or may_follow(number)):
                found.setdefault(number, set()).add(analysis.spread(display))
    return found


def _weighed(snapshot: Snapshot, plan: SearchPlan, files: AbstractSet[int], most: int) -> dict[int, float]:
    """The first `most` files with their weights, the greatest first: 2 µs a file."""
    weights: dict[int, float] = {}
    if plan.expression:
        sql = f"SELECT rowid, -{_BM25} FROM search WHERE search MATCH ?"  # noqa: S608 - our own names
        weights.update(snapshot.rows.connection.execute(sql, (plan.expression,)).fetchall())
    for term in plan.light:
        for number in _in_path(snapshot, term) & weights.keys():
            weights[number] *= LIGHT_IN_PATH
    if len(files) > most:  # with the files of the least weight among the first
        least = heapq.nlargest(most, (weights.get(number, 0.0) for number in files))[-1]
        files = {number for number in files if weights.get(number, 0.0) >= least}
    newest = newest_first(snapshot, files, len(files))
    return {number: weights.get(number, 0.0) for number in sorted(newest, key=lambda n: -weights.get(n, 0.0))[:most]}


def _roughly(snapshot: Snapshot, plan: SearchPlan, files: AbstractSet[int], most: int) -> dict[int, float]:
    """Of many files those with the words in their paths, then in headings and tags, then the newest, with weights."""
    in_paths = _in_path(snapshot, plan.terms[0])
    for term in plan.terms[1:]:
        in_paths &= _in_path(snapshot, term)
    chosen = dict.fromkeys(newest_first(snapshot, files & in_paths, most), WEIGHTS["name"])
    if len(chosen) < most and plan.expression:
        sql = "SELECT rowid FROM search WHERE search MATCH ?"
        rows = snapshot.rows.connection.execute(sql, (f"{{alias heading tag}} : ({plan.expression})",))
        headed = files & {number for (number,) in rows}
        chosen |= dict.fromkeys(newest_first(snapshot, headed, most - len(chosen), chosen), WEIGHTS["heading"])
    if len(chosen) < most:
        chosen |= dict.fromkeys(newest_first(snapshot, files, most - len(chosen), chosen), WEIGHTS["body"])
    return chosen


def _in_path(snapshot: Snapshot, term: Term) -> set[int]:
    """Files whose paths contain a term, as letters: 0.1 ms a word."""
    spellings = [term.text] if term.is_part else [*term.variants, *map("".join, term.phrases)]
    return {number for spelling in spellings[:SPELLINGS] for number in path_contains(snapshot, spelling)}


# The second pass


Start = tuple[int, int, float]
"""Where a term begins in a text, in code points; the number of its word; its weight."""


class _Scores:
    """Scores notes, one at a time (SEARCH-61, SEARCH-62)."""

    def __init__(self, snapshot: Snapshot, plan: SearchPlan, query: str) -> None:
        """`query` is the whole text of the query."""
        self._terms = weighted_terms(snapshot, plan.terms)
        self._terms += [
            Weighted(-1 - number, term, LIGHT * weight) for number, term, weight in weighted_terms(snapshot, plan.light)
        ]
        self._words = len({each.word for each in self._terms})
        self._is_wide = plan.is_wide
        self._query = _plain_words(analysis.fold(query))
        self._first_words: list[str] = []
        for _, term, _ in self._terms:
            phrases = (without_gaps(phrase)[0] for phrase in term.phrases)
            self._first_words += [term.text] if term.is_part else [*term.variants, *phrases]

    def score(self, path: str, fields: Fields) -> float:
        text = analysis.fold(fields.text[:READ_CHARACTERS] if self._is_wide else fields.text)
        length = SATURATION * (0.3 + 0.7 * len(text) / USUAL_CHARACTERS)
        starts: list[Start] = []
        score = 0.0
        for word, term, rarity in self._terms:
            places = term.places(text, PLACES)
            starts += [(start, word, rarity) for start, _, _ in places]
            score += rarity * sum([weight for _, _, weight in places]) / (len(places) + length)
        nearness_of = self._passage if self._is_wide else self._nearness
        nearness = nearness_of(starts)
        name = path[path.rfind("/") + 1 : path.rfind(".")]
        for weight, joined, several in (
            (NAME, name, False),
            (1.4, fields.aliases, True),
            (1.4, fields.links, True),
            (0.7, fields.headings, True),
            (0.6, fields.tags, False),
            (0.3, fields.folder, False),
        ):
            folded = analysis.fold(joined)
            if not folded or not any(word in folded for word in self._first_words):
                continue
            best = 0.0
            for item in folded.split(ITEMS) if several else [folded]:
                item_score, item_starts = self._field(item)
                best = max(best, item_score)
                nearness = max(nearness, nearness_of(item_starts))
            score += weight * best
        score += nearness
        return score * math.pow(1 + len(fields.text) / USUAL_CHARACTERS, -LENGTH) if self._is_wide else score

    def _passage(self, starts: Sequence[Start]) -> float:
        best, ordered, first = 0.0, sorted(starts), 0
        for last, (at, _, _) in enumerate(ordered, 1):
            while ordered[first][0] < at - PASSAGE_CHARACTERS:
                first += 1
            best = max(best, _weight_of(ordered[first:last]))
        return PASSAGE * best

    def _field(self, text: str) -> tuple[float, list[Start]]:
        """The score of a short text, more the fewer other words are in it; and where the terms are in it."""
        letters_found, found = 0, dict[int, float]()
        starts: list[Start] = []
        for word, term, rarity in self._terms:
            places = term.places(text, 2)
            if places:
                found[word] = max(found.get(word, 0.0), rarity * max([weight for _, _, weight in places]))
                letters_found += sum([_letters(text[start:end]) for start, end, _ in places])
                starts += [(start, word, rarity) for start, _, _ in places]
        score = sum(found.values())
        if not score:
            return 0.0, []
        letters = _letters(text)
        share = min(1.0, letters_found / letters) if letters else 1.0  # nothing but symbols
        if _plain_words(text) == self._query:
            return 2.2 * score, starts
        if share == 1.0 and len(found) == self._words:
            return 1.6 * score, starts
        return score * (0.5 + 0.5 * share), starts

    def _nearness(self, starts: Sequence[Start]) -> float:
        """More, the closer together the words are somewhere in the text."""
        present = {word for _, word, _ in starts}
        if len(present) < 2:
            return 0.0
        closest = math.inf
        last: dict[int, int] = {}
        for at, word, _ in sorted(starts):
            last[word] = at
            if len(last) == len(present):
                closest = min(closest, at - min(last.values()))
        gaps = max(closest / WORD_CHARACTERS, len(present) - 1)
        return 0.6 * _weight_of(starts) * (len(present) - 1) / gaps


def _weight_of(starts: Iterable[Start]) -> float:
    """What words weigh together that are at some places: each as the heaviest term that stands for it."""
    found: dict[int, float] = {}
    for _, word, weight in starts:
        found[word] = max(found.get(word, 0.0), weight)
    return sum(found.values())


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _plain_words(text: str) -> list[str]:
    found = analysis.words(analysis.spread(text).replace(analysis.GAP, " "))
    return [analysis.plain(word.decode()) for word in found]
