"""What a note holds and what is around it, in place of its text: views of obsidian_read_note.

They cost a model a hundredth of the text's tokens where the question is what a note is, not what it
says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.text import (
    Lines,
    Span,
)
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note
from obsidian_mcp.core.vault.vault import Vault

from .arguments import MOST_RESULTS
from .outcome import to_plain_json
from .paging import first_of, take_fitting_items
from .registry import TOOLS

if TYPE_CHECKING:
    from obsidian_mcp.core.note.parser import Note

T = TypeVar("T")
MOST_AROUND = 10
"""Entries of each kind in the view context."""
MENTIONS_COUNTED = 100
"""Mentions of the note that the view context counts: more take longer than they say."""
TASK_CHARACTERS = 200
"""Of one task in the view context."""


@dataclass(frozen=True, slots=True)
class OutlineHeading:
    level: int
    heading: str
    line: int


@dataclass(frozen=True, slots=True)
class ReadNote:
    path: str
    size: int
    modified: str
    etag: str
    lines: str | None = None
    """First and last line of the text that follows, 1-based."""
    total_lines: int | None = None
    next_offset: int | None = None
    """Where to go on when the text is longer than a page."""
    alias: str | None = None
    """The alias that the note was found by."""
    outline: list[OutlineHeading] | None = None
    properties: dict[str, Any] | None = None
    tags: list[str] | None = None
    aliases: list[str] | None = None
    blocks: list[str] | None = None
    """Block ids that links can name."""
    tasks: dict[str, int] | None = None
    """How many are open and done."""
    words: int | None = None
    """As the app counts them, without the properties."""
    characters: int | None = None
    warnings: list[str] | None = None


def view_structure(
    facts: partial[ReadNote], path: VaultPath, body: str, view: str, warnings: list[str]
) -> ReadNote:
    """Return a note's structure, or that of all text cards of a canvas (TAG-11).

    `facts` makes the answer from what the view has; `warnings` gets what is left out.
    """
    from obsidian_mcp.core.note.counts import count

    numbers = Lines(body)
    texts, problem = _texts_of(path, body)
    warnings += [problem] if problem else []
    is_canvas = extension(path) == vault_path.CANVAS_EXTENSION
    properties = {} if is_canvas else texts[0][0].properties
    aliases = [] if is_canvas else texts[0][0].aliases

    def take(part: str, items: Sequence[T]) -> list[T]:
        first = take_fitting_items(
            first_of(items, MOST_AROUND if view == "context" else MOST_RESULTS)[0], least=1
        )
        if len(first) < len(items):
            warnings.append(
                f"These are the first {len(first)} of {len(items)} {part}. Read the text, by "
                "lines, for the others."
            )
        return first

    headings = [
        OutlineHeading(heading.level, heading.text, numbers.line(place(heading.span).start) + 1)
        for text, place in texts
        for heading in text.outline
    ]
    if view == "outline":
        return facts(outline=take("headings", headings), warnings=warnings or None)
    properties = dict(take("properties", list(properties.items())))
    if view == "properties":
        return facts(properties=properties, warnings=warnings or None)
    counted = count(body) if is_note(path) else None
    marks = [task.mark for text, _ in texts for task in text.tasks]
    return facts(
        outline=take("headings", headings),
        properties=properties,
        tags=take("tags", list(dict.fromkeys(tag for text, _ in texts for tag in text.all_tags))),
        aliases=take("aliases", aliases),
        blocks=take("block ids", [f"^{block.id}" for text, _ in texts for block in text.block_ids]),
        tasks={"open": marks.count(" "), "done": len(marks) - marks.count(" ")},
        words=counted.words if counted else None,
        characters=counted.characters if counted else None,
        warnings=warnings or None,
    )


def _texts_of(
    path: VaultPath, body: str
) -> tuple[list[tuple[Note, Callable[[Span], Span]]], str | None]:
    """Return a note, or the text cards of a canvas, each with what gives the place in the file of
    a place in its text; and what is wrong with a canvas."""
    from obsidian_mcp.core.note import canvas, parser

    if extension(path) == vault_path.CANVAS_EXTENSION:
        board = canvas.read_canvas(body)
        cards = [card.text for card in board.cards if card.text is not None]
        return [(parser.parse(text.value), text.place) for text in cards], board.error
    return [(parser.parse(body), lambda span: span)], None


def view_context(app: App, vault: Vault, entry: FileEntry, structure: ReadNote) -> dict[str, Any]:
    """Return a note's structure and what a person sees around it: links, tasks, mentions, similar
    notes (TOOL-32)."""
    from obsidian_mcp.core.expressions.answer import Page
    from obsidian_mcp.core.operations import mentions
    from obsidian_mcp.core.operations.tasks import find_tasks
    from obsidian_mcp.core.tasks.listing import ListRequest

    def call_tool(name: str) -> dict[str, Any]:
        arguments = {"name": entry.path, "limit": MOST_AROUND, "vault": vault.name}
        return {
            key: value
            for key, value in TOOLS[name].call(app, arguments).data.items()
            if key != "next_offset"
        }

    links = call_tool("obsidian_get_links")
    names = mentions.names_of(vault, entry)
    naming = mentions.notes_with(vault, entry, names)
    unlinked = mentions.unlinked_mentions(vault, naming.notes, names)
    counted = sum(1 for _ in islice(unlinked, MENTIONS_COUNTED + 1))
    open_tasks = find_tasks(
        vault, ListRequest("todo", path=entry.path), "", Page(MOST_AROUND)
    ).tasks
    found_around = {
        **to_plain_json(structure),
        "outdated": vault.search.describe_outdated([entry.path]).get(entry.path),
        "open_tasks": [
            {"line": task.line, "text": task.text[:TASK_CHARACTERS]} for task in open_tasks
        ],
        **links,
        "unlinked_mentions": min(counted, MENTIONS_COUNTED),
        "more_unlinked_mentions": True if counted > MENTIONS_COUNTED or naming.more else None,
        "similar": call_tool("obsidian_similar")["similar"] if is_note(entry.path) else [],
    }
    return {name: value for name, value in found_around.items() if value not in ([], {}, None)}
