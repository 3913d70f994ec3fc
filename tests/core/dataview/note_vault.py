"""A vault of texts for Dataview queries, and the measured cases of `../shared/data/dataview`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.dataview.note_data import ListItemData, read_inline_fields, read_note_items
from obsidian_mcp.core.dataview.query import read_query, run_query
from obsidian_mcp.core.dataview.settings import DataviewSettings
from obsidian_mcp.core.dataview.vault_view import RawField, is_page
from obsidian_mcp.core.expressions.answer import Cell, Page, QueryAnswer
from obsidian_mcp.core.expressions.values import Value
from obsidian_mcp.core.note.query_blocks import remove_fence
from obsidian_mcp.errors import QueryInvalid
from tests.core.expressions.text_vault import TextVault

SHARED = Path(__file__).parents[4] / "shared" / "data"
FOLDER = SHARED / "dataview"
NOW = datetime.fromisoformat("2024-02-15T12:00")
needs_cases = pytest.mark.skipif(not FOLDER.exists(), reason="../shared/data/dataview is not here")


class NoteVault(TextVault):
    """The texts of a vault as Dataview sees them."""

    def __init__(self, texts: Mapping[str, str], bookmarks: frozenset[str] = frozenset()) -> None:
        super().__init__(texts)
        self._bookmarks = bookmarks
        self._fields: dict[str, Sequence[RawField]] = {}

    def expect(self, paths: Sequence[str]) -> None:
        """Everything is read already."""

    def page_paths(self, folder: str = "") -> Sequence[str]:
        return [path for path in self.texts if is_page(path) and (not folder or path.startswith(f"{folder}/"))]

    def tagged_paths(self, tag: str, property_has: Callable[[Value], bool]) -> Sequence[str]:
        below = f"{tag.lower()}/"

        def is_tagged(path: str) -> bool:
            return any(f"#{own.lower()}/".startswith(below) for own in self.text_tags(path)) or any(
                property_has(field.value)
                for key in ("tags", "tag")
                for _, field in self.fields_of_key(path, key)
                if not field.inline
            )

        return [path for path in self.page_paths() if is_tagged(path)]

    def field_keys(self) -> set[str]:
        return {field.key.lower() for path in self.texts for field in self.fields(path)}

    def fields(self, path: str) -> Sequence[RawField]:
        if path not in self._fields:
            found = [RawField(key, value, inline=False) for key, value in self.properties(path).items()]
            found += [RawField(field.key, field.value, inline=True) for field in read_inline_fields(self.note(path))]
            self._fields[path] = found
        return self._fields[path]

    def fields_of_key(self, path: str, key: str) -> Sequence[tuple[int, RawField]]:
        return [(place, field) for place, field in enumerate(self.fields(path)) if field.key.lower() == key]

    def field_column(self, key: str) -> tuple[()]:  # noqa: ARG002 - every field is looked up by itself
        return ()

    def list_items(self, path: str) -> Sequence[ListItemData]:
        return read_note_items(self.note(path))

    def text_tags(self, path: str) -> Sequence[str]:
        return [tag.name for tag in self.note(path).tags]

    def bookmarked_paths(self) -> frozenset[str]:
        return self._bookmarks

    def text(self, path: str) -> str | None:
        return self.texts.get(path)

    def run(self, query: str, **options: Any) -> QueryAnswer:
        settings, now = options.pop("settings", DataviewSettings()), options.pop("now", NOW)
        page = options.pop("page", Page())
        return run_query(
            read_query(remove_fence(query)[1], now, settings), self, now=now, settings=settings, page=page, **options
        )

    def check(self, query: str) -> None:
        """Assert that a query has an answer of consistent shape or an error with a place and a sentence."""
        answer: QueryAnswer | QueryInvalid
        try:
            answer = self.run(query)
        except QueryInvalid as error:
            answer = error
        if isinstance(answer, QueryInvalid):
            assert answer.message.strip()
            assert all(answer.data[place] >= 1 for place in ("line", "column") if place in answer.data)
            return
        assert {len(row) for row in answer.rows} <= {len(answer.columns)}
        assert len(answer.rows) <= answer.total
        assert answer.paths is None or len(answer.paths) == len(answer.rows)
        assert answer.kind in ("table", "list", "task", "calendar")
        json.dumps(answer.data(), allow_nan=False)

    def rows(self, query: str, **options: Any) -> list[list[Cell]]:
        return self.run(query, **options).rows

    def value(self, expression: str, this: str = "note.md") -> Cell:
        """The cell of an expression over the row of the note `this`."""
        return self.rows(f'LIST WITHOUT ID {expression} WHERE file.path = "{this}"', this=this)[0][0]


def cases(file: str) -> dict[str, Any]:
    """A file of measured cases; empty where they are not here."""
    path = FOLDER / file
    return json.loads(path.read_text("utf-8")) if path.exists() else {}
