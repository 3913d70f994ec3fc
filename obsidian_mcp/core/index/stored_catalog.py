"""The files of a vault as its index knows them, before the folder was looked at (INDEX-64)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.links.resolve import keys_of
from obsidian_mcp.core.text.vault_path import VaultPath, name_key
from obsidian_mcp.errors import PermissionDenied

from .file_paths import AskFiles
from .row_writer import Stat


class StoredCatalog(Catalog):
    """A catalog that asks the index for each name, and the disk for each file.

    It knows the files that have rows, and lists none: files without text, such as images, are
    missing. A file is given as it is on disk now, so that nothing is said of one that is gone.
    """

    def __init__(self, ask: AskFiles, stat: Stat) -> None:
        """`ask` answers a question from the rows; `stat` looks at a file."""
        super().__init__()
        self._ask = ask
        self._stat = stat

    def __contains__(self, path: str) -> bool:
        return self._ask(lambda files: files.find_number(path)) is not None

    def get(self, path: str) -> FileEntry | None:
        stored = self.read_stored([path]).get(VaultPath(path))
        return None if stored is None else self.look_at(stored)

    def read_stored(self, paths: Iterable[str]) -> dict[VaultPath, FileEntry]:
        """Return files as the rows have them; those without rows are left out."""
        listed = list(paths)
        return self._ask(lambda files: files.read_entries(listed))

    def look_at(self, stored: FileEntry) -> FileEntry | None:
        """Return a file as it is on disk; None for one that is gone. Raises: AppError."""
        try:
            file = self._stat(stored.disk)
        except PermissionDenied:  # a symbolic link took its place
            return None
        return None if file is None else FileEntry(stored.path, *file)

    def find_by_name(self, *filenames: str) -> tuple[VaultPath, ...]:
        names = {name_key(filename) for filename in filenames}
        keys = set(chain.from_iterable(map(keys_of, filenames)))
        paths = self._find_keyed(keys)
        return tuple(sorted(path for path in paths if name_key(path.rpartition("/")[2]) in names))

    def _find_keyed(self, keys: Collection[str]) -> Iterable[VaultPath]:
        """Return the files whose names have one of these keys (`links.resolve.keys_of`)."""
        return self._ask(lambda files: files.find_named(keys))

    def find_equal(self, path: str) -> list[VaultPath]:
        key = name_key(path)
        named = self.find_by_name(path.rpartition("/")[2])
        return [candidate for candidate in named if name_key(candidate) == key]

    def path_at(self, path: str) -> VaultPath | None:
        for spelling in (path, normal_form(path)):
            if spelling in self:
                return VaultPath(spelling)
        return min(self.find_equal(path), default=None)
