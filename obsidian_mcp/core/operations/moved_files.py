"""Where new files of a change are that were moved since, so that its undo does not miss them
(SAFE-06)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from operator import attrgetter

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.ports import Recorded, Step
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.vault.moves import Moves
from obsidian_mcp.core.vault.operation import Move
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError

SAME_TIME_SECONDS = 2.0
"""A file was written by a change whose time is so close: FAT counts in two seconds."""
NANOSECONDS = 1e9


def look_for_moved(vault: Vault, recorded: Recorded, steps: Sequence[Step]) -> MovedFiles:
    """Return what knows where the new files of some steps are that are not at their places.

    The whole folder is looked at once where there is one: somebody may have moved it, and the
    report of that, on a busy machine, be on its way (WATCH-10).
    """
    created = (step.disk for step in steps if step.kind == "create")
    if not all(map(vault.files.exists, created)):
        vault.look_everywhere()
    return MovedFiles(vault, recorded)


class MovedFiles:
    """The files of a change that are elsewhere now.

    A change may have hundreds of files: what is asked of the journal and of all files is asked once
    for them.
    """

    def __init__(self, vault: Vault, recorded: Recorded) -> None:
        self._vault = vault
        self._recorded = recorded

    def find_place(self, step: Step, disk: str) -> str:
        """Return where the file is now that a step has made and that was at `disk` after the
        change; "" where nothing shows that it is anywhere."""
        place = self._later_moves.place_after(disk)
        if place != disk and self._vault.files.exists(place):
            return place
        return self._find_by_bytes(step)

    @cached_property
    def _later_moves(self) -> Moves:
        """The moves of the changes that followed."""
        later = sorted(
            self._vault.journal.list_since(self._recorded.number), key=attrgetter("number")
        )
        return Moves(
            Move(step.disk, step.target)
            for change in later
            for step in change.steps
            if step.target is not None
        )

    @cached_property
    def _by_size(self) -> dict[int, list[FileEntry]]:
        """The visible files."""
        entries_by_size: defaultdict[int, list[FileEntry]] = defaultdict(list)
        for entry in self._vault.catalog:
            entries_by_size[entry.size].append(entry)
        return entries_by_size

    def _find_by_bytes(self, step: Step) -> str:
        """Return where another program has put a file, which has the bytes still, and the name or,
        since a move keeps it, the time.

        Bytes alone show nothing: many notes are empty, or as their template.
        """
        name = normal_form(step.disk.rpartition("/")[2])
        namesakes = set(self._vault.catalog.find_by_name(name))
        candidates = [
            entry
            for entry in self._by_size.get(len(step.after or b""), ())
            if entry.path in namesakes or self._has_time_of_change(entry)
        ]
        candidates.sort(key=lambda entry: (entry.path not in namesakes, entry.path))
        return next((entry.disk for entry in candidates if self._holds(entry, step.after)), "")

    def _has_time_of_change(self, entry: FileEntry) -> bool:
        return abs(entry.mtime_ns / NANOSECONDS - self._recorded.time) < SAME_TIME_SECONDS

    def _holds(self, entry: FileEntry, data: bytes | None) -> bool:
        with suppress(AppError):
            return self._vault.files.read_file(entry.disk) == data
        return False
