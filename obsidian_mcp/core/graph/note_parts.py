"""The headings, blocks and footnotes that the subpaths of links may name in one note (LINK-50)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

from obsidian_mcp.core.index.facts import HeadingFact
from obsidian_mcp.core.note import drawing, parser
from obsidian_mcp.core.note.headings import HeadingIndex, heading_key
from obsidian_mcp.core.note.subpath import resolve_subpath, segments
from obsidian_mcp.core.text.vault_path import VaultPath

MOST_NOTES: Final = 64
"""Notes whose parts are remembered while the links of a vault are checked."""


class NoteParts:
    """The parts of one note, read once for all links to it.

    A note may have tens of thousands of parts, and as many links to them.
    """

    def __init__(
        self, path: VaultPath, headings: tuple[HeadingFact, ...], read: Callable[[], str]
    ) -> None:
        """`headings` are those of the index; `read` returns the text, for blocks and footnotes."""
        self._path = path
        self._headings = headings
        self._read = read

    def has(self, subpath: str) -> bool:
        """Whether the note has what a subpath names; True for parts that only other programs
        know."""
        parts = segments(subpath)
        if not parts or self._index.chain(parts) is not None:
            return True
        if "^" not in parts[-1]:
            return drawing.is_drawing(self._path, "")
        return self._is_drawing or (
            bool(self._parsed.body) and resolve_subpath(self._parsed, subpath) is not None
        )

    @cached_property
    def _index(self) -> HeadingIndex:
        return HeadingIndex(
            (heading.level, heading_key(heading.text)) for heading in self._headings
        )

    @cached_property
    def _parsed(self) -> parser.Note:
        return parser.parse(self._read())

    @cached_property
    def _is_drawing(self) -> bool:
        return drawing.is_drawing(self._path, self._parsed.body)
