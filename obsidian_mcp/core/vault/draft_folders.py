"""The folders of a draft: which of those on disk it moves, makes or removes (BATCH-02)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from obsidian_mcp.core.files.ports import Files

from .moves import Moves
from .operation import Move


class DraftFolders:
    """The folders of a draft, over those on disk.

    Calls one by one leave empty folders behind, and move a folder with its hidden files and all
    that another program puts there meanwhile. So a draft keeps the moves of folders as they were
    made, beside the places of its files.
    """

    def __init__(self, base: Files) -> None:
        self._base = base
        self.moves = Moves()
        """Moves of folders that are on disk, in their order: each source is a place after the moves
        before it."""
        self._made: dict[str, None] = {}
        """Folders that calls have made, in this order, also where nothing is in them any more."""
        self._removed: dict[str, None] = {}
        """Folders that calls have removed where they were empty, in this order."""

    def is_made(self, disk: str) -> bool:
        """Return whether a call has made this folder."""
        return disk in self._made

    def place_on_disk(self, disk: str) -> str | None:
        """Return where on disk a file or folder of the draft would be.

        None where its folder has left its place.
        """
        return self.moves.place_before(disk)

    def place_after_moves(self, disk: str) -> str:
        """Return where a file on disk is when the folders have moved."""
        return self.moves.place_after(disk)

    def subfolders(self, disk: str, files: Collection[str]) -> list[str] | None:
        """Return the folders right below one; None if there is no such folder.

        `files` are the paths of all files of the draft.
        """
        start = f"{disk}/" if disk else ""
        source = self.place_on_disk(disk) if disk else ""
        on_disk = None if source is None else self._base.subfolders(source)
        if (
            on_disk is None
            and not self.is_made(disk)
            and not any(path.startswith(start) for path in files)
        ):
            return None
        there = {start + folder.rpartition("/")[2] for folder in on_disk or ()}
        there = {folder for folder in there if self._is_there(folder)}
        below = {
            path[len(start) :].split("/", 1)[0]
            for path in files
            if path.startswith(start) and "/" in path[len(start) :]
        }
        arrived = {
            self.moves.place_after(move.target, number + 1)
            for number, move in enumerate(self.moves)
        }
        inner = {
            path[len(start) :].split("/", 1)[0]
            for path in (*self._made, *arrived)
            if path.startswith(start)
        }
        return sorted(there | {start + name for name in below | inner})

    def _is_there(self, disk: str) -> bool:
        """Return whether a folder is on disk where the draft has it, and has not been removed."""
        return self.place_on_disk(disk) is not None and disk not in self._removed

    def make(self, disk: str) -> None:
        """Make a folder."""
        self._made[disk] = None
        self._removed.pop(disk, None)

    def remove(self, disk: str) -> None:
        """Remove an empty folder."""
        self._made.pop(disk, None)
        self._removed[disk] = None

    def move(self, source: str, target: str) -> None:
        """Move a folder with the folders in it."""
        step = Moves([Move(source, target)])
        self._made = {step.place_after(path): None for path in self._made}
        self._removed = {step.place_after(path): None for path in self._removed}
        origin = self.place_on_disk(source)
        if origin is None or self._base.subfolders(origin) is None:
            return
        earlier = list(self.moves)
        if earlier and earlier[-1].target == source:  # it moves on, perhaps back
            source = earlier.pop().disk
        self.moves = Moves(earlier if source == target else [*earlier, Move(source, target)])

    def made_empty(self, places: Iterable[str]) -> list[str]:
        """Return the folders that stay empty.

        `places` are the paths of all files of the draft.
        """
        needed = {folder for place in places for folder in ancestors(place)}
        empty_folders = [folder for folder in self._made if folder not in needed]
        return [
            folder
            for folder in empty_folders
            if not any(inner.startswith(f"{folder}/") for inner in empty_folders)
        ]

    def removed_folders(self) -> list[str]:
        """Return the folders that are removed where they are empty, the inner ones first."""
        return sorted(self._removed, key=len, reverse=True)


def ancestors(disk: str) -> Iterable[str]:
    """Yield the folders of a file, the outermost first."""
    at = disk.find("/")
    while at > 0:
        yield disk[:at]
        at = disk.find("/", at + 1)
