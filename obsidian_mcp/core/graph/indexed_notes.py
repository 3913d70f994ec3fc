"""What a Dataview query sees of a vault, read from the index: only the fields that it asks for (DV-13, EXPR-41)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from operator import itemgetter

from obsidian_mcp.core.dataview.note_data import ListItemData, unpack_items
from obsidian_mcp.core.dataview.vault_view import RawField, is_page
from obsidian_mcp.core.expressions.vault_view import WrittenLink
from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.text.vault_path import VaultPath

from .indexed_vault import IndexedVault, Moment, by_path, written_link

SCOPE = 2000
"""Notes of a FROM up to which their rows alone are read; for more, whole columns are."""
_AFTER_PROPERTIES = 1_000_000
"""Added to the place of an inline field, so that it comes after every property of its note."""

_Placed = tuple[int, RawField]


class IndexedNotes(IndexedVault):
    """A `DataviewVault` of one moment of the index. Not shared between threads; good for one query."""

    def __init__(
        self,
        moment: Moment,
        created_ns: Callable[[FileEntry], int],
        read_text: Callable[[FileEntry], str | None],
        bookmarks: Callable[[], frozenset[str]],
    ) -> None:
        super().__init__(moment, created_ns)
        self._read_text = read_text
        self._bookmarks = cache(bookmarks)
        self._field_keys = cache(moment.rows.field_keys)
        self._columns_of_fields: dict[str, Mapping[str, list[_Placed]]] = {}
        self._fields_by_key: dict[str, Mapping[str, list[_Placed]]] = {}
        """By path, the fields of the notes that are read one by one."""
        self._scope: dict[int, VaultPath] = {}
        self._reads_columns = False

    def expect(self, paths: Sequence[str]) -> None:
        self._reads_columns = len(paths) > SCOPE
        self._fields_by_key.clear()
        if not self._reads_columns:
            numbers = self._rows.numbers_of([VaultPath(path) for path in paths])
            self._scope = {number: path for path, number in numbers.items()}
            for name in ("_fields_in_scope", "_tags_in_scope", "_links_in_scope"):
                self.__dict__.pop(name, None)

    def page_paths(self, folder: str = "") -> Sequence[str]:
        paths: Iterable[str] = self._catalog.by_path()
        if folder:
            below = f"{folder}/"
            paths = [path for path in paths if path.startswith(below)]
        return sorted(path for path in paths if is_page(path) and path not in self._unindexed)

    def field_keys(self) -> Collection[str]:
        return self._field_keys()

    def fields(self, path: str) -> Sequence[RawField]:
        return [field for _, field in self._fields_of(path)]

    def fields_of_key(self, path: str, key: str) -> Sequence[_Placed]:
        column = self._columns_of_fields.get(key)
        if column is None:
            if path in self._fields_in_scope or self._read_singly(path):
                return self._keyed_fields(path).get(key, ())
            properties, inline = self._rows.written_properties(key), self._rows.inline_fields(key)
            column = self._columns_of_fields[key] = self._placed(self._paths, properties, inline)
        return column.get(path, ())

    def _keyed_fields(self, path: str) -> Mapping[str, list[_Placed]]:
        """Return a note's fields by lower-case key, for queries that ask for each key of a large note."""
        known = self._fields_by_key.get(path)
        if known is None:
            found: dict[str, list[_Placed]] = {}
            for placed in self._fields_of(path):
                found.setdefault(placed[1].key.lower(), []).append(placed)
            known = self._fields_by_key[path] = found
        return known

    def field_column(self, key: str) -> Iterator[tuple[RawField, list[VaultPath]]]:
        if not self._reads_columns:
            return
        groups = [
            (RawField(key, json.loads(text), inline=False), numbers)
            for text, numbers in self._rows.grouped_properties(key)
        ]
        groups += [
            (RawField(key, text, inline=True), [number])
            for number, _, name, text in self._rows.inline_fields(key.lower())
            if name == key
        ]
        paths, numbers = self._paths, [number for _, some in groups for number in some]
        if len(set(numbers)) < len(numbers):
            counted = Counter(numbers)
            paths = {number: path for number, path in paths.items() if counted[number] < 2}
        for field, numbers in groups:
            yield field, [paths[number] for number in numbers if number in paths]

    def list_items(self, path: str) -> Sequence[ListItemData]:
        packed = self._rows.list_items(VaultPath(path))
        return unpack_items(packed) if packed else ()

    def text_tags(self, path: str) -> Sequence[str]:
        if path in self._tags_in_scope:
            return self._tags_in_scope[path]
        if self._read_singly(path):
            facts = self._facts_of(path)
            return [] if facts is None else [tag.tag for tag in facts.tags if not tag.at]
        return self._tags_of_texts.get(path, ())

    def links(self, path: str) -> Sequence[WrittenLink]:
        found = self._links_in_scope.get(path)
        return super().links(path) if found is None else found

    def bookmarked(self) -> frozenset[str]:
        return self._bookmarks()

    def text(self, path: str) -> str | None:
        entry = self._catalog.get(path)
        return None if entry is None else self._read_text(entry)

    @cached_property
    def _tags_of_texts(self) -> dict[str, list[str]]:
        return by_path(self._paths, self._rows.text_tags(), itemgetter(1))

    # The rows of the notes that the query reads

    def _fields_of(self, path: str) -> Sequence[_Placed]:
        found = self._fields_in_scope.get(path)
        if found is None:
            facts = self._facts_of(path)
            if facts is None:
                return []
            properties = ((0, place, fact.name, fact.value) for place, fact in enumerate(facts.properties))
            inline = ((0, place, field.name, field.text) for place, field in enumerate(facts.inline_fields))
            found = self._placed({0: VaultPath(path)}, properties, inline).get(path, [])
        return found

    @cached_property
    def _fields_in_scope(self) -> Mapping[str, list[_Placed]]:
        numbers = list(self._scope)
        empty: dict[str, list[_Placed]] = {path: [] for path in self._scope.values()}
        properties, inline = self._rows.properties_of(numbers), self._rows.inline_fields_of(numbers)
        return empty | self._placed(self._scope, properties, inline)

    @cached_property
    def _tags_in_scope(self) -> Mapping[str, list[str]]:
        empty: dict[str, list[str]] = {path: [] for path in self._scope.values()}
        return empty | by_path(self._scope, self._rows.text_tags(list(self._scope)), itemgetter(1))

    @cached_property
    def _links_in_scope(self) -> Mapping[str, list[WrittenLink]]:
        empty: dict[str, list[WrittenLink]] = {path: [] for path in self._scope.values()}
        rows = self._rows.written_links(list(self._scope))
        return empty | by_path(self._scope, rows, lambda row: written_link(*row[1:]))

    def _placed(
        self,
        paths: Mapping[int, VaultPath],
        properties: Iterable[tuple[int, int, str, str]],
        inline: Iterable[tuple[int, int, str, str]],
    ) -> dict[str, list[_Placed]]:
        """Fields by path, in order, from rows of file number, place, name and value."""
        found: dict[str, list[_Placed]] = {}
        known: dict[tuple[str, str], RawField] = {}
        for number, place, name, text in properties:
            if (path := paths.get(number)) is not None:
                field = known.get((name, text))
                if field is None:
                    field = known[name, text] = RawField(name, json.loads(text), inline=False)
                found.setdefault(path, []).append((place, field))
        for number, place, name, text in inline:
            if (path := paths.get(number)) is not None:
                placed = _AFTER_PROPERTIES + place, RawField(name, text, inline=True)
                found.setdefault(path, []).append(placed)
        return found
