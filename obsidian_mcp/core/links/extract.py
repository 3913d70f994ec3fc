"""Links that follow a part of a note into another note (COMPOSE-4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from obsidian_mcp.core.files.catalog import Names
from obsidian_mcp.core.files.settings import AppSettings
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.note.footnotes import Division
from obsidian_mcp.core.note.links import Link
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.core.note.subpath import resolve_subpath, segments
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import VaultPath

from .link_spans import CardPath, LinkPlace, Referrer, Unwritable
from .resolve import resolve, write_path
from .rewrite import FileEdits, file_edits, path_edit


@dataclass(frozen=True, slots=True)
class Extraction:
    """A part, `span` of `parsed`, that goes from `source` to `target`; `names` are those `before` with `target`."""

    before: Names
    names: Names
    settings: AppSettings
    parsed: Note
    span: Span
    source: VaultPath
    target: VaultPath
    footnotes: Division
    """The definitions that go along, and those in the part that stay."""

    def own_edits(self, referrer: Referrer) -> FileEdits:
        """Return the edits of the part itself, with offsets in the source: its links lead where they led before."""
        going = (self.span, *self.footnotes.carried)
        places = tuple(place for place in referrer.places if _is_in(going, place))
        return file_edits(Referrer(referrer.path, places), self._moved_link)

    def others_edits(self, referrers: Iterable[Referrer]) -> Iterator[FileEdits]:
        """Yield the edits of links elsewhere that lead to a heading or block in the part."""
        for referrer in referrers:
            places = (place for place in referrer.places if referrer.path != self.source or self._stays(place))
            edits = file_edits(replace(referrer, places=tuple(places)), self._link_to_moved, self._rewrite_card)
            if edits.edits or edits.skipped:
                yield edits

    def _stays(self, place: LinkPlace) -> bool:
        return not _is_in((self.span, *self.footnotes.removed), place) or _is_in(self.footnotes.kept, place)

    def _moved_link(self, place: LinkPlace, source: VaultPath) -> list[Edit]:
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

    def _link_to_moved(self, place: LinkPlace, source: VaultPath) -> list[Edit]:
        link = place.link
        if not link.subpath or resolve(self.before, source, link.path) != self.source:
            return []
        return self._into_part(place, source) if self._holds(link.subpath) else []

    def _into_part(self, place: LinkPlace, home: VaultPath) -> list[Edit]:
        """The edits of a link in the file `home` that is to lead to a heading or block of the part in its new note."""
        link = place.link
        path = "" if home == self.target else self._path(link, self.target, home)
        edits = [] if path == link.path else [path_edit(place, path)]
        parts = place.parts()
        if parts is not None and len(parts[1]) > 1:
            kept = self._segments_needed(link.subpath)
            if kept < len(parts[1]):
                edits.append(place.edit(Span(parts[1][0].start, parts[1][len(parts[1]) - kept].start), ""))
        return edits

    def _rewrite_card(self, card: CardPath) -> list[Edit]:
        is_moved = card.subpath is not None and self._holds(card.subpath.value)
        if not is_moved or self.names.at(card.path.value) != self.source:
            return []
        return [Edit(card.path.place(Span(0, len(card.path.value))), card.path.written(self.target))]

    def _segments_needed(self, subpath: str) -> int:
        """How many of the last headings of a chain are enough in the part alone."""
        moved = parse(self.span.slice(self.parsed.body))
        parts = segments(subpath)
        counts = range(len(parts), 0, -1)
        return next((n for n in counts if resolve_subpath(moved, "#" + "#".join(parts[-n:])) is not None), len(parts))

    def _holds(self, subpath: str) -> bool:
        """Whether a heading or block of the note is in the part."""
        found = resolve_subpath(self.parsed, subpath)
        return found is not None and self.span.start <= found.span.start < self.span.end

    def _path(self, link: Link, goal: VaultPath, home: VaultPath) -> str:
        """The path to write. Raises: Unwritable."""
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


def _is_in(spans: Iterable[Span], place: LinkPlace) -> bool:
    start, end = place.link.span
    return place.within is None and not place.at and any(span.start <= start and end <= span.end for span in spans)
