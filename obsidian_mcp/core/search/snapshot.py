"""What one search sees: the index and the names of the files at one moment (SEARCH-40)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.rows import Rows

from .file_table import FileTable
from .signals import Signals
from .vocabulary import Vocabulary


class Snapshot(NamedTuple):
    """Lives as long as one search, in one thread. Files have the numbers of their rows."""

    rows: Rows
    table: FileTable
    vocabulary: Vocabulary
    catalog: Catalog
    signals: Signals
    """What ordering knows of the files beside their texts."""
    read: Callable[[FileEntry], bytes]
    """Reads a file. Raises: AppError."""
    text_counts: dict[str, int]
    """How many files contain a folded text, as far as this search found out."""
    expression_counts: dict[str, int]
    """How many files an expression of the full-text index finds, as far as this search found
    out."""
    flags: dict[int, frozenset[int]]
    """Files by the bits of `search_document` that they have, as far as a search of this state
    looked them up."""
    unscanned: list[str]
    """Sentences about texts that were not searched for want of time."""
    notice: str | None = None
    """A sentence if some files are newer than the index (INDEX-40)."""
    is_whole: bool = True
    """Whether every file is in the index as it is; else nobody knows what no file has."""
