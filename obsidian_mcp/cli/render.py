"""What a search found, for people: on a terminal in colours and cut to its width, in a pipe as
plain lines (specs/cli.md, CLI-07 to CLI-09)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from obsidian_mcp.core.query.nodes import And, Or, Phrase, QueryNode, ScopedQuery, Word
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.search.hits import Grouped, Hit, Hits
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import QueryInvalid

from .cells import RESET, Marks, fit_columns, mask_controls

PATH, MATCH, LINE, QUIET = "\x1b[1;36m", "\x1b[1;31m", "\x1b[32m", "\x1b[2m"
NARROWEST: Final = 20
"""Columns that are counted on, however narrow the terminal."""


class Screen(NamedTuple):
    """A terminal."""

    columns: int
    colours: bool


def listing(
    result: Hits | Grouped, query: str, on: Screen | None, *, paths_only: bool = False
) -> str:
    """Return the files and their lines; `on` None is no terminal. `paths_only`: without what they
    were sorted by."""
    paint = _Paint(on, _read_words(query), paths_only)
    if isinstance(result, Hits):
        return _format_hits(result.hits, paint)
    parts = []
    for group in result.groups:
        title = paint.colour(
            f"== {mask_controls(group.group)}: {group.count}", PATH if group.hits else QUIET
        )
        parts.append(f"{title}\n{_format_hits(group.hits, paint)}" if group.hits else f"{title}\n")
    return "".join(parts)


def remarks(result: Hits | Grouped, offset: int, *, in_one: bool = False) -> str:
    """Return how many there are, how they were found, and how to see more; one a line. `in_one`:
    lines of one note."""
    hits = (
        result.hits
        if isinstance(result, Hits)
        else [hit for group in result.groups for hit in group.hits or ()]
    )
    kind = "line" if in_one else "file"
    lines = [write_count(result.total, kind) if result.total else "Nothing found."]
    if result.next_offset is not None or offset:
        count = sum(len(hit.snippets or ()) for hit in hits) if in_one else len(hits)
        lines[0] += f", {count} shown"
    if result.next_offset is not None:
        lines[0] += f"; more with --offset {result.next_offset}"
    if result.widened:
        lines.append(result.widened)
    lines += [remark for remark in (result.note, result.incomplete) if remark]
    return "".join(f"{mask_controls(line)}\n" for line in lines)


def _format_hits(hits: Iterable[Hit], paint: _Paint) -> str:
    return "".join(f"{line}\n" for hit in hits for line in _lines(hit, paint))


def _lines(hit: Hit, paint: _Paint) -> Iterator[str]:
    value = (
        f"  {paint.colour(mask_controls(hit.value), QUIET)}"
        if hit.value and not paint.paths_only
        else ""
    )
    yield paint.path(mask_controls(hit.path)) + value + paint.write_reason(hit.outdated)
    for line in hit.chain or ():
        yield paint.colour(f"  {mask_controls(line)}", QUIET)
    above = None
    for snippet in hit.snippets or ():
        part = snippet.heading and f"# {snippet.heading}"
        if snippet.page is not None:
            part = f"page {snippet.page}"
        elif snippet.card is not None:
            part = f"card {snippet.card}"
        if part != above and part:
            yield paint.colour(paint.fit(f"  {mask_controls(part)}", ())[0], QUIET)
        above = part
        number = f"{snippet.line:>6}: "
        # only a passage, which has a link, has several lines; the number stands before the first
        for line in snippet.text.split("\n") if snippet.link else [snippet.text]:
            marks = snippet.marks if line == snippet.text else ()
            yield paint.colour(number, LINE) + paint.line(mask_controls(line), marks, len(number))
            number = " " * len(number)
        if snippet.outdated and not hit.outdated:
            yield paint.colour(f"{' ' * 8}({mask_controls(snippet.outdated)})", QUIET)


class _Paint(NamedTuple):
    screen: Screen | None
    named: Sequence[str]
    """Folded words that are marked in paths."""
    paths_only: bool

    def colour(self, text: str, colour: str) -> str:
        return f"{colour}{text}{RESET}" if self.screen is not None and self.screen.colours else text

    def write_reason(self, reason: str | None) -> str:
        """Why a note holds no longer, behind its path (MEM-11)."""
        if reason is None or self.paths_only:
            return ""
        return self.colour(f"  ({mask_controls(reason)})", QUIET)

    def path(self, path: str) -> str:
        folded = fold(path)
        marks = {
            match.span() for word in self.named for match in re.finditer(re.escape(word), folded)
        }
        return self._mark(path, sorted(marks), PATH)

    def line(self, text: str, marks: Marks, indent: int) -> str:
        return self._mark(*self.fit(text, marks, indent), "")

    def fit(self, text: str, marks: Marks, indent: int = 0) -> tuple[str, Marks]:
        """Return the part of a line that the terminal has columns for, with the first mark in
        it."""
        if self.screen is None:
            return text, marks
        return fit_columns(text, marks, max(self.screen.columns, NARROWEST) - indent)

    def _mark(self, text: str, marks: Marks, around: str) -> str:
        if self.screen is None or not self.screen.colours:
            return text
        parts, at = [], 0
        for start, end in marks:
            if end > at:
                start = max(start, at)
                parts.append(
                    _add_colour(text[at:start], around) + _add_colour(text[start:end], MATCH)
                )
                at = end
        return "".join(parts) + _add_colour(text[at:], around)


def _add_colour(text: str, colour: str) -> str:
    return f"{colour}{text}{RESET}" if text and colour else text


def _read_words(query: str) -> list[str]:
    """Return the words and phrases that a query looks for in paths, among other places."""
    try:
        return [fold(text) for text in _texts(parse(query)) if text]
    except QueryInvalid:  # the app reads what this program does not
        return []


def _texts(node: QueryNode) -> Iterator[str]:
    match node:
        case Word() | Phrase():
            yield node.text
        case And() | Or():
            for part in node.parts:
                yield from _texts(part)
        case ScopedQuery(operator="file" | "path" | "match-case" | "ignore-case"):
            yield from _texts(node.part)
