"""The files that a search may list: their numbers in the index, and their paths as one text (SEARCH-44)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.index.facts import PDF, indexable, is_pdf
from obsidian_mcp.core.query.regexp import RegExp
from obsidian_mcp.core.text.casefold import fold
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, is_note


@dataclass(frozen=True)
class FileTable:
    """The files of one moment, without those that the user hides; built anew when files come or go (SEARCH-48)."""

    paths: Mapping[int, VaultPath]
    """Notes, canvases and PDFs by their number in the index; files without rows are not here."""
    others: tuple[FileEntry, ...]
    """Files without text, such as images, and PDFs that are not read, by path."""
    row_count: int
    """Files that have rows, whether they are listed or not."""
    is_complete: bool
    """Whether all of them are in `paths`."""
    is_hidden: Callable[[str], bool] | None
    """Whether the user hides the file at a path; None if nothing is hidden."""
    has_pdfs: bool
    """Whether PDFs are among them, read or not."""

    @cached_property
    def files(self) -> frozenset[int]:
        return frozenset(self.paths)

    @cached_property
    def numbers(self) -> Mapping[VaultPath, int]:
        return {path: number for number, path in self.paths.items()}

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
    def unread_pdfs(self) -> tuple[FileEntry, ...]:
        return tuple(entry for entry in self.others if is_pdf(entry.path))

    @cached_property
    def path_lines(self) -> tuple[str, array[int], list[int]]:
        """The folded paths, one a line (a line end in a path is NUL); where they begin; and their numbers."""
        lines = list(self.paths.values())
        starts = array("Q", accumulate((len(line) + 1 for line in lines), initial=0))
        joined = "\n".join([*lines, ""])
        if joined.count("\n") > len(lines):
            joined = "\n".join([*(line.replace("\n", "\0") for line in lines), ""])
        return fold(joined), starts, list(self.paths)

    def path_contains(self, text: str) -> Iterator[int]:
        """Yield the files whose folded path contains a folded text."""
        lines, starts, numbers = self.path_lines
        text = text.replace("\n", "\0")
        at = lines.find(text)
        while at >= 0:
            yield numbers[bisect_right(starts, at) - 1]
            at = lines.find(text, lines.find("\n", at))

    def path_matches(self, expression: RegExp) -> Iterator[int]:
        """Yield the files whose path an expression matches. Raises: OperationTimeout."""
        return (number for number, path in self.paths.items() if expression.found(path))


def build(
    numbers: Mapping[VaultPath, int], entries: Mapping[str, FileEntry], is_hidden: Callable[[str], bool] | None
) -> FileTable:
    """Return the table of the files that have rows (`numbers`) or are in the vault (`entries`)."""
    shown = entries
    if is_hidden is not None:
        shown = {path: entry for path, entry in entries.items() if not is_hidden(path)}
    # With the strings of the entries, so that those of the rows can be freed.
    paths = {number: entry.path for path, number in numbers.items() if (entry := shown.get(path)) is not None}
    others = [shown[path] for path in shown.keys() - numbers.keys() if not indexable(path)]
    others.sort(key=lambda entry: entry.path)
    has_pdfs = PDF in "\n".join(shown).lower() and any(path[-4:].lower() == PDF for path in shown)
    return FileTable(paths, tuple(others), len(numbers), len(paths) == len(numbers), is_hidden, has_pdfs)
