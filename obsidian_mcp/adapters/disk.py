"""Write, move and trash the files of a vault on disk (specs/files.md)."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Iterator

from obsidian_mcp.core.text.text import printable
from obsidian_mcp.errors import NoteExists, PermissionDenied, StaleEtag

from .atomic import TEMP_PREFIX, discard, exchange, place_new, rename, rename_new, replace, temporary_file
from .folder import VaultFolder, read_bytes
from .place import NOFOLLOW, DiskPlace, patiently, translate_error

TRASH_FOLDER = ".trash"
_ASIDE = ".aside"
"""Ends the hidden name of a file between the two steps of a rename; `sweep` gives it its own name back."""


class Disk(VaultFolder):
    """`Files` (core/files/ports.py, which documents the methods) below one folder."""

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
        with _translating(disk, "writing"), self.place(disk) as place:
            if place.found(disk):
                if not os.access(place.name, os.W_OK, dir_fd=place.folder):  # a rename would replace it all the same
                    os.close(os.open(place.name, os.O_WRONLY | NOFOLLOW, dir_fd=place.folder))  # fails with the reason
                with self._open(place, disk) as (old, _):
                    temporary = temporary_file(place, data, old)
            else:
                self.check()
                self._check_stub(place, disk)
                temporary = temporary_file(place, data)
            try:
                self._replace(place, temporary, disk, expected)
            finally:
                discard(place, temporary)

    def _replace(self, place: DiskPlace, temporary: str, disk: str, expected: bytes | None) -> None:
        """Put a temporary file in its place if the file there holds `expected` in the last moment (SAFE-08): others do
        not know our lock. Where the disk can swap two files, the replaced one is compared again after the swap, so that
        nothing is lost that a program with an open file has written. Raises: StaleEtag, and the file is as the other
        program left it."""
        if expected is None:
            replace(place, temporary)
            return
        self._check_unchanged(place, disk, expected)
        if not exchange(place, temporary):
            replace(place, temporary)
            return
        replaced = DiskPlace(place.folder, temporary)
        try:
            self._check_unchanged(replaced, disk, expected)
            place.sync()
            self._check_unchanged(replaced, disk, expected)
        except BaseException:  # nothing but the expected bytes may be lost
            exchange(place, temporary)
            place.sync()
            raise

    def _check_unchanged(self, place: DiskPlace, disk: str, expected: bytes) -> None:
        """Raises: StaleEtag where the file at a place does not hold `expected`."""
        with self._open(place, disk) as (descriptor, size):
            if read_bytes(descriptor, size, len(expected) + 1) != expected:
                raise StaleEtag(
                    f"{printable(disk)!r} was changed by another program in this moment. Nothing was written; read it "
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

    def delete(self, disk: str) -> None:
        with _translating(disk, "deleting"), self.place(disk) as place:
            place.real(disk)
            patiently(lambda: os.unlink(place.name, dir_fd=place.folder))
            place.sync()

    def remove_folder(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self.place(disk) as place:
            place.real(disk)
            os.rmdir(place.name, dir_fd=place.folder)

    def sweep(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self.place(disk) as place:
            for name in os.listdir(place.folder if place.folder is not None else os.path.dirname(place.name)):
                if name.startswith(TEMP_PREFIX) and name.endswith(".tmp"):
                    discard(place, place.beside(name))
                elif name.startswith(TEMP_PREFIX) and name.endswith(_ASIDE):
                    kept = place.beside(name.removeprefix(TEMP_PREFIX).removesuffix(_ASIDE))
                    rename_new(DiskPlace(place.folder, place.beside(name)), DiskPlace(place.folder, kept))

    def trash(self, disk: str, *, system: bool) -> str:
        if system:
            from send2trash import send2trash

            self.absolute_path(disk)
            with contextlib.suppress(Exception):  # each system's bin has errors of its own: COM's are not even OSErrors
                send2trash(self.root / disk)  # Windows' trash takes no paths in the extended form
                return "the system's trash"
        name = disk.rpartition("/")[2]
        stem, dot, suffix = name.rpartition(".")
        with _translating(disk, "moving to the trash"), self.place(disk) as place:
            place.real(disk)
            for number in itertools.count(1):
                kept = name if number == 1 else f"{stem or suffix} {number}{dot and '.' + suffix}"
                target = f"{TRASH_FOLDER}/{kept}"
                with self.place(target, make=True) as bin_place, contextlib.suppress(FileExistsError):
                    rename_new(place, bin_place)
                    bin_place.sync()
                    place.sync()
                    break
        return printable(target)


def _rename_in_two_steps(old: DiskPlace, new: DiskPlace) -> None:
    """Rename to another spelling of the same name, which some disks answer and do not do. Raises: OSError."""
    aside = DiskPlace(old.folder, old.beside(f"{TEMP_PREFIX}{os.path.basename(old.name)}{_ASIDE}"))
    rename_new(old, aside)
    try:
        rename_new(aside, new)
    except BaseException:
        rename_new(aside, old)
        raise


@contextlib.contextmanager
def _translating(disk: str, doing: str, *, target: str = "") -> Iterator[None]:
    """Raises: AppError for a system error while a file is changed (FILE-08); NoteExists where `target` is taken."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileExistsError) and target:
            raise NoteExists(f"There is already a file {printable(target)!r}.", path=printable(target)) from error
        raise translate_error(error, disk, doing) from error
