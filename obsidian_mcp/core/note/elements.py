"""What a note is made of: one frozen record per kind of thing, each with the span of its source (specs/note.md).

Spans are code points of the body; `span.of(body)` gives the source back. Equality ignores them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from obsidian_mcp.core.text.text import Span

SectionKind = Literal[
    "yaml",
    "heading",
    "paragraph",
    "list",
    "code",
    "callout",
    "blockquote",
    "html",
    "comment",
    "table",
    "math",
    "footnoteDefinition",
    "definition",
    "thematicBreak",
]
"""The app's names of top-level blocks (semantics 9)."""

AreaKind = Literal["code", "math", "html", "comment"]


@dataclass(frozen=True, slots=True)
class Section:
    """A top-level block. `id` is its block id as written, without the caret."""

    kind: SectionKind
    id: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. `text` is raw source without marks; `nested` ones stand in a quote, list or footnote."""

    level: int
    text: str
    nested: bool
    line: int
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list item, a task when `mark` is set.

    `span` runs to its first child item, `content` is the text in it after marker and task box. `parent` is the line of
    the parent item; for an item at the root of its list minus the line of the list's first item, -1 for line 0.
    """

    line: int
    parent: int
    marker: str
    """`-`, `*`, `+`, or a number with `.` or `)`."""
    mark: str | None
    """The one character between the brackets of a task: a space means to do."""
    id: str | None
    span: Span = field(compare=False)
    content: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Callout:
    """A quote that begins `[!kind]±  title`; `fold` is `+`, `-` or empty, `title` may be empty."""

    kind: str
    """As written; the app compares it in lower case."""
    fold: str
    title: str
    nested: bool
    span: Span = field(compare=False)

    @property
    def shown_title(self) -> str:
        """The title, or the kind with a capital first letter (semantics 9)."""
        return self.title or self.kind[:1].upper() + self.kind[1:].lower()


@dataclass(frozen=True, slots=True)
class Area:
    """A stretch with rules of its own: code, math, HTML or a `%%` comment, as a block or within a line."""

    kind: AreaKind
    block: bool
    info: str
    """The words after an opening code fence, else empty."""
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Footnote:
    """A definition `[^id]: …`."""

    id: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class FootnoteRef:
    """A reference `[^id]`."""

    id: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag in the text; `name` has no `#`."""

    name: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class BlockId:
    """A block that a link can reach: its id as written and the whole block."""

    id: str
    span: Span = field(compare=False)
