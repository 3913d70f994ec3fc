"""The list of the vault's files in memory; names, links and listings are resolved against it."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import NamedTuple, Protocol

from obsidian_mcp.core.calendar.timestamp import timestamp
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.nearness import MOST_SEARCHED, nearest
from obsidian_mcp.core.text.text import MAX_FILE_BYTES, Text, etag_of, printable
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    TEXT_EXTENSIONS,
    VaultPath,
    extension,
    name_key,
    parse,
)
from obsidian_mcp.errors import AppError, NoteNotFound

from .folder_table import FolderTable
from .name_errors import ambiguous, file_gone
from .ports import Change, DiskFile
from .spellings import Spellings, normal_form

NEAR_NAMES_SHOWN = 5
_LINK = re.compile(r"\s*!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]\s*")


class FileEntry(NamedTuple):
    """One file of the vault: `path` is its path in the vault (NAME-09), `disk` its spelling on
    disk."""

    path: VaultPath
    disk: str
    size: int
    """Bytes."""
    mtime_ns: int
    """Modification time in nanoseconds since the epoch."""

    @property
    def is_too_large(self) -> bool:
        """Whether the file is larger than what is read at once."""
        return self.size > MAX_FILE_BYTES

    @property
    def modified(self) -> str:
        """The modification time in ISO 8601."""
        return timestamp(self.mtime_ns)


class Content(NamedTuple):
    """A file as it was read (specs/edits.md, SAFE-07)."""

    entry: FileEntry
    data: bytes

    @property
    def etag(self) -> str:
        return etag_of(self.data)

    @property
    def is_text(self) -> bool:
        """Whether it can be shown as text: UTF-16, as other binary data, has NUL characters."""
        return b"\0" not in self.data[:8192]

    @property
    def text(self) -> Text:
        return Text.decode(self.data)

    def with_body(self, body: str) -> Content:
        """Return the file with another text behind its byte order mark."""
        return Content(self.entry, Text(body, self.text.bom).encode())


class Names(Protocol):
    """The questions of link resolution to a set of files."""

    def named(self, filename: str) -> tuple[VaultPath, ...]:
        """Paths whose file name (with extension) compares equal to `filename`; sorted."""

    def at(self, path: str) -> VaultPath | None:
        """The file at exactly this path from the root, compared as the app compares."""


MOST_NAMES = 1_000
"""Names whose files are remembered until files come or go."""


class Catalog:
    """All files of a vault by path and by file name. A path is the NFC form of the disk spelling,
    but twins keep their own spellings (NAME-09), whatever the order of changes. The vault's lock
    guards it."""

    def __init__(
        self,
        files: Iterable[DiskFile] = (),
        read_uri: Callable[[str], str] = lambda raw: raw,
        root_bytes: int = 0,
    ) -> None:
        """`read_uri` returns the name of the note that a URI names (NAME-16); it raises
        VaultNotFound, InvalidName, PermissionDenied. `root_bytes`: the length of the path of the
        vault's folder, with its `/`."""
        self._read_uri = read_uri
        self._root_bytes = root_bytes
        self._by_path: dict[str, FileEntry] = {}
        self._spellings = Spellings(lambda disk: self.on_disk(disk) is not None)
        self._path_of: dict[str, VaultPath] = {}
        """Disk spelling -> path, where the two differ."""
        self._names = threading.Lock()
        self._by_name: dict[str, list[VaultPath]] | None = None
        """Comparison key of a file name -> paths; made when it is first needed, which no search
        does."""
        self._folders = -1, FolderTable(())
        """The generation in which the folders were collected, and these."""
        self._found: tuple[int, dict[str, VaultPath]] = (-1, {})
        """The generation in which names were looked up, and the paths that they mean: calls repeat
        the same names."""
        self.generation = 0
        """Grows whenever a file appears or disappears; caches of derived data compare it."""
        self.revision = 0
        """Grows with every change of a file, of its size or time too."""
        self.replace(files)

    def __len__(self) -> int:
        return len(self._by_path)

    def __iter__(self) -> Iterator[FileEntry]:
        return iter(
            list(self._by_path.values())
        )  # as they are now: others may take in changes meanwhile

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def get(self, path: str) -> FileEntry | None:
        return self._by_path.get(path)

    def entry(self, path: str) -> FileEntry:
        """Return the file at exactly this path. Raises: NoteNotFound, as where another program has
        just taken it."""
        if (entry := self._by_path.get(path)) is None:
            raise file_gone(path)
        return entry

    def by_path(self) -> dict[str, FileEntry]:
        """All files as they are now; a copy."""
        return self._by_path.copy()

    def on_disk(self, disk: str) -> FileEntry | None:
        """The entry of the file that the disk spells so."""
        entry = self._by_path.get(self._path_of.get(disk, disk))
        return entry if entry is not None and entry.disk == disk else None

    def path_of(self, disk: str) -> VaultPath:
        """Return the path of a file or folder that the disk spells so, also of one that is not
        there (any more): then never the path of a file that is."""
        path = self._spellings.path(disk)
        namesake = self._by_path.get(path)
        return path if namesake is None or namesake.disk == disk else VaultPath(printable(disk))

    def replace(self, files: Iterable[DiskFile]) -> Iterable[Change]:
        """Replace the list of files; return the paths whose file is new, different or gone."""
        listed = {file.disk: file for file in files}
        before = self.by_path()
        first: dict[str, FileEntry] = {}
        changes: list[Change] = []
        if not self._by_path:  # an ASCII spelling has no twins among others
            first = {
                disk: FileEntry._make((disk, *file))
                for disk, file in listed.items()
                if disk.isascii()
            }
            with self._names:
                self._by_path.update(first)
                self._by_name = None
            self._moved()
            listed = {disk: file for disk, file in listed.items() if disk not in first}
        else:
            for disk in sorted(entry.disk for entry in self if entry.disk not in listed):
                changes += self.drop(disk)
        for file in listed.values():
            changes += self.put(file)
        latest = {change.path: change for change in changes}.values()
        # a file has the path in normal form only until its twin comes
        last = [
            change
            for change in latest
            if not change.gone or change.path in before or change.path in first
        ]
        return chain(
            map(Change, map(VaultPath, first)), last
        )  # nobody asks for the first ones of a short command

    def put(self, file: DiskFile) -> list[Change]:
        """Add or update a file; return the paths whose file is new or different."""
        earlier = self.on_disk(file.disk)
        if earlier is not None:
            if earlier.size == file.size and earlier.mtime_ns == file.mtime_ns:
                return []
            self._by_path[earlier.path] = FileEntry(earlier.path, *file)
            self.revision += 1
            return [Change(earlier.path)]
        path, twins = self._spellings.add(file.disk)
        if not twins:
            self._add(FileEntry(path, *file))
            return [Change(path)]
        twin_entries = self._entries_of(twins)
        return self._reassign(twin_entries, [*(DiskFile(*twin[1:]) for twin in twin_entries), file])

    def drop(self, disk: str) -> list[Change]:
        """Remove a file; return the paths whose file is gone or different."""
        earlier = self.on_disk(disk)
        if earlier is None:
            return []
        self._remove(earlier.path)
        twins = self._spellings.remove(disk)
        if not twins:
            return [Change(earlier.path, gone=True)]
        twin_entries = self._entries_of(twins)
        changes = self._reassign(twin_entries, [DiskFile(*twin[1:]) for twin in twin_entries])
        if any(change.path == earlier.path for change in changes):
            return changes
        return [Change(earlier.path, gone=True), *changes]

    def _entries_of(self, disks: Iterable[str]) -> list[FileEntry]:
        return [entry for disk in sorted(disks) if (entry := self.on_disk(disk)) is not None]

    def _reassign(self, taken: Iterable[FileEntry], files: Iterable[DiskFile]) -> list[Change]:
        """Take entries out and put files in, each under the path that it has now; return the
        changes that follow."""
        before = {entry.path: entry for entry in taken}
        after = {
            path: FileEntry(path, *file)
            for file in files
            for path in [self._spellings.path(file.disk)]
        }
        for path, entry in before.items():
            if after.get(path) != entry:
                self._remove(path)
        for path, entry in after.items():
            if before.get(path) != entry:
                self._add(entry)
        changes = [Change(path, gone=True) for path in before if path not in after]
        return changes + [
            Change(path) for path, entry in after.items() if before.get(path) != entry
        ]

    @property
    def folders(self) -> FolderTable:
        """The folders that hold a file at any depth, at this moment."""
        generation = self.generation
        if self._folders[0] != generation:
            self._folders = generation, FolderTable([entry.disk for entry in self])
        return self._folders[1]

    def parse(self, raw: str) -> VaultPath:
        """Return the normal form of a path, in a folder that is listed exactly so as it is, however
        odd its name (NAME-14), and with the names of twins as they are spelled (NAME-06). Raises:
        PermissionDenied, InvalidName, VaultNotFound for the URI of another vault."""
        if "://" in raw:
            raw = self._read_uri(raw)
        with suppress(AppError):
            clean = vault_path.clean(raw)
            if clean == raw or normal_form(clean) == normal_form(raw):
                return VaultPath(clean) if clean.isascii() else self.as_listed(clean)
        listed = self.as_listed(raw)
        folder = self.folders.longest(listed.rpartition("/")[0])
        if folder:
            return VaultPath(f"{folder}/{parse(f'.{listed[len(folder) :]}')}")
        return self.as_listed(vault_path.clean(raw))

    def as_listed(self, path: str) -> VaultPath:
        """Return the normal form of a path, but for a file that has it byte for byte, without `.md`
        or with it, the path of that file (NAME-06)."""
        if normal_form(path) == path:
            return VaultPath(path)
        if (entry := self._exact(path)) is not None:
            return entry.path
        if (note := self._exact(path + NOTE_EXTENSION)) is not None:
            return VaultPath(note.path[: -len(NOTE_EXTENSION)])
        return VaultPath(unicodedata.normalize("NFC", path))

    def _exact(self, path: str) -> FileEntry | None:
        """Return the file whose path, or spelling on disk, is exactly this."""
        return self._by_path.get(path) or self.on_disk(path)

    def _add(self, entry: FileEntry) -> None:
        with self._names:
            self._by_path[entry.path] = entry
            if self._by_name is not None:
                self._by_name.setdefault(_name(entry.path), []).append(entry.path)
        self._moved()
        if entry.path != entry.disk:
            self._path_of[entry.disk] = entry.path

    def _moved(self) -> None:
        self.generation += 1
        self.revision += 1

    def _remove(self, path: VaultPath) -> None:
        with self._names:
            entry = self._by_path.pop(path)
            if self._by_name is not None:
                key = _name(path)
                paths = self._by_name[key]
                paths.remove(path)
                if not paths:
                    del self._by_name[key]
        self._moved()
        self._path_of.pop(entry.disk, None)

    def by_name(self) -> dict[str, list[VaultPath]]:
        """Every comparison key of a file name, with the paths that have it."""
        by_name = self._by_name
        if by_name is None:
            with self._names:
                by_name = {}
                for entry in self._by_path.values():
                    by_name.setdefault(_name(entry.path), []).append(entry.path)
                self._by_name = by_name
        return by_name

    def named(self, *filenames: str) -> tuple[VaultPath, ...]:
        """As `Names.named`, for any of several file names."""
        by_name = self._by_name or self.by_name()
        return tuple(
            sorted({path for name in filenames for path in by_name.get(name_key(name), ())})
        )

    def at(self, path: str) -> VaultPath | None:
        """Exact spelling first, then the normal form, then the smallest path that compares
        equal."""
        entry = self._by_path.get(path)
        if entry is None and not path.isascii():
            entry = self._by_path.get(self.as_listed(path))
        return min(self.equal(path), default=None) if entry is None else entry.path

    def find(self, raw: str) -> FileEntry | None:
        """The one file that `raw` names: bare name or path, `.md` optional, in any case and form
        (NAME-01 to NAME-06). An exact path wins over other files of the name; an odd name counts as
        it stands (NAME-14). Raises: AmbiguousName with the candidates, PermissionDenied for a path
        out of the vault."""
        generation, remembered = self.generation, self._found
        path = remembered[1].get(raw) if remembered[0] == generation else None
        if path is not None and (entry := self._by_path.get(path)) is not None:
            return entry
        entry = self._look_up(raw)
        if entry is not None and remembered[0] == generation and len(remembered[1]) < MOST_NAMES:
            remembered[1][raw] = entry.path
        elif entry is not None:
            self._found = (generation, {raw: entry.path})
        return entry

    def _look_up(self, raw: str) -> FileEntry | None:
        try:
            path = self.parse(raw)
        except AppError:
            if (entry := self._find_odd(raw)) is None:
                raise
            return entry
        if (
            path != raw
            and normal_form(path) != normal_form(raw)
            and (entry := self._find_odd(raw)) is not None
        ):
            return entry
        suffix = extension(path)
        spellings = [path] if suffix == NOTE_EXTENSION else [path, VaultPath(path + NOTE_EXTENSION)]
        if suffix and (entry := self.get(path)) is not None:
            return entry
        paths: Sequence[VaultPath] = ()
        if "/" in path or suffix in TEXT_EXTENSIONS:
            for spelling in spellings:
                if (entry := self.get(spelling)) is not None:
                    return entry
            paths = sorted(
                {candidate for spelling in spellings for candidate in self.equal(spelling)}
            )
        if not paths:
            paths = self.named(*[spelling.rpartition("/")[2] for spelling in spellings])
            if "/" in path:
                tails = tuple("/" + name_key(spelling) for spelling in spellings)
                paths = [candidate for candidate in paths if name_key(candidate).endswith(tails)]
        if len(paths) > 1:
            raise ambiguous(raw, paths)
        return self.get(paths[0]) if paths else None

    def _find_odd(self, raw: str) -> FileEntry | None:
        """Return the one file of exactly this path or name, such as one that begins with a space or
        holds a `:`."""
        spelled = self.as_listed(raw)
        for spelling in (spelled, spelled + NOTE_EXTENSION):
            if (entry := self.get(spelling)) is not None:
                return entry
            exact = [
                path
                for path in self.by_name().get(_name(spelling), ())
                if path.endswith(f"/{spelling}")
            ]
            if len(exact) > 1:
                raise ambiguous(raw, sorted(exact))
            if exact:
                return self.get(exact[0])
        return None

    def respelled(self, disks: Iterable[str]) -> list[str]:
        """The spellings of all files whose paths compare equal to one of these, where it is not the
        only one."""
        asked_by_key: dict[str, set[str]] = {}
        for disk in disks:
            asked_by_key.setdefault(name_key(normal_form(disk)), set()).add(disk)
        listed_by_key: dict[str, set[str]] = {}
        for name in {key.rpartition("/")[2] for key in asked_by_key}:
            for path in self.by_name().get(name, ()):
                listed_by_key.setdefault(name_key(path), set()).add(self.entry(path).disk)
        return [
            disk
            for key, spellings in listed_by_key.items()
            if key in asked_by_key and (len(spellings) > 1 or spellings != asked_by_key[key])
            for disk in spellings
        ]

    def equal(self, path: str) -> list[VaultPath]:
        """Return every file whose path compares equal, by path: several on a case-sensitive
        disk."""
        key = name_key(path)
        return sorted(
            path
            for path in list(self.by_name().get(key.rpartition("/")[2], ()))
            if name_key(path) == key
        )

    # -- names that no file has, and where new files go (specs/names.md)
    # ----------------------------------------

    def not_found(self, raw: str, notice: str | None = None) -> NoteNotFound:
        """The error for a name that no file has, with the nearest names; `notice` says why it may
        yet be an alias."""
        path = self.parse(raw)
        paths = list(map(str, self.near(path)))
        note, _, part = raw.partition("#")
        whole = None
        with suppress(AppError):
            whole = self.find(note) if part else None
        if whole is not None:
            advice = (
                f"{str(whole.path)!r} is one; give {part!r} in the argument for a section or "
                "heading."
            )
        elif self.folders.find(path) is not None:
            advice = "That is a folder; obsidian_list_files shows what is in it."
        elif paths:
            advice = f"Did you mean {' or '.join(map(repr, paths))}?"
        else:
            advice = "Look with obsidian_search or obsidian_list_files."
        if notice:
            advice += f" It may be an alias. {notice}"
        return NoteNotFound(
            f"There is no note {raw!r} in the vault. {advice}", name=raw, near=paths
        )

    def near(self, path: str) -> list[VaultPath]:
        """Return files whose names are near that of a path: those with the name in theirs first,
        then similar ones."""
        key = name_key(vault_path.basename(path))
        names: dict[str, list[VaultPath]] = {}
        for name, paths in islice(self.by_name().items(), MOST_SEARCHED):
            names.setdefault(name.removesuffix(NOTE_EXTENSION), []).extend(paths)
        alike = [name for name in names if key in name or (len(name) > 3 and name in key)]
        alike = sorted(alike, key=len)[:NEAR_NAMES_SHOWN]
        alike += [name for name in nearest(key, names, NEAR_NAMES_SHOWN) if name not in alike]
        return [paths for name in alike for paths in names[name]][:NEAR_NAMES_SHOWN]

    def new_path(self, raw: str) -> tuple[VaultPath, str]:
        """The path of a new file of this name, and its spelling for the disk: with `.md` unless it
        ends as a text file that the app makes, in folders as they are spelled (NAME-07, NAME-08).
        Raises: InvalidName, PermissionDenied."""
        path = self.parse(link_target(raw) or raw)
        if extension(path) not in TEXT_EXTENSIONS:
            path = VaultPath(path + NOTE_EXTENSION)
        self.check_creatable(path)
        return self.spelled(path)

    def check_creatable(self, path: VaultPath, source: str = "") -> None:
        """Check the path of a new file or folder. Parts that exist, or that `source` has, which is
        moved there, may be named oddly. Raises: InvalidName."""
        existing = self.folders.longest(path.rpartition("/")[0])
        vault_path.check_creatable(path, f"{source}/{existing}", self._root_bytes)

    def check_length(self, path: VaultPath) -> None:
        """Check the length of a path that a file gets with its folder. Raises: InvalidName."""
        vault_path.check_length(path, self._root_bytes)

    def spelled(self, path: VaultPath) -> tuple[VaultPath, str]:
        """A path with its folders spelled as they exist: in the vault, and on disk."""
        folder, _, name = path.rpartition("/")
        if not folder:
            return path, path
        vault_folder, disk_folder = self.existing_folder(folder)
        return VaultPath(f"{vault_folder}/{name}"), f"{disk_folder}/{name}"

    def existing_folder(self, folder: str) -> tuple[str, str]:
        """The spelling that the longest known part of `folder` has, in the vault and on disk."""
        longest = self.folders.longest(folder)
        spelled = self.folders.find(longest) or ("", "")
        return spelled[0] + folder[len(longest) :], spelled[1] + folder[len(longest) :]


def link_target(raw: str) -> str | None:
    """Return what a name written as a link names: `[[Alpha|the plan]]` is Alpha (NAME-12). None for
    any other name."""
    link = _LINK.fullmatch(raw)
    return link[1] if link else None


def _name(path: str) -> str:
    return name_key(path.rpartition("/")[2])
