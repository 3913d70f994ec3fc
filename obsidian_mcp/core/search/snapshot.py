"""What one search sees: the index and the names of the files at one moment (SEARCH-40)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.index.rows import NumberedFiles, Rows
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    PDF,
    VaultPath,
    is_indexable,
    is_note,
    is_pdf,
)

from .signals import Signals
from .vocabulary import Vocabulary


@dataclass(eq=False)
class FileTable:
    """The files of one moment, without those that the user hides; built anew when files come or go
    (SEARCH-48)."""

    paths: Mapping[int, VaultPath]
    """Notes, canvases and PDFs by their number in the index; files without rows are not here."""
    numbers: Mapping[VaultPath, int]
    """The same by path."""
    row_count: int
    """Files that have rows, whether they are listed or not."""
    has_unlisted: bool
    """Whether some files with rows are not in `paths`: the user hides them, or they are gone."""
    others: tuple[FileEntry, ...]
    """Files without text, such as images, and PDFs that are not read, by path."""
    is_hidden: Callable[[str], bool] | None
    """Whether the user hides the file at a path; None if nothing is hidden."""
    has_pdfs: bool
    """Whether PDFs are among them, read or not."""

    @cached_property
    def files(self) -> frozenset[int]:
        return frozenset(self.paths)

    @cached_property
    def canvases(self) -> frozenset[int]:
        """Files of cards and drawings; the rows of other files say everything."""
        return frozenset(
            number
            for number, path in self.paths.items()
            if not path.endswith(NOTE_EXTENSION) and not is_note(path) and not is_pdf(path)
        )

    @cached_property
    def pdfs(self) -> frozenset[int]:
        return frozenset(number for number, path in self.paths.items() if is_pdf(path))

    @cached_property
    def path_lines(self) -> tuple[str, array[int], list[int]]:
        """The folded paths in NFC, one a line (a line end in a path is NUL); where they begin; and
        their numbers."""
        lines = [path if path.isascii() else normal_form(path) for path in self.paths.values()]
        starts = array("Q", accumulate((len(line) + 1 for line in lines), initial=0))
        joined = "\n".join([*lines, ""])
        if joined.count("\n") > len(lines):
            joined = "\n".join([*(line.replace("\n", "\0") for line in lines), ""])
        return fold(joined), starts, list(self.paths)


def table_of(
    files: NumberedFiles, entries: Mapping[str, FileEntry], is_hidden: Callable[[str], bool] | None
) -> FileTable:
    """Return the table of the files that have rows or are in the vault (`entries`)."""
    visible, paths = entries, files.paths
    if is_hidden is not None:
        visible = {path: entry for path, entry in entries.items() if not is_hidden(path)}
        paths = {number: path for number, path in paths.items() if path in visible}
    numbers = dict(zip(paths.values(), paths, strict=True))
    textless = [visible[path] for path in visible.keys() - numbers.keys() if not is_indexable(path)]
    textless.sort(key=lambda entry: entry.path)
    has_pdfs = PDF in "\n".join(visible).lower() and any(
        path[-4:].lower() == PDF for path in visible
    )
    count = len(files.paths) + len(files.gone)
    return FileTable(
        paths, numbers, count, len(paths) < count, tuple(textless), is_hidden, has_pdfs
    )


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
