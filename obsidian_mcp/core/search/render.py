"""One page of a result, as large as an answer may be: hits with snippets (SEARCH-70 to 77)."""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from obsidian_mcp.core.index.facts import HeadingFact
from obsidian_mcp.core.query.nodes import Word
from obsidian_mcp.core.text.analysis import fold, plain
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.vault_path import VaultPath

from .hits import NOT_SENT, Hit, Hits, Order, Request, Snippet
from .plan import SearchPlan, shorten
from .retrieve import StoredDocument, whole_text
from .second_pass import Fields, read_fields
from .signals import Item
from .snapshot import Snapshot
from .sort import shown_values
from .weights import weigh_terms

if TYPE_CHECKING:
    from obsidian_mcp.core.query.evaluate import Matcher

OVERHEAD_CHARACTERS = 240
"""What an answer needs besides its hits and remarks."""
REMARK_CHARACTERS = 500
"""Most of a remark on how the files were found."""
LINE_CHARACTERS = 160
"""Most of a line that is shown."""
PASSAGE_CHARACTERS = 1_200
"""Most of a paragraph that is shown."""
HEADING_CHARACTERS = 100
"""Most of the heading above it."""
PLACES = 60
"""Places of one word in a file among which the lines to show are chosen."""
PLACES_OF_ONE_WORD = 8
"""The same, if it is the only word of the query."""
RETRY = "Retry with 1 to 3 distinctive words or synonyms."
WEAK = "No file has all the words; these have some, or words like them."
NEAR_LETTERS = 4
"""With how many letters at least, and two thirds of its own, a word begins that is near another
one."""
MISSPELLED_LETTERS = 6
"""A shorter word that differs in one letter is mostly another one: `cost` and `post`."""
NEAR_WORDS = 3
"""Near words that are named for a missing one, and tags of the first files."""
LOOKED_UP, TAGGED_FILES = 20, 10
"""Near words of which is looked up whether they name something; files whose tags are counted."""
SHOWN_SHARE = 0.5
"""Of the first file's score, what a file must have to be shown with snippets where any of the words
is enough."""
FILES_AT_ONCE = 12
"""Files whose texts are read together: about half a page."""

_is_heading = re.compile(r"#{1,6}[ \t]").match
_SURROGATE = re.compile("[\ud800-\udfff]")
as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Found(NamedTuple):
    """Files in their order, and how to show them."""

    snapshot: Snapshot
    items: Sequence[Item]
    """From the first file on, to the end of the page or of the result."""
    total: int
    order: Order | None
    """What the files were sorted by; None if they are ranked."""
    plan: SearchPlan
    fields: dict[int, Fields]
    """Files that were read already."""
    note: str | None = None


def render_page(result: Found, request: Request) -> Hits:
    """Return the page at `request.offset`, as long as there is room (SEARCH-75)."""
    if request.note is not None:
        return _render_lines(result, request)
    widened = remark_of(result)
    room = room_for(request.characters, widened, result.snapshot.notice, result.note)
    page = result.items[request.offset : request.offset + request.limit]
    render = Renderer(result, page, request.snippets, passages=request.passages)
    hits: list[Hit] = []
    for item in page:
        hit = render.hit(item)
        size = hit_size(hit)
        if not hits and size > room:
            hit = fitted(hit, room)
        elif size > room:
            break
        hits.append(hit)
        room -= size
    following = request.offset + len(hits)
    next_offset = following if hits and following < result.total else None
    return Hits(result.total, hits, next_offset, widened, result.snapshot.notice, result.note)


def _render_lines(result: Found, request: Request) -> Hits:
    """Return a page of all lines of one note that have what the query names (SEARCH-80)."""
    remark = remark_of(result)
    room = room_for(request.characters, remark, result.snapshot.notice, result.note)
    render = Renderer(
        result, result.items[:1], sys.maxsize, passages=request.passages, best_first=True
    )
    hits = list(map(render.hit, result.items[:1]))
    lines = [snippet for hit in hits for snippet in hit.snippets or ()]
    page_lines: list[Snippet] = []
    for snippet in lines[request.offset : request.offset + request.limit]:
        room -= hit_size(Hit(VaultPath(""), snippets=[snippet]))
        if room < 0 and page_lines:
            break
        page_lines.append(snippet)
    following = request.offset + len(page_lines)
    next_offset = following if page_lines and following < len(lines) else None
    hits = [replace(hit, snippets=page_lines) for hit in hits if page_lines]
    return Hits(len(lines), hits, next_offset, remark, result.snapshot.notice, result.note)


def remark_of(result: Found) -> str | None:
    """Return how the search was widened, which words no note has, and what to try (SEARCH-51)."""
    plan = result.plan
    # Where the index is not whole, what the files that are left have is not known
    if not plan.is_wide or 0 < result.total <= plan.found or not result.snapshot.is_whole:
        return None
    if plan.found:
        sentences = [
            f"Files with all the words: {plan.found}; the others have some, or words like them."
        ]
    else:
        sentences = [f"{WEAK} {RETRY}" if result.total else RETRY]
    if plan.missing:
        sentences.append(f"No note has {', '.join(plan.missing)}.")
    if not plan.found and (near := _near_words(result)):
        sentences.append(f"Words of this vault: {', '.join(near)}.")
    remark = " ".join(sentences)
    return cut_text(remark, REMARK_CHARACTERS)


def _near_words(result: Found) -> list[str]:
    """Words of names, headings, tags and aliases that are near those that no note has, and tags of
    the first files."""
    snapshot, near = result.snapshot, dict[str, None]()
    for word in result.plan.missing:
        bare = plain(fold(word))
        beginning = bare[: max(NEAR_LETTERS, len(bare) * 2 // 3)]
        alike = (
            snapshot.vocabulary.plainly_containing(beginning, to_end=False)
            if len(bare) >= NEAR_LETTERS
            else []
        )
        used = [
            variant
            for term in result.plan.terms
            if fold(word) in {term.text, *term.instead_of.split()}
            for variant in term.variants
            if term.instead_of or len(bare) >= MISSPELLED_LETTERS or bare in plain(variant)
        ]
        if looked_up := [*used, *alike][:LOOKED_UP]:
            telling = snapshot.rows.full_text.find_used(looked_up, "{name alias heading tag} : ")
            near |= dict.fromkeys(telling[:NEAR_WORDS])
    files = [item.number for item in result.items[:TAGGED_FILES] if item.number is not None]
    tags = snapshot.rows.file_sets.most_common_tags(files, NEAR_WORDS)
    return [*near, *(f"#{tag.removeprefix('#')}" for tag in tags)]


def room_for(characters: int, *remarks: str | None) -> int:
    """Characters that an answer has for its hits."""
    return (
        characters
        - OVERHEAD_CHARACTERS
        - sum([len(as_json(remark)) for remark in remarks if remark])
    )


_SENT = {
    kind: tuple(field.name for field in fields(kind) if field.metadata != NOT_SENT)
    for kind in (Hit, Snippet)
}
"""The members of records that are sent."""


def hit_size(hit: Hit) -> int:
    """Return the characters of a hit in an answer, with the comma behind it."""
    return len(as_json(_sent(hit))) + 1


def _sent(record: Hit | Snippet) -> dict[str, object]:
    """Return the members of a record that are sent: whatever it has, but None."""
    members: dict[str, object] = {}
    for name in _SENT[type(record)]:
        value = getattr(record, name)
        if name == "snippets" and value is not None:
            members[name] = [_sent(snippet) for snippet in value]
        elif value is not None:
            members[name] = value
    return members


def fitted(hit: Hit, room: int) -> Hit:
    """As much of a hit as has room: fewer snippets, then a part of the path."""
    while hit.snippets and hit_size(hit) > room:
        hit = replace(hit, snippets=hit.snippets[:-1] or None)
    path = hit.path
    while hit_size(hit) > room and path:
        path = VaultPath(path[: len(path) * 3 // 4])
        hit = replace(hit, path=VaultPath(f"{path}…"))
    return hit


class HitPlace(NamedTuple):
    """Where something that the query names is, what it is, and its weight."""

    start: int
    end: int
    term: int = 0
    weight: float = 1.0


class Renderer:
    """Makes hits of the files of one page, whose texts are read some at a time (SEARCH-70 to
    73)."""

    def __init__(
        self,
        found: Found,
        page: Sequence[Item],
        most: int,
        *,
        passages: bool = False,
        best_first: bool = False,
    ) -> None:
        """`most` snippets of a file; `passages`: whole paragraphs; `best_first`: not in the order
        of the file."""
        plan = found.plan
        self._snapshot = found.snapshot
        self._most = most
        self._passages, self._best_first = passages, best_first
        self._places = max(PLACES, most)
        terms = weigh_terms(found.snapshot, plan.shown) if most else []
        self._terms = sorted(
            terms, key=lambda each: bool(each.term.instead_of)
        )  # the words of the query first
        self._matchers: list[Matcher] = []
        if most and plan.exact:
            from obsidian_mcp.core.query.evaluate import Matcher

            self._matchers = [Matcher(query) for query in plan.exact]
        words = [*plan.shown, *(query for query in plan.exact if isinstance(query, Word))]
        self._is_one_word = len(words) == len(plan.shown) + len(plan.exact) <= 1
        scores = [item.score or 0.0 for item in found.items[:1]] if plan.is_wide else []
        self._least = SHOWN_SHARE * max(scores, default=0.0)
        self._left = [item.number for item in page if item.number is not None]
        self._fields = found.fields
        self._headings: dict[int, list[HeadingFact]] = {}
        self._value = (
            None if found.order is None else shown_values(found.snapshot, page, found.order.facet)
        )

    def hit(self, item: Item) -> Hit:
        """Return a file as a hit, with the lines to show if it is in the index."""
        value = None if self._value is None else self._value(item)
        matched: Literal["meaning", "link"] | None = None if item.start is None else "meaning"
        number, snippets = item.number, list[Snippet]()
        if self._most and number is not None and (item.score or 0.0) >= self._least:
            snippets = self._snippets(number, item.start)
            if not snippets and self._fields[number].links:
                matched = "link"
        score = None if item.score is None else round(item.score, 1)
        return Hit(item.path, score, value, snippets or None, matched)

    def _snippets(self, number: int, start: int | None) -> list[Snippet]:
        """The lines to show of a file, in their order; `start` is where what was found by its
        meaning begins."""
        if number not in self._headings:
            self._fetch(number)
        fields = self._fields[number]
        text = whole_text(self._snapshot, number) if fields.is_truncated else fields.text
        places: list[HitPlace] = []
        folded = fold(text) if self._terms else ""
        present: set[str] = set()
        for word, term, rarity in self._terms:
            if term.instead_of and present.issuperset(term.instead_of.split()):
                continue
            term_places = term.places(folded, self._places)
            present.update([term.text] if term_places else [])
            places += [
                HitPlace(first, last, word, rarity * weight) for first, last, weight in term_places
            ]
        if self._matchers:
            document = StoredDocument(self._snapshot, number, text)
            parts = chain.from_iterable([matcher.places(document) for matcher in self._matchers])
            for term_number, part in enumerate(parts, len(self._terms)):
                places += [
                    HitPlace(span.start, span.end, term_number)
                    for span in islice(part, self._places)
                ]
        if not places and start is not None:
            places = [HitPlace(at, at) for at in _first_lines(text, start, self._most)]
        if self._is_one_word:
            places = places[: max(PLACES_OF_ONE_WORD, self._most)]
        alike = self._is_one_word and not self._terms
        headings = self._headings[number]
        snippets = choose(
            text,
            places,
            headings,
            self._most,
            alike=alike,
            passages=self._passages,
            best_first=self._best_first,
        )
        if self._snapshot.table.has_pdfs and number in self._snapshot.table.pdfs:
            snippets = list(_on_pages(snippets, text, headings))
        return (
            [self._linked(number, snippet) for snippet in snippets] if self._passages else snippets
        )

    def _linked(self, number: int, snippet: Snippet) -> Snippet:
        """Return a passage with a link to the heading or page that it stands under."""
        from obsidian_mcp.core.links.resolve import (
            write_path,
        )  # what other searches need nothing of
        from obsidian_mcp.core.note.subpath import heading_for_link

        part = f"#page={snippet.page}" if snippet.page else ""
        part = f"#{heading_for_link(snippet.heading)}" if snippet.heading else part
        path = self._snapshot.table.paths[number]
        name = write_path(self._snapshot.catalog, path, "", "wiki", "shortest", subpath=part)
        return snippet if name is None else replace(snippet, link=f"[[{name}{part}]]")

    def _fetch(self, number: int) -> None:
        some = self._left[:FILES_AT_ONCE] if number in self._left[:FILES_AT_ONCE] else [number]
        self._left = self._left[len(some) :]
        self._fields.update(
            read_fields(self._snapshot, [file for file in some if file not in self._fields])
        )
        self._headings.update((file, []) for file in some)
        for file, heading in self._snapshot.rows.texts.read_headings(some):
            self._headings[file].append(heading)


def choose(
    text: str,
    places: Iterable[HitPlace],
    headings: Sequence[HeadingFact],
    limit: int,
    *,
    alike: bool = False,
    passages: bool = False,
    best_first: bool = False,
) -> list[Snippet]:
    """Return the lines that together have the most of what the query names, in order, or the
    paragraphs that they stand in. `alike`: the first are best; `best_first`: those that have the
    most words come first."""
    lines: dict[int, dict[int, float]] = {}
    places_in: dict[int, list[HitPlace]] = {}
    for place in places:
        start = text.rfind("\n", 0, place.start) + 1
        weights = lines.get(start)
        if weights is not None:
            weights[place.term] = max(weights.get(place.term, 0.0), place.weight)
            places_in[start].append(place)
        elif alike and len(lines) == limit:
            break
        else:
            lines[start] = {place.term: place.weight}
            places_in[start] = [place]
    snippets: list[Snippet] = []
    words: list[set[int]] = []
    end, body = 0, _body_start(text) if passages else 0
    number, counted = 1, 0
    for start in sorted(_best_lines(lines, limit)):
        if start < end:  # in the passage before
            words[-1].update(lines[start])
            continue
        words.append(set(lines[start]))
        part = _part_of(headings, start)
        if passages and start >= body:
            line, start, end = start, *_passage(text, start, body)
            excerpt, marks = around(text, start, places_in[line], end, PASSAGE_CHARACTERS)
            part = _part_of(headings, end)
        else:
            excerpt, marks = around(text, start, places_in[start])
        heading = shorten(_valid(part.text), HEADING_CHARACTERS) if part and part.level else None
        card = part.text if part and not part.level else None
        number += text.count("\n", counted, start)
        counted = start
        snippets.append(Snippet(number, excerpt, heading, marks, card))
    if best_first:
        return [snippets[n] for n in sorted(range(len(snippets)), key=lambda n: -len(words[n]))]
    return snippets


def _passage(text: str, line: int, body: int) -> tuple[int, int]:
    """Return where the paragraph of a line begins and ends; that of a heading goes on to the end of
    the next one."""
    start, end = line, _line_end(text, line)
    if _is_heading(text, line):
        following = _first_lines(text, end, 1)
        if not following or _is_heading(text, following[0]):
            return start, end
        end = _line_end(text, following[0])
    else:
        while start > body:
            before = text.rfind("\n", 0, start - 1) + 1
            if not text[before:start].strip() or _is_heading(text, before):
                break
            start = before
    while text[end + 1 : _line_end(text, end + 1)].strip() and not _is_heading(text, end + 1):
        end = _line_end(text, end + 1)
    return start, end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _first_lines(text: str, start: int, limit: int) -> list[int]:
    """Where the first lines that are not empty begin, from a place on."""
    starts: list[int] = []
    while start < len(text) and len(starts) < limit:
        end = _line_end(text, start)
        if text[start:end].strip():
            starts.append(start)
        start = end + 1
    return starts


def _best_lines(lines: Mapping[int, Mapping[int, float]], limit: int) -> Sequence[int]:
    """Of lines with the weights of what is in them, those that together have the most
    (SEARCH-70)."""
    if len(lines) <= limit:
        return list(lines)
    ordered = sorted(lines, key=lambda start: (-sum(lines[start].values()), start))
    best = ordered[:1]
    if limit > 1:
        first_with = {term: start for start in reversed(ordered) for term in lines[start]}
        candidates = dict.fromkeys([*ordered[:limit], *first_with.values()])
        pairs = [
            (_together(lines, pair), -n, pair) for n, pair in enumerate(combinations(candidates, 2))
        ]
        best = list(max(pairs)[2])
    while len(best) < limit:
        candidates_left = [start for start in ordered if start not in best]
        best.append(max(candidates_left, key=lambda start: _together(lines, (*best, start))))
    return best[:limit]


def _together(
    lines: Mapping[int, Mapping[int, float]], chosen: Iterable[int]
) -> tuple[float, float]:
    """What lines have, each word once; and with every word in every line."""
    weights: dict[int, float] = {}
    total = 0.0
    for start in chosen:
        for term, weight in lines[start].items():
            weights[term] = max(weights.get(term, 0.0), weight)
            total += weight
    return round(sum(weights.values()), 6), round(total, 6)


def _part_of(headings: Sequence[HeadingFact], start: int) -> HeadingFact | None:
    """The heading, or card, that a line stands under; a heading stands under one of a higher level
    (SEARCH-72)."""
    above = bisect_right(headings, start, key=lambda heading: heading.start) - 1
    if above >= 0 and headings[above].start == start and headings[above].level:
        level = headings[above].level
        while above >= 0 and headings[above].level >= level:
            above -= 1
    return headings[above] if above >= 0 else None


def _on_pages(
    snippets: Iterable[Snippet], text: str, pages: Sequence[HeadingFact]
) -> Iterator[Snippet]:
    """Yield lines of a PDF as lines of their pages, whose numbers stand in the place of cards
    (PDF-1)."""
    above = cache(lambda page: text.count("\n", 0, pages[page - 1].start))
    for snippet in snippets:
        page = int(snippet.card or "1")
        yield replace(snippet, line=snippet.line - above(page), page=page, card=None)


def around(
    text: str, start: int, places: Sequence[HitPlace], end: int = -1, limit: int = LINE_CHARACTERS
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the line beginning at `start`, or the text up to `end`, of a long one the part that
    has the most; and where the places are. A property whose value stands on several lines is shown
    as one (SEARCH-73)."""
    end = _line_end(text, start) if end < 0 else end
    if places[0].start == start and (whole := places[0].end) > end and whole < _body_start(text):
        name, *items = [line.strip().removeprefix("- ") for line in text[start:whole].split("\n")]
        text, start = f"{name} {', '.join(filter(None, items))}", 0
        places, end = [HitPlace(0, len(text))], len(text)
    first, last = start, end
    if end - start > limit:
        first = max(start, min(_densest(places, limit) - limit // 3, end - limit))
        last = first + limit
    part = text[first:last]
    excerpt = part.strip()
    before = "…" if first > start else ""
    zero = first + len(part) - len(part.lstrip()) - len(before)
    low, high = len(before), len(before) + len(excerpt)
    clipped = {(max(low, place.start - zero), min(high, place.end - zero)) for place in places}
    marks = tuple(sorted([(begin, stop) for begin, stop in clipped if begin < stop]))
    return before + _valid(excerpt) + ("…" if last < end else ""), marks


def _body_start(text: str) -> int:
    from obsidian_mcp.core.frontmatter.parser import (
        text_start,
    )  # what other searches need nothing of

    return text_start(text)


def _densest(places: Sequence[HitPlace], width: int) -> int:
    """Where the part of a line begins that has the most of what the query names."""
    best, densest = 0.0, places[0].start
    order = sorted(range(len(places)), key=lambda n: places[n].start)
    starts = [places[n].start for n in order]
    for first in places:
        end = first.start + width - width // 3
        near = sorted(order[bisect_left(starts, first.start) : bisect_right(starts, end)])
        inside = {places[n].term: places[n].weight for n in near if places[n].end <= end}
        if (total := sum(inside.values())) > best + 1e-6:
            best, densest = total, first.start
    return densest


def _valid(text: str) -> str:
    """A text of the same length; bytes that are not UTF-8 are U+FFFD (SEARCH-71)."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
