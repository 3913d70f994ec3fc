"""Daily to yearly notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.calendar.periods import ADJECTIVES
from obsidian_mcp.core.note.edits import Position, insert_text
from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes
from obsidian_mcp.core.text.text import hidden_text_warnings, to_printable
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, VaultName
from .outcome import DocumentAnswer
from .paging import PAGE
from .property_warnings import property_faults
from .registry import tool


@dataclass(frozen=True, slots=True)
class PeriodicNote:
    path: str
    date: str
    """First day of the period."""
    created: bool
    changed: bool
    etag: str
    cursor: str | None = None
    """Line and column at which the template wants the cursor, 1-based."""
    next_offset: int | None = None
    """Where obsidian_read_note goes on when the text is longer than a page."""
    warnings: list[str] | None = None


@tool(title="Daily note", writes=True)
def daily_note(
    app: App,
    date: Annotated[
        str, Argument(description="today, 2026-11-20, last monday, 2026-W47, Q4 …")
    ] = "",
    period: Annotated[
        Literal["daily", "weekly", "monthly", "quarterly", "yearly"],
        Argument(description="Kind of note"),
    ] = "daily",
    content: Annotated[str, Argument(description="Markdown to add")] = "",
    position: Annotated[Position, Argument(description="section: at its end")] = "append",
    section: Annotated[str, Argument(description="Heading, Parent#Child or ^block")] = "",
    create: Annotated[bool, Argument(description="Also without content")] = False,
    vault: VaultName = "",
) -> PeriodicNote | DocumentAnswer:
    """Read the daily (weekly … yearly) note of a date, or add content to it, made if
    missing."""
    if position == "section" and not section:
        raise InvalidArguments(
            "position section needs `section`: the heading to add under.", argument="section"
        )
    if section and not content:
        message = "`section` needs `content`: what to add under it."
        raise InvalidArguments(message, argument="content")

    def change(body: str) -> str:
        return insert_text(body, content, position, section)

    opened = app.vaults.get(vault)
    note = PeriodicNotes(opened).open(
        "daily_note",
        ADJECTIVES[period],
        date or "today",
        change if content else None,
        create=create or bool(content),
    )
    text = to_printable(note.content.text.body)
    entry = note.content.entry
    hidden = [] if content else hidden_text_warnings(text, entry.path, app.hidden_text_reads.add)
    first, etag = note.located.first.isoformat(), note.content.etag
    cursor = None if note.cursor is None else f"{note.cursor[0]}:{note.cursor[1]}"
    following = PAGE if not content and len(text) > PAGE else None
    faults = [] if content else property_faults(note.content.text.body)
    warnings = [*note.located.warnings, *note.warnings, *faults, *hidden] or None
    facts = PeriodicNote(
        entry.path, first, note.created, note.changed, etag, cursor, following, warnings
    )
    return facts if content or not text else DocumentAnswer(facts, text[:PAGE])
