"""A vault without a disk: files in a dictionary, with a catalog, an index and an indexer on them."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Self

from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.ports import Change, DiskFile
from obsidian_mcp.core.graph.graph import Graph
from obsidian_mcp.core.index import facts
from obsidian_mcp.core.index.index import Index
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.pending_files import PendingFiles
from obsidian_mcp.core.index.rows import FileNumbers
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppError, NoteNotFound


class Always:
    """`Dirty` that has every call look at the whole folder."""

    problem = ""

    def drain(self) -> None:
        return None

    def scan_due(self) -> None:
        return None

    def note_scan(self) -> None:
        pass

    def note_missed(self, paths: Collection[str]) -> None:
        pass


class Reported:
    """A `Dirty` that says what the test has changed."""

    problem = ""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.is_scan_due = False
        self.is_lost = False

    def drain(self) -> set[str] | None:
        paths, self.paths = self.paths, set()
        return None if self.is_lost else paths

    def scan_due(self) -> float:
        due, self.is_scan_due = self.is_scan_due, False
        return 0.0 if due else 100.0

    def note_scan(self) -> None:
        pass

    def note_missed(self, paths: Collection[str]) -> None:
        pass


def apply(
    index: Index,
    upserts: Iterable[tuple[FileEntry, bytes]],
    gone: Iterable[VaultPath] = (),
    stat: Callable[[str], DiskFile | None] | None = None,
) -> list[FileEntry]:
    """Parse and store files and delete others, without an indexer; the files that were refused."""
    return index.store(index.parse(upserts, 0), gone, stat)


_EMPTY = open_index(None)
"""Made here and not by the first test that needs it, which would seem to leave a connection open."""
atexit.register(_EMPTY.close)


def empty_index() -> Index:
    """Return an index in memory. To copy an empty one takes a fifth of the time in which its tables are created."""
    return _EMPTY.copy_to_memory()


class MemoryVault:
    """Files by their spelling on disk. What is done here is noted nowhere until `look` compares, as after a scan."""

    def __init__(self, files: Mapping[str, str | bytes] | None = None, place: Path | None = None) -> None:
        self.data: dict[str, bytes] = {}
        self.broken: dict[str, AppError] = {}
        """Files that cannot be read, and why."""
        self.reads: list[str] = []
        self._times: dict[str, int] = {}
        self._clock = 0
        for disk, text in (files or {}).items():
            self.write(disk, text)
        self.catalog = Catalog(self.scan())
        self.index = empty_index() if place is None else open_index(place)
        weakref.finalize(self, self.index.close)
        self.indexer = Indexer(
            PendingFiles(
                self.index, lambda: list(self.catalog), lambda entry: self.read(entry)[: facts.BODY_LIMIT], self.stat
            )
        )
        self.graph = Graph(self.indexer, FileNumbers(self.catalog))

    def opened_again(self, place: Path) -> MemoryVault:
        """Another program on the same files, and on the same index if `place` is the same."""
        again = MemoryVault(place=place)
        again.data, again._times, again.broken = self.data, self._times, self.broken
        for file in again.scan():
            again.catalog.put(file)
        return again

    def write(self, disk: str, text: str | bytes) -> None:
        self._clock += 1
        self.data[disk] = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        self._times[disk] = self._clock

    def rename(self, old: str, new: str) -> None:
        self.data[new] = self.data.pop(old)
        self._times[new] = self._times.pop(old)

    def delete(self, disk: str) -> None:
        del self.data[disk], self._times[disk]

    def scan(self) -> list[DiskFile]:
        return [DiskFile(disk, len(data), self._times[disk]) for disk, data in self.data.items()]

    def stat(self, disk: str) -> DiskFile | None:
        return DiskFile(disk, len(self.data[disk]), self._times[disk]) if disk in self.data else None

    def read(self, entry: FileEntry) -> bytes:
        self.reads.append(entry.path)
        if entry.disk in self.broken:
            raise self.broken[entry.disk]
        if entry.disk not in self.data:
            raise NoteNotFound(f"There is no file {entry.path!r}.")
        return self.data[entry.disk]

    def look(self) -> list[Change]:
        """Bring the catalog in step with the files and note what changed."""
        changes: list[Change] = []
        for entry in list(self.catalog):
            if entry.disk not in self.data:
                changes += self.catalog.drop(entry.disk)
        for file in self.scan():
            changes += self.catalog.put(file)
        self.indexer.pending.note(changes, self.catalog.get)
        return changes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.index.close()

    def contents(self) -> list[tuple[FileEntry, bytes]]:
        """Every file with its bytes, as `apply` takes them."""
        return [(entry, self.data[entry.disk]) for entry in self.catalog if entry.path.endswith((".md", ".canvas"))]
