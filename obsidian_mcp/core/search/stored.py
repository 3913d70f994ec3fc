"""A file as a search looks at it, from the rows of the index (specs/search.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.query import scopes
from obsidian_mcp.core.query.document import Kind
from obsidian_mcp.core.query.scopes import Structure
from obsidian_mcp.core.text.vault_path import VaultPath, is_note


class Stored:
    """A Subject. What is asked for is read at that moment, and once; `text` and `packed` may be known already."""

    __slots__ = ("_connection", "_packed", "_properties", "_structure", "_tags", "_text", "kind", "number", "path")

    def __init__(
        self,
        connection: Connection,
        number: int,
        path: VaultPath,
        text: str | None = None,
        packed: bytes | None = None,
    ) -> None:
        self._connection = connection
        self.number = number
        self.path: str = path
        self.kind: Kind = "note" if is_note(path) else "canvas"
        self._text = text
        self._packed = packed
        self._structure: Structure | None = None
        self._tags: Iterable[str] | None = None
        self._properties: Mapping[str, object] | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            found = self._connection.execute("SELECT text FROM texts WHERE file = ?", (self.number,)).fetchone()
            self._text = found[0] if found else ""
        return self._text

    @property
    def packed(self) -> bytes:
        """The structure as `scopes.pack` gives it; empty where it is not stored."""
        if self._packed is None:
            sql = "SELECT structure FROM texts WHERE file = ? AND NOT odd & ?"
            found = self._connection.execute(sql, (self.number, search_document.TRUNCATED)).fetchone()
            self._packed = found[0] if found else b""
        return self._packed

    @property
    def structure(self) -> Structure:
        if self._structure is None:
            if self.packed:
                self._structure = scopes.unpack(self.packed, self.text)
            else:
                self._structure = scopes.structure_of(parser.parse(self.text))
        return self._structure

    @property
    def tags(self) -> Iterable[str]:
        if self._tags is None:
            sql = "SELECT tag FROM tags WHERE file = ? ORDER BY n"
            if self.kind == "canvas":  # its rows tell the tags of each card by itself
                self._tags = parser.parse(self.text).all_tags
            else:
                self._tags = [tag for (tag,) in self._connection.execute(sql, (self.number,))]
        return self._tags

    @property
    def properties(self) -> Mapping[str, object]:
        if self._properties is None:
            sql = "SELECT name, value FROM properties WHERE file = ? ORDER BY n"
            found = self._connection.execute(sql, (self.number,))
            self._properties = {name: json.loads(value) for name, value in found}
        return self._properties
