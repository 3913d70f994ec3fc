"""What a search can read of one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from obsidian_mcp.core.text.text import Span

from .scopes import Structure, structure_of

if TYPE_CHECKING:
    from obsidian_mcp.core.note.parser import Note

Kind = Literal["note", "canvas", "other"]


class Subject(Protocol):
    """One file. A matcher reads the attributes in this order, and only those that the query needs."""

    @property
    def path(self) -> str:
        """From the root of the vault, NFC."""
        ...

    @property
    def kind(self) -> Kind:
        """An `other` file has only a path: its text is never read."""
        ...

    @property
    def tags(self) -> Iterable[str]:
        """All tags of the text and of the properties, with or without a leading `#`."""
        ...

    @property
    def properties(self) -> Mapping[str, object]:
        """The frontmatter as parsed: text, numbers, booleans, None, lists and mappings of these."""
        ...

    @property
    def text_tags(self) -> Sequence[tuple[str, Span]]:
        """The tags of the text in their order, without `#`, and where they are."""
        ...

    @property
    def property_places(self) -> Iterable[tuple[str, object, Span]]:
        """Name, value and place of the properties in the text, in their order."""
        ...

    @property
    def text(self) -> str:
        """The body with its frontmatter; of a canvas the text of its cards. Spans count its code points."""
        ...

    @property
    def structure(self) -> Structure:
        """The parts of `text`."""
        ...


@dataclass(eq=False)
class Document:
    """A Subject parsed from its text."""

    path: str
    text: str
    kind: Kind = "note"

    @cached_property
    def note(self) -> Note:
        from obsidian_mcp.core.note.parser import parse  # the index has what most searches need

        return parse(self.text)

    @cached_property
    def structure(self) -> Structure:
        return structure_of(self.note)

    @property
    def tags(self) -> list[str]:
        return self.note.all_tags

    @cached_property
    def text_tags(self) -> list[tuple[str, Span]]:
        return [(tag.name, tag.span) for tag in self.note.tags]

    @property
    def properties(self) -> Mapping[str, object]:
        return self.note.properties if self.kind == "note" else {}

    @property
    def property_places(self) -> list[tuple[str, object, Span]]:
        spans = self.note.frontmatter.spans if self.note.frontmatter else {}
        return [(name, value, spans[name]) for name, value in self.properties.items()]
