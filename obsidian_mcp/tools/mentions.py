"""Make mentions of a note links to it.

A mention is one of the note's names in the text of another note. One stays as it is where a link
would be read as something else, and the answer says where (LINK-31, LINK-32).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from operator import attrgetter
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.operations import bulk, mentions
from obsidian_mcp.core.operations.new_file import split_allowed
from obsidian_mcp.core.operations.referrers import list_places
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.page_order import continue_order, page_start
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
    """The planned change, with how many mentions it makes links."""

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
    entry = vault.find(name)
    names = mentions.names_of(vault, entry)
    page = _page(vault, entry, names, only, offset)
    linker = mentions.MentionLinker(vault.catalog, vault.settings, entry.path, names)
    links = _link_notes(vault, linker, page.notes, skips=not only)
    changed, refused = split_allowed(vault, links.rewritten)
    if only or not changed:
        changed, refused = links.rewritten, []  # the change is refused as a whole
    reasons: dict[str, Sequence[str]] = {
        (
            "A link there would be read as something else, or change a heading that links may name"
        ): links.unlinked,
        "The user's policy does not allow these notes to be changed": refused,
        "These notes could not be read": links.unread,
    }
    warnings = [
        f"{reason}; left as they are: {list_places(places)}."
        for reason, places in reasons.items()
        if places
    ]
    warnings += filter(None, [page.unsearched])
    if not names:
        warnings.append("It has no name of at least two characters that could be found.")
    elif not changed and not warnings:
        is_part = bool(only) or offset > 0 or page.more > 0
        warnings += _explain_nothing(vault, names, is_part=is_part, is_named=bool(only))
    following = page_start(offset) + mentions.MOST_FILES if page.more > 0 else None
    if following:
        warnings.append(
            f"The same call with offset {following} goes on with "
            f"{write_count(page.more, 'more file')} of the name."
        )
    linked = sum(links.counts[file.path] for file in changed)
    return _Linking(tuple(changed), warnings=tuple(warnings), linked=linked, next_offset=following)


def _page(
    vault: Vault, entry: FileEntry, names: Sequence[str], only: list[str], offset: int
) -> mentions.NamingNotes:
    """Return the notes to look through: those that have a name, or of `only`, from an offset on."""
    if not only:
        return mentions.notes_with(vault, entry, names, offset)
    chosen = [
        note for note in bulk.select_files(vault, only, "").entries if note.path != entry.path
    ]
    in_order, start = continue_order(chosen, offset, attrgetter("path"))
    notes = list(in_order[start : start + mentions.MOST_FILES])
    return mentions.NamingNotes(notes, len(in_order) - start - len(notes))


@dataclass(frozen=True, slots=True)
class _LinkedNotes:
    """What became of the mentions in several notes."""

    rewritten: list[Rewritten] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """How many mentions of a note, by its path, are links now."""
    unlinked: list[str] = field(default_factory=list)
    """Where mentions stay as they are."""
    unread: list[str] = field(default_factory=list)


def _link_notes(
    vault: Vault, linker: mentions.MentionLinker, notes: Sequence[FileEntry], *, skips: bool
) -> _LinkedNotes:
    """Make the mentions in notes links; `skips`: leave notes out that cannot be read. Raises:
    AppError for such a note otherwise."""
    done = _LinkedNotes()
    for count, note in enumerate(notes):
        report_progress(count, len(notes), "Linking mentions")
        try:
            content = vault.read_note(note)
        except AppError as error:
            if not skips:
                raise
            if not isinstance(error, NoteNotFound):  # one that is gone since the search is no loss
                done.unread.append(note.path)
            continue
        links = linker.link(note.path, content.text.body)
        done.unlinked.extend(
            dict.fromkeys(f"{mention.path} line {mention.line + 1}" for mention in links.left)
        )
        if links.made:
            done.rewritten.append(Rewritten(content, content.with_body(links.after)))
            done.counts[note.path] = links.made
    return done


def _explain_nothing(
    vault: Vault, names: Sequence[str], *, is_part: bool, is_named: bool
) -> list[str]:
    """Return what to say where no note mentions it; `is_part`: others were not looked through,
    `is_named`: the caller named the notes."""
    where = "None of these notes mentions" if is_part else "No other note mentions"
    sentences = [f"{where} it without a link, by the names {list_places(names)}."]
    if vault.settings.ignore_filters and not is_named:
        sentences.append(
            "Files that the user excludes in the app are not looked through; names can give them."
        )
    return sentences
