"""In which order the files of a search are listed: BM25 first, then a closer look at the best
(SEARCH-60 to 63, 86)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from obsidian_mcp.core.index.search_document import ITEMS

from .first_pass import (
    MOST_WEIGHED,
    WIDE_FILES,
    find_covering,
    find_linked,
    order_roughly,
    weigh_all,
)
from .plan import SearchPlan
from .second_pass import Fields, Scorer, read_fields
from .snapshot import Snapshot
from .weights import Weighted, count_files, weigh_terms

Scored = tuple[int, float | None]
"""Number and score of a file."""

CLOSE_FILES = 20
"""The best files of the first pass whose texts are read."""
MOST_WEIGHED_ONE_TERM = 1_000
"""As `MOST_WEIGHED`, for a query of one term."""
WIDE_SHARE = 0.5
"""Share of the first file's score that another one must have to be listed after the first
`ALWAYS_LISTED`, where any of the words is enough."""
ALWAYS_LISTED = 10
"""Files that are listed of a long query whatever their share: several notes may answer a question
together, and the second half of an answer often has few of its words."""
FIRST_PLACES = 10
"""About this many places of each kind count much where files are found by words and by meaning."""


class Ranked(NamedTuple):
    """Files with their scores, best first, and what was read of some."""

    scored: Sequence[Scored]
    fields: dict[int, Fields]
    weighted: Sequence[Weighted] = ()
    """The terms of a wide plan."""


def rank(
    snapshot: Snapshot, plan: SearchPlan, files: AbstractSet[int], query: str, limit: int
) -> Ranked:
    """Return the first `limit` files, best first.

    Scores are None if nothing is weighed. From the 21st file on they are rough, and no greater than
    those before: only the texts of the first 20 are read.
    """
    if not plan.terms:
        newest = snapshot.signals.newest_first(files, limit)
        return Ranked([(number, None) for number in newest], {})
    is_one_term = len(plan.terms) == 1
    most_weighed = MOST_WEIGHED_ONE_TERM if is_one_term else MOST_WEIGHED
    if len(files) <= CLOSE_FILES:
        first = dict.fromkeys(snapshot.signals.newest_first(files, CLOSE_FILES), 0.0)
    elif len(files) <= most_weighed and count_files(snapshot, plan.expression) <= most_weighed:
        first = weigh_all(snapshot, plan, files, max(limit, CLOSE_FILES))
    else:
        first = order_roughly(snapshot, plan, files, max(limit, CLOSE_FILES))
        if len(files) > most_weighed and is_one_term:  # then the text of a note says little
            return Ranked(list(islice(first.items(), limit)), {})
    fields = read_fields(snapshot, list(islice(first, CLOSE_FILES)))
    scorer = Scorer(snapshot, plan, weigh_terms(snapshot, plan.terms), query)
    close = _score_files(snapshot, scorer, fields)
    least = min((score for _, score in close), default=math.inf)
    rough = [
        (number, round(min(least, weight), 2))
        for number, weight in first.items()
        if number not in fields
    ]
    return Ranked([*close, *rough][:limit], fields)


@dataclass(frozen=True, slots=True)
class WideQuestion:
    """How the files are listed of a query of which any of the words is enough."""

    query: str
    """Its whole text."""
    is_long: bool
    """Whether it has many words: of a short query the files with all of them come before the
    others, and others with little of it are not listed."""
    is_question: bool
    """Whether some of its words only ask: then a file with all the words need not be the answer."""
    may_follow: Callable[[int], bool]
    """Whether a file may be added that has none of the words, but is linked to under them."""


def rank_wide(
    snapshot: Snapshot,
    plan: SearchPlan,
    files: AbstractSet[int],
    complete: AbstractSet[int],
    question: WideQuestion,
) -> Ranked:
    """As `rank`, of a wide plan: files with all the words, `complete`, and those that have much
    (SEARCH-86)."""
    has_complete = bool(complete)
    if not complete and plan.complete:
        complete = files & snapshot.rows.full_text.find_matching(plan.complete)
    terms = weigh_terms(snapshot, plan.terms)
    covering = set(find_covering(snapshot, terms, files))
    first = complete | covering if len(complete) < WIDE_FILES else covering
    linked = find_linked(snapshot, terms, first, question.may_follow)
    fields = read_fields(snapshot, first | linked.keys())
    for number, texts in linked.items():
        fields[number] = fields[number]._replace(links=ITEMS.join(texts))
    scored = _score_files(snapshot, Scorer(snapshot, plan, terms, question.query), fields)
    if complete and not question.is_long:
        scored = _put_complete_first(scored, complete)
    elif has_complete and not question.is_question:
        scored = _put_best_complete_first(scored, complete)
    least = WIDE_SHARE * scored[0][1] if scored else 0.0
    always_listed = ALWAYS_LISTED if question.is_long else 0
    listed = [
        (number, score)
        for place, (number, score) in enumerate(scored)
        if place < always_listed or score >= least or number in complete
    ]
    unseen = complete - first  # more files with all the words than were looked at
    newest = snapshot.signals.newest_first(complete, len(complete), fields) if unseen else []
    lowest = min((score for _, score in listed), default=0.0)
    return Ranked([*listed, *((number, lowest) for number in newest)], fields, terms)


def fuse(scored: Sequence[Scored], near: Iterable[int]) -> list[Scored]:
    """Return files found by words and by meaning, ordered by their places: two models' scores do
    not compare (SEM-04)."""
    total: dict[int, float] = {}
    for numbers in ([number for number, _ in scored], near):
        for place, number in enumerate(numbers):
            total[number] = total.get(number, 0.0) + FIRST_PLACES / (FIRST_PLACES + place) / 2
    best_first = sorted(total.items(), key=itemgetter(1), reverse=True)
    return [(number, round(score, 2)) for number, score in best_first]


def _score_files(
    snapshot: Snapshot, scorer: Scorer, fields: Mapping[int, Fields]
) -> list[tuple[int, float]]:
    """Return files with the scores of the second pass, best first; of equal ones the newest."""
    paths = snapshot.table.paths.look_up(fields.keys())
    scores = {number: round(scorer.score(paths[number], own), 2) for number, own in fields.items()}
    newest = snapshot.signals.newest_first(fields.keys(), len(fields))
    return sorted([(number, scores[number]) for number in newest], key=itemgetter(1), reverse=True)


def _put_complete_first(
    scored: Sequence[tuple[int, float]], complete: AbstractSet[int]
) -> list[tuple[int, float]]:
    """Return files with those first that have all the words; no other has a greater score than one
    of them."""
    limit = min(score for number, score in scored if number in complete)
    capped = [
        (number, score if number in complete else min(score, limit)) for number, score in scored
    ]
    return sorted(capped, key=lambda pair: (pair[0] in complete, pair[1]), reverse=True)


def _put_best_complete_first(
    scored: Sequence[tuple[int, float]], complete: AbstractSet[int]
) -> list[tuple[int, float]]:
    """Return files with the best one first that has all the words."""
    best = next((pair for pair in scored if pair[0] in complete), None)
    if best is None:
        return list(scored)
    behind = [pair for pair in scored if pair != best]
    return [(best[0], max(best[1], *(score for _, score in behind), 0.0)), *behind]
