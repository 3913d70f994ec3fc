"""The files of a vault for one question that the rows answer before all files are known (INDEX-64).

The files that the question comes across are looked at on disk, so that the answer has none that is
gone, and none as it was. Of an answer about very many files only the first ones are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text.vault_path import VaultPath

from .file_paths import FilePaths
from .row_writer import Stat
from .rows import NumberedFiles, Rows
from .stored_catalog import StoredCatalog

MOST_CHECKED: Final = 2_000
"""Files that are looked at for one question: 20 µs each, beside the look at all files."""


class FilesUnknown(Exception):
    """Only who knows all files can answer: what is asked for is not in the rows."""


class CheckedCatalog(StoredCatalog):
    """A `StoredCatalog` that remembers which of its files are not as their rows say."""

    def __init__(self, rows: Rows, stat: Stat) -> None:
        super().__init__(lambda question: question(rows.file_paths), stat)
        self._rows = rows
        self._stored: dict[VaultPath, FileEntry] = {}
        """Files as their rows have them, as far as they were read."""
        self._checked: dict[str, FileEntry | None] = {}
        self.is_checked = True
        """Whether every file was looked at that the question came across."""
        self.changed: list[FileEntry] = []
        """Files as they are now, where their rows are of another state."""
        self.gone: list[VaultPath] = []
        """Files that have rows and are not there."""

    def __contains__(self, path: str) -> bool:
        return self.get(path) is not None

    def __len__(self) -> int:
        return self._rows.file_paths.count_files()

    def __iter__(self) -> Iterator[FileEntry]:
        raise FilesUnknown

    def entries_by_path(self) -> dict[str, FileEntry]:
        raise FilesUnknown

    def get(self, path: str) -> FileEntry | None:
        if path not in self._checked:
            self._checked[path] = self._check(VaultPath(path))
        return self._checked[path]

    def read_ahead(self, paths: Collection[str]) -> None:
        self._stored.update(self.read_stored(paths))

    def _check(self, path: VaultPath) -> FileEntry | None:
        stored = self._stored.get(path) or self.read_stored([path]).get(path)
        if stored is not None and len(self._checked) >= MOST_CHECKED:
            self.is_checked = False
            return stored
        if stored is None:
            spelling = self._rows.listed_files.read_spellings([path]).get(path)
            return None if spelling is None else self.look_at(FileEntry(path, spelling, 0, 0))
        present = self.look_at(stored)
        if present is None:
            self.gone.append(path)
        elif present != stored:
            self.changed.append(present)
        return present

    def find_by_name(self, *filenames: str) -> tuple[VaultPath, ...]:
        return tuple(path for path in super().find_by_name(*filenames) if path in self)

    def _find_keyed(self, keys: Collection[str]) -> Iterable[VaultPath]:
        return {*super()._find_keyed(keys), *self._rows.listed_files.find_named(keys)}

    def check_missing(self, name: str) -> None:
        """Raise FilesUnknown: a file may have come of which the rows know nothing yet."""
        raise FilesUnknown(name)

    def check_any(self) -> None:
        """Look at one file where none was: of a folder that is gone nothing is answered.

        What was counted without its files, such as all tags, is as it was. Raises: VaultNotFound.
        """
        if not self._checked and (path := self._rows.file_paths.read_first()) is not None:
            self.is_checked = False
            self.get(path)


class CheckedPaths(Mapping[int, VaultPath]):
    """The files that are in the vault, by the numbers of their rows; they cannot be listed."""

    def __init__(self, files: FilePaths, catalog: CheckedCatalog) -> None:
        self._files = files
        self._catalog = catalog
        self._paths: dict[int, VaultPath | None] = {}

    def read_ahead(self, numbers: Collection[int]) -> None:
        """Read the paths of some files together."""
        paths = self._files.read_paths(numbers)
        self._catalog.read_ahead(paths.values())
        self._paths.update(
            {number: path if path in self._catalog else None for number, path in paths.items()}
        )

    def __getitem__(self, number: int) -> VaultPath:
        if number not in self._paths:
            self.read_ahead([number])
        if (path := self._paths.get(number)) is None:
            raise KeyError(number)
        return path

    def __iter__(self) -> Iterator[int]:
        raise FilesUnknown

    def __len__(self) -> int:
        raise FilesUnknown


def select_paths(paths: Mapping[int, VaultPath], numbers: Collection[int]) -> dict[str, int]:
    """Return those of some files that are in the vault, with their numbers."""
    if isinstance(paths, CheckedPaths):
        paths.read_ahead(numbers)
    return {paths[number]: number for number in numbers if number in paths}


class CheckedFiles:
    """What `FileNumbers` is to a question when all files are known."""

    def __init__(self, rows: Rows, stat: Stat) -> None:
        self.catalog = CheckedCatalog(rows, stat)

    def numbered_files(self, rows: Rows) -> NumberedFiles:
        """Return the files of these rows; which of all are gone is not known."""
        return NumberedFiles(CheckedPaths(rows.file_paths, self.catalog), {})
