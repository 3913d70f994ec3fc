"""The edits of files when files move, appear or change their names.

Pure: given the names of the vault, the moves, and the files that may link to moved files, the edits
of each file. Which files those are, an index answers by `link_keys`. Rules and cases:
specs/rename.md, specs/vectors/rename.json. (semantics 7)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from obsidian_mcp.core.files.file_list import Names
from obsidian_mcp.core.files.settings import AppSettings
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.note.edits import Edit
from obsidian_mcp.core.note.links import Link
from obsidian_mcp.core.text.call import UNCHECKED, checkpoint
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    VaultPath,
    basename,
    is_note,
    name_key,
    parent,
)

from .link_spans import CardPath, LocatedLink, Referrer, Unwritable
from .resolve import clean, is_relative, join_relative, keys_of, resolve
from .write_link import (
    destination,
    encode_destination,
    is_balanced,
    is_wikilink_display,
    markdown_label,
    write_path,
)


class Skipped(NamedTuple):
    """A link that should have been rewritten and could not be.

    It leads elsewhere or nowhere afterwards.
    """

    original: str
    reason: str
    """One sentence."""


class Reformed(NamedTuple):
    """A link whose path is written in another form than before: relative, from the vault's folder,
    or a bare name."""

    old: str
    new: str


class FileEdits(NamedTuple):
    """The edits of one file, in the order of its text, which do not overlap.

    `path` is the file's path before a move.
    """

    path: VaultPath
    edits: tuple[Edit, ...]
    skipped: tuple[Skipped, ...] = ()
    reformed: tuple[Reformed, ...] = ()


class After:
    """The names of a vault after moves and creations, without a copy of them.

    Each answer is remembered for the next link.
    """

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

    def find_by_name(self, filename: str) -> tuple[VaultPath, ...]:
        """Return the files with this name."""
        if filename not in self._named:
            paths = self._names.find_by_name(filename)
            key = name_key(filename)
            if key in self._touched_names:
                staying = {path for path in paths if path not in self._gone}
                paths = tuple(sorted(staying.union(self._came.get(key, ()))))
            self._named[filename] = paths
        return self._named[filename]

    def path_at(self, path: str) -> VaultPath | None:
        if path not in self._at:
            key = name_key(path)
            if key not in self._touched:
                self._at[path] = self._names.path_at(path)
            else:
                equal = [
                    file for file in self.find_by_name(_file_name(path)) if name_key(file) == key
                ]
                spelled = (VaultPath(path), VaultPath(normal_form(path)))
                exact = [spelling for spelling in spelled if spelling in equal]
                self._at[path] = exact[0] if exact else min(equal, default=None)
        return self._at[path]


def folder_moves(
    paths: Iterable[VaultPath], folder: VaultPath, target: VaultPath
) -> dict[VaultPath, VaultPath]:
    """Return the moves of all files below a folder, in any normal form, that becomes `target`."""
    below, depth = folder + "/", folder.count("/") + 1
    return {
        path: VaultPath(f"{target}/{path.split('/', depth)[depth]}")
        for path in paths
        if normal_form(path).startswith(below)
    }


def link_keys(paths: Iterable[VaultPath]) -> frozenset[str]:
    """Return the `link_key` of every link that may lead to one of these files (RENAME-02).

    The paths are the old and the new ones of files that move.
    """
    return frozenset(key for path in paths for key in keys_of(path))


def plan(
    names: Names,
    moves: Mapping[VaultPath, VaultPath],
    referrers: Iterable[Referrer],
    *,
    settings: AppSettings,
    created: Iterable[VaultPath] = (),
) -> Iterator[FileEdits]:
    """Yield the edits after which every link leads where it led before, at its new place.

    `names` are those before the moves, and so are the paths of the referrers. Files without edits
    are left out (RENAME-01).
    """
    change = _NameChange(After(names, {}), After(names, moves, created), moves, settings)
    for referrer in referrers:
        file = file_edits(referrer, change.rewrite_link, change.rewrite_card)
        if file.edits or file.skipped:
            yield file._replace(reformed=tuple(change.reformed))
        change.reformed.clear()


def file_edits(
    referrer: Referrer,
    rewrite_link: Callable[[LocatedLink, VaultPath], list[Edit]],
    rewrite_card: Callable[[CardPath], list[Edit]] = lambda _: [],
) -> FileEdits:
    """Return the edits of a file that two functions give its links and cards.

    The functions may raise Unwritable for a link, which is then listed as skipped.
    """
    edits: list[Edit] = []
    skipped: list[Skipped] = []
    for number, place in enumerate(referrer.places, 1):
        if not number % UNCHECKED:
            checkpoint()
        try:
            edits += rewrite_link(place, referrer.path)
        except Unwritable as error:
            skipped.append(Skipped(place.link.original, str(error)))
    for card in referrer.card_paths:
        try:
            edits += rewrite_card(card)
        except Unwritable as error:
            skipped.append(Skipped((card.subpath or card.path).value, str(error)))
    return FileEdits(referrer.path, order_edits(edits), tuple(skipped))


def order_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return edits in the order of their places.

    Of two that overlap, only the one that begins first stays.
    """
    separate: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        if not separate or edit.span.start >= separate[-1].span.end:
            separate.append(edit)
    return tuple(separate)


def join_by_file(files: Iterable[FileEdits]) -> list[FileEdits]:
    """Return one entry for each file; of edits that overlap the first stays."""
    by_path: dict[VaultPath, FileEdits] = {}
    for file in files:
        first = by_path.get(file.path, FileEdits(file.path, ()))
        edits = order_edits([*first.edits, *file.edits])
        by_path[file.path] = FileEdits(file.path, edits, (*first.skipped, *file.skipped))
    return list(by_path.values())


@dataclass(frozen=True, slots=True)
class _NameChange:
    """A change of names: the vault's names before and after, and the moves."""

    before: Names
    after: Names
    moves: Mapping[VaultPath, VaultPath]
    settings: AppSettings
    resolved: dict[tuple[bool, str, str], VaultPath | None] = field(default_factory=dict)
    """Where links lead, before or after, by the folder of their note.

    Many notes of a folder have the same links.
    """
    reformed: list[Reformed] = field(default_factory=list)
    """The links of the file in hand that get another form."""

    def rewrite_card(self, card: CardPath) -> list[Edit]:
        target = self.before.path_at(card.path.value)
        goal = self.moves.get(target) if target is not None else None
        if goal is None:
            return []
        return [Edit(card.path.place(Span(0, len(card.path.value))), card.path.write_quoted(goal))]

    def rewrite_link(self, place: LocatedLink, source: VaultPath) -> list[Edit]:
        """Return the edits after which a link leads where it led before.

        Raises: Unwritable.
        """
        link = place.link
        if not link.path:  # `[[#h]]` goes with its note (RENAME-07)
            return []
        target = self._resolve(source, link.path)
        if target is None:
            return []
        home, goal = self.moves.get(source, source), self.moves.get(target, target)
        is_renamed = _file_name(goal) != _file_name(target)
        is_respelled = goal != target and name_key(goal) == name_key(target)
        stays = (
            not is_renamed
            and not is_respelled
            and self._resolve(home, link.path, after=True) == goal
        )
        if stays:
            if is_relative(link.path):
                return []
            if goal == target and not self._was_relative(link, source, home, target):
                return []
        names = _display_names(target, goal) if is_renamed else {}
        path = write_path(
            self.after,
            goal,
            home,
            link.style,
            self.settings.new_link_format,
            subpath=link.subpath,
            extension=is_note(link.path) if is_note(target) else None,
            displayed=link.display is not None and link.display not in names,
        )
        if path is None:
            return [self._as_markdown(place, goal, home, names)]
        if stays and name_key(path) == name_key(clean(link.path)):
            return []
        edits = [path_edit(place, path), *_display_edit(place, path, names)]
        if _form_of(path) != _form_of(clean(link.path)):
            self.reformed.append(Reformed(link.path, path))
        return edits

    def _resolve(self, source: VaultPath, path: str, *, after: bool = False) -> VaultPath | None:
        key = after, parent(source), path
        if key not in self.resolved:
            self.resolved[key] = resolve(self.after if after else self.before, source, path)
        return self.resolved[key]

    def _was_relative(self, link: Link, source: str, home: str, target: VaultPath) -> bool:
        """Return whether a link is the path from a folder that its note leaves.

        It is one only in a vault whose settings say that links are written so.
        """
        if self.settings.new_link_format != "relative" or parent(source) == parent(home):
            return False
        joined = join_relative(parent(source), clean(link.path))
        return joined is not None and target in (
            self.before.path_at(joined),
            self.before.path_at(joined + NOTE_EXTENSION),
        )

    def _as_markdown(
        self, place: LocatedLink, goal: VaultPath, home: VaultPath, names: Mapping[str, str]
    ) -> Edit:
        """Return a wikilink as a Markdown link: the new name has characters that end a wikilink.

        See RENAME-08.

        Raises: Unwritable.
        """
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
            text = names.get(link.display, link.display)
        else:
            text = "" if link.embed else basename(goal)
        display = place.display()
        in_table = display is None or display.slice(place.host) != text
        label = markdown_label(text, in_table=in_table)
        if place.within is not None and place.host == link.original:
            # A property is a link only if its label has no bracket.
            label = label.translate(_NO_BRACKETS)
        bang = "!" if link.embed else ""
        return place.edit(link.span, f"{bang}[{label}]({destination(path + link.subpath)})")


_NO_BRACKETS = str.maketrans("", "", "\\[]")


def path_edit(place: LocatedLink, path: str) -> Edit:
    """Return the edit that gives a link another path.

    Raises: Unwritable.
    """
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
        return place.edit(span, encode_destination(path, angle=True, ascii_only=ascii_only))
    if is_balanced(path):
        return place.edit(span, encode_destination(path, ascii_only=ascii_only))
    whole = Span(span.start, segments[-1].end if segments else span.end)
    inner = encode_destination(path, angle=True, ascii_only=ascii_only)
    return place.edit(whole, f"<{inner}{place.host[span.end : whole.end]}>")


def _display_edit(place: LocatedLink, path: str, names: Mapping[str, str]) -> list[Edit]:
    """Return the edit of a display that is the old name: it becomes the new one (RENAME-06).

    It is removed where the target now says the same.
    """
    link, span = place.link, place.display()
    new_name = names.get(link.display or "")
    if span is None or new_name is None or link.size is not None:
        return []
    if link.style == "markdown":
        is_plain = span.slice(place.host) == link.display
        return [place.edit(span, markdown_label(new_name))] if is_plain else []
    if new_name == path + link.subpath:
        return [place.edit(Span(link.target_span.end, span.end), "")]
    return [place.edit(span, new_name)] if is_wikilink_display(new_name) else []


def _display_names(target: VaultPath, goal: VaultPath) -> dict[str, str]:
    """Return the new name by the old one, as a display may have it: with and without extension."""
    old, new = _file_name(target), _file_name(goal)
    return {_stem(old): _stem(new), old: new}


def _stem(filename: str) -> str:
    stem, dot, _ = filename.rpartition(".")
    return stem if dot and stem else filename


def is_percent_encoded(raw: str) -> bool:
    """Return whether the program that wrote a destination encodes other scripts, too."""
    return any(
        raw[at + 1 : at + 2] in "89abcdefABCDEF" for at, char in enumerate(raw[:-2]) if char == "%"
    )


def _form_of(path: str) -> tuple[bool, bool]:
    """Return whether a link's path is relative to its note, and whether it names folders."""
    return is_relative(path), "/" in path


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
