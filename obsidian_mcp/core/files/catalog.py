"""The list of the vault's files in memory; names, links and listings are resolved against it."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain, islice, takewhile
from typing import NamedTuple, Protocol

from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.nearness import MOST_SEARCHED, nearest
from obsidian_mcp.core.text.text import MAX_FILE_BYTES, Text, etag_of, printable
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, TEXT_EXTENSIONS, VaultPath, extension, name_key, parse
from obsidian_mcp.errors import AmbiguousName, AppError, NoteNotFound

from .ports import Change, DiskFile

CANDIDATES_SHOWN = 10
NEAR_NAMES_SHOWN = 5
_LINK = re.compile(r"\s*!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]\s*")


class FileEntry(NamedTuple):
    """One file of the vault: `path` is its path in the vault (NFC), `disk` its spelling on disk."""

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


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MICROSECOND = -30_000_000_000_000_000
_LAST_MICROSECOND = 253_402_000_000_000_000
"""From 1970 to the years 1019 and 9999."""


def timestamp(nanoseconds: int) -> str:
    """Return a time (nanoseconds since the epoch) in ISO 8601: UTC, to the second."""
    # disks know years that calendars do not
    microseconds = min(max(nanoseconds // 1000, _FIRST_MICROSECOND), _LAST_MICROSECOND)
    return (_EPOCH + timedelta(microseconds=microseconds)).isoformat()[: len("2024-05-01T12:00:00")] + "Z"


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
    """All files of a vault by path and by file name. A path is the NFC form of the disk spelling; of several spellings
    with one NFC form (twins, semantics 12) the one in NFC, else the smallest, gets it and the others keep theirs,
    whatever the order of changes. The vault's lock guards it."""

    def __init__(self, files: Iterable[DiskFile] = (), read_uri: Callable[[str], str] = lambda raw: raw) -> None:
        """`read_uri` returns the name of the note that a URI names (NAME-16). Raises: VaultNotFound, InvalidName,
        PermissionDenied."""
        self._read_uri = read_uri
        self._by_path: dict[str, FileEntry] = {}
        self._twins: dict[str, list[str]] = {}
        """Normal form -> disk spellings, only for groups that have or had a spelling that is not in normal form."""
        self._path_of: dict[str, VaultPath] = {}
        """Disk spelling -> path, where the two differ."""
        self._names = threading.Lock()
        self._by_name: dict[str, list[VaultPath]] | None = None
        """Comparison key of a file name -> paths; made when it is first needed, which no search does."""
        self._folders: tuple[int, dict[str, tuple[str, str]]] = (-1, {})
        self._found: tuple[int, dict[str, VaultPath]] = (-1, {})
        """The generation in which names were looked up, and the paths that they mean: calls repeat the same names."""
        self.generation = 0
        """Grows whenever a file appears or disappears; caches of derived data compare it."""
        self.revision = 0
        """Grows with every change of a file, of its size or time too."""
        self.replace(files)

    def __len__(self) -> int:
        return len(self._by_path)

    def __iter__(self) -> Iterator[FileEntry]:
        return iter(list(self._by_path.values()))  # as they are now: others may take in changes meanwhile

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def __getitem__(self, path: str) -> FileEntry:
        return self._by_path[path]

    def get(self, path: str) -> FileEntry | None:
        return self._by_path.get(path)

    def by_path(self) -> dict[str, FileEntry]:
        """All files as they are now; a copy."""
        return self._by_path.copy()

    def on_disk(self, disk: str) -> FileEntry | None:
        """The entry of the file that the disk spells so."""
        entry = self._by_path.get(self._path_of.get(disk, disk))
        return entry if entry is not None and entry.disk == disk else None

    def replace(self, files: Iterable[DiskFile]) -> Iterable[Change]:
        """Replace the list of files; return the paths whose file is new, different or gone."""
        listed = {file.disk: file for file in files}
        first: dict[str, FileEntry] = {}
        changes: list[Change] = []
        if not self._by_path:  # an ASCII spelling has no twins
            first = {disk: FileEntry._make((disk, *file)) for disk, file in listed.items() if disk.isascii()}
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
        last = {change.path: change for change in changes}.values()  # a twin may take a path and go, too
        return chain(map(Change, map(VaultPath, first)), last)  # nobody asks for the first ones of a short command

    def put(self, file: DiskFile) -> list[Change]:
        """Add or update a file; return the paths whose file is new or different."""
        known = self.on_disk(file.disk)
        if known is not None:
            if known.size == file.size and known.mtime_ns == file.mtime_ns:
                return []
            self._by_path[known.path] = FileEntry(known.path, *file)
            self.revision += 1
            return [Change(known.path)]
        normal = normal_form(file.disk)
        group = self._twins.get(normal)
        if group is None and normal == file.disk:
            self._add(FileEntry(VaultPath(normal), *file))
            return [Change(VaultPath(normal))]
        files = {file.disk: file}
        if group is None:
            group = self._twins[normal] = [normal] if self.on_disk(normal) else []
        group.append(file.disk)
        return self._reassign(normal, group, files)

    def drop(self, disk: str) -> list[Change]:
        """Remove a file; return the paths whose file is gone or different."""
        known = self.on_disk(disk)
        if known is None:
            return []
        normal = normal_form(disk)
        group = self._twins.get(normal)
        self._remove(known.path)
        changes = [Change(known.path, gone=True)]
        if group is not None:
            group.remove(disk)
            again = self._reassign(normal, group, {})
            back = {change.path for change in again if not change.gone}
            changes = [change for change in changes if change.path not in back] + again
        return changes

    def folders(self) -> dict[str, tuple[str, str]]:
        """Folders that hold a file at any depth: comparison key -> (spelling in the vault, spelling on disk)."""
        generation = self.generation
        if self._folders[0] != generation:
            found: dict[str, tuple[str, str]] = {}
            for entry in self:
                path, disk = entry.path.rpartition("/")[0], entry.disk.rpartition("/")[0]
                while path and (key := name_key(path)) not in found:
                    found[key] = (path, disk)
                    path, disk = path.rpartition("/")[0], disk.rpartition("/")[0]
            self._folders = (generation, found)
        return self._folders[1]

    def known_folder(self, path: str) -> str:
        """Return the longest beginning of a path that is a folder with files, "" for none."""
        known = self.folders()
        beginnings = accumulate(path.split("/"), "{}/{}".format)
        return max(takewhile(lambda folder: name_key(folder) in known, beginnings), key=len, default="")

    def parse(self, raw: str) -> VaultPath:
        """Return the normal form of a path, in a folder that is listed exactly so as it is, however odd its name
        (NAME-14). Raises: PermissionDenied, InvalidName, VaultNotFound for the URI of another vault."""
        if "://" in raw:
            raw = self._read_uri(raw)
        with suppress(AppError):
            if (path := parse(raw)) == raw:
                return path
        listed = normal_form(raw)
        folder = self.known_folder(listed.rpartition("/")[0])
        if folder:
            return VaultPath(f"{folder}/{parse(f'.{listed[len(folder) :]}')}")
        return parse(raw)

    def _reassign(self, normal: str, group: list[str], new: dict[str, DiskFile]) -> list[Change]:
        """Give the spellings of one normal form their paths; the changes that follow."""
        group.sort(key=lambda disk: (disk != normal, disk))
        wanted = {disk: VaultPath(normal if rank == 0 else disk) for rank, disk in enumerate(group)}
        facts = dict(new)
        before: dict[VaultPath, str] = {}
        for disk in group:
            entry = self.on_disk(disk)
            if entry is not None:
                facts[disk] = DiskFile(disk, entry.size, entry.mtime_ns)
                before[entry.path] = disk
        after = {path: disk for disk, path in wanted.items()}
        for path, disk in before.items():
            if after.get(path) != disk:
                self._remove(path)
        changes = [Change(path, gone=True) for path in before if path not in after]
        for path, disk in after.items():
            if before.get(path) != disk:
                self._add(FileEntry(path, *facts[disk]))
                changes.append(Change(path))
        return changes

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
                paths = self._by_name[_name(path)]
                paths.remove(path)
                if not paths:
                    del self._by_name[_name(path)]
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
        return tuple(sorted({path for name in filenames for path in by_name.get(name_key(name), ())}))

    def at(self, path: str) -> VaultPath | None:
        """Exact spelling first, then the smallest path that compares equal."""
        if path in self._by_path:
            return self._by_path[path].path
        return min(self._equal(path), default=None)

    def find(self, raw: str) -> FileEntry | None:
        """The one file that `raw` names: bare name or path, `.md` optional, in any case and form (NAME-01 to NAME-06).
        An exact path wins over other files of the name; an odd name counts as it stands (NAME-14). Raises:
        AmbiguousName with the candidates, PermissionDenied for a path out of the vault."""
        generation, known = self.generation, self._found
        if known[0] == generation and (path := known[1].get(raw)) is not None and path in self._by_path:
            return self._by_path[path]
        entry = self._look_up(raw)
        if entry is not None and known[0] == generation and len(known[1]) < MOST_NAMES:
            known[1][raw] = entry.path
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
        if path != raw and (entry := self._find_odd(raw)) is not None:
            return entry
        suffix = extension(path)
        spellings = [path] if suffix == NOTE_EXTENSION else [path, VaultPath(path + NOTE_EXTENSION)]
        if suffix and (entry := self.get(path)) is not None:
            return entry
        found: Sequence[VaultPath] = ()
        if "/" in path or suffix in TEXT_EXTENSIONS:
            for spelling in spellings:
                if (entry := self.get(spelling)) is not None:
                    return entry
            found = sorted({candidate for spelling in spellings for candidate in self._equal(spelling)})
        if not found:
            found = self.named(*[spelling.rpartition("/")[2] for spelling in spellings])
            if "/" in path:
                tails = tuple("/" + name_key(spelling) for spelling in spellings)
                found = [candidate for candidate in found if name_key(candidate).endswith(tails)]
        if len(found) > 1:
            raise ambiguous(raw, found)
        return self._by_path[found[0]] if found else None

    def _find_odd(self, raw: str) -> FileEntry | None:
        """Return the one file of exactly this path or name, such as one that begins with a space or holds a `:`."""
        spelled = normal_form(raw)
        for spelling in (spelled, spelled + NOTE_EXTENSION):
            if spelling in self._by_path:
                return self._by_path[VaultPath(spelling)]
            exact = [path for path in self.by_name().get(_name(spelling), ()) if path.endswith(f"/{spelling}")]
            if len(exact) > 1:
                raise ambiguous(raw, sorted(exact))
            if exact:
                return self._by_path[exact[0]]
        return None

    def respelled(self, disks: Iterable[str]) -> list[str]:
        """The spellings of all files whose paths compare equal to one of these, where it is not the only one."""
        given: dict[str, set[str]] = {}
        for disk in disks:
            given.setdefault(name_key(normal_form(disk)), set()).add(disk)
        known: dict[str, set[str]] = {}
        for name in {key.rpartition("/")[2] for key in given}:
            for path in self.by_name().get(name, ()):
                known.setdefault(name_key(path), set()).add(self._by_path[path].disk)
        return [
            disk
            for key, spellings in known.items()
            if key in given and (len(spellings) > 1 or spellings != given[key])
            for disk in spellings
        ]

    def _equal(self, path: str) -> Iterator[VaultPath]:
        """Every file whose path compares equal: several on a case-sensitive disk."""
        key = name_key(path)
        return (path for path in list(self.by_name().get(key.rpartition("/")[2], ())) if name_key(path) == key)

    # -- names that no file has, and where new files go (specs/names.md) ----------------------------------------

    def not_found(self, raw: str, notice: str | None = None) -> NoteNotFound:
        """The error for a name that no file has, with the nearest names; `notice` says why it may yet be an alias."""
        path = self.parse(raw)
        paths = list(map(str, self.near(path)))
        note, _, part = raw.partition("#")
        whole = None
        with suppress(AppError):
            whole = self.find(note) if part else None
        if whole is not None:
            advice = f"{str(whole.path)!r} is one; give {part!r} in the argument for a section or heading."
        elif name_key(path) in self.folders():
            advice = "That is a folder; obsidian_list_files shows what is in it."
        elif paths:
            advice = f"Did you mean {' or '.join(map(repr, paths))}?"
        else:
            advice = "Look with obsidian_search or obsidian_list_files."
        if notice:
            advice += f" It may be an alias. {notice}"
        return NoteNotFound(f"There is no note {raw!r} in the vault. {advice}", name=raw, near=paths)

    def near(self, path: str) -> list[VaultPath]:
        """Return files whose names are near that of a path: those with the name in theirs first, then similar ones."""
        key = name_key(vault_path.basename(path))
        names: dict[str, list[VaultPath]] = {}
        for name, found in islice(self.by_name().items(), MOST_SEARCHED):
            names.setdefault(name.removesuffix(NOTE_EXTENSION), []).extend(found)
        alike = [name for name in names if key in name or (len(name) > 3 and name in key)]
        alike = sorted(alike, key=len)[:NEAR_NAMES_SHOWN]
        alike += [name for name in nearest(key, names, NEAR_NAMES_SHOWN) if name not in alike]
        return [found for name in alike for found in names[name]][:NEAR_NAMES_SHOWN]

    def new_path(self, raw: str) -> tuple[VaultPath, str]:
        """The path of a new file of this name, and its spelling for the disk: with `.md` unless it ends as a text file
        that the app makes, in folders as they are spelled (NAME-07, NAME-08). Raises: InvalidName, PermissionDenied."""
        path = self.parse(link_target(raw) or raw)
        if extension(path) not in TEXT_EXTENSIONS:
            path = VaultPath(path + NOTE_EXTENSION)
        vault_path.check_creatable(path, self.known_folder(path))
        return self.spelled(path)

    def spelled(self, path: VaultPath) -> tuple[VaultPath, str]:
        """A path with its folders spelled as they exist: in the vault, and on disk."""
        folder, _, name = path.rpartition("/")
        if not folder:
            return path, path
        vault_folder, disk_folder = self.existing_folder(folder)
        return VaultPath(f"{vault_folder}/{name}"), f"{disk_folder}/{name}"

    def existing_folder(self, folder: str) -> tuple[str, str]:
        """The spelling that the longest known part of `folder` has, in the vault and on disk."""
        known = self.known_folder(folder)
        spelled = self.folders()[name_key(known)] if known else ("", "")
        return spelled[0] + folder[len(known) :], spelled[1] + folder[len(known) :]


def link_target(raw: str) -> str | None:
    """Return what a name written as a link names: `[[Alpha|the plan]]` is Alpha (NAME-12). None for any other name."""
    link = _LINK.fullmatch(raw)
    return link[1] if link else None


def _name(path: str) -> str:
    return name_key(path.rpartition("/")[2])


def ambiguous(raw: str, found: Sequence[VaultPath]) -> AmbiguousName:
    candidates = [str(path) for path in found]
    return AmbiguousName(
        f"{len(found)} files match the name {raw!r}: {name_first(list(map(repr, candidates)), CANDIDATES_SHOWN)}. "
        "Give the full path of the one you mean, with its extension.",
        candidates=candidates[:CANDIDATES_SHOWN],
    )


def normal_form(disk: str) -> str:
    """NFC of a disk spelling; bytes that are not UTF-8 become U+FFFD."""
    if disk.isascii():
        return disk
    clean = printable(disk)
    return unicodedata.normalize("NFC", clean)
