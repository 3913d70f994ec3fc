"""Changes to a vault's files through the running app (specs/obsidian-command.md, APP-FILE rules).

The app makes the changes that its command can make exactly. We make the others on the disk, and
those that the app reported and did not make: after each change the file itself is looked at.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from obsidian_mcp import errors, logger
from obsidian_mcp.core.text.vault_path import extension, is_note, name_key, parse
from obsidian_mcp.errors import AppCommandFailed, AppError, NoteExists, NoteNotFound

from .disk import TRASH_FOLDER, Disk
from .obsidian_answer import CANNOT_CARRY, OUTCOME_UNKNOWN, REFUSED, can_carry
from .obsidian_cli import ObsidianCommand

LATE_SECONDS = 1.0
"""How long a change may follow an answer that does not mention it: old installers print before they
are done."""
LOOK_SECONDS = 0.05
"""Interval at which the file is looked at meanwhile."""
CHECK_SECONDS = 5.0
"""How long an app that need not be used may take to say which vault it has open."""
AGAIN_SECONDS = 60.0
"""After an app that need not be used did not answer, how long it is left alone."""

Send = Callable[[ObsidianCommand], object]


class AppFiles:
    """`Changer` through the app, with the disk as fallback (APP-FILE rules).

    The port documents the methods. Only the thread that changes the vault uses it.
    """

    def __init__(
        self,
        disk: Disk,
        command: Callable[[], ObsidianCommand],
        is_open: Callable[[], bool] | None = None,
        *,
        late_seconds: float = LATE_SECONDS,
    ) -> None:
        """`command` is called at every change. With `is_open`, the app is used only while that is
        True and the app answers; without it, changes fail if the app does not answer."""
        self._disk = disk
        self._command = command
        self._is_open = is_open
        self._late_seconds = late_seconds
        self._left_alone_until = float("-inf")

    def write(self, disk: str, data: bytes) -> None:
        send = self._plan_send(disk, data)
        if send is None or not self._try_in_app(
            send,
            done=lambda: self._content(disk) == data,
            mend=lambda: self._disk.write(disk, data),
        ):
            self._disk.write(disk, data)

    def create(self, disk: str, data: bytes) -> None:
        text = _decode(data)
        if text is None or not is_note(disk) or not _is_sendable(disk) or self._disk.exists(disk):
            self._disk.create(disk, data)
            return
        is_folder_new = self._disk.subfolders(disk.rpartition("/")[0]) is None

        def send(command: ObsidianCommand) -> None:
            try:
                command.create(disk, text)
            except AppCommandFailed as error:
                if is_folder_new and (error.data.get("command"), error.data.get("reason")) == (
                    "create",
                    REFUSED,
                ):
                    raise _Unsuited from error
                raise

        def mend() -> None:
            put = self._disk.write if self._disk.exists(disk) else self._disk.create
            put(disk, data)

        if not self._try_in_app(
            send, done=lambda: self._content(disk) == data, mend=mend, new=True
        ):
            self._disk.create(disk, data)

    def move(self, source: str, target: str) -> None:
        """Rename through the app only if it knows no link to the file: it would rewrite links some
        time after its answer, where it remembers them to be, in a way that cannot be undone
        (APP-FILE-06)."""
        facts = self._disk.stat(source)
        folder = target.rpartition("/")[0]
        if (
            facts is not None
            and _is_sendable(source)
            and _is_sendable(target)
            and extension(target)
            and name_key(source) != name_key(target)
            and self._disk.subfolders(folder) is not None
            and not self._disk.exists(target)
        ):
            before = self._content(source) if is_note(source) else None

            def is_moved() -> bool:
                there = self._disk.stat(target)
                return (
                    there is not None
                    and there.size == facts.size
                    and (before is None or self._content(target) == before)
                    and not self._disk.exists(source)
                )

            def mend() -> None:
                if self._disk.exists(source):
                    self._disk.move(source, target)
                elif before is not None:
                    self._disk.write(target, before)

            def send(command: ObsidianCommand) -> None:
                if command.backlinks(source):
                    raise _Unsuited
                command.move(source, target)

            if self._try_in_app(send, done=is_moved, mend=mend, new=True):
                return
        self._disk.move(source, target)

    def delete(self, disk: str) -> None:
        self._remove(
            disk,
            lambda command: command.delete(disk, permanent=True),
            lambda: self._disk.delete(disk),
        )

    def trash(self, disk: str, *, system: bool) -> str:
        places = ["the system's trash" if system else TRASH_FOLDER]

        def trash_directly() -> None:
            places.append(self._disk.trash(disk, system=system))

        self._remove(disk, lambda command: command.delete(disk), trash_directly)
        return places[-1]

    def _remove(self, disk: str, send: Send, by_ourselves: Callable[[], object]) -> None:
        facts = self._disk.stat(disk)

        def mend() -> None:
            if self._disk.stat(disk) == facts:  # and not a new file of that name
                by_ourselves()

        is_removed = (
            facts is not None
            and _is_sendable(disk)
            and self._try_in_app(send, done=lambda: not self._disk.exists(disk), mend=mend)
        )
        if not is_removed:
            by_ourselves()

    # -- what the app can do exactly
    def _plan_send(self, disk: str, data: bytes) -> Send | None:
        """Return how the app can write these bytes: the whole note, or what is appended to it; None
        if it cannot."""
        if not (is_note(disk) and _is_sendable(disk)):
            return None
        before = self._content(disk)
        if before is None:
            return None
        if (text := _decode(data)) is not None:
            return lambda command: command.create(disk, text, overwrite=True)
        added = _decode(data[len(before) :]) if data.startswith(before) else None
        if added is not None and added.strip():
            return lambda command: command.append(disk, added, inline=True)
        return None

    def _try_in_app(
        self, send: Send, *, done: Callable[[], bool], mend: Callable[[], object], new: bool = False
    ) -> bool:
        """Have the app make a change; return False where it was not made and may be made on the
        disk.

        `done` returns whether it is made; `mend` makes it where the app only says that it did; with
        `new`, a file at the target is an error. Raises: the app's error if the user wants changes
        by the app only, or if the change may still come.
        """
        command = self._reach_app()
        if command is None:
            return False
        try:
            send(command)
        except _Unsuited:
            return False
        except NoteExists:
            if new:
                raise
            # the app does not know the file yet and made another beside it, which is in the trash
            return False
        except AppError as error:
            if self._await_change(done, error):
                return True
            # the app is well: it does not know the file yet, or cannot take the text
            is_unsuited = (
                isinstance(error, NoteNotFound) or error.data.get("reason") == CANNOT_CARRY
            )
            if _is_uncertain(error) or not (self._is_open is not None or is_unsuited):
                raise
            logger(__name__).info("not through the app: %s", error.message)
            return False
        if not done():
            logger(__name__).warning(
                "the obsidian command did not do what it said; the file was put right"
            )
            mend()
        return True

    def _reach_app(self) -> ObsidianCommand | None:
        """Return the command; None where the app need not be used and is not there."""
        if self._is_open is None:
            return self._command()
        if time.monotonic() < self._left_alone_until or not self._is_open():
            return None
        try:
            command = self._command()
            command.check(CHECK_SECONDS)
        except errors.ObsidianNotRunning:
            return None
        except AppError as error:
            logger(__name__).warning("notes are written without the app: %s", error.message)
            self._left_alone_until = time.monotonic() + AGAIN_SECONDS
            return None
        return command

    def _await_change(self, done: Callable[[], bool], error: AppError) -> bool:
        """Return whether a change was made although the app's answer does not say so, or will be in
        a moment."""
        end = time.monotonic() + (self._late_seconds if _is_uncertain(error) else 0.0)
        while not done():
            if time.monotonic() >= end:
                return False
            time.sleep(LOOK_SECONDS)
        return True

    # -- the disk
    def _content(self, disk: str) -> bytes | None:
        try:
            return self._disk.read_file(disk)
        except NoteNotFound:
            return None


class _Unsuited(Exception):
    """The app is not to make this change."""


def _decode(data: bytes) -> str | None:
    """Return the text that the command can carry, None where it cannot."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if can_carry(text) else None


def _is_sendable(disk: str) -> bool:
    """Return whether the app knows this file by the very name that it has on the disk."""
    try:
        return parse(disk) == disk and can_carry(disk)
    except AppError:
        return False


def _is_uncertain(error: AppError) -> bool:
    """Return whether the change may still be made after this failure."""
    return isinstance(error, errors.OperationTimeout) or error.data.get("reason") == OUTCOME_UNKNOWN
