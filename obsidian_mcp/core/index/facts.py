"""The rows that are stored of a file (specs/index.md).

They are named tuples, because a vault has millions of them, and SQLite and pickle take them as they
are. Headings and list items lie beside the text (stored_note.py), the others in tables. What is not
UTF-8 in the file is U+FFFD here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from obsidian_mcp.core.note.item_place import ItemPlace

from .search_document import SearchContent

VERSION = "11"
"""Raise it whenever the same file gives other facts than before: then every index is built anew."""

BODY_LIMIT = 4 * 1024 * 1024
"""Bytes of a file that are parsed. Links, tags and tasks after them are unknown, and the file has a
warning."""

PARSE_SECONDS = 60.0
"""Limit of the parser for one file, whoever waits for it: 4 MB of the slowest notes known take 10
s."""

UNPARSED = "The file could not be parsed: only its name is known. Please report this."
UNSTORABLE = "The file could not be indexed: only its name is known. Please report this."
TOO_SLOW = f"The file took longer than {PARSE_SECONDS:.0f} s to be parsed: only its name is known."
UNINDEXED = frozenset((UNPARSED, UNSTORABLE, TOO_SLOW))
"""Warnings of files that can be read, and are not known by their contents all the same."""

LINKS_LIMIT = 50_000
"""Links stored of one file; the others are left out with a warning."""

LinkKind = Literal["link", "embed", "property", "card"]
"""In the text, embedded in the text, a property's whole value, or the file of a canvas card."""


class LinkFact(NamedTuple):
    """One link as it is written; it is not resolved."""

    key: str
    """`link_key` of the path, which it shares with every file that it may lead to."""
    kind: LinkKind
    path: str
    """Decoded, without subpath; empty for `[[#heading]]`."""
    subpath: str
    """Begins with `#`, or is empty."""
    display: str | None
    original: str
    at: str
    """Empty in a note's text, else the property (`related.0`) or the card (`nodes.<id>`) that holds
    it."""
    line: int | None
    """0-based, in a card the line of its text; None where the link has no position."""
    start: int | None
    """Code points of the body, in a card of its text."""


class TagFact(NamedTuple):
    """One occurrence of a tag, in the order of the app's `getAllTags`."""

    key: str
    """Lower case, without `#`."""
    tag: str
    """As written, without `#`."""
    at: str
    """As in `LinkFact`; `tags` in the properties."""
    line: int | None
    start: int | None = None
    end: int | None = None
    """As in `LinkFact`: of the tag with its `#`."""


class PropertyFact(NamedTuple):
    """One property of a note."""

    key: str
    """Lower case."""
    name: str
    type: str
    """Inferred from the value, without `types.json`."""
    value: str
    """JSON."""
    start: int | None = None
    end: int | None = None
    """Code points of the body, from the name to the end of the value."""


class AliasFact(NamedTuple):
    """One alias of a note."""

    key: str
    """`name_key` of the alias."""
    alias: str


class HeadingFact(NamedTuple):
    """One heading of a note, card of a canvas, or page of a PDF."""

    level: int
    """1 to 6; 0 for the beginning of a canvas card, whose id is the text, or of a page of a PDF,
    whose number it is."""
    text: str
    start: int


class TaskFact(NamedTuple):
    """A checkbox, with what a question about tasks narrows it down by (core/tasks).

    The line itself is read when a task is listed.
    """

    mark: str
    """The character between the brackets; a space means to do."""
    line: int
    text: str
    """The first line as it stands, without its line end."""
    multiline: bool
    """Whether the task goes on below its first line."""
    heading: str | None
    """Source of the nearest heading above, of those that make sections."""
    first_day: str
    last_day: str
    """The first and the last `YYYY-MM-DD` in the line by date; empty without one."""
    linked: bool
    """Whether the line may have an id, or depend on one."""


class InlineFieldFact(NamedTuple):
    """A field in the text of a note, for Dataview.

    Those of its list items that are no tasks come first, then those of its other lines.
    """

    key: str
    """Lower case."""
    name: str
    type: str
    value: str
    """As in `PropertyFact`, of what the text is: `5` is a number, a date and a link stay texts."""
    text: str
    """As written."""


@dataclass(slots=True)
class Facts:
    """Everything that is stored of one file."""

    links: tuple[LinkFact, ...] = ()
    tags: tuple[TagFact, ...] = ()
    properties: tuple[PropertyFact, ...] = ()
    aliases: tuple[AliasFact, ...] = ()
    headings: tuple[HeadingFact, ...] = ()
    tasks: tuple[TaskFact, ...] = ()
    inline_fields: tuple[InlineFieldFact, ...] = ()
    list_items: tuple[ItemPlace, ...] = ()
    """Where the list items are, for Dataview."""
    warnings: tuple[str, ...] = ()
    """One sentence for everything that could not be read."""
    content: SearchContent = field(default=SearchContent(), compare=False)
    """The searchable contents; empty when the facts come from rows."""
