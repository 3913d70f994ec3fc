"""One vault: its files, what is known of them, and the one way to change them."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    NoteExists,
    NoteNotFound,
    NotText,
    PermissionDenied,
    StaleEtag,
    StorageFailed,
)

from . import deadline, names
from . import policy as policy_module
from .catalog import Catalog, FileEntry, normal_form
from .edits import diff
from .facts import BODY_LIMIT
from .graph import Graph
from .index import Index
from .keeper import Keeper
from .merge import merge
from .paths import NOTE_EXTENSION, VaultPath, is_note, name_key
from .policy import Policy
from .ports import Change, Changer, DiskFile, Files, Journal, Obsidian, Step
from .search import Search
from .settings import AppSettings, IgnoreFilters, PropertyTypes, app_settings, property_types
from .text import Text

log = logging.getLogger(__name__)

NO_FILTERS = IgnoreFilters(())

RESCAN_ABOVE = 200
"""More changed paths than this are found faster by one scan than one by one."""

THROUGH_APP = 20
"""Most files of one change that the app is asked to write: each takes 50 ms to a second."""


class Dirty(Protocol):
    """Says what may have changed on disk since the last question."""

    def drain(self) -> set[str] | None:
        """Raw paths of files or folders that may have changed; None when only a scan can tell."""
        ...


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was read: `etag` names exactly these bytes."""

    entry: FileEntry
    data: bytes
    etag: str

    @property
    def text(self) -> Text:
        return Text.decode(self.data)


@dataclass(frozen=True, slots=True)
class Edited:
    """A file before and after an edit. `merged`: with changes that others had made since the version it was made to."""

    before: Content
    after: Content
    merged: bool


@dataclass(frozen=True, slots=True)
class Write:
    """Replace a file's bytes; `before` is what the new bytes were made from."""

    disk: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Create:
    disk: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Move:
    """A file, or a folder with all that is in it."""

    disk: str
    target: str
    unlinked: bool = False
    """No link in the vault leads there or would have to follow, so that the app may make the move (APP-FILE-06)."""


@dataclass(frozen=True, slots=True)
class Remove:
    """Into the trash (`system`: the system's, else the vault's own), or for good."""

    disk: str
    permanent: bool
    system: bool = False


@dataclass(frozen=True, slots=True)
class RemoveFolder:
    """An empty folder; one that holds something or is gone is left as it is."""

    disk: str


Operation = Write | Create | Move | Remove | RemoveFolder


@dataclass(frozen=True, slots=True)
class Done:
    """A change that was made: its number in the journal, and where a removed file went."""

    change: int
    location: str | None = None


def etag_of(data: bytes) -> str:
    """Content hash that a write can be made conditional on: 16 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()[:16]


class Vault:
    """A folder of notes. Every method may be called from any thread."""

    def __init__(
        self,
        name: str,
        files: Files,
        dirty: Dirty,
        journal: Journal,
        index: Index,
        policy: Policy = policy_module.DEFAULT,
        app: Obsidian | None = None,
        through_app: Changer | None = None,
    ) -> None:
        """`app` is asked for what the user wants answered by the app, `through_app` makes changes instead of `files`
        where it can (specs/obsidian-command.md, backends).
        """
        self.name = name
        self.files = files
        self.app = app
        self._through_app = through_app
        self.journal = journal
        self.policy = policy
        self.lock = threading.RLock()
        self.catalog = Catalog()
        self._dirty = dirty
        self._scanned = False
        self._writers = 0
        self._caught_up: int | None = None
        """The last change in the journal whose files are known here; None where the journal could not say."""
        with suppress(AppError):
            self._caught_up = journal.latest()
        self._settings = (b"", app_settings(None))
        self._excluded = IgnoreFilters(())
        # without the vault's lock: its holder may be waiting for the threads that ask
        self.keeper = Keeper(index, lambda: list(self.catalog), self._indexed, files.stat)
        self.graph = Graph(self.keeper, self.catalog, self._indexed, self.excluded)
        self.search = Search(self.keeper, self.catalog, lambda entry: self.files.read(entry.disk), self._filters)

    def close(self) -> None:
        """End the threads and close the files; what is half done is finished first."""
        self.keeper.stop()
        self.keeper.index.close()
        self.journal.close()

    # -- what is there -----------------------------------------------------------------------------------------

    def refresh(self) -> list[Change]:
        """Bring the catalog in step with the disk; what changed since the last time."""
        with self.lock:
            dirty = self._dirty.drain()
            try:
                if not self._scanned or dirty is None or len(dirty) > RESCAN_ABOVE:
                    changes = self._rescan()
                else:
                    changes = [change for disk in sorted(dirty) for change in self._look(disk)]
            except AppError:  # the disk is gone; when it is back, what was reported meanwhile is not known
                self._scanned = False
                raise
            self.keeper.note(changes, self.catalog.get)
            return changes

    def _rescan(self) -> list[Change]:
        found: list[DiskFile] = []
        for count, file in enumerate(self.files.scan()):
            if count % 1000 == 0:
                deadline.checkpoint()
            if self._visible(file.disk):
                found.append(file)
        changes = self.catalog.replace(found)
        self._scanned = True
        return changes

    def _visible(self, disk: str) -> bool:
        return not self.policy.restricts_reading or self.policy.visible(normal_form(disk))

    def _look_at(self, disk: str) -> None:
        """Take in one path that this program has just changed or come across."""
        self.keeper.note(self._look(disk), self.catalog.get)

    def _look(self, disk: str) -> list[Change]:
        """One path that may have changed: a file, or a folder with all that is below it."""
        try:
            file = self.files.stat(disk)
        except PermissionDenied:  # a symbolic link took the place of a file or folder: not part of the vault
            file = None
        if file is not None:
            return self.catalog.put(file) if self._visible(disk) else []
        if self.catalog.on_disk(disk) is not None:
            return self.catalog.drop(disk)
        changes: list[Change] = []
        below = {found.disk for found in self.files.scan(disk) if self._visible(found.disk)}
        known = [entry.disk for entry in self.catalog if entry.disk.startswith(disk + "/")]
        for found in below:
            if (there := self.files.stat(found)) is not None:
                changes += self.catalog.put(there)
        for lost in known:
            if lost not in below:
                changes += self.catalog.drop(lost)
        return changes

    def entries(self) -> list[FileEntry]:
        """Every file, by path."""
        with self.lock:
            return sorted(self.catalog, key=lambda entry: entry.path)

    def find(self, raw: str) -> FileEntry:
        """The file that a person's name or path means, or the one note that has it as an alias.

        Raises: NoteNotFound with near names, AmbiguousName with candidates, PermissionDenied.
        """
        with self.lock:
            entry = names.find(self.catalog, raw)
            if entry is not None:
                return entry
            path, disk = names.spelled(self.catalog, raw)
            unnoticed = self.look_for(disk) or self.look_for(disk + NOTE_EXTENSION)
            if unnoticed is not None:
                return unnoticed
            self.keeper.note(self._rescan(), self.catalog.get)  # a miss is worth a look at the whole folder
            if (entry := names.find(self.catalog, raw)) is not None:
                return entry
        aliased = [entry for found in self.graph.by_alias(raw).value if (entry := self.catalog.get(found)) is not None]
        if len(aliased) > 1:
            raise names.ambiguous(raw, [entry.path for entry in aliased])
        if not aliased:
            with self.lock:
                raise names.not_found(self.catalog, path)
        return aliased[0]

    def at(self, path: VaultPath) -> FileEntry | None:
        """The file at this path, in any case and normal form."""
        with self.lock:
            known = self.catalog.at(path)
            if known is not None:  # somebody may have deleted it a moment ago
                self._look_at(self.catalog[known].disk)
                known = self.catalog.at(path)
            return None if known is None else self.catalog[known]

    def folder(self, path: VaultPath) -> tuple[str, str]:
        """A folder's spelling in the vault and on disk."""
        with self.lock:
            return names.existing_folder(self.catalog, path)

    def look_for(self, disk: str) -> FileEntry | None:
        """A file that may be newer than what the watcher has told.

        Raises: PermissionDenied for a symbolic link, StorageFailed for a file that is not downloaded.
        """
        with self.lock:
            if not self._visible(disk):
                return None
            if self.files.stat(disk) is None:
                self.files.exists(disk)  # says so where the file is in the cloud only
                return None
            self._look_at(disk)
            return self.catalog.on_disk(disk)

    def subfolders(self, disk: str) -> list[str] | None:
        """Folders directly below one, as the disk spells them; None when there is no such folder (POL-01)."""
        found = self.files.subfolders(disk)
        if found is None or not self.policy.restricts_reading:
            return found
        shown = [folder for folder in found if self._folder_visible(folder)]
        return shown if shown or not disk or self._folder_visible(disk) else None

    def apart(self, disk: str) -> tuple[str, ...] | None:
        """The visible files of a folder that also holds hidden ones, which must not be moved; None without those."""
        if not self.policy.restricts_reading:
            return None
        found = sorted(file.disk for file in self.files.scan(disk))
        shown = tuple(each for each in found if self._visible(each))
        return shown if len(shown) < len(found) else None

    def check_target(self, disk: str, *, is_folder: bool) -> None:
        """Raises: PermissionDenied for a hidden place, before anything is said about what is there."""
        path = normal_form(disk)
        if self.policy.hidden.match(path + "/" if is_folder else path):
            raise self.policy.refused(path)

    def _folder_visible(self, disk: str) -> bool:
        """A folder is seen where a visible file is in it, and where it is empty and no pattern names it."""
        with self.lock:
            if name_key(normal_form(disk)) in self.catalog.folders():
                return True
        return self.policy.visible(normal_form(disk) + "/") and next(iter(self.files.scan(disk)), None) is None

    @property
    def settings(self) -> AppSettings:
        """The app's settings of this vault as they stand now."""
        data = self.files.config("app.json") or b""
        with self.lock:
            if data != self._settings[0]:
                self._settings = (data, app_settings(data.decode("utf-8", "replace")))
                self._excluded = IgnoreFilters(self._settings[1].ignore_filters)
            return self._settings[1]

    @property
    def property_types(self) -> PropertyTypes:
        """The types that the user has assigned to properties, as they stand now."""
        data = self.files.config("types.json")
        return property_types(None if data is None else data.decode("utf-8", "replace"))

    def excluded(self, path: str) -> bool:
        """Whether the user hides a file from search, graph, tags and properties (semantics 8.3)."""
        return bool(self._excluded) and self._excluded.match(path)

    def _filters(self) -> IgnoreFilters:
        """Those of the settings as they stand now; the same object as long as they are the same."""
        return self._excluded if self.settings.ignore_filters else NO_FILTERS

    def _indexed(self, entry: FileEntry) -> bytes:
        return self.files.head(entry.disk, BODY_LIMIT)

    # -- reading -----------------------------------------------------------------------------------------------

    def read(self, entry: FileEntry) -> Content:
        data = self.files.read(entry.disk)
        return Content(entry, data, etag_of(data))

    def read_text(self, entry: FileEntry) -> Content:
        """As `read`, for text only. Raises: NotText."""
        content = self.read(entry)
        if b"\0" in content.data[:8192]:
            raise NotText(
                f"{str(entry.path)!r} is not a text file ({entry.size:,} bytes of binary data).", path=entry.path
            )
        return content

    def shown(self, entry: FileEntry) -> Content:
        """As `read_text`, for an answer: with the backend `cli` the app has to give the note as well.

        What counts is the file: the app may not have noticed a change yet (APP-FILE-08).
        """
        content = self.read_text(entry)
        if self.app is not None and is_note(entry.path) and entry.path == entry.disk:
            try:
                said = self.app.read(entry.path).text.encode()
            except NoteNotFound:
                log.info("the app does not know %s yet", entry.path)
            except AppCommandFailed as error:
                if error.data.get("reason") != "inexact":
                    raise
            else:
                if said != content.data:
                    log.info("the app shows another text of %s than its file has", entry.path)
                    return self.read_text(entry)
        return content

    # -- changing ----------------------------------------------------------------------------------------------

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Nobody else changes the vault in this block, in no thread and no process that uses the journal.

        What a process that died has left half done is taken back first.
        """
        with self.journal.exclusive(), self.lock:
            self._writers += 1
            try:
                if self._writers == 1:
                    self._recover()
                    self._catch_up()
                yield
            finally:
                self._writers -= 1

    def _recover(self) -> None:
        """Take back what a process that died has left half done.

        What cannot be taken back now stays in the journal and is tried again before the next change.
        """
        for recorded in self.journal.unfinished():
            log.warning("taking back a change by %s that was cut off", recorded.tool)
            lost = self._take_back(recorded.steps)
            for step in recorded.steps:
                self.files.sweep(step.disk)
            if not lost:
                self.journal.discard(recorded.number)

    def _catch_up(self) -> None:
        """Look at the files that other processes have changed: the watcher may not have told yet (SAFE-09)."""
        latest = self.journal.latest()
        if self._caught_up is None:
            if self._scanned and latest:
                self.keeper.note(self._rescan(), self.catalog.get)
        elif latest > self._caught_up:
            for recorded in self.journal.since(self._caught_up):
                self._look_at_all(recorded.steps)
        self._caught_up = latest

    def _look_at_all(self, steps: Iterable[Step]) -> None:
        for step in steps:
            for disk in (step.disk, step.target):
                if disk is not None:
                    with suppress(AppError):  # what cannot be looked at now is reported by the next question for it
                        self._look_at(disk)

    def edit(self, tool: str, entry: FileEntry, change: Callable[[str], str], etag: str = "") -> Edited:
        """Replace a file's text by `change(text)`, as one step.

        The text is the body after a byte order mark, which is kept. With the `etag` of an older version, `change` is
        made to that version and merged with what happened since, where the two do not touch.
        Raises: StaleEtag, and whatever `change` raises, with nothing written.
        """
        with self.changing():
            before = self.read_text(entry)
            text = before.text
            merged = bool(etag) and etag != before.etag
            body = self._merged(before, change, etag) if merged else change(text.body)
            after = Text(body, text.bom).encode()
            if after != before.data:
                self.commit(tool, [Write(entry.disk, before.data, after)])
            return Edited(before, Content(self.catalog.get(entry.path) or entry, after, etag_of(after)), merged)

    def _merged(self, now: Content, change: Callable[[str], str], etag: str) -> str:
        known = self.journal.version(etag)
        if known is None:
            raise stale(now, etag, "Read it again and repeat the edit.")
        base = Text.decode(known).body
        ours = change(base)
        merged = merge(base, ours, now.text.body)
        if merged is None:
            theirs = diff(now.entry.path, base, now.text.body)
            raise stale(
                now,
                etag,
                f"What changed since touches this edit, so nothing was written. Changed since:\n{theirs}"
                f"This edit:\n{diff(now.entry.path, base, ours)}Read the note again and repeat the edit.",
            )
        return merged

    def commit(self, tool: str, operations: Sequence[Operation], undoes: int | None = None) -> Done:
        """Make the changes, all or none, and keep in the journal what they replace (SAFE-02).

        Raises: StaleEtag when a file no longer holds the bytes that its change was made from, and the errors of the
        disk; nothing is changed then, or the error names the files that could not be brought back.
        """
        with self.changing():
            for operation in operations:
                self._check_allowed(tool, operation)
            made = self._folders_made(operations)
            steps = [self._step(operation) for operation in operations]
            deadline.checkpoint()
            number = self.journal.begin(tool, [*made, *steps], undoes)
            changer = self._changer(operations)
            location, begun, performed = None, 0, 0
            try:
                for operation in operations:
                    begun += 1
                    location = self._perform(operation, changer) or location
                    performed += 1
                self.journal.finish(number)
            except AppError as error:
                # A rename that failed was not made: what stands at its target is somebody else's.
                failed = operations[performed] if performed < len(operations) else None
                self._roll_back(number, [*made, *steps[: performed if isinstance(failed, Move) else begun]], error)
                raise
            except BaseException as error:
                self._roll_back(number, [*made, *steps[:begun]], error)
                raise
            finally:
                self._look_at_all(steps)
            self._caught_up = number
            return Done(number, location)

    def _roll_back(self, number: int, steps: Sequence[Step], error: BaseException) -> None:
        """Take back the steps of a change that failed. Raises: StorageFailed naming what could not be taken back."""
        lost = self._take_back(steps)
        if lost:
            shown = ", ".join(repr(normal_form(disk)) for disk in lost)
            told = error.message if isinstance(error, AppError) else "The change was broken off."
            raise StorageFailed(
                f"{told} And {shown} could not be brought back as it was; the old text is kept, and it is tried again "
                "before the next change.",
                paths=[normal_form(disk) for disk in lost],
            ) from error
        with suppress(StorageFailed):  # the next change finds it, and nothing to take back
            self.journal.discard(number)

    def _folders_made(self, operations: Sequence[Operation]) -> list[Step]:
        """The folders that a change makes, outermost first, so that taking it back leaves none of them behind."""
        made: dict[str, Step] = {}
        for operation in operations:
            target = operation.disk if isinstance(operation, Create) else getattr(operation, "target", "")
            parts = target.split("/")[:-1]
            missing = []
            for length in range(len(parts), 0, -1):
                folder = "/".join(parts[:length])
                if folder in made or self.files.exists(folder):
                    break
                missing.append(folder)
            made |= {folder: Step("folder", folder) for folder in reversed(missing)}
        return list(made.values())

    def _step(self, operation: Operation) -> Step:
        """What the journal keeps of an operation. Raises: StaleEtag, StorageFailed."""
        if isinstance(operation, Create):
            return Step("create", operation.disk, after=operation.data)
        if isinstance(operation, Move):
            return Step("move", operation.disk, target=operation.target)
        if isinstance(operation, RemoveFolder):
            return Step("folder", operation.disk)
        if isinstance(operation, Remove):
            try:
                return Step("remove", operation.disk, before=self.files.read(operation.disk))
            except StorageFailed:
                if operation.permanent:  # a file too large for the journal could never come back
                    raise
                return Step("remove", operation.disk)
        if self.files.read(operation.disk) != operation.before:
            raise StaleEtag(
                f"{normal_form(operation.disk)!r} was changed by another program in this moment. "
                "Nothing was written; read it again and repeat the edit.",
                path=normal_form(operation.disk),
            )
        return Step("write", operation.disk, before=operation.before, after=operation.after)

    def _check_allowed(self, tool: str, operation: Operation) -> None:
        """Raises: PermissionDenied, StorageFailed, ConfirmationRequired."""
        path = normal_form(operation.disk)
        match operation:
            case Write():
                self.policy.check_write(path, len(operation.after))
                kind = "overwrite" if tool == "create_note" else "edit"
            case Create():
                self.policy.check_write(path, len(operation.data))
                kind = "create"
            case RemoveFolder():
                return
            case Move():
                self._check_movable(operation)
                kind = "move"
            case Remove():
                self.policy.check_write(path)
                if operation.permanent:
                    self.policy.check_permanent(path)
                kind = "permanent_delete" if operation.permanent else "delete"
        self.policy.check_confirmed(kind, f"{kind.replace('_', ' ')} {path!r}")

    def _check_movable(self, move: Move) -> None:
        """A folder may be moved where all that is in it may be. Raises: PermissionDenied."""
        source, target = normal_form(move.disk), normal_form(move.target)
        if self.catalog.on_disk(move.disk) is not None or self.files.subfolders(move.disk) is None:
            self.policy.check_write(source)
            self.policy.check_write(target)
            return
        inside = list(self.files.scan(move.disk)) if self.policy.restricts_reading or self.policy.write else []
        for file in inside:
            below = normal_form(file.disk)[len(source) :]
            if not self._visible(file.disk):
                raise self.policy.refused(source)
            self.policy.check_write(source + below)
            self.policy.check_write(target + below)
        if not inside:
            self.policy.check_write(source + "/")
            self.policy.check_write(target + "/")

    def _changer(self, operations: Sequence[Operation]) -> Changer:
        """Who makes a change. The app gets it one file at a time, and no part of one in which links follow a move."""
        alone = len(operations) == 1
        if self._through_app is None or len(operations) > THROUGH_APP:
            return self.files
        if any(isinstance(operation, Move) and not (alone and operation.unlinked) for operation in operations):
            return self.files
        return self._through_app

    def _perform(self, operation: Operation, changer: Changer) -> str | None:
        """Do one operation; where a removed file went."""
        match operation:
            case Write() if changer is self.files:
                self.files.write(operation.disk, operation.after, operation.before)
            case Write():
                changer.write(operation.disk, operation.after)
            case Create():
                changer.create(operation.disk, operation.data)
            case Move():
                changer.move(operation.disk, operation.target)
            case Remove(permanent=True):
                changer.delete(operation.disk)
            case RemoveFolder():
                self.files.remove_folder(operation.disk)
            case Remove():
                return changer.trash(operation.disk, system=operation.system)
        return None

    def _take_back(self, steps: Sequence[Step]) -> list[str]:
        """Bring files back to what they were before these steps, whichever of them were done; those that could not be.

        A file that holds neither what it was nor what it was to be was changed by somebody else since, and is left.
        """
        lost = []
        for step in reversed(steps):
            try:
                self._take_back_step(step)
            except AppError as error:
                log.error("%s could not be taken back: %s", step.disk, error.message)
                lost.append(step.disk)
        self._look_at_all(steps)
        return lost

    def _take_back_step(self, step: Step) -> None:
        if step.kind == "folder":
            self.files.remove_folder(step.disk)
            return
        if step.kind == "move" and step.target is not None:
            if self.files.exists(step.target) and not self.files.exists(step.disk):
                self.files.move(step.target, step.disk)
            elif name_key(step.disk) == name_key(step.target):  # on some systems both spellings are there at once
                with suppress(NoteExists, NoteNotFound):
                    self.files.move(step.target, step.disk)
            return
        now = self.files.read(step.disk) if self.files.exists(step.disk) else None
        if now != step.after or now == step.before:
            return
        if step.before is None:
            self.files.delete(step.disk)
        elif now is None:
            self.files.create(step.disk, step.before)
        else:
            self.files.write(step.disk, step.before, now)


def stale(now: Content, etag: str, advice: str) -> StaleEtag:
    return StaleEtag(
        f"{str(now.entry.path)!r} has changed since it was read: its etag is {now.etag} now, not {etag}. {advice}",
        path=now.entry.path,
        etag=now.etag,
    )


class Scanning:
    """`Dirty` without a watcher: a scan at most every `interval` seconds tells what changed."""

    def __init__(self, interval: float = 0.5, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = interval
        self._clock = clock
        self._last = float("-inf")

    def drain(self) -> set[str] | None:
        now = self._clock()
        if now - self._last < self._interval:
            return set()
        self._last = now
        return None
