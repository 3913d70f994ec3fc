"""Write, move and trash the files of a vault on disk, atomically and never over another file
(specs/files.md). The new file that replaces a note takes over its owner, group, mode, access
control list, attributes and time of creation (FILE-01, FILE-02); Linux lets nobody set the last."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat as stat_module
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from obsidian_mcp.core.text.text import printable
from obsidian_mcp.errors import NoteExists, PermissionDenied, StaleEtag

from .folder import VaultFolder, read_bytes
from .place import (
    BINARY,
    CLOEXEC,
    NOFOLLOW,
    REPLACED,
    TEMP_PREFIX,
    DiskPlace,
    patiently,
    translate_error,
)

TRASH_FOLDER = ".trash"
_ASIDE = ".aside"
"""Ends the hidden name of a file between the two steps of a rename; as REPLACED, `sweep` gives it
its own name back."""


class Disk(VaultFolder):
    """`Files` (core/files/ports.py, which documents the methods) below one folder."""

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
        with _translating(disk, "writing"), self.place(disk) as place:
            if (found := place.found(disk)) is not None:
                if not os.access(
                    place.name, os.W_OK, dir_fd=place.folder
                ):  # a rename would replace it all the same
                    os.close(
                        os.open(place.name, os.O_WRONLY | NOFOLLOW, dir_fd=place.folder)
                    )  # fails with the reason
                with self._open(place, disk, found) as (old, _):
                    temporary = temporary_file(place, data, old)
            else:
                self.check()
                self._check_stub(place, disk)
                temporary = temporary_file(place, data)
            try:
                if expected is not None:
                    self._check_same(place, disk, expected, found)
                self._replace(place, temporary, disk, data, expected)
            finally:
                discard(place, temporary)

    def _replace(
        self, place: DiskPlace, temporary: str, disk: str, data: bytes, expected: bytes | None
    ) -> None:
        """Put a temporary file with `data` in its place if the file there holds `expected` in the
        last moment (SAFE-08): others do not know our lock.

        Where the disk can swap two files, the replaced one is compared again after the swap, so
        that nothing is lost that a program with an open file has written. Raises: StaleEtag, and
        the file is as the other program left it.
        """
        if expected is None or not exchange(place, temporary):
            replace(place, temporary)
            return
        replaced = DiskPlace(place.folder, temporary)
        try:
            self._check_same(replaced, disk, expected)
            place.sync()
            self._check_same(replaced, disk, expected)
        except BaseException:  # nothing but the expected bytes may be lost
            exchange(place, temporary)
            self._carry_over(replaced, place, disk, data)
            place.sync()
            raise

    def _carry_over(self, swapped_out: DiskPlace, place: DiskPlace, disk: str, data: bytes) -> None:
        """Append to a file what another program has appended to the one with `data` that had its
        place for a moment. Raises: OSError."""
        with self._open(swapped_out, disk) as (descriptor, size):
            present = read_bytes(descriptor, size)
        if present == data or not present.startswith(data):
            return
        flags = os.O_WRONLY | os.O_APPEND | NOFOLLOW | BINARY | CLOEXEC
        descriptor = os.open(place.name, flags, dir_fd=place.folder)
        try:
            remaining = memoryview(present[len(data) :])
            while remaining:
                remaining = remaining[os.write(descriptor, remaining) :]
        finally:
            os.close(descriptor)

    def _check_same(
        self, place: DiskPlace, disk: str, expected: bytes, known: os.stat_result | None = None
    ) -> None:
        """Raises: StaleEtag where the file at a place does not hold `expected`."""
        with self._open(place, disk, known) as (descriptor, size):
            if read_bytes(descriptor, size, len(expected) + 1) != expected:
                raise StaleEtag(
                    f"{printable(disk)!r} was changed by another program in this moment. Nothing "
                    "was written; read it "
                    "again and repeat the edit.",
                    path=printable(disk),
                )

    def create(self, disk: str, data: bytes) -> None:
        with _translating(disk, "creating", target=disk), self.place(disk, make=True) as place:
            self._check_stub(place, disk)
            if place.found(disk):
                raise FileExistsError(errno.EEXIST, "exists")
            temporary = temporary_file(place, data)
            try:
                place_new(place, temporary)
            except BaseException:
                discard(place, temporary)
                raise
            place.sync()

    def move(self, source: str, target: str) -> None:
        with (
            _translating(source, "moving", target=target),
            self.place(source) as old,
            self.place(target, make=True) as new,
        ):
            try:
                facts = old.real(source)
            except FileNotFoundError:
                self._check_stub(old, source)
                raise
            if (other := new.found(target)) is None:
                self._check_stub(new, target)
            elif os.path.samestat(facts, other) and not self._lists(target):
                rename(old, new)  # a change of case or normal form
                if self._lists(source):  # answered, not made
                    _rename_in_two_steps(old, new)
                new.sync()
                return
            rename_new(old, new)
            new.sync()
            old.sync()

    def delete(self, disk: str, expected: bytes | None = None) -> None:
        with _translating(disk, "deleting"), self.place(disk) as place:
            place.real(disk)
            if expected is None:
                patiently(lambda: os.unlink(place.name, dir_fd=place.folder))
            else:
                self._delete_unchanged(place, disk, expected)
            place.sync()

    def _delete_unchanged(self, place: DiskPlace, disk: str, expected: bytes) -> None:
        """Delete a file that holds `expected` to the last moment (SAFE-08).

        Windows renames a file that is read-only, and does not delete it: it gets its name back.
        Raises: StaleEtag, OSError, and the file has its name.
        """
        hidden = place.beside(f"{TEMP_PREFIX}{os.urandom(8).hex()}.tmp")
        aside = DiskPlace(place.folder, hidden)
        self._rename_unchanged(place, aside, disk, expected)
        try:
            patiently(lambda: os.unlink(aside.name, dir_fd=aside.folder))
        except OSError:
            with contextlib.suppress(FileExistsError):  # another program's new file has the name
                rename_new(aside, place)
            raise

    def _rename_unchanged(
        self, place: DiskPlace, target: DiskPlace, disk: str, expected: bytes | None
    ) -> None:
        """Rename a file that holds `expected`; it is compared again afterwards, when no other
        program finds it by its old name (SAFE-08). None: whatever it holds. Raises: StaleEtag, and
        the file has its name; FileExistsError where the target is taken, OSError."""
        if expected is not None:
            self._check_same(place, disk, expected)
        rename_new(place, target)
        if expected is None:
            return
        try:
            self._check_same(target, disk, expected)
        except BaseException:
            with contextlib.suppress(
                FileExistsError
            ):  # another program has made a new file of the name since
                rename_new(target, place)
            raise

    def make_folder(self, disk: str) -> None:
        with _translating(disk, "creating"), self.place(f"{disk}/{TEMP_PREFIX}", make=True):
            """The place of a file in it makes the folder."""

    def remove_folder(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self.place(disk) as place:
            place.real(disk)
            patiently(lambda: os.rmdir(place.name, dir_fd=place.folder))

    def sweep(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self.place(disk) as place:
            for name in os.listdir(
                place.folder if place.folder is not None else os.path.dirname(place.name)
            ):
                hidden, (kept, end) = (
                    place.beside(name),
                    os.path.splitext(name.removeprefix(TEMP_PREFIX)),
                )
                if not name.startswith(TEMP_PREFIX) or end not in (".tmp", _ASIDE, REPLACED):
                    continue
                if end != ".tmp":
                    with contextlib.suppress(FileExistsError):
                        rename_new(
                            DiskPlace(place.folder, hidden),
                            DiskPlace(place.folder, place.beside(kept)),
                        )
                if end != _ASIDE:  # what was replaced is in the journal
                    discard(place, hidden)

    def trash(self, disk: str, *, system: bool, expected: bytes | None = None) -> str:
        if system:
            from send2trash import send2trash

            self.absolute_path(disk)
            if expected is not None:
                with _translating(disk, "moving to the trash"), self.place(disk) as place:
                    self._check_same(place, disk, expected)
            with contextlib.suppress(
                Exception
            ):  # each system's bin has errors of its own: COM's are not even OSErrors
                send2trash(self.root / disk)  # Windows' trash takes no paths in the extended form
                return "the system's trash"
        name = disk.rpartition("/")[2]
        stem, dot, suffix = name.rpartition(".")
        with _translating(disk, "moving to the trash"), self.place(disk) as place:
            place.real(disk)
            for number in itertools.count(1):
                kept = name if number == 1 else f"{stem or suffix} {number}{dot and '.' + suffix}"
                target = f"{TRASH_FOLDER}/{kept}"
                with (
                    self.place(target, make=True) as bin_place,
                    contextlib.suppress(FileExistsError),
                ):
                    self._rename_unchanged(place, bin_place, disk, expected)
                    bin_place.sync()
                    place.sync()
                    break
        return printable(target)


def _rename_in_two_steps(old: DiskPlace, new: DiskPlace) -> None:
    """Rename to another spelling of the same name, which some disks answer and do not do. Raises:
    OSError."""
    aside = DiskPlace(old.folder, old.beside(f"{TEMP_PREFIX}{os.path.basename(old.name)}{_ASIDE}"))
    rename_new(old, aside)
    try:
        rename_new(aside, new)
    except BaseException:
        rename_new(aside, old)
        raise


@contextlib.contextmanager
def _translating(disk: str, doing: str, *, target: str = "") -> Iterator[None]:
    """Raises: AppError for a system error while a file is changed (FILE-08); NoteExists where
    `target` is taken."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileExistsError) and target:
            raise NoteExists(
                f"There is already a file {printable(target)!r}.", path=printable(target)
            ) from error
        raise translate_error(error, disk, doing) from error


# Renames, and the metadata of files


def temporary_file(place: DiskPlace, data: bytes, like: int | None = None) -> str:
    """Create a synced file with `data` beside a place, with the metadata of the open file `like`;
    return its name."""
    name = place.beside(f"{TEMP_PREFIX}{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY | CLOEXEC
    descriptor = os.open(name, flags, 0o666, dir_fd=place.folder)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        if like is not None:
            take_over(like, descriptor)
        os.fsync(descriptor)
    except BaseException:
        os.close(descriptor)
        discard(place, name)
        raise
    os.close(descriptor)
    return name


def place_new(place: DiskPlace, temporary: str) -> None:
    """Rename the synced file to its final name: link() and Windows' rename() refuse an existing
    target."""
    if os.name == "nt":
        patiently(lambda: os.rename(temporary, place.name))
        return
    try:
        os.link(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except (
        OSError
    ):  # the target exists, or there are no hard links here (exFAT, some network and FUSE disks)
        rename_new(DiskPlace(place.folder, temporary), place)
    else:
        discard(place, temporary)


def rename_new(old: DiskPlace, new: DiskPlace) -> None:
    """Rename, never over another file. Raises: FileExistsError, OSError."""
    if _rename_with("exclusive", old, new):
        return
    if new.there():  # this disk cannot rename exclusively: check, then rename
        raise FileExistsError(errno.EEXIST, "exists", new.name)
    rename(old, new)


def rename(old: DiskPlace, new: DiskPlace) -> None:
    """Rename, over another file where the system does so. Raises: OSError."""
    patiently(lambda: os.rename(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder))


def replace(place: DiskPlace, temporary: str) -> None:
    """Put a temporary file in its place. Raises: OSError."""
    patiently(lambda: _rename_over(temporary, place.name, place.folder))
    place.sync()


def exchange(place: DiskPlace, name: str) -> bool:
    """Swap two files of one folder in one step; False where the disk or system cannot. Raises:
    OSError."""
    return _rename_with("exchange", DiskPlace(place.folder, name), place)


_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_FLAGS = {
    "renameat2": {"exclusive": 1, "exchange": 2},
    "renameatx_np": {"exclusive": 4, "exchange": 2},
}
"""RENAME_NOREPLACE and RENAME_EXCHANGE of Linux, RENAME_EXCL and RENAME_SWAP of macOS."""


def _rename_with(kind: Literal["exclusive", "exchange"], old: DiskPlace, new: DiskPlace) -> bool:
    """Rename with a flag of the system; False where there is none. Raises: OSError."""
    if old.folder is None or new.folder is None:
        return False
    import ctypes  # readers do without

    library = ctypes.CDLL(None, use_errno=True)
    name = next((name for name in _FLAGS if hasattr(library, name)), None)
    if name is None:
        return False
    function = getattr(library, name)
    function.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    if not function(
        old.folder, os.fsencode(old.name), new.folder, os.fsencode(new.name), _FLAGS[name][kind]
    ):
        return True
    problem = ctypes.get_errno()
    if problem in _UNSUPPORTED:
        return False
    raise OSError(problem, os.strerror(problem), old.name)


def discard(place: DiskPlace, name: str) -> None:
    """Remove a temporary file beside a place if it is there."""
    with contextlib.suppress(OSError):
        patiently(lambda: os.unlink(name, dir_fd=place.folder))


COPYFILE_ACL_AND_XATTR = 0b101


def take_over(source: int, target: int) -> None:
    """Copy permissions, owner and attributes from the open file `source` to `target`, as far as the
    system allows."""
    if sys.platform == "win32":  # `replace` does it
        return
    facts = os.fstat(source)
    own = os.fstat(target)
    if (facts.st_uid, facts.st_gid) != (own.st_uid, own.st_gid):
        try:
            os.fchown(target, facts.st_uid, facts.st_gid)
        except (
            OSError
        ):  # only the administrator may give a file away; a group of one's own is possible
            with contextlib.suppress(OSError):
                os.fchown(target, -1, facts.st_gid)
    os.fchmod(target, stat_module.S_IMODE(facts.st_mode))
    _take_over_attributes(source, target)
    born = getattr(facts, "st_birthtime", None)
    if born is not None and sys.platform == "darwin":
        # A modification time before the time of creation sets that too (utimes(2)); then the real
        # one is set.
        os.utime(target, ns=(facts.st_atime_ns, int(born * 1e9)))
        os.utime(target)


def _take_over_attributes(source: int, target: int) -> None:
    """The access control list is one of the attributes on Linux, and has a call of its own on
    macOS."""
    if sys.platform == "darwin":
        import ctypes  # readers do without

        ctypes.CDLL(None).fcopyfile(source, target, None, COPYFILE_ACL_AND_XATTR)
    elif sys.platform == "linux":
        with contextlib.suppress(OSError):  # a disk without attributes
            wanted = os.listxattr(source)
            for name in os.listxattr(target):
                if name not in wanted:  # the folder's default list
                    with contextlib.suppress(OSError):
                        os.removexattr(target, name)
            for name in wanted:
                with contextlib.suppress(OSError):  # one that only the system may set
                    os.setxattr(target, name, os.getxattr(source, name))


def _rename_over(temporary: str, name: str, folder: int | None) -> None:
    """Rename the file `temporary` over the file `name`, both in one open folder or whole paths.
    Raises: OSError."""
    # ReplaceFile keeps the time of creation, the access control list and the streams of the file it
    # replaces. That is renamed first: a process may die before the new file has the name.
    if sys.platform == "win32":
        import ctypes

        replaced = Path(DiskPlace(folder, name).replaced)
        if ctypes.windll.kernel32.ReplaceFileW(name, temporary, str(replaced), 0x2, None, None):
            with contextlib.suppress(OSError):
                patiently(replaced.unlink)
            return
        if replaced.exists() and not Path(name).exists():  # it stopped half-way
            replaced.rename(name)
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
