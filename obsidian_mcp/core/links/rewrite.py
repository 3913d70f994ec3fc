"""The edits of files when files move, appear or change their names (specs/rename.md,
specs/vectors/rename.json), and of links that follow a part of a note (COMPOSE-4): pure, from the
names, what moves, and the files that link there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

from obsidian_mcp.core.files.catalog import Names
from obsidian_mcp.core.files.settings import AppSettings
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.note.footnotes import Division
from obsidian_mcp.core.note.links import Link
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.core.note.subpath import resolve_subpath, segments
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    VaultPath,
    basename,
    is_note,
    name_key,
    parent,
)

from .link_spans import CardPath, LinkPlace, Referrer, Unwritable
from .resolve import (
    clean,
    destination,
    encoded,
    is_balanced,
    is_relative,
    keys_of,
    markdown_label,
    resolve,
    wiki_displays,
    within_folder,
    write_path,
)


class Skipped(NamedTuple):
    """A link that should have been rewritten and could not be: it leads elsewhere or nowhere
    afterwards."""

    original: str
    reason: str
    """One sentence."""


class FileEdits(NamedTuple):
    """What to rewrite in one file: edits in the order of its text, which do not overlap. `path` is
    that of before."""

    path: VaultPath
    edits: tuple[Edit, ...]
    skipped: tuple[Skipped, ...] = ()


class After:
    """The names of a vault after moves and creations, without a copy of them; an answer is kept for
    the next link."""

    def __init__(
        self, names: Names, moves: Mapping[VaultPath, VaultPath], created: Iterable[VaultPath] = ()
    ) -> None:
        came = [*moves.values(), *created]
        self._names = names
        self._named: dict[str, tuple[VaultPath, ...]] = {}
        self._at: dict[str, VaultPath | None] = {}
        self._gone = frozenset(moves) - frozenset(came)
        self._came: dict[str, list[VaultPath]] = {}
        for path in came:
            self._came.setdefault(name_key(_file_name(path)), []).append(path)
        self._touched = frozenset(name_key(path) for path in (*self._gone, *came))
        self._touched_names = frozenset(name_key(_file_name(path)) for path in (*self._gone, *came))

    def named(self, filename: str) -> tuple[VaultPath, ...]:
        if filename not in self._named:
            found = self._names.named(filename)
            if (key := name_key(filename)) in self._touched_names:
                left = {path for path in found if path not in self._gone}
                found = tuple(sorted(left.union(self._came.get(key, ()))))
            self._named[filename] = found
        return self._named[filename]

    def at(self, path: str) -> VaultPath | None:
        if path not in self._at:
            key = name_key(path)
            if key not in self._touched:
                self._at[path] = self._names.at(path)
            else:
                found = [other for other in self.named(_file_name(path)) if name_key(other) == key]
                self._at[path] = VaultPath(path) if path in found else min(found, default=None)
        return self._at[path]


def folder_moves(
    paths: Iterable[VaultPath], folder: VaultPath, target: VaultPath
) -> dict[VaultPath, VaultPath]:
    """The moves of all files below a folder that becomes `target`."""
    below = folder + "/"
    return {
        path: VaultPath(f"{target}/{path[len(below) :]}")
        for path in paths
        if path.startswith(below)
    }


def link_keys(paths: Iterable[VaultPath]) -> frozenset[str]:
    """The `link_key` of every link that may lead to one of these, the old and the new paths of
    files (RENAME-02)."""
    return frozenset(key for path in paths for key in keys_of(path))


def plan(
    names: Names,
    moves: Mapping[VaultPath, VaultPath],
    referrers: Iterable[Referrer],
    *,
    settings: AppSettings,
    created: Iterable[VaultPath] = (),
) -> Iterator[FileEdits]:
    """The edits after which every link leads where it did; `names` and referrers are from before
    (RENAME-01)."""
    change = _Change(After(names, {}), After(names, moves, created), moves, settings)
    for referrer in referrers:
        found = file_edits(referrer, change.rewrite_link, change.rewrite_card)
        if found.edits or found.skipped:
            yield found


def file_edits(
    referrer: Referrer,
    rewrite_link: Callable[[LinkPlace, VaultPath], list[Edit]],
    rewrite_card: Callable[[CardPath], list[Edit]] = lambda _: [],
) -> FileEdits:
    """Return the edits that a file's links and cards are given, which may raise Unwritable."""
    changes = [
        *(
            (partial(rewrite_link, place, referrer.path), place.link.original)
            for place in referrer.places
        ),
        *(
            (partial(rewrite_card, card), (card.subpath or card.path).value)
            for card in referrer.card_paths
        ),
    ]
    edits: list[Edit] = []
    skipped: list[Skipped] = []
    for change, original in changes:
        try:
            edits += change()
        except Unwritable as error:
            skipped.append(Skipped(original, str(error)))
    return FileEdits(referrer.path, in_order(edits), tuple(skipped))


def in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits by their place; of two that overlap the one that begins first stays."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        if not kept or edit.span.start >= kept[-1].span.end:
            kept.append(edit)
    return tuple(kept)


def joined(found: Iterable[FileEdits]) -> list[FileEdits]:
    """Return one entry for each file; of edits that overlap the first stays."""
    by_path: dict[VaultPath, FileEdits] = {}
    for file in found:
        first = by_path.get(file.path, FileEdits(file.path, ()))
        edits = in_order([*first.edits, *file.edits])
        by_path[file.path] = FileEdits(file.path, edits, (*first.skipped, *file.skipped))
    return list(by_path.values())


@dataclass(frozen=True, slots=True)
class _Change:
    before: Names
    after: Names
    moves: Mapping[VaultPath, VaultPath]
    settings: AppSettings
    resolved: dict[tuple[bool, str, str], VaultPath | None] = field(default_factory=dict)
    """Where links lead, before or after, by the folder of their note: many notes of a folder have
    the same links."""

    def rewrite_card(self, card: CardPath) -> list[Edit]:
        target = self.before.at(card.path.value)
        goal = self.moves.get(target) if target is not None else None
        if goal is None:
            return []
        return [Edit(card.path.place(Span(0, len(card.path.value))), card.path.written(goal))]

    def rewrite_link(self, place: LinkPlace, source: VaultPath) -> list[Edit]:
        """Raises: Unwritable."""
        link = place.link
        if not link.path:  # `[[#h]]` goes with its note (RENAME-07)
            return []
        target = self._resolve(source, link.path)
        if target is None:
            return []
        home, goal = self.moves.get(source, source), self.moves.get(target, target)
        renamed = _file_name(goal) != _file_name(target)
        respelled = goal != target and name_key(goal) == name_key(target)
        stays = not renamed and not respelled and self._resolve(home, link.path, after=True) == goal
        if stays:
            if is_relative(link.path):
                return []
            if goal == target and not self._was_relative(link, source, home, target):
                return []
        names = _shown_names(target, goal) if renamed else {}
        form, subpath = self.settings.new_link_format, link.subpath
        extension = is_note(link.path) if is_note(target) else None
        shown = link.display is not None and link.display not in names
        path = write_path(
            self.after,
            goal,
            home,
            link.style,
            form,
            subpath=subpath,
            extension=extension,
            displayed=shown,
        )
        if path is None:
            return [self._as_markdown(place, goal, home, names)]
        if stays and name_key(path) == name_key(clean(link.path)):
            return []
        return [path_edit(place, path), *_display_edit(place, path, names)]

    def _resolve(self, source: VaultPath, path: str, *, after: bool = False) -> VaultPath | None:
        key = after, parent(source), path
        if key not in self.resolved:
            self.resolved[key] = resolve(self.after if after else self.before, source, path)
        return self.resolved[key]

    def _was_relative(self, link: Link, source: str, home: str, target: VaultPath) -> bool:
        """Whether the link is the path from a folder that its note leaves, in a vault that writes
        links so."""
        if self.settings.new_link_format != "relative" or parent(source) == parent(home):
            return False
        joined = within_folder(parent(source), clean(link.path))
        return joined is not None and target in (
            self.before.at(joined),
            self.before.at(joined + NOTE_EXTENSION),
        )

    def _as_markdown(
        self, place: LinkPlace, goal: VaultPath, home: VaultPath, names: Mapping[str, str]
    ) -> Edit:
        """A wikilink as a Markdown link: the new name holds what ends a wikilink (RENAME-08).
        Raises: Unwritable."""
        link = place.link
        path = write_path(
            self.after, goal, home, "markdown", self.settings.new_link_format, subpath=link.subpath
        )
        if path is None:
            name = str(goal)
            raise Unwritable(
                f"No link can lead to {name!r}: a name with '#' or without an extension is never "
                "found."
            )
        if link.display is not None:
            shown = names.get(link.display, link.display)
        else:
            shown = "" if link.embed else basename(goal)
        display = place.display()
        label = markdown_label(
            shown, in_table=display is None or display.slice(place.host) != shown
        )
        if place.within is not None and place.host == link.original:
            # a property is a link only when its label holds no bracket
            label = label.translate(_NO_BRACKETS)
        return place.edit(
            link.span, f"{'!' if link.embed else ''}[{label}]({destination(path + link.subpath)})"
        )


_NO_BRACKETS = str.maketrans("", "", "\\[]")


def path_edit(place: LinkPlace, path: str) -> Edit:
    """Return the edit that gives a link another path. Raises: Unwritable."""
    parts = place.parts()
    if parts is None:
        raise Unwritable(
            "The target is written with escapes that hide where it ends. Change it by hand."
        )
    span, segments = parts
    if place.link.style == "wiki":
        return place.edit(span, path)
    ascii_only = is_percent_encoded(span.slice(place.host))
    if place.angled:
        return place.edit(span, encoded(path, angle=True, ascii_only=ascii_only))
    if is_balanced(path):
        return place.edit(span, encoded(path, ascii_only=ascii_only))
    whole = Span(span.start, segments[-1].end if segments else span.end)
    inner = encoded(path, angle=True, ascii_only=ascii_only)
    return place.edit(whole, f"<{inner}{place.host[span.end : whole.end]}>")


def _display_edit(place: LinkPlace, path: str, names: Mapping[str, str]) -> list[Edit]:
    """A display that is the old name becomes the new one; none where the target now says the same
    (RENAME-06)."""
    link, span = place.link, place.display()
    shown = names.get(link.display or "")
    if span is None or shown is None or link.size is not None:
        return []
    if link.style == "markdown":
        return (
            [place.edit(span, markdown_label(shown))]
            if span.slice(place.host) == link.display
            else []
        )
    if shown == path + link.subpath:
        return [place.edit(Span(link.target_span.end, span.end), "")]
    return [place.edit(span, shown)] if wiki_displays(shown) else []


def _shown_names(target: VaultPath, goal: VaultPath) -> dict[str, str]:
    """The old name as a display may say it, with and without extension, and the new name in the
    same form."""
    old, new = _file_name(target), _file_name(goal)
    return {_stem(old): _stem(new), old: new}


def _stem(filename: str) -> str:
    stem, dot, _ = filename.rpartition(".")
    return stem if dot and stem else filename


def is_percent_encoded(raw: str) -> bool:
    """Whether the writer of a destination encodes other scripts too."""
    return any(
        raw[at + 1 : at + 2] in "89abcdefABCDEF" for at, char in enumerate(raw[:-2]) if char == "%"
    )


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


@dataclass(frozen=True)
class Extraction:
    """A part, `span` of `parsed`, that goes from `source` to `target`; `names` are those `before`
    with `target`."""

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
        """Return the edits of the part itself, with offsets in the source: its links lead where
        they led before."""
        going = (self.span, *self.footnotes.carried)
        places = tuple(place for place in referrer.places if _is_in(going, place))
        return file_edits(Referrer(referrer.path, places), self._moved_link)

    def others_edits(self, referrers: Iterable[Referrer]) -> Iterator[FileEdits]:
        """Yield the edits of links elsewhere that lead to a heading or block in the part."""
        going, kept = (self.span, *self.footnotes.removed), self.footnotes.kept
        for referrer in referrers:
            if referrer.path == self.source:
                staying = (
                    place
                    for place in referrer.places
                    if not _is_in(going, place) or _is_in(kept, place)
                )
                referrer = referrer._replace(places=tuple(staying))
            edits = file_edits(referrer, self._link_to_moved, self._rewrite_card)
            if edits.edits or edits.skipped:
                yield edits

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
        """The edits of a link in the file `home` that is to lead to a heading or block of the part
        in its new note."""
        link = place.link
        path = "" if home == self.target else self._path(link, self.target, home)
        edits = [] if path == link.path else [path_edit(place, path)]
        parts = place.parts()
        if parts is not None and len(parts[1]) > 1:
            kept = self._segments_needed(link.subpath)
            if kept < len(parts[1]):
                edits.append(
                    place.edit(Span(parts[1][0].start, parts[1][len(parts[1]) - kept].start), "")
                )
        return edits

    def _rewrite_card(self, card: CardPath) -> list[Edit]:
        is_moved = card.subpath is not None and self._holds(card.subpath.value)
        if not is_moved or self.names.at(card.path.value) != self.source:
            return []
        return [
            Edit(card.path.place(Span(0, len(card.path.value))), card.path.written(self.target))
        ]

    def _segments_needed(self, subpath: str) -> int:
        """How many of the last headings of a chain are enough in the part alone."""
        parts = segments(subpath)
        counts = range(len(parts), 0, -1)
        found = (
            n
            for n in counts
            if resolve_subpath(self._alone, "#" + "#".join(parts[-n:])) is not None
        )
        return next(found, len(parts))

    @cached_property
    def _alone(self) -> Note:
        return parse(self.span.slice(self.parsed.body))

    def _holds(self, subpath: str) -> bool:
        """Whether a heading or block of the note is in the part."""
        found = resolve_subpath(self.parsed, subpath)
        return found is not None and self.span.start <= found.span.start < self.span.end

    def _path(self, link: Link, goal: VaultPath, home: VaultPath) -> str:
        """The path to write. Raises: Unwritable."""
        form, is_shown = self.settings.new_link_format, link.display is not None
        path = write_path(
            self.names, goal, home, link.style, form, subpath=link.subpath, displayed=is_shown
        )
        if path is None:
            raise Unwritable(f"No link can lead to {str(goal)!r}.")
        return path


def _is_in(spans: Iterable[Span], place: LinkPlace) -> bool:
    start, end = place.link.span
    return (
        place.within is None
        and not place.at
        and any(span.start <= start and end <= span.end for span in spans)
    )
