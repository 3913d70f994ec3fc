"""Which files a search finds, and by what (specs/search.md, SEARCH-10 and SEARCH-50)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from obsidian_mcp.core.index.search_document import Content
from obsidian_mcp.core.query.parser import Node
from obsidian_mcp.core.text import stems

from . import expand as terms
from .expand import Term
from .query_terms import Reading, groups, light_terms, literal_terms
from .snapshot import Scene
from .term_table import Lexicon


@dataclass(frozen=True, slots=True)
class Found:
    """Notes and canvases by number."""

    files: AbstractSet[int]
    terms: Sequence[Term]
    """What they are weighed by."""
    asked: str
    """The same for the full-text index; empty where there is nothing to weigh."""
    shown: Sequence[Term]
    """Words whose places are shown."""
    exact: Sequence[Node]
    """Queries whose places are shown."""
    widened: str | None = None
    light: Sequence[Term] = ()
    """Words that are not asked for, but tell which files come first."""


def exactly(scene: Scene, query: Node, within: AbstractSet[int] | None = None) -> Found:
    """The files, of `within` or all, for which the query is true."""
    files = scene.matching(query, within)
    if scene.fresh:
        fresh = scene.fresh_matching(query)
        files = files | (fresh if within is None else fresh & within)
    found, asked = literal_terms(query, scene.vocabulary)
    return Found(files, found, asked, (), [query])


def smartly(scene: Scene, query: Node, within: AbstractSet[int] | None = None) -> Found:
    """The files, of `within` or all, that have the words of the query in any form; where there are none, in wider and
    wider circles."""
    asked = groups(query)
    if not any(group.choices for group in asked):
        found = exactly(scene, query, within)
        if found.files or not any(group.loose for group in asked):
            return found
    fresh = {number: scene.contents(number) for number in scene.fresh}
    words, languages = scene.vocabulary, scene.languages
    if fresh:
        words = words.and_also(told.words for told in fresh.values())
        languages = stems.languages(words.count)
    lexicon = Lexicon(words, languages)
    files: AbstractSet[int] = frozenset()
    before: object = None
    for width in range(len(terms.WIDENINGS)):
        reading = Reading(asked, lexicon, width)
        if reading.conditions == before:  # this circle has no other words
            continue
        before = reading.conditions
        files = reading.rows(scene)
        if fresh:
            files = files | _told(scene, reading, fresh)
        if within is not None:
            files = files & within
        if files:
            break
    shown = [term for term in reading.terms if term.asked]
    expression = " OR ".join(f"({each})" for each, _ in reading.conditions if each)
    exact = [each for each in reading.exact if each is not None]
    widened = terms.WIDENINGS[width] if files and width else None
    return Found(files, shown, expression, shown, exact, widened, light_terms(asked, lexicon))


def _told(scene: Scene, reading: Reading, fresh: Mapping[int, Content]) -> AbstractSet[int]:
    """The files without rows that are results."""
    files: set[int] = set()
    for exact, read in zip(reading.exact, reading.groups, strict=True):
        told = {number for number, each in fresh.items() if not read or reading.is_told_by(read, each)}
        files |= told & scene.fresh_matching(exact) if exact is not None and told else told
    return files
