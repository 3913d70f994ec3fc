"""Make mentions of a note links to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.operations import bulk, mentions
from obsidian_mcp.core.operations.new_file import allowed
from obsidian_mcp.core.operations.referrers import listed
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import Rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, NoteNotFound

from .arguments import Argument, DryRun, Name, Offset, VaultName
from .paging import ChangedFiles, changed_files
from .registry import tool


@dataclass(frozen=True, slots=True)
class LinkedMentions(ChangedFiles):
    linked: int = 0
    """Mentions that were made links, or with dry_run would be."""
    next_offset: int | None = None
    """Where to go on, where more notes may mention it than one call looks through."""


@dataclass(frozen=True, slots=True)
class _Linking(PlannedChange):
    linked: int = 0
    next_offset: int | None = None


@tool(title="Link mentions", writes=True, destructive=True, idempotent=True)
def link_mentions(
    app: App,
    name: Name,
    # the default is never changed
    names: Annotated[list[str], Argument(description="Only these notes")] = [],  # noqa: B006
    offset: Offset = 0,
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> LinkedMentions:
    """Make every unlinked mention of a note (its name or aliases) a link to it."""
    opened = app.vaults.get(vault)
    opened.indexer.complete()  # what mentions it must be all that the search finds (INDEX-43)
    planned = bulk.make(
        opened, "link_mentions", partial(_plan, opened, name, names, offset), dry_run=dry_run
    )
    answer = changed_files(planned.rewritten, dry_run=dry_run, warnings=planned.warnings)
    return LinkedMentions(**asdict(answer), linked=planned.linked, next_offset=planned.next_offset)


def _plan(vault: Vault, name: str, only: list[str], offset: int) -> _Linking:
    """Plan the links in one page of the notes that have a name, or of `only`; which stay as they
    are is said."""
    entry, settings = vault.find(name), vault.settings
    names = mentions.names_of(vault, entry)
    if only:
        chosen = [
            note for note in bulk.selected(vault, only, "").entries if note.path != entry.path
        ]
        notes = chosen[offset : offset + mentions.MOST_FILES]
        more, unsearched = len(chosen) - offset - len(notes), None
    else:
        notes, more, unsearched = mentions.notes_with(vault, entry, names, offset)
    rewritten_notes: list[Rewritten] = []
    link_counts: dict[str, int] = {}
    unlinked: list[str] = []
    unread: list[str] = []
    for count, other_note in enumerate(notes):
        report_progress(count, len(notes), "Linking mentions")
        try:
            content = vault.read_note(other_note)
        except AppError as error:
            if only:
                raise
            unread += (
                [] if isinstance(error, NoteNotFound) else [other_note.path]
            )  # it may be gone since the search
            continue
        links = mentions.linked(
            vault, settings, entry.path, other_note.path, content.text.body, names
        )
        unlinked += dict.fromkeys(
            f"{mention.path} line {mention.line + 1}" for mention in links.left
        )
        if links.made:
            rewritten_notes.append(Rewritten(content, content.with_body(links.after)))
            link_counts[other_note.path] = links.made
    changed, refused = allowed(vault, rewritten_notes)
    if only or not changed:
        changed, refused = rewritten_notes, []  # the change is refused as a whole
    reasons: dict[str, Sequence[str]] = {
        (
            "A link there would be read as something else, or change a heading that links may name"
        ): unlinked,
        "The user's policy does not allow these notes to be changed": refused,
        "These notes could not be read": unread,
    }
    warnings = [
        f"{reason}; left as they are: {listed(places)}."
        for reason, places in reasons.items()
        if places
    ]
    warnings += filter(None, [unsearched])
    if not names:
        warnings.append("It has no name of at least two characters that could be found.")
    elif not changed and not warnings:
        where = (
            "None of these notes mentions"
            if only or offset or more > 0
            else "No other note mentions"
        )
        warnings.append(f"{where} it without a link, by the names {listed(names)}.")
        if settings.ignore_filters and not only:
            warnings.append(
                "Files that the user excludes in the app are not looked through; names can give "
                "them."
            )
    following = offset + mentions.MOST_FILES if more > 0 else None
    if following:
        warnings.append(
            f"The same call with offset {following} goes on with "
            f"{write_count(more, 'more file')} of the name."
        )
    linked = sum(link_counts[file.path] for file in changed)
    return _Linking(tuple(changed), warnings=tuple(warnings), linked=linked, next_offset=following)
