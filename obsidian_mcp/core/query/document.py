"""One file as a search looks at it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from obsidian_mcp.core.note.parser import Note, parse

from .scopes import Structure, structure_of

Kind = Literal["note", "canvas", "other"]


class Subject(Protocol):
    """One file. Asked in this order, and only for what the query needs."""

    @property
    def path(self) -> str:
        """From the root of the vault, NFC."""
        ...

    @property
    def kind(self) -> Kind:
        """Of an `other` file there is only the path: its text is never asked for."""
        ...

    @property
    def tags(self) -> Iterable[str]:
        """All tags, of the text and of the properties; a leading `#` does not matter."""
        ...

    @property
    def properties(self) -> Mapping[str, object]:
        """The frontmatter as it was read: text, numbers, booleans, None, lists and mappings of these."""
        ...

    @property
    def text(self) -> str:
        """The body, frontmatter included; of a canvas the text of its cards. Spans count its code points."""
        ...

    @property
    def structure(self) -> Structure:
        """Of `text`."""
        ...


@dataclass(frozen=True)
class Document:
    """A Subject made of its text."""

    path: str
    text: str
    kind: Kind = "note"

    @cached_property
    def note(self) -> Note:
        return parse(self.text)

    @cached_property
    def structure(self) -> Structure:
        return structure_of(self.note)

    @property
    def tags(self) -> list[str]:
        return self.note.all_tags

    @property
    def properties(self) -> Mapping[str, object]:
        return self.note.properties if self.kind == "note" else {}
