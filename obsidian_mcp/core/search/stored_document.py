"""A document for a search, read from the rows of the index where they say it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial

from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.index.text_cache import PlainText
from obsidian_mcp.core.query.document import Document, DocumentKind, Structure
from obsidian_mcp.core.text.text import Span, Text
from obsidian_mcp.errors import AppError

from .bounds import flagged_files
from .snapshot import Snapshot

_field_mark = re.compile(r"[*_~`]*\s*::\s*").match


# Texts from the index


def whole_text(snapshot: Snapshot, number: int) -> str:
    """Return the text of a file of which the index has only the beginning, from the file; the
    beginning of one that is too large to be read at once (SEARCH-93)."""
    path = snapshot.table.paths[number]
    entry = snapshot.catalog.get(path)
    if entry is not None and entry.is_too_large:
        return snapshot.rows.text(path)
    try:
        text = Text.decode(snapshot.read(entry)).body if entry is not None else ""
    except AppError:  # gone or unreadable: its name can still match
        return ""
    from obsidian_mcp.core.index.extract import searched_text

    return searched_text(path, text)


class StoredDocument(Document):
    """A document from the rows of the index; what the query needs is read when it is needed."""

    def __init__(
        self, snapshot: Snapshot, number: int, text: str, plain: PlainText | None = None
    ) -> None:
        """`plain` is the text as it is stored; None where it was not read or is cut."""
        path = snapshot.table.paths[number]
        kind: DocumentKind = "canvas" if number in snapshot.table.canvases else "note"
        super().__init__(path if path.isascii() else normal_form(path), text, kind)
        self.number = number
        self._snapshot = snapshot
        self._plain = plain
        self._rows = partial(snapshot.rows.rows_of_file, number)

    @cached_property
    def structure(self) -> Structure:
        if self._plain is not None:
            numbers = self._plain.structure
        elif self.number in flagged_files(self._snapshot, search_document.TRUNCATED):
            return super().structure
        else:
            numbers = self._snapshot.rows.texts.read_structure(self.number)
        return Structure(numbers) if numbers else super().structure

    @cached_property
    def tags(self) -> Sequence[str]:
        if self.kind == "canvas":  # the table has the tags of each card by itself
            return super().tags
        return [tag for (tag,) in self._rows("tag", "tags")]

    @cached_property
    def text_tags(self) -> Sequence[tuple[str, Span]]:
        if self.kind == "canvas" or self.number in flagged_files(
            self._snapshot, search_document.TRUNCATED
        ):
            return super().text_tags
        return [
            (tag, Span(*span))
            for tag, at, *span in self._rows("tag, at, start, end", "tags")
            if not at
        ]

    @property
    def property_places(self) -> Iterator[tuple[str, object, Span]]:
        for name, value, *span in self._rows("name, value, start, end", "properties"):
            yield name, json.loads(value), Span(*span)
        if "inline_fields" in self._snapshot.signals.property_tables:
            at = 0  # the index keeps what fields are, and in which order, not where
            for name, value, written in self._rows("name, value, text", "inline_fields"):
                if span_of_field := _find_field(self.text, name, written, at) or _find_field(
                    self.text, name, written, 0
                ):
                    at = span_of_field.end
                    yield name, json.loads(value), span_of_field

    @cached_property
    def properties(self) -> Mapping[str, object]:
        values_by_name: dict[str, list[object]] = {}
        for table in self._snapshot.signals.property_tables:
            for name, value in self._rows("name, value", table):
                values_by_name.setdefault(name, []).append(json.loads(value))
        return {
            name: values[0] if len(values) == 1 else values
            for name, values in values_by_name.items()
        }


def _find_field(text: str, name: str, written: str, at: int) -> Span | None:
    """Return where an inline field is written in a text, from a place on."""
    while (start := text.find(name, at)) >= 0:
        mark = _field_mark(text, start + len(name))
        if mark and text.startswith(written, mark.end()):
            return Span(start, mark.end() + len(written))
        at = start + 1
    return None
