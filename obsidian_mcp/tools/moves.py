"""Move and rename notes, attachments and folders; merge notes, and take parts of notes into notes
of their own.

In each of these the links of the whole vault follow, in the same change: that is what a move by
hand or by a shell loses (specs/rename.md, specs/composer.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.note.edits import End, Replacement
from obsidian_mcp.core.operations import bulk, move
from obsidian_mcp.core.operations.referrers import describe_reformed
from obsidian_mcp.core.text.vault_path import link_warning
from obsidian_mcp.core.vault.operation import Create
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, DryRun, Name, Query, VaultName
from .paging import FILES_SHOWN, LINES_SHOWN, first_of, shown_diff
from .registry import tool


@dataclass(frozen=True, slots=True)
class UpdatedFile:
    path: str
    lines: list[int]
    more_lines: int | None = None


@dataclass(frozen=True, slots=True)
class MovedFile:
    path: str
    to: str


@dataclass(frozen=True, slots=True)
class Moved:
    moved: bool
    path: str | None = None
    """Where it was."""
    to: str | None = None
    renamed: bool | None = None
    """True where the name itself changed."""
    files: int | None = None
    """Files that were moved: with a folder, or of several."""
    moves: list[MovedFile] | None = None
    """The first of several."""
    updated: list[UpdatedFile] | None = None
    """Files whose links were rewritten."""
    more_updated: int | None = None
    diff: str | None = None
    note: str | None = None
    """How many links have another form now."""
    warnings: list[str] | None = None


@tool(title="Move or rename", writes=True, destructive=True)
def move_note(
    app: App,
    *,
    name: Annotated[str, Argument(description="Note, attachment or folder")] = "",
    to: Annotated[str, Argument(description="New path or name, or Folder/", min_length=1)],
    names: Annotated[list[str], Argument(description="Instead: several notes")] = [],  # noqa: B006
    query: Query = "",
    update_links: Annotated[bool, Argument(description="Links follow")] = True,
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> Moved:
    """Move or rename a note, attachment or folder, or many notes into a folder; links follow, not
    text."""
    opened = app.vaults.get(vault)
    if not name:
        selection = bulk.select_files(opened, names, query, is_read=False)
        gather = partial(move.gather, opened, selection.entries, to, update_links=update_links)
        moved = bulk.make(opened, "move_note", gather, dry_run=dry_run)
        listed, _ = first_of(
            [MovedFile(source, target) for source, target in moved.moved.items()], FILES_SHOWN
        )
        answer = _answer(opened, moved, list(selection.warnings), dry_run=dry_run)
        return replace(answer, files=len(moved.moved), moves=listed)
    if names or query:
        message = "Give `name`, `names` or `query`, not several of them."
        raise InvalidArguments(message, argument="name")
    plan = partial(move.relocate, opened, name, to, update_links=update_links)
    moved = bulk.make(opened, "move_note", plan, dry_run=dry_run)
    warning = link_warning(moved.target)
    answer = _answer(opened, moved, [warning] if warning else [], dry_run=dry_run)
    is_renamed = moved.source.rpartition("/")[2] != moved.target.rpartition("/")[2]
    files = None if moved.source in moved.moved else len(moved.moved)
    return replace(
        answer, path=moved.source, to=moved.target, renamed=is_renamed or None, files=files
    )


def _answer(vault: Vault, change: PlannedChange, warnings: list[str], *, dry_run: bool) -> Moved:
    files, more_updated = first_of(change.rewritten, FILES_SHOWN)
    difference = shown_diff(change.diffs()) if dry_run else ""
    updated = [UpdatedFile(file.path, *first_of(file.lines, LINES_SHOWN)) for file in files]
    remarks = [*change.warnings, *warnings] or None
    return Moved(
        moved=not dry_run,
        updated=updated,
        more_updated=more_updated,
        diff=difference or None,
        note=describe_reformed(change, vault.settings),
        warnings=remarks,
    )


PLACES_SHOWN = 20
"""Places that still say the old thing."""


@dataclass(frozen=True, slots=True)
class StillSaid:
    path: str
    text: str
    line: int | None = None
    """None for a link in a property."""


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
    note: str | None = None
    """How many links have another form now."""
    warnings: list[str] | None = None
    still_said: list[StillSaid] | None = None
    """Of supersede: the first notes and lines that still say the old thing. They stay as they
    are."""
    more_still_said: int | None = None


@tool(title="Merge or extract", writes=True, destructive=True)
def compose_notes(
    app: App,
    action: Annotated[Literal["merge", "extract", "supersede"], Argument(description="What to do")],
    name: Name,
    into: Annotated[
        str, Argument(description="Note to add to; extract: or a new one, else the heading")
    ] = "",
    part: Annotated[str, Argument(description="extract: heading, ^block, or lines 10-20")] = "",
    position: Annotated[End, Argument(description="In into")] = "append",
    leave: Annotated[Replacement, Argument(description="extract: what stays there")] = "link",
    update_links: Annotated[bool, Argument(description="extract: links follow")] = True,
    reason: Annotated[str, Argument(description="supersede: why")] = "",
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> Composed:
    """Merge a note into another without repeats (it is trashed, links follow), extract (split) a
    part to its own, or supersede: into (or into#^block) holds instead of it."""
    if action != "extract" and not into:
        raise InvalidArguments(
            f"{action} needs `into`: the note that "
            f"{'the text goes into' if action == 'merge' else 'holds instead'}.",
            argument="into",
        )
    if action != "extract" and part:
        raise InvalidArguments("`part` is for extract only.", argument="part")
    if action == "extract" and not part:
        raise InvalidArguments(
            "extract needs `part`: a heading, ^block, or lines such as 10-20.", argument="part"
        )
    from obsidian_mcp.core.operations.extract import extract
    from obsidian_mcp.core.operations.merge import merge

    opened = app.vaults.get(vault)
    if action == "supersede":
        return _supersede(opened, name, into, reason, dry_run=dry_run)

    def plan() -> PlannedChange:
        entry = opened.find(name)
        if action == "merge":
            return merge(opened, entry, opened.find(into), position)
        return extract(
            opened,
            entry,
            part,
            into,
            position=position,
            left=leave,
            update_links=update_links,
        )

    planned = bulk.make(opened, "compose_notes", plan, dry_run=dry_run)
    own = (planned.source, planned.target)
    updated, more_updated = first_of(
        [str(file.path) for file in planned.rewritten if file.path not in own], FILES_SHOWN
    )
    created = any(isinstance(step, Create) for step in planned.steps)
    diff = shown_diff(planned.diffs()) if dry_run else None
    return Composed(
        planned.source,
        planned.target,
        created,
        updated or None,
        more_updated,
        diff,
        describe_reformed(planned, opened.settings),
        [*planned.warnings] or None,
    )


def _supersede(vault: Vault, old: str, new: str, reason: str, *, dry_run: bool) -> Composed:
    from obsidian_mcp.core.operations.supersede import supersede

    planned = bulk.make(
        vault, "compose_notes", partial(supersede, vault, old, new, reason), dry_run=dry_run
    )
    places = [StillSaid(place.path, place.text, place.line) for place in planned.still_said]
    still_said, more_still_said = first_of(places, PLACES_SHOWN)
    return Composed(
        planned.source,
        planned.target,
        created=False,
        diff=shown_diff(planned.diffs()) if dry_run else None,
        still_said=still_said or None,
        more_still_said=more_still_said,
    )
