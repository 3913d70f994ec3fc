"""Reads the files of a vault on disk, and nothing outside of it (FILE, SAFE-15, SAFE-16)."""

from __future__ import annotations

import contextlib
import errno
import os
import stat as stat_module
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path

from obsidian_mcp.core.files.ports import DiskFile, nearest_time
from obsidian_mcp.core.files.settings import SETTINGS_FOLDER
from obsidian_mcp.core.text.text import MAX_FILE_BYTES, to_printable, too_large
from obsidian_mcp.errors import InvalidName, PermissionDenied

from .cloud import STUB, check_readable, is_in_cloud, not_downloaded
from .file_identity import FileIdentity
from .place import (
    BINARY,
    CLOEXEC,
    FOLDER,
    NOFOLLOW,
    NONBLOCK,
    NOT_LISTED,
    PATIENCE_SECONDS,
    RELATIVE_CALLS,
    REPLACED,
    TEMP_PREFIX,
    DiskPlace,
    check_absent,
    disconnected_error,
    is_link,
    join_name,
    leads_elsewhere,
    long_path,
    make_folders,
    path_below_file_error,
    patiently,
    real_path,
    symbolic_link_error,
    translate_error,
)

PIECE = 1024 * 1024
"""Bytes of one further read of a file that grows while it is read."""

_READING = os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY | CLOEXEC


def _disk_file(disk: str, facts: os.stat_result) -> DiskFile:
    return DiskFile(disk, facts.st_size, nearest_time(facts.st_mtime_ns))


class VaultFolder:
    """The reading half of `Files` below one folder; core/files/ports.py documents the methods.

    Paths are raw relative paths, as `scan` gave them or as `VaultPath` spells them.
    """

    def __init__(
        self,
        root: Path,
        in_cloud: Callable[[os.stat_result], bool] = is_in_cloud,
        *,
        relative_calls: bool = RELATIVE_CALLS,
    ) -> None:
        """`relative_calls`: whether the system opens and renames files relative to an open folder
        (`openat`)."""
        self.root = real_path(root)
        self._in_cloud = in_cloud
        self._relative_calls = relative_calls
        self._identity: FileIdentity | None = None
        """Device and inode of the vault's folder, to notice when another folder takes its place."""
        self._settings = self.root / SETTINGS_FOLDER
        self._settings_seen = os.path.isdir(self._settings)

    # -- places
    def absolute_path(self, disk: str) -> str:
        """Return the absolute path. Raises: PermissionDenied if a part of it is a symbolic link."""
        return self._join_parts(disk.split("/"), disk)

    def _join_parts(self, parts: Iterable[str], disk: str) -> str:
        """Return the absolute path of folders one below the other. Raises: PermissionDenied if one
        is a link."""
        path = long_path(self.root)
        for part in parts:
            path = join_name(path, part)
            if part in ("", ".", "..") or is_link(path):
                raise symbolic_link_error(disk)
        return path

    @contextlib.contextmanager
    def place(self, disk: str, *, make: bool = False) -> Iterator[DiskPlace]:
        """Open the folders to a file one below the other; links are not followed (semantics 8.2).

        So none of them can become a link meanwhile. On systems without such calls (Windows) every
        folder is checked instead. With `make` folders that are missing are made. Raises:
        PermissionDenied; InvalidName if `make` is set and one of the folders is a file; OSError,
        also for a folder that is not there unless `make` is set; VaultNotFound instead of an
        OSError where the vault's disk is gone.
        """
        *folders, name = disk.split("/")
        if name in ("", ".", ".."):
            raise symbolic_link_error(disk)
        if make:
            self.check()
            if "~" in disk:
                self._check_long_names(disk)
        folder = None
        try:
            if self._relative_calls:
                folder = os.open(self.root, FOLDER)
                for part in folders:
                    below = self._open_below(folder, part, disk, make=make)
                    os.close(folder)
                    folder = below
                yield DiskPlace(folder, name)
            else:
                path = self._join_parts(folders, disk)
                if make:
                    make_folders(path, disk)
                yield DiskPlace(None, join_name(path, name))
        except OSError:
            self.check()
            raise
        finally:
            if folder is not None:
                os.close(folder)

    @contextlib.contextmanager
    def listing(self, disk: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        """List a folder that is no link. Raises: OSError.

        Relative to the open folder it takes a tenth less time.
        """
        path = os.path.join(long_path(self.root), *disk.split("/")) if disk else str(self.root)
        folder = os.open(path, FOLDER | NOFOLLOW) if self._relative_calls else None
        try:
            with os.scandir(path if folder is None else folder) as entries:
                yield entries
        finally:
            if folder is not None:
                os.close(folder)

    def check(self) -> None:
        """Raises: VaultNotFound if the vault's disk is gone, also if an empty mount point is in its
        place."""
        # a tenth of `stat`'s time on Windows
        has_settings = self._settings_seen and os.path.isdir(self._settings)
        if has_settings and self._identity:
            return
        try:
            facts = os.stat(self.root)
        except OSError as error:
            raise disconnected_error(self.root) from error
        identity = FileIdentity.from_stat(facts)
        if identity != self._identity:
            if self._settings_seen and not has_settings:
                raise disconnected_error(self.root)
            self._identity = identity

    def _check_long_names(self, disk: str) -> None:
        """Raises: InvalidName for the short name that Windows gives to a folder (NAME-15)."""
        folder, _, _ = disk.rpartition("/")
        while "~" in folder:
            if os.path.lexists(self.root / folder) and not self._lists(folder):
                raise InvalidName(
                    f"{to_printable(folder)!r} is a short name that Windows gives to a folder. "
                    "Give its own name.",
                    path=to_printable(folder),
                )
            folder, _, _ = folder.rpartition("/")

    def _open_below(self, folder: int, part: str, disk: str, *, make: bool) -> int:
        """Open one folder in another. Raises: OSError, PermissionDenied, InvalidName."""
        if part in ("", ".", ".."):
            raise symbolic_link_error(disk)
        try:
            return os.open(part, FOLDER | NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            if not make:
                raise
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
                DiskPlace(folder, part).sync()
            return self._open_below(folder, part, disk, make=False)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                DiskPlace(folder, part).stat_file(disk)
                if make:
                    raise path_below_file_error(disk) from error
            raise

    # -- reading
    def scan(
        self, folder: str = "", is_wanted: Callable[[str], bool] | None = None
    ) -> Iterator[DiskFile]:
        self.check()
        try:
            pending = [folder] if not folder or self.absolute_path(folder) else []
        except PermissionDenied:  # a link in a folder's place
            return
        while pending:
            folder = pending.pop()
            above = f"{folder}/" if folder else ""
            for name, entry in self._entries(folder):
                disk = above + name
                try:
                    if entry.is_file(follow_symlinks=False):
                        if is_wanted is None or is_wanted(disk):
                            facts = entry.stat(follow_symlinks=False)
                            yield _disk_file(disk, facts)
                    elif self._is_folder(entry):
                        pending.append(disk)
                # gone or locked between listing and stat: the next scan sees it as it is then
                except OSError:
                    continue

    def list_evicted(self) -> Iterator[str]:
        folders = [""]
        while folders:
            folder = folders.pop()
            above = f"{folder}/" if folder else ""
            with contextlib.suppress(OSError), self.listing(folder) as entries:
                for entry in entries:
                    if entry.name[0] != "." and self._is_folder(entry):
                        folders.append(above + entry.name)
                    elif entry.name.startswith(".") and entry.name.endswith(STUB):
                        yield above + entry.name[1 : -len(STUB)]

    def subfolders(self, disk: str) -> list[str] | None:
        try:
            if disk:
                with self.place(disk) as place:
                    if not stat_module.S_ISDIR(place.stat_file(disk).st_mode):
                        return None
            return [
                f"{disk}/{name}" if disk else name
                for name, entry in self._entries(disk)
                if self._is_folder(entry)
            ]
        except OSError as error:
            check_absent(error, disk, "listing")
            return None

    def _entries(self, folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield the name and entry of what is not hidden in a folder; nothing of one that is gone
        or forbidden (FILE-13). A file that is being replaced is what it was (FILE-11). Raises:
        AppError for the vault's own folder, and where a folder cannot be listed for another
        reason."""
        try:
            with self.listing(folder) as entries:
                entry_by_name = {entry.name: entry for entry in entries}
                for name, entry in entry_by_name.items():
                    own = name[len(TEMP_PREFIX) : -len(REPLACED)]
                    if name[0] != ".":
                        yield name, entry
                    elif (
                        own
                        and name == TEMP_PREFIX + own + REPLACED
                        and own not in entry_by_name
                        and not self._relative_calls
                    ):
                        yield own, entry
        except OSError as error:
            if not folder or error.errno not in NOT_LISTED:
                raise translate_error(error, folder or self.root.name, "listing") from error

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Return whether an entry is a folder and no link. Where there are junctions, a listing
        shows them."""
        return entry.is_dir(follow_symlinks=False) and (
            self._relative_calls or not leads_elsewhere(entry.stat(follow_symlinks=False))
        )

    def _lists(self, disk: str) -> bool:
        """Return whether a folder lists a file by this name, not only by another case or normal
        form."""
        folder, _, name = disk.rpartition("/")
        return any(listed_name == name for listed_name, _ in self._entries(folder))

    def filter_exact_spellings(self, disks: Iterable[str]) -> set[str]:
        @cache
        def names_in(folder: str) -> set[str]:
            return {name for name, _ in self._entries(folder)}

        def is_spelled(disk: str) -> bool:
            while disk and disk.rpartition("/")[2] in names_in(disk.rpartition("/")[0]):
                disk = disk.rpartition("/")[0]
            return not disk

        return {disk for disk in disks if is_spelled(disk)}

    def stat(self, disk: str) -> DiskFile | None:
        try:
            with self.place(disk) as place:
                facts = place.stat_file(disk)
        except OSError as error:
            check_absent(error, disk, "reading")
            return None
        return _disk_file(disk, facts) if stat_module.S_ISREG(facts.st_mode) else None

    def created_ns(self, disk: str) -> int:
        try:
            with self.place(disk) as place:
                facts = place.stat_file(disk)
        except (OSError, PermissionDenied):
            return 0
        born: float | None = getattr(facts, "st_birthtime", None)  # seconds; not on Linux
        return nearest_time(
            min(facts.st_ctime_ns, facts.st_mtime_ns) if born is None else int(born * 1e9)
        )

    def exists(self, disk: str) -> bool:
        try:
            with self.place(disk) as place:
                if place.stat_if_exists(disk):
                    return True
                self.check()
                self._check_stub(place, disk)
        except OSError as error:
            check_absent(error, disk, "reading")
        return False

    def read_file(self, disk: str, limit: int | None = None) -> bytes:
        most = MAX_FILE_BYTES if limit is None else limit
        try:
            with self.place(disk) as place, self._open(place, disk) as (descriptor, size):
                if size > most:
                    raise too_large(disk, size, most)
                return read_bytes(descriptor, size)
        except OSError as error:
            raise translate_error(error, disk, "reading") from error

    def head(self, disk: str, most: int) -> bytes:
        try:
            with self.place(disk) as place, self._open(place, disk) as (descriptor, size):
                return read_bytes(descriptor, size, most)
        except OSError as error:
            raise translate_error(error, disk, "reading") from error

    @contextlib.contextmanager
    def _open(
        self, place: DiskPlace, disk: str, known: os.stat_result | None = None
    ) -> Iterator[tuple[int, int]]:
        """Open the regular file at a place for reading: its descriptor and its size in bytes.
        `known`: what is already known of it. Raises: OSError, StorageFailed, PermissionDenied."""
        try:
            # without relative calls (Windows), opening a file follows a link, and has the cloud
            # download it
            before = None if self._relative_calls else known or place.stat_file(disk)
            if before is not None:
                check_readable(before, disk, in_cloud=self._in_cloud(before))
            opening = partial(os.open, place.name, _READING, dir_fd=place.folder)
            try:
                descriptor = opening()
            except (PermissionError, FileNotFoundError):
                descriptor = patiently(opening, PATIENCE_SECONDS / 10, place)
        except FileNotFoundError:
            self._check_stub(place, disk)
            raise
        try:
            facts = before or os.fstat(descriptor)
            if before is None:
                check_readable(facts, disk, in_cloud=self._in_cloud(facts))
            yield descriptor, facts.st_size
        finally:
            os.close(descriptor)

    def _check_stub(self, place: DiskPlace, disk: str) -> None:
        """Raises: StorageFailed where iCloud has put `.Note.md.icloud` in the place of an evicted
        file."""
        name = disk.rpartition("/")[2]
        if DiskPlace(place.folder, place.sibling_name(f".{name}{STUB}")).exists():
            raise not_downloaded(disk)

    def config(self, name: str) -> bytes | None:
        try:
            return (self._settings / name).read_bytes()
        except OSError:
            return None


def read_bytes(descriptor: int, size: int, most: int | None = None) -> bytes:
    """Return the file to its end, or its first `most` bytes. A file of the expected `size` takes
    one system call: each releases the interpreter's lock, which another thread may then keep for 5
    ms."""
    first = os.read(descriptor, (size if most is None else min(size, most)) + 1)
    if len(first) == size or (most is not None and len(first) > most):
        return first[:most]
    parts = [first]
    while parts[-1]:  # the file is being written, or its disk returns it in pieces
        parts.append(os.read(descriptor, PIECE))
    return b"".join(parts)[:most]
