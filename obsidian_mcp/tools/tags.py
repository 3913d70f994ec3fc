"""Tags of the vault."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import current_call

from .arguments import Argument, DryRun, Limit, Offset, VaultName, VaultNames
from .paging import ChangedFiles, changed_files, first_of, page_of
from .registry import tool

LINES_OF_A_NOTE = 5
"""Lines with the tag that a list of notes names."""


@dataclass(frozen=True, slots=True)
class ListedTag:
    tag: str
    count: int
    """Occurrences, those of nested tags included."""
    notes: int


@dataclass(frozen=True, slots=True)
class TaggedNote:
    path: str
    tags: list[str] | None = None
    """Where they are not just the one that was asked for."""
    lines: list[int] | None = None
    more_lines: int | None = None


@dataclass(frozen=True, slots=True)
class Tags:
    total: int
    tags: list[ListedTag] | None = None
    notes: list[TaggedNote] | None = None
    next_offset: int | None = None
    incomplete: str | None = None
    """Says while the index is being built that the answer is not complete."""


@tool(title="Tags")
def tags(
    app: App,
    tag: Annotated[str, Argument(description="Notes with it or one below")] = "",
    limit: Limit = 100,
    offset: Offset = 0,
    vault: VaultNames = "",
) -> Tags:
    """List tags with counts, or the notes and cards that have a tag."""
    opened = app.vaults.get(vault, listed=False)
    if tag:
        occurrences = opened.graph.files_with_tag(tag)
        page, following = page_of(occurrences.value, offset, limit, attrgetter("path"))
        notes, wants_all = [], current_call.get().wants_all
        for file in page:
            names = list(dict.fromkeys(f"#{fact.tag.removeprefix('#')}" for fact in file.tags))
            numbers = sorted({fact.line + 1 for fact in file.tags if fact.line is not None})
            lines, more_lines = first_of(numbers, LINES_OF_A_NOTE)
            is_plain = names == [f"#{tag.removeprefix('#')}"] and not wants_all
            notes.append(
                TaggedNote(file.path, None if is_plain else names, lines or None, more_lines)
            )
        return Tags(
            len(occurrences.value),
            notes=notes,
            next_offset=following,
            incomplete=occurrences.notice,
        )
    used = opened.graph.tags()
    order = sorted(used.value, key=lambda use: (-use.occurrences, use.tag.lower()))
    uses, following = page_of(order, offset, limit, attrgetter("tag"))
    listed = [
        ListedTag(f"#{use.tag.removeprefix('#')}", use.occurrences, use.files) for use in uses
    ]
    return Tags(len(order), tags=listed, next_offset=following, incomplete=used.notice)


@tool(title="Rename tag", writes=True, destructive=True)
def rename_tag(
    app: App,
    tag: Annotated[str, Argument(description="Nested ones follow", min_length=1)],
    to: Annotated[str, Argument(description="Its new name", min_length=1)],
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> ChangedFiles:
    """Rename a tag everywhere."""
    from obsidian_mcp.core.operations.rename_tag import rename  # lists of tags load none of it

    renamed = rename(app.vaults.get(vault), tag, to, dry_run=dry_run)
    return changed_files(renamed.rewritten, dry_run=dry_run, warnings=renamed.warnings)
