"""What a change of a vault does, and how it is made whole or not at all, with the old bytes kept (specs/safety.md)."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from obsidian_mcp.core.files import media
from obsidian_mcp.core.files.catalog import Content, normal_form
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Changer, Files, Journal, Step
from obsidian_mcp.core.files.settings import TrashOption
from obsidian_mcp.core.note import board, drawing
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.diff import CONTEXT_LINES, diff, merge, short_diff
from obsidian_mcp.core.text.text import Text, check_size
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, TEXT_EXTENSIONS, VaultPath, extension, parent
from obsidian_mcp.errors import AppError, InvalidArguments, StaleEtag, StorageFailed

from .sync_tree import Listing
from .take_back import take_back

log = logging.getLogger(__name__)

THROUGH_APP = 20
"""Most files of one change that the app writes: it takes 50 ms to a second for one file."""
MISTAKES_SHOWN = 10
_NOTHING = VaultPath("")


class Write(NamedTuple):
    """Replace a file's bytes; `before` are the bytes that the change was made from."""

    disk: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """Write a file that is not there yet."""

    disk: str
    after: bytes
    before: ClassVar[bytes] = b""


class Move(NamedTuple):
    """Move a file, or a folder with its files."""

    disk: str
    target: str
    unlinked: bool = False
    """No link leads to the file, so the app may make the move (APP-FILE-06)."""


class Remove(NamedTuple):
    """Move a file to the trash (`system`: the system's, else the vault's own), or delete it for good."""

    disk: str
    permanent: bool
    system: bool = False


def removal(disk: str, option: TrashOption, *, permanent: bool = False) -> Remove:
    """How a file is removed under the vault's setting; `permanent` whatever that says."""
    return Remove(disk, permanent=permanent or option == "none", system=option == "system")


class RemoveFolder(NamedTuple):
    """Remove an empty folder; a folder that holds files, or is gone, is left alone."""

    disk: str


Operation = Write | Create | Move | Remove | RemoveFolder


def moved(disk: str, moves: Mapping[str, str]) -> str:
    """Return the path of a file after moves of files and folders."""
    above = disk
    while above:
        if above in moves:
            return moves[above] + disk[len(above) :]
        above = above.rpartition("/")[0]
    return disk


class Rewritten(NamedTuple):
    """A file whose text changes, before and after."""

    before: Content
    after: Content
    lines: tuple[int, ...] = ()
    """Those that change (1-based), where links were rewritten."""
    merged: bool = False
    """Whether the file had changed since the `etag` of the change, and both changes are kept."""

    @property
    def path(self) -> VaultPath:
        return self.before.entry.path

    @property
    def operation(self) -> Write:
        return Write(self.before.entry.disk, self.before.data, self.after.data)

    @property
    def diff(self) -> str:
        return diff(self.path, self.before.text.body, self.after.text.body)


def rewritten(before: Content, body: str, *, merged: bool = False) -> Rewritten:
    """Return a note with another text. Raises: NotText for an edit that a plugin would drop, or that changes what only
    it writes (DRAW-4, BOARD-2)."""
    path, text = before.entry.path, before.text.body
    if "excalidraw" in path.lower() or "excalidraw-plugin" in text:
        drawing.check_edit(path, text, body)
    if "kanban-plugin" in text:
        board.check_edit(path, text, body)
    return Rewritten(before, before.with_body(body), merged=merged)


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What a change would do. `Vault.commit` makes its operations, all or none."""

    rewritten: tuple[Rewritten, ...] = ()
    """Files whose text changes: they are written first, where they still are."""
    steps: tuple[Operation, ...] = ()
    """What is made, moved and removed then."""
    warnings: tuple[str, ...] = ()
    source: VaultPath = _NOTHING
    """The note or folder that is moved, merged or divided; empty for changes of other kinds."""
    target: VaultPath = _NOTHING
    """Where it goes."""
    moved: Mapping[VaultPath, VaultPath] = field(default_factory=dict)
    """The files that get other paths, with these."""
    undoes: int | None = None
    """Number of the change that this one takes back."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        return (*(file.operation for file in self.rewritten), *self.steps)

    def diffs(self) -> Iterator[str]:
        """Yield what is written anew or changes in every text, the new files first."""
        yield from (difference(step) for step in self.steps if isinstance(step, Create | Write))
        yield from (file.diff for file in self.rewritten)


def difference(operation: Write | Create, context: int = CONTEXT_LINES) -> str:
    """Return the lines of a text that change, as a unified diff; for other files a line that says so."""
    path = normal_form(operation.disk)
    if not is_of_text(operation):
        return f"{path}: {len(operation.after):,} bytes that are no text\n"
    return diff(path, Text.decode(operation.before).body, Text.decode(operation.after).body, context)


def is_of_text(operation: Write | Create) -> bool:
    """Whether a file has lines to show, before and after."""
    is_text = operation.disk.endswith(NOTE_EXTENSION) or media.is_text(operation.disk, operation.after)
    return is_text and b"\0" not in operation.before + operation.after


class Planned(Exception):
    """The change that a call would have made, allowed by the policy but for a person's consent."""

    def __init__(self, tool: str, change: PlannedChange) -> None:
        self.tool = tool
        self.change = change


def edited(
    before: Content, change: Callable[[str], str], etag: str, version: Callable[[str], bytes | None]
) -> Rewritten:
    """Return a file with its text changed, and nothing written; a change made to the `version` of an older `etag` is
    merged with the later ones. Raises: StaleEtag, and the errors of `change`."""
    now = before.text.body
    if not etag or etag == before.etag:
        return rewritten(before, change(now))
    known = version(etag)
    if known is None:
        raise stale(before, etag, "Read it again and repeat the edit.")
    base = Text.decode(known).body
    ours = change(base)
    merged = merge(base, ours, now)
    if merged is None:
        path = before.entry.path
        raise stale(
            before,
            etag,
            "The later changes touch this edit, so nothing was written. Changed since:\n"
            f"{short_diff(path, base, now)}This edit:\n{short_diff(path, base, ours)}"
            "Read the note again and repeat the edit.",
        )
    return rewritten(before, merged, merged=True)


def stale(now: Content, etag: str, advice: str) -> StaleEtag:
    return StaleEtag(
        f"{str(now.entry.path)!r} has changed since it was read: its etag is {now.etag} now, not {etag}. {advice}",
        path=now.entry.path,
        etag=now.etag,
    )


class Done(NamedTuple):
    """A change that was made: its number in the journal, and the trash folder of a removed file."""

    change: int
    location: str | None = None


def _check_readable(operation: Operation) -> None:
    """No change makes a text unreadable or too large (FILE-10, SAFE-24). Raises: InvalidArguments, StorageFailed."""
    if not isinstance(operation, Write | Create):
        return
    check_size(len(operation.after), normal_form(operation.disk))
    problem = _problem(operation.disk, operation.after)
    if problem is not None and _problem(operation.disk, operation.before) is None:
        path = normal_form(operation.disk)
        raise InvalidArguments(
            f"{path!r} could not be read any more after this change, so nothing was written. {problem}", path=path
        )


def _problem(disk: str, data: bytes) -> str | None:
    """Return why a text, canvas or base cannot be read; None for a readable one and for other files."""
    kind = extension(disk)
    if kind in TEXT_EXTENSIONS and b"\0" in data:
        return "It would hold a NUL character, which no text has: leave it out."
    match kind:
        case ".canvas":
            from obsidian_mcp.core.note import canvas  # loaded when it is needed, as validate

            return canvas.read(Text.decode(data).body).error
        case ".base":
            from obsidian_mcp.core.bases.base_file import validate

            refused = [str(mistake) for mistake in validate(Text.decode(data).body) if mistake.refused]
            if refused:
                return f"The base is not readable: {'; '.join(refused[:MISTAKES_SHOWN])}"
    return None


@dataclass(eq=False, slots=True)
class Changes:
    """Every change of a vault's files passes through here. Every method may be called from any thread."""

    _files: Files
    _journal: Journal
    _policy: Policy
    _listing: Listing
    _through_app: Changer | None
    """Makes changes instead of `_files` where it can."""
    _caught_up: int | None
    """The last change in the journal whose files the catalog knows, None if it could not be read."""
    _writers: int = 0
    _moving: dict[str, str] = field(default_factory=dict)
    """Sources and targets of the moves that are being made."""

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep all others that use the journal from writing; what a dead process left half done is taken back first."""
        with self._journal.exclusive():
            self._writers += 1
            try:
                if self._writers == 1:
                    self._recover()
                    self._catch_up()
                yield
            finally:
                self._writers -= 1

    def place_of(self, disk: str) -> str:
        """Return the current path of a file that is being moved."""
        return moved(disk, self._moving)

    def _recover(self) -> None:
        """Take back what died half done; what cannot be taken back now is tried again before the next change."""
        for recorded in self._journal.unfinished():
            log.warning("taking back a change by %s that was cut off", recorded.tool)
            lost = take_back(self._files, recorded.steps)
            self._listing.look_at_all(recorded.steps)
            if not lost:
                self._journal.discard(recorded.number)

    def _catch_up(self) -> None:
        """Look at the files that other processes have changed: the watcher may not have reported them yet (SAFE-09)."""
        latest = self._journal.latest()
        if self._caught_up is None:
            if self._listing.scanned and latest:  # else nothing was missed, and a look at the whole folder takes time
                self._listing.rescan()
        elif latest > self._caught_up:
            for recorded in self._journal.since(self._caught_up):
                self._listing.look_at_all(recorded.steps)
        self._caught_up = latest

    def commit(self, tool: str, operations: Sequence[Operation], undoes: int | None = None) -> Done:
        """Make all operations or none, and keep the replaced bytes in the journal (SAFE-02); only planned where the
        call plans. Raises: StaleEtag when a file has changed since, and errors of the disk, which name the files that
        could not be brought back."""
        with self.changing():
            self._check(tool, operations, is_undo=undoes is not None)
            if current_call.get().is_planning:
                raise Planned(tool, PlannedChange(steps=tuple(operations), undoes=undoes))
            made = self._folders_made(operations)
            limit = None if undoes is None else sys.maxsize  # a file that others have made larger is undone too
            steps = [self._step(operation, limit) for operation in operations]
            if (ending := current_call.get().limit) is not None:
                ending.begin_commit()
            number = self._journal.begin(tool, [*made, *steps], undoes)
            self._moving = {move.disk: move.target for move in operations if isinstance(move, Move)}
            try:
                with self._listing.frozen(steps):
                    location = self._make(number, operations, made, steps)
            finally:
                self._moving = {}
            self._caught_up = number
            if (made_change := current_call.get().made) is not None:
                made_change(number, operations)
            return Done(number, location)

    def _check(self, tool: str, operations: Sequence[Operation], *, is_undo: bool = False) -> None:
        """Check what the policy allows, and that no file breaks. Raises: AppError."""
        creates = any(isinstance(operation, Create) for operation in operations)
        for operation in operations:
            self._check_allowed(operation, overwrites=tool == "create_note" and not creates)
            if not is_undo:
                _check_readable(operation)

    def _make(
        self, number: int, operations: Sequence[Operation], made: Sequence[Step], steps: Sequence[Step]
    ) -> str | None:
        """Make all operations or none; return the trash folder of a removed file."""
        changer = self._changer(operations)
        location, performed = None, 0
        try:
            for operation in operations:
                location = self._perform(operation, changer) or location
                performed += 1
            self._journal.finish(number)
        except BaseException as error:
            begun = steps[: performed + 1]
            if isinstance(error, AppError) and len(begun) > performed and begun[performed].kind == "move":
                begun = steps[:performed]  # a rename that failed was not made: another program owns the target
            self._roll_back(number, [*made, *begun], error)
            raise
        return location

    def _roll_back(self, number: int, steps: Sequence[Step], error: BaseException) -> None:
        """Take back the steps of a change that failed. Raises: StorageFailed naming the files that remain changed."""
        lost = take_back(self._files, steps)
        if lost:
            shown = ", ".join(repr(normal_form(disk)) for disk in lost)
            reason = error.message if isinstance(error, AppError) else "The change was interrupted."
            raise StorageFailed(
                f"{reason} {shown} could not be brought back yet, because the disk refused. The old text is kept, and "
                "the next change brings it back first.",
                paths=[normal_form(disk) for disk in lost],
            ) from error
        with suppress(StorageFailed):  # the next change finds it, and nothing to take back
            self._journal.discard(number)

    def _folders_made(self, operations: Sequence[Operation]) -> list[Step]:
        """Return the folders that a change creates, outermost first, so that taking it back removes them."""
        made: dict[str, Step] = {}
        for operation in operations:
            target = operation.disk if isinstance(operation, Create) else getattr(operation, "target", "")
            folder, missing = parent(target), []
            # looked for in `made` first: thousands of files may go into one new folder
            while folder and folder not in made and not self._files.exists(folder):
                missing.append(folder)
                folder = parent(folder)
            made |= {folder: Step("folder", folder) for folder in reversed(missing)}
        return list(made.values())

    def _step(self, operation: Operation, limit: int | None) -> Step:
        """Return the journal's record of an operation; `limit` as in `Files.read`. Raises: StaleEtag, StorageFailed."""
        if isinstance(operation, Create):
            return Step("create", operation.disk, after=operation.after)
        if isinstance(operation, Move):
            return Step("move", operation.disk, target=operation.target)
        if isinstance(operation, RemoveFolder):
            return Step("folder", operation.disk)
        if isinstance(operation, Remove):
            try:
                return Step("remove", operation.disk, before=self._files.read(operation.disk, limit))
            except StorageFailed:
                if operation.permanent:  # a file too large for the journal could never come back
                    raise
                return Step("remove", operation.disk)
        if self._files.read(operation.disk, limit) != operation.before:
            raise StaleEtag(
                f"{normal_form(operation.disk)!r} was changed by another program in this moment. "
                "Nothing was written; read it again and repeat the edit.",
                path=normal_form(operation.disk),
            )
        return Step("write", operation.disk, before=operation.before, after=operation.after)

    def _check_allowed(self, operation: Operation, *, overwrites: bool) -> None:
        """Raises: PermissionDenied, StorageFailed, ConfirmationRequired."""
        path = normal_form(operation.disk)
        match operation:
            case RemoveFolder():
                return
            case Write() | Create():
                self._policy.check_write(path, len(operation.after))
                kind = "create" if isinstance(operation, Create) else "overwrite" if overwrites else "edit"
            case Move():
                self._check_movable(operation)
                kind = "move"
            case Remove():
                self._policy.check_write(path)
                if operation.permanent:
                    self._policy.check_permanent(path)
                kind = "permanent_delete" if operation.permanent else "delete"
        self._policy.check_confirmed(f"{kind.replace('_', ' ')} {path!r}", kind)

    def _check_movable(self, move: Move) -> None:
        """Check that every file of a folder may be moved. Raises: PermissionDenied."""
        source, target = normal_form(move.disk), normal_form(move.target)
        if self._listing.catalog.on_disk(move.disk) is not None or self._files.subfolders(move.disk) is None:
            self._policy.check_write(source)
            self._policy.check_write(target)
            return
        inside = list(self._files.scan(move.disk)) if self._policy.restricts_reading or self._policy.write else []
        for file in inside:
            below = normal_form(file.disk)[len(source) :]
            if not self._listing.visible(file.disk):
                raise self._policy.refused(source)
            self._policy.check_write(source + below)
            self._policy.check_write(target + below)
        if not inside:
            self._policy.check_write(source + "/")
            self._policy.check_write(target + "/")

    def _changer(self, operations: Sequence[Operation]) -> Changer:
        """Return who makes a change: the app makes single changes of files, never a move with rewritten links."""
        alone = len(operations) == 1
        if self._through_app is None or len(operations) > THROUGH_APP:
            return self._files
        if any(isinstance(operation, Move) and not (alone and operation.unlinked) for operation in operations):
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
            case Remove(permanent=True):
                changer.delete(operation.disk)
            case RemoveFolder():
                self._files.remove_folder(operation.disk)
            case Remove():
                return changer.trash(operation.disk, system=operation.system)
        return None
