"""What Dataview asks of a vault: a port for the index and for the texts of tests (DV-13)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from obsidian_mcp.core.dataview.note_data import ListItemData
from obsidian_mcp.core.expressions.values import Value
from obsidian_mcp.core.expressions.vault_view import VaultView


class RawField(NamedTuple):
    """A field as it stands in a note."""

    key: str
    value: Value
    """Of a property the value of its YAML, of an inline field its text."""
    inline: bool


class DataviewVault(VaultView, Protocol):
    """What Dataview asks of a vault beyond the shared view."""

    def expect(self, paths: Sequence[str]) -> None:
        """Say which notes the query is going to read, so that nothing is read of others."""

    def page_paths(self, folder: str = "") -> Sequence[str]:
        """Return the paths of the notes below a folder, or of all, in order.

        Those are among them that the app excludes from its search.
        """

    def tagged_paths(self, tag: str, property_has: Callable[[Value], bool]) -> Sequence[str]:
        """Return the notes that have a tag, or one nested below it, by path.

        It is in their text, or in a property with the key `tags` or `tag` of whose value
        `property_has` says so. `tag` begins with `#`.
        """

    def field_keys(self) -> Collection[str]:
        """Return the keys of all properties and inline fields of the vault, in lower case."""

    def fields(self, path: str) -> Sequence[RawField]:
        """Return all fields of a note: properties, those of list items, those of other lines."""

    def fields_of_key(self, path: str, key: str) -> Sequence[tuple[int, RawField]]:
        """Return the fields of a note whose key in lower case is `key`.

        Each comes with a number that orders all fields of the note.
        """

    def field_column(self, key: str) -> Iterable[tuple[RawField, Sequence[str]]]:
        """Return every different field with this key, and the notes of which it is the only one.

        Notes may be left out: none are there where the query reads few notes.
        """

    def list_items(self, path: str) -> Sequence[ListItemData]:
        """Return the list items of a note."""

    def text_tags(self, path: str) -> Sequence[str]:
        """Return the tags of the text alone, in its order, without `#`, repeated as written."""

    def bookmarked_paths(self) -> frozenset[str]:
        """Return the paths of the files among the bookmarks, in groups too."""

    def text(self, path: str) -> str | None:
        """Return the text of a file that is no note, such as a CSV.

        None where it cannot be read as text.
        """


TAG_KEYS = ("tags", "tag")
"""Keys of properties that hold tags."""


def is_page(path: str) -> bool:
    """Return whether a file is a page, also one that the app excludes from its search (DV-13)."""
    return path.endswith((".md", ".markdown"))
