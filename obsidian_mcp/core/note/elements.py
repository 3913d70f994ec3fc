"""The elements of a note: one record per kind, with the span of its source (specs/note.md).

Spans are code points of the body. Equality ignores them. Nothing changes a record; it is not
frozen because a vault has millions of them, and a frozen one takes four times as long to make.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

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


@dataclass(slots=True)
class Section:
    """A top-level block. `id` is its block id as written, without the caret."""

    kind: SectionKind
    id: str | None
    span: Span = field(compare=False)


@dataclass(slots=True)
class Heading:
    """A heading.

    `text` is the raw source without marks; a `nested` heading is in a quote, list or footnote.
    """

    level: int
    text: str
    nested: bool
    line: int
    span: Span = field(compare=False)


@dataclass(slots=True)
class ListItem:
    """A list item, a task if `mark` is set.

    `span` ends where the first child item begins; `content` is the item's text after marker and
    box. `parent` is the line of the parent item; at the root it is minus the line of the list's
    first item, -1 for line 0.
    """

    line: int
    parent: int
    marker: str
    """`-`, `*`, `+`, or a number with `.` or `)`."""
    mark: str | None
    """The one character between the brackets of a task: a space means open."""
    id: str | None
    span: Span = field(compare=False)
    content: Span = field(compare=False)


@dataclass(slots=True)
class Area:
    """An area with its own rules: code, math, HTML or a `%%` comment, as a block or within a
    line."""

    kind: AreaKind
    block: bool
    info: str
    """The words after an opening code fence, else empty."""
    span: Span = field(compare=False)


@dataclass(slots=True)
class NamedPart:
    """A part with an id as it is written.

    It is a block, the definition of a footnote, or a reference `[^id]` to one.
    """

    id: str
    span: Span = field(compare=False)


@dataclass(slots=True)
class TextTag:
    """A tag in the text; `name` has no `#`."""

    name: str
    span: Span = field(compare=False)


class Region(NamedTuple):
    """Text in which links and tags count.

    It is the text from `start` to `end`, or `parts` of it, without the marks of a quote.
    """

    start: int
    end: int
    parts: tuple[Span, ...] = ()
    cell: bool = False
    """Whether it is a table cell, where `\\|` stands for `|`."""


class TableLines(NamedTuple):
    """The lines of a table, also of one in a quote, a list item or a footnote.

    `first` is the line of its header; `starts` are the offsets at which the rows begin, behind
    the marks and indents of what the table is in.
    """

    first: int
    starts: tuple[int, ...]


@dataclass(slots=True)
class Blocks:
    """All block elements of a note, in document order; only areas and regions are unordered."""

    sections: list[Section] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    list_items: list[ListItem] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    footnotes: list[NamedPart] = field(default_factory=list)
    block_ids: list[NamedPart] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    tables: list[TableLines] = field(default_factory=list)
