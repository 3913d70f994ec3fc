"""What is outdated comes behind what is current, and never before its successor (MEM-10 to 13).

Orders are made of those of `rank`, which knows nothing of this: where a vault marks nothing, they
stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from obsidian_mcp.core.note.validity import Mark, join_marks, without_blocks
from obsidian_mcp.core.text.analysis import fold

from .plan import SearchPlan
from .rank import Ranked, Scored, rank
from .second_pass import READ_CHARACTERS, Fields, read_fields
from .snapshot import Snapshot
from .snippets import OUTDATED_WEIGHT
from .term import Term

MOST_READ = 500
"""Files whose texts are read for outdated blocks when these are to be left out."""


@dataclass(frozen=True, slots=True)
class Currency:
    """How a search treats what is outdated."""

    snapshot: Snapshot
    plan: SearchPlan
    is_about_past: bool
    """Then what is outdated keeps its place, behind its successor."""
    may_follow: Callable[[int], bool] | None = None
    """Whether a successor may be listed that has none of the words; None: no one may."""

    def rank_files(self, files: AbstractSet[int], query: str, limit: int) -> Ranked:
        """As `rank`, with current files before the outdated ones: all have the same words."""
        outdated = files & self.snapshot.signals.outdated.marks.keys()
        if not outdated or self.is_about_past:
            return self._put_lines_behind(rank(self.snapshot, self.plan, files, query, limit))
        current = rank(self.snapshot, self.plan, files - outdated, query, limit)
        current = self._put_lines_behind(current)
        room = limit - len(current.scored)
        if room <= 0:
            return current
        behind = rank(self.snapshot, self.plan, outdated, query, room)
        least = min((score for _, score in current.scored if score is not None), default=math.inf)
        capped = [
            (number, None if score is None else min(score, least))
            for number, score in behind.scored
        ]
        return Ranked([*current.scored, *capped], {**current.fields, **behind.fields})

    def reorder(self, ranked: Ranked) -> tuple[Ranked, frozenset[int]]:
        """Return files of which any of the words is enough, with what the outdated ones count, and
        those that count less."""
        if self.is_about_past:
            return ranked, frozenset()
        lines = self._find_line_marks(ranked)
        marks = self.snapshot.signals.outdated.marks
        outdated = {number for number, _ in ranked.scored if number in marks or number in lines}
        if not outdated:
            return ranked, frozenset()
        scored = [
            (number, score and round(score * OUTDATED_WEIGHT, 2) if number in outdated else score)
            for number, score in ranked.scored
        ]
        in_order = sorted(scored, key=_score_of, reverse=True)
        return ranked._replace(scored=in_order), frozenset(outdated)

    def put_successors_first(
        self, ranked: Ranked, files: AbstractSet[int]
    ) -> tuple[Ranked, frozenset[int]]:
        """Return the files with each successor before what it supersedes, and the successors that
        are added to `files`, whose words they need not have."""
        outdated = self.snapshot.signals.outdated
        marks = {number: outdated.marks[number] for number in files & outdated.marks.keys()}
        marks |= self._find_line_marks(ranked)
        if not marks:
            return ranked, frozenset()
        added = frozenset(
            successor
            for number, mark in marks.items()
            for successor in outdated.find_current(number, mark)
            if successor not in files and self.may_follow is not None and self.may_follow(successor)
        )
        ordered: dict[int, float | None] = {}
        waiting: set[int] = set()

        def put(number: int, score: float | None) -> None:
            """Put what holds first, then what it replaced, step by step; a circle ends itself."""
            if number in ordered or number in waiting:
                return
            waiting.add(number)
            if (mark := marks.get(number)) is not None:
                for successor in reversed(outdated.find_later(number, mark)):
                    if successor in files or successor in added:
                        put(successor, score)
            ordered[number] = score

        for number, score in ranked.scored:
            put(number, score)
        return ranked._replace(scored=list(ordered.items())), added

    def leave_out_outdated(self, files: AbstractSet[int]) -> set[int]:
        """Return the files that are current, and have the words in a current part."""
        outdated = self.snapshot.signals.outdated
        current = files - outdated.marks.keys()
        looked_at = sorted(current & (outdated.marking | outdated.marked_ids.keys()))[:MOST_READ]
        fields = read_fields(self.snapshot, looked_at)
        return {number for number in current if not self._find_line_mark(number, fields)}

    def _put_lines_behind(self, ranked: Ranked) -> Ranked:
        """Return files of which all have the words, with those behind the others that were read and
        have some of them in outdated blocks alone."""
        lines = self._find_line_marks(ranked)
        if not lines or self.is_about_past:
            return ranked
        read = [pair for pair in ranked.scored if pair[0] in ranked.fields]
        unread = [pair for pair in ranked.scored if pair[0] not in ranked.fields]
        current = [pair for pair in read if pair[0] not in lines]
        least = min((score for _, score in current if score is not None), default=math.inf)
        behind = [
            (number, None if score is None else min(score, least))
            for number, score in read
            if number in lines
        ]
        return ranked._replace(scored=[*current, *behind, *_cap(unread, behind)])

    def _find_line_marks(self, ranked: Ranked) -> dict[int, Mark]:
        """Return the files read whose outdated blocks say most of the query, with the marks: some
        words are in these alone, or more of them than in any current line."""
        marks = {number: self._find_line_mark(number, ranked.fields) for number in ranked.fields}
        return {number: mark for number, mark in marks.items() if mark is not None}

    def _find_line_mark(self, number: int, fields: Mapping[int, Fields]) -> Mark | None:
        own = fields.get(number)
        if own is None:
            return None
        blocks = self.snapshot.signals.outdated.find_blocks(number, own.text)
        if not blocks:
            return None
        names = " ".join((self.snapshot.table.paths[number], own.aliases, own.tags))
        text = fold(f"{without_blocks(own.text[:READ_CHARACTERS], blocks)}\n{names}")
        current = _words_in(self.plan.terms, text)
        best_line = max(
            (len(_words_in(self.plan.terms, line)) for line in text.split("\n")), default=0
        )
        telling = []
        for block in blocks:
            words = _words_in(self.plan.terms, fold(own.text[block.start : block.end]))
            if words - current or len(words) > best_line:
                telling.append(block.mark)
        return join_marks(telling)


def _words_in(terms: Iterable[Term], folded: str) -> set[str]:
    """Return the words of a query that a folded text has in any form."""
    return {term.word for term in terms if term.places(folded, 1)}


def _score_of(pair: Scored) -> float:
    return pair[1] or 0.0


def _cap(scored: Sequence[Scored], before: Sequence[Scored]) -> list[Scored]:
    """Return files with no greater scores than those before them."""
    least = min(map(_score_of, before), default=math.inf)
    return [(number, score and min(score, least)) for number, score in scored]
