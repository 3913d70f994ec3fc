"""Where the texts of files have what a query names, to show it (SEARCH-70 to 73, 110)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.query.nodes import Word
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.text import Span

from .plan import SearchPlan
from .snapshot import Snapshot
from .snippets import AnyPlace, HitPlace, with_lines
from .stored_document import StoredDocument
from .weights import weigh_terms

if TYPE_CHECKING:
    from obsidian_mcp.core.query.evaluate import Matcher

LINES = 60
"""Lines with a word among which those to show are chosen."""
LINES_OF_ONE_WORD = 8
"""The same, if it is the only word of the query: the first lines are the best."""
MORE_PLACES = 8
"""How many times as many places are looked for where all of them are on too few lines."""

MORE_SPANS = 500
"""Further places of what must match exactly that are looked at where many are on one line."""


class PlaceFinder:
    """Finds the places of one query in texts, one after another."""

    def __init__(self, snapshot: Snapshot, plan: SearchPlan, line_count: int) -> None:
        """`line_count` lines of each text are shown at most."""
        self._snapshot = snapshot
        terms = weigh_terms(snapshot, plan.shown)
        # the words of the query first
        self._terms = sorted(terms, key=lambda weighted: bool(weighted.term.instead_of))
        self._matchers: list[Matcher] = []
        if plan.exact:
            from obsidian_mcp.core.query.evaluate import Matcher

            self._matchers = [Matcher(query) for query in plan.exact]
        words = [*plan.shown, *(query for query in plan.exact if isinstance(query, Word))]
        self._is_one_word = len(words) == len(plan.shown) + len(plan.exact) <= 1
        self._line_count = line_count

    @property
    def word_count(self) -> int:
        """How many different words and parts the query names."""
        return len({word for word, _, _ in self._terms}) + len(self._matchers)

    @property
    def weight(self) -> float:
        """What a text would weigh that has all that the query names."""
        best_of_words: dict[int, float] = {}
        for word, _, rarity in self._terms:
            best_of_words[word] = max(best_of_words.get(word, 0.0), rarity)
        return sum(best_of_words.values()) + len(self._matchers)

    def find_places(self, number: int, text: str) -> list[HitPlace]:
        """Return the places in the text of a file: of a word as many as stand on enough lines."""
        places = self._find_words(text) if self._terms else []
        if self._matchers:
            document = StoredDocument(self._snapshot, number, text)
            parts = chain.from_iterable([matcher.places(document) for matcher in self._matchers])
            limit = max(LINES, self._line_count)
            for term_number, part in enumerate(parts, len(self._terms)):
                first = list(islice(part, limit))
                spans: Iterable[Span] = first
                if len(first) == limit:
                    spans = _take_lines(text, chain(first, islice(part, MORE_SPANS)), limit)
                for span in spans:
                    matched = text[span.start : span.end]
                    if "\n" in matched and span.start >= text_start(text):
                        places += _places_of_lines(text, span, term_number)
                    else:
                        places.append(HitPlace(span.start, span.end, term_number))
        limit = max(LINES_OF_ONE_WORD, self._line_count)
        if self._is_one_word and len(places) > limit:  # the first lines are the best
            return list(_take_lines(text, places, limit))
        return places

    def _find_words(self, text: str) -> list[HitPlace]:
        """Return the first places of each word, more where too few lines have them. Other words
        that say the same count where the text has not the word itself."""
        folded, limit = fold(text), max(LINES, self._line_count)
        while True:
            places: list[HitPlace] = []
            present: set[str] = set()
            is_cut = False
            for word, term, rarity in self._terms:
                if term.instead_of and present.issuperset(term.instead_of.split()):
                    continue
                term_places = term.places(folded, limit)
                is_cut = is_cut or len(term_places) >= limit
                present.update([term.text] if term_places else [])
                places += [
                    HitPlace(first, last, word, rarity * weight)
                    for first, last, weight in term_places
                ]
            if not is_cut or count_lines(text, places, self._line_count) >= self._line_count:
                return places
            limit *= MORE_PLACES


def count_lines(text: str, places: Iterable[HitPlace], enough: int) -> int:
    """Return on how many lines some places are; no more than `enough` are counted."""
    starts: set[int] = set()
    for start, _ in with_lines(text, places):
        starts.add(start)
        if len(starts) >= enough:
            break
    return len(starts)


def _take_lines(text: str, places: Iterable[AnyPlace], limit: int) -> Iterator[AnyPlace]:
    """Yield the places that are on the first lines with any."""
    starts: set[int] = set()
    for start, place in with_lines(text, places):
        if start not in starts and len(starts) == limit:
            return
        starts.add(start)
        yield place


def _places_of_lines(text: str, span: Span, term: int) -> list[HitPlace]:
    """Return the places to show of a match over lines: where its first text is, not the blank lines
    that it may begin with, and where it ends, if in another line (SEARCH-110)."""
    matched = span.slice(text)
    start = span.start + len(matched) - len(matched.lstrip()) if matched.strip() else span.start
    last = text.rfind("\n", start, span.start + len(matched.rstrip())) + 1
    places = [HitPlace(start, span.end if last <= start else last - 1, term)]
    return places if last <= start else [*places, HitPlace(last, span.end, term)]
