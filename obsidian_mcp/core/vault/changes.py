"""How a change of a vault is made whole or not at all, with the old bytes kept (specs/safety.md).

A change is written to the journal first, then made file by file, then marked as done. What fails
half-way, or was cut off in a process that died, is taken back.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from obsidian_mcp import logger
from obsidian_mcp.core.files.name_errors import changed_meanwhile_error
from obsidian_mcp.core.files.observers import Observers
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Changer, Files, Journal, Step, Undoing
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.vault_path import parent
from obsidian_mcp.errors import AppError, NoteExists, NoteNotFound, StaleEtag, StorageFailed

from .change_checks import MISTAKES_SHOWN, check_readable
from .committed import Committed
from .listing import Listing
from .moves import Moves
from .operation import Create, MakeFolder, Move, Operation, Remove, RemoveFolder, Write
from .permissions import Permissions
from .planned_change import Planned, PlannedChange
from .take_back import take_back

THROUGH_APP = 20
"""Most files of one change that the app writes: it takes 50 ms to a second for one file."""


class Done(NamedTuple):
    """A change that was made: its number in the journal, and the trash folder of a removed file."""

    change: int
    location: str | None = None


@dataclass(eq=False, slots=True)
class Changes:
    """Makes the changes of one vault; every change of its files passes through here.

    Every method may be called from any thread.
    """

    _files: Files
    _journal: Journal
    _policy: Policy
    _listing: Listing
    _through_app: Changer | None
    """Makes changes instead of `_files` where it can."""
    _caught_up: int | None
    """The last change in the journal whose files the catalog knows, None if it could not be
    read."""
    _observers: Observers[Committed]
    """Told of every change when the lock is free again: they may ask the vault, and hold no writer
    up."""
    _committed: list[Committed] = field(default_factory=list)
    """Changes that were made under the lock that is held, and of which nobody has been told yet."""
    _writers: int = 0
    _moving: Moves = field(default_factory=Moves)
    """The moves that are being made, in their order."""

    @contextmanager
    def lock_changes(self) -> Iterator[None]:
        """Keep all others that use the journal from writing.

        What a dead process left half done is taken back first. When the outermost holder lets go,
        the observers are told of the changes that were made meanwhile, also where an error ends it:
        they may take long, and nobody waits for the lock then.
        """
        committed: list[Committed] = []
        try:
            with self._journal.lock_for_writing():
                self._writers += 1
                try:
                    if self._writers == 1:
                        self._recover()
                        self._catch_up()
                    yield
                finally:
                    self._writers -= 1
                    if not self._writers:
                        committed, self._committed = self._committed, []
        finally:
            for change in committed:
                self._observers.notify(change)

    def place_of(self, disk: str) -> str:
        """Return the current path of a file that is being moved."""
        return self._moving.place_after(disk)

    def _recover(self) -> None:
        """Take back the unfinished changes of processes that died.

        A change that cannot be taken back now stays in the journal, and is tried again before the
        next change.
        """
        for recorded in self._journal.list_unfinished():
            logger(__name__).warning("taking back a change by %s that was cut off", recorded.tool)
            lost, mixed = take_back(self._files, recorded.steps)
            self._listing.look_at_all(recorded.steps)
            if not lost:
                self._journal.discard(recorded.number)
                self._keep_old_texts(recorded.tool, mixed)

    def _keep_old_texts(self, tool: str, mixed: Sequence[Step]) -> int | None:
        """Keep the old bytes of files that could not be taken back; return the change's number.

        It is a change of its own in the journal, which a person can undo.
        """
        old_texts = [step for step in mixed if step.before is not None]
        if not old_texts:
            return None
        number = self._journal.begin(tool, old_texts)
        self._journal.finish(number)
        return number

    def _catch_up(self) -> None:
        """Look at the files that other processes have changed since the last change (SAFE-09).

        The watcher may not have reported them yet, and a change is made from the files as they are.
        """
        latest = self._journal.latest()
        if self._caught_up is None:
            # else nothing was missed, and a look at the whole folder takes time
            if self._listing.scanned and latest:
                self._listing.rescan()
        elif latest > self._caught_up:
            for recorded in self._journal.list_since(self._caught_up):
                self._listing.look_at_all(recorded.steps)
        self._caught_up = latest

    def commit(
        self, tool: str, operations: Sequence[Operation], undoes: Undoing | None = None
    ) -> Done:
        """Make all operations or none, and keep the replaced bytes in the journal (SAFE-02).

        Raises: StaleEtag when a file does not hold any more what its change was made from; errors
        of the policy and of the disk: nothing is changed then, or the error names the files that
        could not be brought back. Planned where the call only plans: nothing is made.
        """
        with self.lock_changes():
            self._check(tool, operations, is_undo=undoes is not None)
            if current_call.get().is_planning:
                raise Planned(tool, PlannedChange(steps=tuple(operations), undoes=undoes))
            # a file that others have made larger is undone too
            limit = None if undoes is None else sys.maxsize
            steps = [self._step(operation, limit) for operation in operations]
            operations = [
                _with_expected_bytes(*pair) for pair in zip(operations, steps, strict=True)
            ]
            folders = self._folders_made(operations)
            if (ending := current_call.get().limit) is not None:
                ending.begin_commit()
            recorded = [
                recorded_step
                for folder_steps, step in zip(folders, steps, strict=True)
                for recorded_step in (*folder_steps, step)
            ]
            number = self._journal.begin(tool, recorded, undoes)
            self._moving = Moves(
                operation for operation in operations if isinstance(operation, Move)
            )
            try:
                with self._listing.frozen(steps):
                    location = self._make(
                        tool,
                        number,
                        operations,
                        recorded,
                        [len(folder_steps) + 1 for folder_steps in folders],
                    )
            finally:
                self._moving = Moves()
            self._caught_up = number
            author = self._journal.author()
            self._committed.append(
                Committed(number, tool, tuple(operations), undoes, author, time.time())
            )
            return Done(number, location)

    def _check(self, tool: str, operations: Sequence[Operation], *, is_undo: bool = False) -> None:
        """Check what the policy allows, and that no file breaks. Raises: AppError."""
        permissions = Permissions(self._policy, self._listing, self._files)
        creates = any(isinstance(operation, Create) for operation in operations)
        for operation in operations:
            permissions.check(operation, overwrites=tool == "create_note" and not creates)
            if not is_undo:
                check_readable(operation)

    def _make(
        self,
        tool: str,
        number: int,
        operations: Sequence[Operation],
        steps: Sequence[Step],
        counts: Sequence[int],
    ) -> str | None:
        """Make all operations or none; return the trash folder of a removed file.

        `counts`: how many of the steps belong to each operation, which is the last of them. The
        journal notes each step as begun before it is made, so that a crash takes back these and no
        others.
        """
        changer = self._changer(operations)
        location, begun = None, 0
        try:
            for operation, count in zip(operations, counts, strict=True):
                begun += count
                self._journal.begin_step(number, begun)
                try:
                    location = self._perform(operation, changer) or location
                except AppError as error:
                    begun -= _is_refusal(error, steps[begun - 1])
                    raise
            self._journal.finish(number)
        except BaseException as error:
            self._roll_back(tool, number, steps[:begun], error)
            raise
        return location

    def _roll_back(
        self, tool: str, number: int, steps: Sequence[Step], error: BaseException
    ) -> None:
        """Take back the steps of a change that failed.

        Raises: StorageFailed naming the files that remain changed.
        """
        lost, mixed = take_back(self._files, steps)
        reason = error.message if isinstance(error, AppError) else "The change was interrupted."
        if lost:
            named = ", ".join(repr(normal_form(disk)) for disk in lost)
            raise StorageFailed(
                f"{reason} {named} could not be brought back yet, because the disk refused. The "
                "old text is kept, and "
                "the next change brings it back first.",
                paths=[normal_form(disk) for disk in lost],
            ) from error
        with suppress(StorageFailed):  # the next change finds it, and nothing to take back
            self._journal.discard(number)
        if mixed:
            number_of_old_texts = self._keep_old_texts(tool, mixed)
            raise _mixed_up(reason, mixed, number_of_old_texts) from error

    def _folders_made(self, operations: Sequence[Operation]) -> list[list[Step]]:
        """Return for each operation the folders that it makes on the way, outermost first.

        They come before it in the journal: taken back from the last step on, they are removed
        before what had their place comes back.
        """
        steps: list[list[Step]] = []
        new_folders: set[str] = set()
        moves = Moves()
        for operation in operations:
            target = (
                operation.disk
                if isinstance(operation, Create | MakeFolder)
                else getattr(operation, "target", "")
            )
            folder, missing = parent(target), []
            # looked for in `new_folders` first: thousands of files may go into one new folder
            while folder and folder not in new_folders and not self._was_there(folder, moves):
                missing.append(folder)
                folder = parent(folder)
            new_folders.update(missing)
            steps.append([Step("folder", folder) for folder in reversed(missing)])
            if isinstance(operation, Move):
                moves.append(operation)
        return steps

    def _was_there(self, folder: str, moves: Moves) -> bool:
        """Return whether a folder is there once these moves are made."""
        place = moves.place_before(folder)
        return place is not None and self._files.exists(place)

    def _step(self, operation: Operation, limit: int | None) -> Step:
        """Return the journal's record of an operation; `limit` as in `Files.read_file`.

        Raises: StaleEtag where the file is not what the change was made from, StorageFailed.
        """
        if isinstance(operation, Create):
            return Step("create", operation.disk, after=operation.after)
        if isinstance(operation, Move):
            return Step("move", operation.disk, target=operation.target)
        if isinstance(operation, RemoveFolder | MakeFolder):
            return Step("folder", operation.disk)
        if isinstance(operation, Remove):
            return self._removal_step(operation, limit)
        if self._files.read_file(operation.disk, limit) != operation.before:
            raise changed_meanwhile_error(operation.disk)
        return Step("write", operation.disk, before=operation.before, after=operation.after)

    def _removal_step(self, removal: Remove, limit: int | None) -> Step:
        """Return the journal's record of a removal, with the bytes that are removed.

        A file that is too large for the journal goes into the trash without them; deleted for good,
        it could never come back. Raises: StaleEtag where the bytes are not those that the change
        was made from; StorageFailed.
        """
        try:
            present = self._files.read_file(removal.disk, limit)
        except StorageFailed:
            if removal.permanent:  # a file too large for the journal could never come back
                raise
            return Step("remove", removal.disk)
        if removal.before is not None and removal.before != present:
            raise changed_meanwhile_error(removal.disk)
        return Step("remove", removal.disk, before=present)

    def _changer(self, operations: Sequence[Operation]) -> Changer:
        """Return who makes a change: the app, where it is asked to, or the disk.

        The app makes changes of few files, and never a move with rewritten links: it would rewrite
        them again.
        """
        alone = len(operations) == 1
        if self._through_app is None or len(operations) > THROUGH_APP:
            return self._files
        if any(
            isinstance(operation, Move) and not (alone and operation.unlinked)
            for operation in operations
        ):
            return self._files
        return self._through_app

    def _perform(self, operation: Operation, changer: Changer) -> str | None:
        """Make one operation; return the trash folder of a removed file."""
        match operation:
            case Write() if changer is self._files:
                self._files.write(operation.disk, operation.after, operation.before)
            case Write():
                changer.write(operation.disk, operation.after)
            case Create():
                changer.create(operation.disk, operation.after)
            case Move():
                changer.move(operation.disk, operation.target)
            case RemoveFolder():
                self._files.remove_folder(operation.disk)
            case MakeFolder():
                self._files.make_folder(operation.disk)
            case Remove(permanent=True) if changer is self._files:
                self._files.delete(operation.disk, operation.before)
            case Remove(permanent=True):
                changer.delete(operation.disk)
            case Remove() if changer is self._files:
                return self._files.trash(
                    operation.disk, system=operation.system, expected=operation.before
                )
            case Remove():
                return changer.trash(operation.disk, system=operation.system)
        return None


def _with_expected_bytes(operation: Operation, step: Step) -> Operation:
    """Return a removal with the bytes that the journal has, which the file must hold in the last
    moment (SAFE-08)."""
    return replace(operation, before=step.before) if isinstance(operation, Remove) else operation


def _mixed_up(reason: str, mixed: Sequence[Step], number: int | None) -> StorageFailed:
    """Return the error for files in which our lines and another program's cannot be told apart.

    The change had written them before it failed, and the other program has changed the same lines
    since.
    """
    paths = [normal_form(step.disk) for step in mixed]
    old = (
        f" The old text is in change {number} of the history, which can be undone."
        if number is not None
        else ""
    )
    return StorageFailed(
        f"{reason} But {name_first(list(map(repr, paths)), MISTAKES_SHOWN)} had been written "
        "before, and another "
        "program has changed the same lines since: that stays as it is. All other files are as "
        f"they were.{old}",
        paths=paths,
        change=number,
    )


def _is_refusal(error: AppError, step: Step) -> bool:
    """Return whether an error says that a step was not made.

    Such a step is left out of what is taken back: its old lines are still in the file, beside what
    another program wrote, and would come in twice. The file that a `create` found in its place
    belongs to somebody else.
    """
    # a rename is one call of the system: it fails as a whole, whatever the reason
    return step.kind == "move" or isinstance(error, StaleEtag | NoteExists | NoteNotFound)
