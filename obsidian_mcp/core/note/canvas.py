"""A canvas: its cards, with the place in the file of every text that may contain a link.

Reading keeps places instead of a tree to write back, so that an edit changes the characters it must
and no other. (semantics 10, JSON Canvas 1.0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.frontmatter.quoted import Quoted, read_json
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span

from .edits import Edit

if TYPE_CHECKING:
    from obsidian_mcp.core.text.json_text import JsonNode

FIELDS = ("text", "file", "subpath", "background")
"""Texts of a card that are kept with their places."""


@dataclass(frozen=True, slots=True)
class Card:
    """One node of a canvas. A text is None where the node has none, or where it is no string.

    `file` is a path of the vault, written in full, with `subpath` (`#Heading`, `#^id`) beside it;
    `text` is Markdown; `background` is the path of a group's picture.
    """

    id: str
    text: Quoted | None = None
    file: Quoted | None = None
    subpath: Quoted | None = None
    background: Quoted | None = None

    @property
    def key(self) -> str:
        """Return the index's name of the place of the card's links: `nodes.<id>`."""
        return f"nodes.{self.id}"


@dataclass(frozen=True, slots=True)
class Canvas:
    """The cards of a canvas, bottom first.

    A broken file has none, and `error` says in one sentence why.
    """

    cards: tuple[Card, ...] = ()
    error: str | None = None
    line: int | None = field(default=None, compare=False)
    """Line of the error, counted from 1."""


def parse_root(body: str, *lists: str) -> JsonNode | None:
    """Return the object of a canvas file, None for an empty file.

    Raises: Unreadable, also where one of the members `lists` is no list.
    """
    from obsidian_mcp.core.text.json_text import Unreadable, parse  # loaded here: notes do without

    if not body.strip():
        return None
    document = parse(body)
    if document.beyond is not None:
        construct, offset = document.beyond
        raise Unreadable(f"JSON has no place for {construct}", offset)
    if not isinstance(document.root.value, dict):
        raise Unreadable("it is no JSON object", document.root.start)
    for name in lists:
        member = document.root.member(name)
        if member is not None and not isinstance(member.node.value, list | None):
            raise Unreadable(f"its {name} are no list", member.start)
    return document.root


def read_canvas(body: str) -> Canvas:
    """Return the cards of a canvas file. An empty file is an empty canvas."""
    from obsidian_mcp.core.text.json_text import Unreadable  # loaded here: notes do without

    try:
        root = parse_root(body, "nodes", "edges")
    except Unreadable as error:
        line = error.line(body)
        return Canvas((), f"The canvas is not readable: line {line}: {error.problem}.", line)
    nodes = root.member("nodes") if root is not None else None
    ascii_only = body.isascii() and "\\u" in body
    items = nodes.node.items if nodes is not None else ()
    return Canvas(
        tuple(
            _card(body, node, ascii_only=ascii_only)
            for node in items
            if isinstance(node.value, dict)
        )
    )


def text_edits(body: str, find: Callable[[str], Iterable[Edit]]) -> Iterator[Edit]:
    """Yield the edits of a canvas for the edits that `find` returns for the text of each text
    card."""
    for text in (card.text for card in read_canvas(body).cards):
        if text is not None:
            yield from (
                Edit(text.place(edit.span), text.write_quoted(edit.text))
                for edit in find(text.value)
            )


def _card(body: str, node: JsonNode, *, ascii_only: bool) -> Card:
    checkpoint()
    members = ((key, node.member(key)) for key in FIELDS)
    texts = {
        key: read_json(body, Span(member.node.start, member.node.end), ascii_only=ascii_only)
        for key, member in members
        if member is not None and isinstance(member.node.value, str)
    }
    id_ = node.value.get("id")
    return Card(id_ if isinstance(id_, str) else "", **texts)
