"""What a Dataview query sees of a vault, read from the index: only the fields that it asks for
(DV-13, EXPR-41)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial

from obsidian_mcp.core.dataview.note_data import ItemLink, LineLink, ListItemData, read_items
from obsidian_mcp.core.dataview.vault_view import TAG_KEYS, RawField, is_page
from obsidian_mcp.core.expressions.values import Value
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.rows import ListSource
from obsidian_mcp.core.note.links import show_target
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.vault_path import VaultPath

from .indexed_vault import WHOLE_PART, IndexedVault, Moment
from .read_ahead import FileOrder, IndexColumn

SCOPE = 2000
"""Up to this many notes, a query reads the fields of these notes alone. If it reads more, and most
of the vault, a field is read for all notes at once."""
SINGLE_KEYS = 32
"""Up to this many keys, a query reads the fields of one key after the other; for further keys, the
fields of all keys are read at once."""
_AFTER_PROPERTIES = 1_000_000
"""Added to the place of an inline field, so that it comes after every property of its note."""

_Placed = tuple[int, RawField]


class IndexedNotes(IndexedVault):
    """A `DataviewVault` of one moment of the index. Not shared between threads; good for one
    query."""

    def __init__(
        self,
        moment: Moment,
        created_ns: Callable[[FileEntry], int],
        read_text: Callable[[FileEntry], str | None],
        bookmarks: Callable[[], frozenset[str]],
    ) -> None:
        super().__init__(moment, created_ns)
        self._read_text = read_text
        self._reads_whole_fields = False
        self._bookmarks = cache(bookmarks)
        self._field_keys = cache(moment.rows.field_keys)
        self._keyed_columns: dict[str, IndexColumn[_Placed]] = {}
        self._keyed_fields = cache(self._group_by_key)
        self._known_fields: dict[tuple[str, str], RawField] = {}

    def expect(self, paths: Sequence[str]) -> None:
        self.order = FileOrder(paths)
        is_most = len(paths) * WHOLE_PART >= len(self._catalog)
        self._reads_whole_fields = len(paths) > SCOPE and is_most

    def page_paths(self, folder: str = "") -> Sequence[str]:
        paths: Iterable[str]
        if folder:  # not of all files of a large vault
            below = self._rows.file_paths.read_below(folder)
            self._catalog.read_ahead(below)
            paths = [path for path in below if path in self._catalog]
        else:
            paths = self._catalog.entries_by_path()
        return sorted(path for path in paths if is_page(path) and path not in self._unindexed)

    def tagged_paths(self, tag: str, property_has: Callable[[Value], bool]) -> Sequence[str]:
        sets, numbers = self._rows.file_sets, set[int]()
        numbers |= sets.find_tagged(tags.key(tag), in_text=True)
        for key in TAG_KEYS:
            texts = []
            for text, value in sets.read_values("properties", key):
                if property_has(value):
                    texts.append(text)
            numbers |= sets.with_values("properties", key, texts)
        return sorted(
            path
            for path in self._read_paths(numbers)
            if is_page(path) and path not in self._unindexed
        )

    def field_keys(self) -> Collection[str]:
        return self._field_keys()

    def fields(self, path: str) -> Sequence[RawField]:
        return [field for _, field in self._all_fields.cells(path, self.order)]

    def fields_of_key(self, path: str, key: str) -> Sequence[_Placed]:
        columns = self._keyed_columns
        if key not in columns:
            if len(columns) >= SINGLE_KEYS:
                return self._keyed_fields(path).get(key, ())
            columns[key] = self.column_of(partial(self._read_fields, key))
        return columns[key].cells(path, self.order)

    def _group_by_key(self, path: str) -> Mapping[str, Sequence[_Placed]]:
        by_key: dict[str, list[_Placed]] = {}
        for placed in self._all_fields.cells(path, self.order):
            by_key.setdefault(placed[1].key.lower(), []).append(placed)
        return by_key

    def field_column(self, key: str) -> Iterator[tuple[RawField, list[str]]]:
        if not self._reads_whole_fields:
            return
        groups = [
            (RawField(key, json.loads(text), inline=False), numbers)
            for text, numbers in self._rows.grouped_properties(key)
        ]
        groups += [
            (RawField(key, text, inline=True), [number])
            for number, _, name, text in self._rows.column(
                "inline_fields", "name, text", key.lower()
            )
            if name == key
        ]
        paths, numbers = self.paths, [number for _, some in groups for number in some]
        if len(set(numbers)) < len(numbers):
            counted = Counter(numbers)
            paths = {number: path for number, path in paths.items() if counted[number] < 2}
        for field, numbers in groups:
            yield field, [paths[number] for number in numbers if number in paths]

    def list_items(self, path: str) -> Sequence[ListItemData]:
        source = self._rows.list_source(VaultPath(path))
        return read_stored_items(source) if source is not None else ()

    def text_tags(self, path: str) -> Sequence[str]:
        return self._text_tags.cells(path, self.order)

    def bookmarked_paths(self) -> frozenset[str]:
        return self._bookmarks()

    def text(self, path: str) -> str | None:
        entry = self._catalog.get(path)
        return None if entry is None else self._read_text(entry)

    @cached_property
    def _text_tags(self) -> IndexColumn[str]:
        def read_tags(files: Collection[int]) -> Iterator[tuple[int, str]]:
            return (
                (file, tag)
                for file, _, tag in self._rows.column("tags", "tag", files=files, where="at = ''")
            )

        return self.column_of(read_tags)

    @cached_property
    def _all_fields(self) -> IndexColumn[_Placed]:
        return self.column_of(partial(self._read_fields, None))

    def _read_fields(
        self, key: str | None, files: Collection[int]
    ) -> Iterator[tuple[int, _Placed]]:
        """Yield file number and field of some files; the properties of a file come first.

        Equal properties of several notes are one object: most values stand in many notes.
        """
        known_fields = self._known_fields
        for number, place, name, text in self._rows.column("properties", "name, value", key, files):
            if (name, text) not in known_fields:
                known_fields[name, text] = RawField(name, json.loads(text), inline=False)
            yield number, (place, known_fields[name, text])
        for number, place, name, text in self._rows.column(
            "inline_fields", "name, text", key, files
        ):
            yield number, (_AFTER_PROPERTIES + place, RawField(name, text, inline=True))


def read_stored_items(source: ListSource) -> tuple[ListItemData, ...]:
    """Return the list items of a note as Dataview has them, from what the index has of it."""
    links = [
        LineLink(line, ItemLink(target, show_target(target) if text is None else text, bool(embed)))
        for line, target, text, embed in source.links
    ]
    headings = [(heading.start, heading.text) for heading in source.headings]
    return read_items(source.text, source.places, headings, links)
