"""The edits of links that follow a part of a note into another note (COMPOSE-4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from obsidian_mcp.core.files.file_list import Names
from obsidian_mcp.core.files.settings import AppSettings
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.note.footnotes import Division
from obsidian_mcp.core.note.links import Link
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.core.note.subpath import resolve_subpath, segments
from obsidian_mcp.core.text.sorted_spans import SortedSpans
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import VaultPath

from .link_spans import CardPath, LocatedLink, Referrer, Unwritable
from .resolve import resolve
from .rewrite import FileEdits, file_edits, path_edit
from .write_link import write_path


@dataclass(frozen=True)
class Extraction:
    """A part of a note, `span` of `parsed`, that goes from the file `source` to `target`.

    `before` are the vault's files, `names` those with `target` among them (COMPOSE-4).
    """

    before: Names
    names: Names
    settings: AppSettings
    parsed: Note
    span: Span
    source: VaultPath
    target: VaultPath
    footnotes: Division
    """The footnotes' definitions that go along, and those in the part that stay."""

    def own_edits(self, referrer: Referrer) -> FileEdits:
        """Return the edits of the part itself: its links lead where they led before.

        Their offsets are those in the source.
        """
        going = SortedSpans((self.span, *self.footnotes.carried))
        places = tuple(place for place in referrer.places if _is_in(going, place))
        return file_edits(Referrer(referrer.path, places), self._rewrite_own_link)

    def others_edits(self, referrers: Iterable[Referrer]) -> Iterator[FileEdits]:
        """Yield the edits of links elsewhere that lead to a heading or block in the part."""
        going = SortedSpans((self.span, *self.footnotes.removed))
        staying_notes = SortedSpans(self.footnotes.kept)
        for referrer in referrers:
            if referrer.path == self.source:
                staying = (
                    place
                    for place in referrer.places
                    if not _is_in(going, place) or _is_in(staying_notes, place)
                )
                referrer = referrer._replace(places=tuple(staying))
            file = file_edits(referrer, self._rewrite_link, self._rewrite_card)
            if file.edits or file.skipped:
                yield file

    def _rewrite_own_link(self, place: LocatedLink, source: VaultPath) -> list[Edit]:
        link = place.link
        goal = resolve(self.before, source, link.path)
        if goal == self.source and link.subpath:
            if self._holds(link.subpath):
                return self._into_part(place, self.target)
            if not link.path and resolve_subpath(self.parsed, link.subpath) is None:
                return []
        if goal is None or (link.path and resolve(self.names, self.target, link.path) == goal):
            return []
        return [path_edit(place, self._path(link, goal, self.target))]

    def _rewrite_link(self, place: LocatedLink, source: VaultPath) -> list[Edit]:
        link = place.link
        if not link.subpath or resolve(self.before, source, link.path) != self.source:
            return []
        return self._into_part(place, source) if self._holds(link.subpath) else []

    def _into_part(self, place: LocatedLink, home: VaultPath) -> list[Edit]:
        """Return the edits of a link in the file `home` that has to lead to the part in its new
        note.

        The part has the heading or block to which the link leads.
        """
        link = place.link
        path = "" if home == self.target else self._path(link, self.target, home)
        edits = [] if path == link.path else [path_edit(place, path)]
        parts = place.parts()
        if parts is not None:
            segment_spans = parts[1]
            first = len(segment_spans) - self._count_needed_segments(link.subpath)
            if first > 0:
                superfluous = Span(segment_spans[0].start, segment_spans[first].start)
                edits.append(place.edit(superfluous, ""))
        return edits

    def _rewrite_card(self, card: CardPath) -> list[Edit]:
        is_moved = card.subpath is not None and self._holds(card.subpath.value)
        if not is_moved or self.names.path_at(card.path.value) != self.source:
            return []
        whole = Span(0, len(card.path.value))
        return [Edit(card.path.place(whole), card.path.write_quoted(self.target))]

    def _count_needed_segments(self, subpath: str) -> int:
        """Return how many of the last headings of a chain are enough in the part alone."""
        parts = segments(subpath)
        for count in range(len(parts), 0, -1):
            if resolve_subpath(self._alone, "#" + "#".join(parts[-count:])) is not None:
                return count
        return len(parts)

    @cached_property
    def _alone(self) -> Note:
        return parse(self.span.slice(self.parsed.body))

    def _holds(self, subpath: str) -> bool:
        """Return whether a heading or block of the note is in the part."""
        target = resolve_subpath(self.parsed, subpath)
        return target is not None and self.span.start <= target.span.start < self.span.end

    def _path(self, link: Link, goal: VaultPath, home: VaultPath) -> str:
        """Return the path to write.

        Raises: Unwritable.
        """
        path = write_path(
            self.names,
            goal,
            home,
            link.style,
            self.settings.new_link_format,
            subpath=link.subpath,
            displayed=link.display is not None,
        )
        if path is None:
            raise Unwritable(f"No link can lead to {str(goal)!r}.")
        return path


def _is_in(spans: SortedSpans, place: LocatedLink) -> bool:
    return place.within is None and not place.at and spans.span_around(*place.link.span) is not None
