"""The edits, here and in referrers, when a heading or block gets another name (RENAME-20 to
RENAME-23)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from obsidian_mcp.core.files.catalog import Names
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.note.elements import Heading
from obsidian_mcp.core.note.links import decode
from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.note.subpath import (
    heading_chain,
    heading_for_link,
    heading_key,
    id_span,
    segments,
)
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import InvalidName

from .link_spans import CardPath, LinkPlace, Referrer, Unwritable
from .resolve import encoded, is_balanced, resolve, wiki_holds
from .rewrite import FileEdits, file_edits, in_order, is_percent_encoded

_MARKS = re.compile(r"(#{1,6})[ \t]+")
_BLOCK_ID = re.compile(r"[A-Za-z0-9-]+")
_NO_HEADING = re.compile(r"\^[A-Za-z0-9-]+|\[\^[^\s\]]+\]")
"""Last segment of a subpath to a block or footnote."""
_SQUARE = str.maketrans("[]", "  ")
_ROUND = str.maketrans({"(": "%28", ")": "%29"})

Renamed = Callable[[list[str]], list[str] | None]
"""From the segments of a subpath to those that lead there afterwards, None where they stay. Raises:
Unwritable."""


def plan_heading(
    names: Names,
    path: VaultPath,
    parsed: Note,
    heading: Heading,
    text: str,
    referrers: Iterable[Referrer],
) -> Iterator[FileEdits]:
    """The edits that give a heading the name `text` and take links along; its own line goes with
    the note's. Raises: InvalidName for a blank text, several lines, or the marks of another
    level."""
    text = text.strip()
    marks = _MARKS.match(text)
    if marks and len(marks[1]) != heading.level:
        raise InvalidName(
            f"The heading keeps its level, {heading.level}. Give the new text without {marks[1]!r}."
        )
    text = text[marks.end() :] if marks else text
    if not text or "\n" in text or "\r" in text:
        raise InvalidName(f"{text!r} is no heading. Give one line of text.")
    start = parsed.body.find(heading.text, heading.span.start, heading.span.end)
    if not heading.text or start < 0:
        raise InvalidName("The heading is empty. Edit its line instead.")
    outline = _Outline(parsed.outline, parsed.outline.index(heading), text)
    return _plan(
        names, path, outline.renamed, referrers, Edit(Span(start, start + len(heading.text)), text)
    )


def plan_block(
    names: Names, path: VaultPath, parsed: Note, old: str, new: str, referrers: Iterable[Referrer]
) -> Iterator[FileEdits]:
    """The edits that give the block `^old` the id `new` and take links along. Raises:
    InvalidName."""
    if not _BLOCK_ID.fullmatch(new):
        raise InvalidName(f"{new!r} is no block id. Use letters, digits and hyphens only.")
    found = [block for block in parsed.block_ids if block.id.lower() == old.lower()]
    if not found:
        raise InvalidName(f"The note has no block ^{old}.")
    if any(block.id.lower() == new.lower() != old.lower() for block in parsed.block_ids):
        raise InvalidName(f"The note has a block ^{new} already. Choose another id.")

    def renamed(parts: list[str]) -> list[str] | None:
        return [*parts[:-1], "^" + new] if parts[-1].strip().lower() == "^" + old.lower() else None

    written = id_span(parsed.body, found[-1])
    if written is None:
        raise InvalidName(f"The place of ^{old} in the note is not certain. Edit its line instead.")
    return _plan(names, path, renamed, referrers, Edit(written, new))


class _Outline(NamedTuple):
    """A note's headings, of which the one at `at` is called `text` afterwards."""

    headings: Sequence[Heading]
    at: int
    text: str

    def renamed(self, parts: list[str]) -> list[str] | None:
        """Raises: Unwritable."""
        if _NO_HEADING.fullmatch(parts[-1].strip()):
            return None
        before = [heading_key(heading.text) for heading in self.headings]
        chain = self._chain(before, parts)
        if chain is None:
            return None
        after = [*before[: self.at], heading_key(self.text), *before[self.at + 1 :]]
        written = [
            self._show(self.at) if n == self.at else part
            for n, part in zip(chain, parts, strict=True)
        ]
        goal = chain[-1]
        if self._leads(after, written, goal):
            return written if self.at in chain else None
        above = self._above(goal)
        for first in range(len(above), -1, -1):  # as few of the headings above as will do
            named = [self._show(n) for n in (*above[first:], goal)]
            if self._leads(after, named, goal):
                return named
        raise Unwritable(
            f"No link can tell the heading {self._show(goal)!r} from others of this text in the "
            "note."
        )

    def _leads(self, keys: Sequence[str], parts: Sequence[str], goal: int) -> bool:
        chain = self._chain(keys, parts) if all(parts) else None
        return chain is not None and chain[-1] == goal

    def _show(self, number: int) -> str:
        return heading_for_link(self.text if number == self.at else self.headings[number].text)

    def _chain(self, keys: Sequence[str], parts: Sequence[str]) -> list[int] | None:
        """The heading that each part of a subpath names (semantics 2.2)."""
        levels = [heading.level for heading in self.headings]
        return heading_chain(zip(levels, keys, strict=True), parts)

    def _above(self, number: int) -> list[int]:
        """The headings under which a heading stands, from the top."""
        above: list[int] = []
        for n in range(number + 1):
            while above and self.headings[above[-1]].level >= self.headings[n].level:
                above.pop()
            above.append(n)
        return above[:-1]


def _plan(
    names: Names, path: VaultPath, renamed: Renamed, referrers: Iterable[Referrer], own: Edit
) -> Iterator[FileEdits]:
    def rewrite_link(place: LinkPlace, source: VaultPath) -> list[Edit]:
        leads_here = place.link.subpath and resolve(names, source, place.link.path) == path
        return _rewrite_link(place, renamed) if leads_here else []

    def rewrite_card(card: CardPath) -> list[Edit]:
        subpath = card.subpath
        if subpath is None or names.at(card.path.value) != path:
            return []
        before = segments(subpath.value)
        after = renamed(before) if before else None
        if after is None or after == before:
            return []
        return [
            Edit(subpath.place(Span(0, len(subpath.value))), subpath.written("#" + "#".join(after)))
        ]

    for referrer in referrers:
        found = file_edits(referrer, rewrite_link, rewrite_card)
        if referrer.path == path:
            rest = (
                edit
                for edit in found.edits
                if edit.span.end <= own.span.start or edit.span.start >= own.span.end
            )
            found = found._replace(edits=in_order([*rest, own]))
        if found.edits or found.skipped:
            yield found


def _rewrite_link(place: LinkPlace, renamed: Renamed) -> list[Edit]:
    """Raises: Unwritable."""
    link = place.link
    before = segments(link.subpath)
    after = renamed(before) if before else None
    if after is None or after == before:
        return []
    place.check_found()
    parts = place.parts()
    spans = [] if parts is None else [span for span in parts[1] if _read(place, span).strip()]
    if [_read(place, span).strip() for span in spans] != [part.strip() for part in before]:
        raise Unwritable(
            "It is written with escapes that hide where its parts end. Change it by hand."
        )
    if link.style == "wiki" and not wiki_holds(
        "#" + "#".join(after), displayed=link.display is not None
    ):
        after = [
            part.translate(_SQUARE).strip() for part in after
        ]  # for headings they compare as spaces
    if len(after) == len(before):
        changed = (
            (span, old, new)
            for span, old, new in zip(spans, before, after, strict=True)
            if old != new
        )
        return [place.edit(span, _write_segment(place, new)) for span, _, new in changed]
    whole = Span(spans[0].start, spans[-1].end)
    return [place.edit(whole, "#".join(_write_segment(place, part) for part in after))]


def _read(place: LinkPlace, span: Span) -> str:
    raw = span.slice(place.host)
    return raw if place.link.style == "wiki" else decode(raw)


def _write_segment(place: LinkPlace, part: str) -> str:
    if place.link.style == "wiki":
        return part
    ascii_only = is_percent_encoded(place.link.target_span.slice(place.host))
    text = encoded(part, angle=place.angled, ascii_only=ascii_only)
    return text if is_balanced(part) or place.angled else text.translate(_ROUND)
