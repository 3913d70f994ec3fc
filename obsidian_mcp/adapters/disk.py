"""Writes, moves and trashes the files of a vault, atomically and never over another file.

The rules are in specs/files.md. The new file that replaces a note takes over its owner, group,
mode, access control list, attributes and time of creation (FILE-01, FILE-02); Linux lets nobody set
the last.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Iterator

from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.errors import NoteExists, PermissionDenied

from .folder import VaultFolder, read_bytes
from .place import (
    BINARY,
    CLOEXEC,
    NOFOLLOW,
    REPLACED,
    TEMP_PREFIX,
    TEMPORARY,
    DiskPlace,
    patiently,
    translate_error,
)
from .renames import discard, exchange, place_new, rename, rename_new, replace, temporary_file

TRASH_FOLDER = ".trash"
_ASIDE = ".aside"
"""Ends the hidden name of a file between the two steps of a rename; as REPLACED, `sweep` gives it
its own name back."""


class Disk(VaultFolder):
    """`Files` (core/files/ports.py, which documents the methods) below one folder."""

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
        with _translate_errors(disk, "writing"), self.place(disk) as place:
            if (facts := place.stat_if_exists(disk)) is not None:
                # a rename would replace a file that may not be written
                if not os.access(place.name, os.W_OK, dir_fd=place.folder):
                    # raises the system's own error, with the reason
                    os.close(os.open(place.name, os.O_WRONLY | NOFOLLOW, dir_fd=place.folder))
                with self._open(place, disk, facts) as (old, _):
                    temporary = temporary_file(place, data, old)
            else:
                self.check()
                self._check_stub(place, disk)
                temporary = temporary_file(place, data)
            try:
                if expected is not None:
                    self._check_same(place, disk, expected, facts)
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
                from obsidian_mcp.core.files.name_errors import changed_meanwhile_error

                raise changed_meanwhile_error(disk)

    def create(self, disk: str, data: bytes) -> None:
        with _translate_errors(disk, "creating", target=disk), self.place(disk, make=True) as place:
            self._check_stub(place, disk)
            if place.stat_if_exists(disk):
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
            _translate_errors(source, "moving", target=target),
            self.place(source) as old,
            self.place(target, make=True) as new,
        ):
            try:
                facts = old.stat_file(source)
            except FileNotFoundError:
                self._check_stub(old, source)
                raise
            if (other := new.stat_if_exists(target)) is None:
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
        with _translate_errors(disk, "deleting"), self.place(disk) as place:
            place.stat_file(disk)
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
        aside = DiskPlace(place.folder, place.temporary_name())
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
            # another program has made a new file of the name since
            with contextlib.suppress(FileExistsError):
                rename_new(target, place)
            raise

    def make_folder(self, disk: str) -> None:
        with _translate_errors(disk, "creating"), self.place(f"{disk}/{TEMP_PREFIX}", make=True):
            """The place of a file in it makes the folder."""

    def remove_folder(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self.place(disk) as place:
            place.stat_file(disk)
            patiently(lambda: os.rmdir(place.name, dir_fd=place.folder))

    def sweep(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self.place(disk) as place:
            for name in os.listdir(
                place.folder if place.folder is not None else os.path.dirname(place.name)
            ):
                own_name, end = os.path.splitext(name.removeprefix(TEMP_PREFIX))
                if not name.startswith(TEMP_PREFIX) or end not in (TEMPORARY, _ASIDE, REPLACED):
                    continue
                hidden = place.sibling_name(name)
                if end != TEMPORARY:
                    with contextlib.suppress(FileExistsError):
                        rename_new(
                            DiskPlace(place.folder, hidden),
                            DiskPlace(place.folder, place.sibling_name(own_name)),
                        )
                # if its name is taken: a replaced file is in the journal, one aside is nowhere else
                if end != _ASIDE:
                    discard(place, hidden)

    def trash(self, disk: str, *, system: bool, expected: bytes | None = None) -> str:
        if system:
            from send2trash import send2trash

            self.absolute_path(disk)
            if expected is not None:
                with _translate_errors(disk, "moving to the trash"), self.place(disk) as place:
                    self._check_same(place, disk, expected)
            # each system's bin has errors of its own: COM's are not even OSErrors
            with contextlib.suppress(Exception):
                send2trash(self.root / disk)  # Windows' trash takes no paths in the extended form
                return "the system's trash"
        name = disk.rpartition("/")[2]
        with _translate_errors(disk, "moving to the trash"), self.place(disk) as place:
            place.stat_file(disk)
            for number in itertools.count(1):
                target = f"{TRASH_FOLDER}/{_add_number(name, number)}"
                with (
                    self.place(target, make=True) as bin_place,
                    contextlib.suppress(FileExistsError),
                ):
                    self._rename_unchanged(place, bin_place, disk, expected)
                    bin_place.sync()
                    place.sync()
                    break
        return to_printable(target)


def _add_number(name: str, number: int) -> str:
    """Return the name of a file with a number before its extension, as `Note 2.md`; with 1, the
    name as it is."""
    if number == 1:
        return name
    stem, dot, extension = name.rpartition(".")
    return f"{stem} {number}.{extension}" if dot else f"{name} {number}"


def _rename_in_two_steps(old: DiskPlace, new: DiskPlace) -> None:
    """Rename to another spelling of the same name, which some disks answer and do not do. Raises:
    OSError."""
    aside = DiskPlace(
        old.folder, old.sibling_name(f"{TEMP_PREFIX}{os.path.basename(old.name)}{_ASIDE}")
    )
    rename_new(old, aside)
    try:
        rename_new(aside, new)
    except BaseException:
        rename_new(aside, old)
        raise


@contextlib.contextmanager
def _translate_errors(disk: str, doing: str, *, target: str = "") -> Iterator[None]:
    """Raises: AppError for a system error while a file is changed (FILE-08); NoteExists where
    `target` is taken."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileExistsError) and target:
            raise NoteExists(
                f"There is already a file {to_printable(target)!r}.", path=to_printable(target)
            ) from error
        raise translate_error(error, disk, doing) from error
