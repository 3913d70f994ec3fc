"""Notes merged, and parts of notes taken into notes of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.note.insertion import End, Left
from obsidian_mcp.core.vault.changes import Create
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, DryRun, Name, VaultName
from .paging import FILES_SHOWN, first_of, shown_diff
from .registry import tool


@dataclass(frozen=True, slots=True)
class Composed:
    path: str
    into: str
    created: bool
    """True where the note that the part went into is new."""
    updated: list[str] | None = None
    """The first of the other files whose links follow."""
    more_updated: int | None = None
    diff: str | None = None
    warnings: list[str] | None = None


@tool(title="Merge or extract", writes=True, destructive=True)
def compose_notes(
    app: App,
    action: Literal["merge", "extract"],
    name: Name,
    into: Annotated[str, Argument(description="Note to add to; extract: or a new one, else the heading")] = "",
    part: Annotated[str, Argument(description="extract: heading, ^block, or lines 10-20")] = "",
    position: Annotated[End, Argument(description="In into")] = "append",
    leave: Annotated[Left, Argument(description="extract: what stays there")] = "link",
    update_links: Annotated[bool, Argument(description="extract: links follow")] = True,
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> Composed:
    """Merge a note into another without repeats (it is trashed, links follow), or extract (split) a part to its own."""
    if action == "merge" and not into:
        raise InvalidArguments("merge needs into: the note that the text goes into.", argument="into")
    if action == "merge" and part:
        raise InvalidArguments("part is for extract only.", argument="part")
    if action == "extract" and not part:
        raise InvalidArguments("extract needs part: a heading, ^block, or lines such as 10-20.", argument="part")
    from obsidian_mcp.core.operations import composer

    opened = app.vaults.get(vault)
    opened.indexer.complete()  # without the lock, which a wait for the index must not hold (INDEX-43)
    with opened.changing():
        opened.look_everywhere()  # else links would be left behind that were written a moment ago (WATCH-10)
        entry = opened.find(name)
        if action == "merge":
            planned = composer.merge(opened, entry, opened.find(into), position)
        else:
            planned = composer.extract(
                opened, entry, part, into, position=position, left=leave, update_links=update_links
            )
        (opened.check if dry_run else opened.commit)("compose_notes", planned.operations)
    own = (planned.source, planned.target)
    updated, more_updated = first_of(
        [str(file.path) for file in planned.rewritten if file.path not in own], FILES_SHOWN
    )
    return Composed(
        planned.source,
        planned.target,
        any(isinstance(step, Create) for step in planned.steps),
        updated or None,
        more_updated,
        shown_diff(planned.diffs()) if dry_run else None,
        [*planned.warnings] or None,
    )
