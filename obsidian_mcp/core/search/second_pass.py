"""The second pass of ranking: a closer look at the texts of the best files (SEARCH-61, 62)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from obsidian_mcp.core.index.search_document import ITEMS, TRUNCATED
from obsidian_mcp.core.text import analysis

from .bounds import flagged_files
from .plan import SearchPlan
from .snapshot import Snapshot
from .term import without_gaps
from .weights import Weighted, weigh_terms

ASKING_WEIGHT = 0.3
"""Weight of words that only ask, beside those that are required."""
PLACES = 20
"""Places of one word in a text that are counted."""
FIELD_PLACES = 2
"""Places of one word that are looked for in a short field."""
SATURATION = 1.2
"""BM25's k1: how slowly further places of a word count less."""
SATURATION_BASE, SATURATION_SLOPE = 0.3, 0.7
"""BM25's 1 - b and b: the share of the saturation that every text has, and the one that grows with
its length."""
USUAL_CHARACTERS = 3_000
"""Length of a usual note."""
WORD_CHARACTERS = 6
"""From the beginning of one word to that of the next."""
PASSAGE_CHARACTERS = 100
"""Length of a passage that may answer a question."""
PASSAGE_WEIGHT = 0.7
"""Weight of the passage with the most words, beside the text."""
ITEMS_PASSAGE_WEIGHT = 0.4
"""The same of a passage that runs over several items of a list: these say different things."""
WHOLE_PASSAGE_WEIGHT = 0.4
"""How much more a passage within one block weighs that has all words of the query; one with half of
them, by rarity, gets a quarter of it."""
_starts_block = re.compile(r"\n[ \t\r]*(?:[-*+#>|\n]|[0-9]{1,9}[.)])").search
_starts_item = re.compile(r"\n[ \t\r]*(?:[-*+#|]|[0-9]{1,9}[.)])").search
NEARNESS_WEIGHT = 0.6
"""Weight of words that stand close to each other, beside the text."""
READ_CHARACTERS = 20_000
"""Characters of a text that are looked at for a wide plan: in a long list of links, words anywhere
say little."""
NAME_WEIGHT = 2.0
ALIAS_WEIGHT = LINK_WEIGHT = 1.4
HEADING_WEIGHT = 0.7
TAG_WEIGHT = 0.6
FOLDER_WEIGHT = 0.3
"""Weights of the fields, beside the text."""
SAME_AS_QUERY = 2.2
"""How much more a field counts that says just what the query says."""
NOTHING_ELSE = 1.6
"""How much more a field counts that has all the words and no others."""
LEAST_SHARE = 0.5
"""How much a field counts at least in which many other words stand."""


class Fields(NamedTuple):
    """What a search shows and weighs of a file; all but the text are prepared by
    `analysis.spread`."""

    is_truncated: bool
    """Whether the text is only the beginning of the file's."""
    aliases: str
    headings: str
    tags: str
    folder: str
    text: str
    links: str = ""
    """Texts of links to it, where these were looked at."""


Start = tuple[int, int, float]
"""Where a term begins in a text, in code points; the number of its word in the query; its weight. A
plain tuple: a search makes thousands."""


def read_fields(snapshot: Snapshot, files: Iterable[int]) -> dict[int, Fields]:
    """Return the fields of some files."""
    truncated = flagged_files(snapshot, TRUNCATED)
    fields: dict[int, Fields] = {}
    for number, indexed in snapshot.rows.texts.read_indexed_fields(files):
        _, aliases, headings, tags, folder = indexed.short_fields
        is_truncated = number in truncated
        fields[number] = Fields(is_truncated, aliases, headings, tags, folder, indexed.text)
    return fields


class Scorer:
    """Scores files, one at a time."""

    def __init__(
        self, snapshot: Snapshot, plan: SearchPlan, weighted: Sequence[Weighted], query: str
    ) -> None:
        """`weighted` are the terms of the plan, `query` is the whole text of the query."""
        self._terms = [*weighted]
        self._terms += [
            Weighted(-1 - number, term, ASKING_WEIGHT * weight)
            for number, term, weight in weigh_terms(snapshot, plan.light)
        ]
        self._word_count = len({weighted.word for weighted in self._terms})
        self._whole_weight = _weigh_words((0, word, rarity) for word, _, rarity in weighted)
        self._is_wide = plan.is_wide
        # what it gives that the words stand close to each other somewhere in a text
        self._nearness = self._score_best_passage if plan.is_wide else self._score_closeness
        self._query = _plain_words(analysis.fold(query))
        self._first_words: list[str] = []
        for _, term, _ in self._terms:
            phrases = (without_gaps(phrase)[0] for phrase in term.phrases)
            self._first_words += [term.text] if term.is_part else [*term.variants, *phrases]

    def score(self, path: str, fields: Fields) -> float:
        """Return how well a file answers: the sum of what its text and each of its fields give."""
        text = analysis.fold(fields.text[:READ_CHARACTERS] if self._is_wide else fields.text)
        relative_length = len(text) / USUAL_CHARACTERS
        saturation = SATURATION * (SATURATION_BASE + SATURATION_SLOPE * relative_length)
        starts: list[Start] = []
        score = 0.0
        for word, term, rarity in self._terms:
            places = term.places(text, PLACES)
            starts += [(start, word, rarity) for start, _, _ in places]
            score += rarity * sum([weight for _, _, weight in places]) / (len(places) + saturation)
        nearness = self._nearness(starts, text)
        for weight, field, has_items in self._weighted_fields(path, fields):
            folded = analysis.fold(field)
            if not folded or not any(word in folded for word in self._first_words):
                continue
            best = 0.0
            for item in folded.split(ITEMS) if has_items else [folded]:
                item_score, item_starts = self._score_field(item)
                best = max(best, item_score)
                nearness = max(nearness, self._nearness(item_starts, item))
            score += weight * best
        return score + nearness

    def _weighted_fields(self, path: str, fields: Fields) -> tuple[tuple[float, str, bool], ...]:
        """Return the fields beside the text, with their weights and whether each holds several
        items."""
        name = path[path.rfind("/") + 1 : path.rfind(".")]
        return (
            (NAME_WEIGHT, name, False),
            (ALIAS_WEIGHT, fields.aliases, True),
            (LINK_WEIGHT, fields.links, True),
            (HEADING_WEIGHT, fields.headings, True),
            (TAG_WEIGHT, fields.tags, False),
            (FOLDER_WEIGHT, fields.folder, False),
        )

    def _score_field(self, text: str) -> tuple[float, list[Start]]:
        """Return the score of a short text, more the fewer other words are in it; and where the
        terms are in it."""
        letters_of_terms, best_of_words = 0, dict[int, float]()
        starts: list[Start] = []
        for word, term, rarity in self._terms:
            places = term.places(text, FIELD_PLACES)
            if places:
                weight = rarity * max([weight for _, _, weight in places])
                best_of_words[word] = max(best_of_words.get(word, 0.0), weight)
                letters_of_terms += sum([_letters(text[start:end]) for start, end, _ in places])
                starts += [(start, word, rarity) for start, _, _ in places]
        score = sum(best_of_words.values())
        if not score:
            return 0.0, []
        letters = _letters(text)
        share = min(1.0, letters_of_terms / letters) if letters else 1.0  # nothing but symbols
        if _plain_words(text) == self._query:
            return SAME_AS_QUERY * score, starts
        if share == 1.0 and len(best_of_words) == self._word_count:
            return NOTHING_ELSE * score, starts
        return score * (LEAST_SHARE + (1 - LEAST_SHARE) * share), starts

    def _score_best_passage(self, starts: Sequence[Start], text: str) -> float:
        """Return what the passage with the most words gives: one of several words may answer a
        question.

        Where many notes share the words of a question, the one that has them all in one sentence
        answers it. Two items of a list that have one word each are about two things.
        """
        ordered = sorted(starts)
        anywhere = in_item = in_block = 0.0
        first = first_of_item = first_of_block = 0
        last = -math.inf
        for end, (at, _, _) in enumerate(ordered, 1):
            while ordered[first][0] < at - PASSAGE_CHARACTERS:
                first += 1
            if at - last <= PASSAGE_CHARACTERS and _starts_block(text, int(last), at + 1):
                first_of_block = end - 1
                if _starts_item(text, int(last), at + 1):
                    first_of_item = end - 1
            last = at
            first_of_item = max(first_of_item, first)
            first_of_block = max(first_of_block, first_of_item)
            weight = _weigh_words(ordered[first:end])
            anywhere = max(anywhere, weight)
            if first_of_item > first:
                weight = _weigh_words(ordered[first_of_item:end])
            in_item = max(in_item, weight)
            if first_of_block > first_of_item:
                weight = _weigh_words(ordered[first_of_block:end])
            in_block = max(in_block, weight)
        share = min(1.0, in_block / self._whole_weight) if self._whole_weight else 0.0
        passage = max(PASSAGE_WEIGHT * in_item, ITEMS_PASSAGE_WEIGHT * anywhere)
        return passage + WHOLE_PASSAGE_WEIGHT * in_block * share

    def _score_closeness(self, starts: Sequence[Start], text: str) -> float:  # noqa: ARG002
        """Return what the place gives where all the words of a text are closest to each other: the
        more, the fewer other words stand between them."""
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
        return NEARNESS_WEIGHT * _weigh_words(starts) * (len(present) - 1) / gaps


def _weigh_words(starts: Iterable[Start]) -> float:
    """Return what words weigh together that are at some places: each as the heaviest term that
    stands for it."""
    best_of_words: dict[int, float] = {}
    for _, word, weight in starts:
        best_of_words[word] = max(best_of_words.get(word, 0.0), weight)
    return sum(best_of_words.values())


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _plain_words(text: str) -> list[str]:
    words = analysis.words(analysis.spread(text).replace(analysis.GAP, " "))
    return [analysis.to_basic_letters(word.decode()) for word in words]
