"""Notes and canvases that the index does not tell of as they are now, read for one search (specs/search.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from collections.abc import Set as AbstractSet

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.index import extract, search_document
from obsidian_mcp.core.index.search_document import Content
from obsidian_mcp.core.note import canvas
from obsidian_mcp.core.query.document import Document, Kind
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import VaultPath, is_note
from obsidian_mcp.errors import AppError

Read = Callable[[FileEntry], str]
"""Gives what `searched` makes of a file. Raises: AppError."""


class Unindexed:
    """Their numbers are negative."""

    def __init__(self, entries: Collection[FileEntry], read: Read) -> None:
        self.entries = dict(zip(range(-1, -1 - len(entries), -1), entries, strict=True))
        self._read = read
        self._contents: dict[int, Content] = {}

    def paths(self, files: AbstractSet[int]) -> Iterator[tuple[int, VaultPath]]:
        entries = self.entries
        return ((number, entries[number].path) for number in files)

    def row(self, number: int) -> Document:
        path = self.entries[number].path
        return Document(path, self._text(number), kind_of(path))

    def rows(self, files: AbstractSet[int]) -> Iterator[tuple[int, Document]]:
        return ((number, self.row(number)) for number in files)

    def texts(self, files: AbstractSet[int]) -> Iterator[tuple[int, str]]:
        return ((number, self._text(number)) for number in files)

    def contents(self, number: int) -> Content:
        """What the index would hold. Takes 0.6 ms for a usual note the first time."""
        known = self._contents.get(number)
        if known is None:
            known = self._contents[number] = self._parsed(number)
        return known

    def _parsed(self, number: int) -> Content:
        entry = self.entries[number]
        text = self._text(number)
        if not is_note(entry.path):
            return search_document.of(entry.path, text)
        return extract.of(entry.path, text.encode("utf-8", "surrogateescape"), entry.size).content

    def _text(self, number: int) -> str:
        try:
            return self._read(self.entries[number])
        except AppError:  # gone or unreadable: its name can still match
            return ""


def searched(path: str, data: bytes) -> str:
    """What a search looks at in the bytes of a note or canvas."""
    text = Text.decode(data).body
    return text if is_note(path) else extract.cards_text(canvas.read(text))


def kind_of(path: str) -> Kind:
    return "note" if is_note(path) else "canvas" if extract.indexable(path) else "other"
