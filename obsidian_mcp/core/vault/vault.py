"""One vault: its files with the index of their contents, the questions to it, and changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property, partial
from typing import TypeVar, cast

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.calendar.clock import Calendar
from obsidian_mcp.core.files import policy as policy_module
from obsidian_mcp.core.files.catalog import link_target
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.name_errors import ambiguous_name_error
from obsidian_mcp.core.files.observers import Observers
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Change, Changer, Files, Journal, Obsidian, Undoing
from obsidian_mcp.core.text.call import call_with, current_call, note_unchanged
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    TEXT_EXTENSIONS,
    VaultPath,
    clean,
)
from obsidian_mcp.errors import AppError

from .scanning import Dirty
from .vault_files import VaultFiles

if TYPE_CHECKING:
    from obsidian_mcp.core.graph.graph import Graph
    from obsidian_mcp.core.index.index import Index
    from obsidian_mcp.core.index.indexer import Indexer
    from obsidian_mcp.core.index.pending_files import PendingFiles
    from obsidian_mcp.core.index.rows import FileNumbers
    from obsidian_mcp.core.periodic.names import PeriodicNames
    from obsidian_mcp.core.search.search import Search
    from obsidian_mcp.core.semantic.meaning import Meaning

    from .attempts import Attempt
    from .changes import Changes, Done
    from .committed import Committed
    from .operation import Operation
    from .rewritten import Rewritten

Kept = TypeVar("Kept")


class Vault(VaultFiles):
    """A folder of notes. Every method may be called from any thread.

    The parts that answer questions about many notes (`indexer`, `graph`, `search`, `periodic`) are
    loaded when they are first used: reading one note needs none of them (CLI-20).
    """

    def __init__(
        self,
        name: str,
        files: Files,
        dirty: Dirty,
        journal: Journal,
        open_index: Callable[[], Index],
        *,
        policy: Policy = policy_module.DEFAULT,
        app: Obsidian | None = None,
        through_app: Changer | None = None,
        calendar: Calendar | None = None,
        validity: str = "",
        begin_background: Callable[[Indexer], Meaning | None] = lambda _: None,
    ) -> None:
        """Open nothing yet.

        `open_index` opens the index when it is first needed. `begin_background` may then have it
        stored beside the calls, and return what finds notes by their meaning. `app` answers
        questions for the backend `cli`; `through_app` makes changes instead of `files` where it can
        (specs/obsidian-command.md). `validity` names properties (MEM-02).
        """
        super().__init__(name, files, dirty, policy=policy, app=app)
        self.journal = journal
        self._open_index = open_index
        self._begin_background = begin_background
        self._indexer: Indexer | None = None
        self._noting: PendingFiles | None = None
        """The same, from before its background begins: that may compare all files, and what changes
        then is noted."""
        self.meaning: Meaning | None = None
        """Finds notes by their meaning, where the user set it up; known once the index is open."""
        self._beginning = threading.Lock()
        self._is_closed = False
        self._through_app = through_app
        self._made_changes: Changes | None = None
        self._caught_up: int | None = None
        self._kept: dict[object, object] = {}
        self.committed: Observers[Committed] = Observers()
        """Told of every change of the vault by this process, when it is made and the lock is free
        again."""
        with suppress(AppError):
            self._caught_up = journal.latest()
        self.calendar, self._validity = calendar or Calendar(), validity

    @property
    def indexer(self) -> Indexer:
        """What keeps the index in step with the files; the index is opened at the first use."""
        if self._indexer is None:
            with self._beginning:
                if self._indexer is None:
                    self._indexer = self._start_indexer()
        return self._indexer

    def _start_indexer(self) -> Indexer:
        from obsidian_mcp.core.index.facts import BODY_LIMIT
        from obsidian_mcp.core.index.indexer import Indexer
        from obsidian_mcp.core.index.pending_files import PendingFiles

        files = self.files
        # Without the vault's lock: its holder may be waiting for these threads.
        pending = self._noting = PendingFiles(
            self._open_index(),
            lambda: self.catalog,
            lambda entry: files.head(entry.disk, BODY_LIMIT),
            files.stat,
        )
        indexer = Indexer(pending)
        indexer.early.wait_for_files = self.wait_for_files
        try:
            if not self._is_closed:
                self.meaning = self._begin_background(indexer)
        except BaseException:  # the next call opens another
            indexer.close()
            raise
        if self._is_closed:  # meanwhile: leave nothing open
            indexer.close()
        return indexer

    @property
    def _changes(self) -> Changes:
        if self._made_changes is None:
            from .changes import Changes
            from .committed import keep_in_call

            with self._beginning:
                if self._made_changes is None:
                    self.committed.add(keep_in_call)
                    self._made_changes = Changes(
                        _files=self.files,
                        _journal=self.journal,
                        _policy=self.policy,
                        _listing=self._listing,
                        _through_app=self._through_app,
                        _caught_up=self._caught_up,
                        _observers=self.committed,
                    )
        return self._made_changes

    def _note(self, changes: Iterable[Change]) -> None:
        """Tell the indexer of changes; one that is made later compares all files."""
        if self._noting is not None:
            self._noting.note(changes, self._listing.catalog.get)

    @cached_property
    def _numbers(self) -> FileNumbers:
        from obsidian_mcp.core.index.rows import FileNumbers

        return FileNumbers(self._listing.catalog)

    @cached_property
    def graph(self) -> Graph:
        """The links, tags and properties of the vault."""
        from obsidian_mcp.core.graph.graph import Graph

        return Graph(
            self.indexer, self._numbers, self.hides, lambda: self.uses_dataview, self._read_bytes
        )

    @cached_property
    def search(self) -> Search:
        """The searches of the vault. Raises: InvalidArguments for a wrong setting (MEM-02)."""
        from obsidian_mcp.core.note.validity import parse_names
        from obsidian_mcp.core.search.search import Search

        indexer = self.indexer  # which knows what `meaning` is
        near, like = (
            (self.meaning.find_by_meaning, self.meaning.find_alike_by_vectors)
            if self.meaning is not None
            else (None, None)
        )
        return Search(
            indexer,
            self._listing.catalog,
            self._read_bytes,
            self._filters,
            inline_fields=lambda: self.uses_dataview,
            validity_names=parse_names(self._validity),
            today=lambda: self.calendar.today,
            near=near,
            like=like,
        )

    def _read_bytes(self, entry: FileEntry) -> bytes:
        return self.files.read_file(entry.disk)

    @cached_property
    def periodic(self) -> PeriodicNames:
        """The names of daily to yearly notes.

        What they need is loaded when they are first asked for.
        """
        from obsidian_mcp.core.periodic.names import PeriodicNames

        def look_up(path: VaultPath) -> FileEntry | None:
            return self.entry_at(path) or self.look_for(self.catalog.spell_path(path)[1])

        return PeriodicNames(self.files, self.policy, lambda: self.catalog, self.calendar, look_up)

    def get_or_make(self, kind: Callable[[Vault], Kept]) -> Kept:
        """Return the `kind` of this vault that is kept between calls, made at its first use.

        Files above the core keep what belongs to a vault here, such as its plans.
        """
        companion = self._kept.get(kind)
        return cast(
            "Kept", self._kept.setdefault(kind, kind(self)) if companion is None else companion
        )

    def close(self) -> None:
        """Close the files after the running change."""
        self.close_index()
        self.journal.close()

    def close_index(self) -> None:
        """Close the index and what finds notes by their meaning."""
        self._listing.stop_looking()
        with self._beginning:
            self._is_closed = True
            if self.meaning is not None:
                self.meaning.close()
            if self._indexer is not None:
                self._indexer.close()

    # -- names

    def find(self, raw: str) -> FileEntry:
        """Return the file that a name means; see `resolve`."""
        return self.resolve(raw)[0]

    def resolve(self, raw: str) -> tuple[FileEntry, str | None]:
        """Return the file that a name means, and the alias by which it was found, or None.

        A name is a path, a file name, a period such as `daily:today` (PERIODIC-11), or an alias
        that one note has (NAME-01 to NAME-11). Raises: NoteNotFound with near names, AmbiguousName
        with candidates, PermissionDenied, StorageFailed for a file that is only in the cloud; for a
        URI, VaultNotFound and InvalidName.
        """
        if "://" in raw:
            raw = self._read_uri(raw)
        if not self._listing.is_known:
            if (entry := self.find_unlisted(raw)) is not None:
                return entry, None
            self.refresh()
        with self.lock:
            entry = self.catalog.find(raw)
            if entry is not None:
                is_path = "/" in raw or raw.lower().endswith(TEXT_EXTENSIONS)
                if is_path and raw not in (entry.path, entry.disk):
                    entry = self._require_exact(raw, entry)
                return entry, None
        if (target := link_target(raw)) is not None:
            return self.resolve(target)
        if ":" in raw and (located := self.periodic.find_by_name(raw)) is not None:
            if located.entry is None:
                raise self.periodic.describe_missing(located)
            return located.entry, None
        with self.lock:
            path, disk = self.catalog.spell_path(self.catalog.parse(raw))
            unnoticed = self.look_for(disk) or self.look_for(disk + NOTE_EXTENSION)
            if unnoticed is not None:
                return unnoticed, None
        answer = self.graph.notes_with_alias(raw)
        aliased = [
            entry
            for alias_path in answer.value
            if (entry := self.catalog.get(alias_path)) is not None
        ]
        if len(aliased) > 1:
            raise ambiguous_name_error(raw, [entry.path for entry in aliased])
        if aliased:
            return aliased[0], raw
        with self.lock:
            name = path.rpartition("/")[2]
            self._listing.look_for_named((name, name + NOTE_EXTENSION))
            if (entry := self.catalog.find(raw)) is not None:
                return entry, None
            self._listing.check_downloaded((path, path + NOTE_EXTENSION))
            from obsidian_mcp.core.files.near_names import find_typed, not_found

            if (typed := find_typed(self.catalog, path)) is not None:
                return self.catalog.entry(typed), None
            raise not_found(self.catalog, path, answer.freshness.notice)

    def _require_exact(self, raw: str, entry: FileEntry) -> FileEntry:
        """Return the file of exactly this path, where `entry` has an equal or a longer one.

        It may have appeared a moment ago, before the watcher could report it (NAME-03, NAME-06).
        """
        with suppress(AppError):
            written = clean(raw)
            for disk in (written, written + NOTE_EXTENSION):
                if disk in (entry.path, entry.disk):
                    return entry
                if (
                    self._listing.is_visible(disk)
                    and self.files.stat(disk)
                    and self.files.filter_exact_spellings([disk])
                ):
                    self._listing.look_at(disk)
                    return self.catalog.on_disk(disk) or entry
        return entry

    def _place_of(self, disk: str) -> str:
        return disk if self._made_changes is None else self._made_changes.place_of(disk)

    # -- changing

    def lock_changes(self) -> AbstractContextManager[None]:
        """Hold the lock on changes; see `Changes.changing`."""
        return self._changes.lock_changes()

    def recover(self) -> None:
        """Take back what a process that died has left half done (SAFE-03). Raises: AppError where
        that fails."""
        if self.journal.list_unfinished():
            with self.lock_changes():
                pass

    def commit(
        self, tool: str, operations: Sequence[Operation], undoes: Undoing | None = None
    ) -> Done:
        """Make all operations or none; see `Changes.commit`."""
        return self._changes.commit(tool, operations, undoes)

    def check(self, tool: str, operations: Sequence[Operation]) -> None:
        """Raise what `commit` would raise, but for a person's consent; write nothing (POL-17)."""
        from .planned_change import Planned

        if operations:
            try:
                with call_with(is_planning=True, has_consent=True):
                    self.commit(tool, operations)
            except Planned as planned:
                if (kept_plans := current_call.get().planned) is not None:
                    kept_plans.append(planned)

    def attempts(self) -> Iterator[Attempt]:
        """Yield attempts to change one file; see `Attempt`."""
        from .attempts import attempts

        return attempts(self._changes)

    def edit(
        self,
        tool: str,
        entry: FileEntry,
        change: Callable[[str], str],
        etag: str = "",
        *,
        dry_run: bool = False,
    ) -> Rewritten:
        """Replace a note's text by `change(text)` as one step; `dry_run`: only return the result.

        The text is the body after a byte order mark, which is kept. With the `etag` of an older
        version, `change` is made to that version and merged with what happened since, where the two
        do not touch. Raises: StaleEtag, NotText, and whatever `change` raises, with nothing
        written.
        """
        from .rewritten import edit_content

        version = partial(self.journal.version, entry.disk)
        if dry_run:
            planned = edit_content(self.read_note(entry), change, etag, version)
            self.check(tool, [planned.operation])
            return planned
        for attempt in self.attempts():
            with attempt.lock:
                edited_note = edit_content(self.read_note(entry), change, etag, version)
                is_changed = edited_note.after.data != edited_note.before.data
                if not is_changed or attempt.commit(tool, [edited_note.operation]):
                    break
        if not is_changed:
            note_unchanged(edited_note.operation)
        after = edited_note.after._replace(entry=self.catalog.get(entry.path) or entry)
        return edited_note._replace(after=after)
