"""What Dataview asks of a vault: a port for the index and for the texts of tests (specs/dataview.md, DV-13)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from obsidian_mcp.core.dataview.note_data import ListItemData
from obsidian_mcp.core.expressions.values import Value
from obsidian_mcp.core.expressions.vault_view import VaultView


class RawField(NamedTuple):
    """A field as it stands in a note: a property with the value of its YAML, or the text of an inline field."""

    key: str
    value: Value
    inline: bool


class DataviewVault(VaultView, Protocol):
    """What Dataview asks of a vault beyond the shared view."""

    def expect(self, paths: Sequence[str]) -> None:
        """Say which notes the query is going to read, so that nothing is read of others."""

    def page_paths(self, folder: str = "") -> Sequence[str]:
        """The paths of the notes below a folder, or all, in order; also of those that the app excludes."""

    def field_keys(self) -> Collection[str]:
        """The keys of all properties and inline fields of the vault, in lower case."""

    def fields(self, path: str) -> Sequence[RawField]:
        """All fields of a note: its properties, those of its list items, those of its other lines."""

    def fields_of_key(self, path: str, key: str) -> Sequence[tuple[int, RawField]]:
        """The fields of a note whose key in lower case is `key`, with numbers that order all fields of the note."""

    def field_column(self, key: str) -> Iterable[tuple[RawField, Sequence[str]]]:
        """Every different field with this key, and notes of which it is the only one; none where few notes are read."""

    def list_items(self, path: str) -> Sequence[ListItemData]:
        """The list items of a note."""

    def text_tags(self, path: str) -> Sequence[str]:
        """Tags of the text alone, in its order, without `#`, repeated as written."""

    def bookmarked(self) -> frozenset[str]:
        """Paths of the files among the bookmarks, in groups too."""

    def text(self, path: str) -> str | None:
        """The text of a file that is no note, such as a CSV; None where it cannot be read as text."""
