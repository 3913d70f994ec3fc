"""What a search can read of one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from obsidian_mcp.core.text.text import Span

from .scopes import Structure, structure_of

if TYPE_CHECKING:
    from obsidian_mcp.core.note.parser import Note

Kind = Literal["note", "canvas", "other"]


@dataclass(eq=False)
class Document:
    """One file, parsed from its text. A matcher reads only the attributes that the query needs, the text last."""

    path: str
    """From the root of the vault, NFC."""
    text: str
    """The body with its frontmatter; of a canvas the text of its cards. Spans count its code points."""
    kind: Kind = "note"
    """An `other` file has only a path: its text is never read."""

    @cached_property
    def note(self) -> Note:
        from obsidian_mcp.core.note.parser import parse  # the index has what most searches need

        return parse(self.text)

    @cached_property
    def structure(self) -> Structure:
        """The parts of `text`."""
        return structure_of(self.note)

    @cached_property
    def tags(self) -> Sequence[str]:
        """All tags of the text and of the properties, with or without a leading `#`."""
        return self.note.all_tags

    @cached_property
    def text_tags(self) -> Sequence[tuple[str, Span]]:
        """The tags of the text in their order, without `#`, and where they are."""
        return [(tag.name, tag.span) for tag in self.note.tags]

    @cached_property
    def properties(self) -> Mapping[str, object]:
        """The frontmatter as parsed: text, numbers, booleans, None, lists and mappings of these."""
        return self.note.properties if self.kind == "note" else {}

    @property
    def property_places(self) -> Iterable[tuple[str, object, Span]]:
        """Name, value and place of the properties in the text, in their order."""
        spans = self.note.frontmatter.spans if self.note.frontmatter else {}
        return [(name, value, spans[name]) for name, value in self.properties.items()]
