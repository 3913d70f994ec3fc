"""What ordering knows of files beside their texts: when they were changed and what their properties
say, and the moment of the question (SEARCH-13, 63 to 65)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.index.rows import PROPERTIES, Rows
from obsidian_mcp.core.text.vault_path import VaultPath

from .outdated_files import OutdatedFiles


class Item(NamedTuple):
    """A file of a result."""

    path: VaultPath
    number: int | None
    """In the index; None for a file without text."""
    score: float | None = None
    start: int | None = None
    """Where the part begins that was found by its meaning alone; None for a file found by words."""


class Signals(NamedTuple):
    """The facts of the files of one search. Files have the numbers of their rows."""

    rows: Rows
    catalog: Catalog
    outdated: OutdatedFiles
    """Which files and blocks say that they hold no longer."""
    property_tables: Sequence[str] = PROPERTIES
    """Where properties stand; see `rows.WITH_INLINE_FIELDS`."""
    now: datetime | None = None
    """The moment of the question on the user's clock; None where the question came without one."""

    def newest_first(
        self, files: Collection[int], limit: int, without: Collection[int] = frozenset()
    ) -> list[int]:
        """Return the first `limit` files, the one changed last first, and none of those in
        `without` (SEARCH-63)."""
        among = [number for number in files if number not in without] if without else files
        return list(islice(self.rows.file_sets.newest_first(among), limit))

    def read_times(self, items: Sequence[Item]) -> Mapping[VaultPath, int]:
        """Return when files were last changed, in nanoseconds since the epoch (SEARCH-13)."""
        by_number = self.rows.file_sets.times(
            [item.number for item in items if item.number is not None]
        )
        times: dict[VaultPath, int] = {}
        for item in items:
            if item.number is not None:
                times[item.path] = by_number[item.number]
            elif (entry := self.catalog.get(item.path)) is not None:
                times[item.path] = entry.mtime_ns
        return times

    def read_property(self, name: str) -> Iterator[tuple[int, object]]:
        """Yield file and value of every property of this name, those of one file in their order."""
        for table in self.property_tables:
            for number, _, value in self.rows.column(table, "value", name.lower()):
                yield number, json.loads(value)

    def read_values(self, name: str, items: Sequence[Item]) -> Mapping[int | None, object]:
        """Return the value of a property in each file that has one; one without a value counts as
        absent (SEARCH-65)."""
        numbers = {item.number for item in items if item.number is not None}
        values: dict[int | None, object] = {}
        for number, value in self.read_property(name):
            if number in numbers:
                values.setdefault(number, value)
        return {number: value for number, value in values.items() if value is not None}
