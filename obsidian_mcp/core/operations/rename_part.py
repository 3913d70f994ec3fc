"""Plan another text of a heading, or another id of a block, wherever links name it."""

from __future__ import annotations

from dataclasses import replace

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.note import parser, sections
from obsidian_mcp.core.note.subpath import resolve_subpath
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.vault import Vault

from .referrers import apply_file_edits, find_linking_files, list_places, referrers_of, unread_links
from .stale_names import find_bookmarks


def rename_heading(vault: Vault, entry: FileEntry, heading: str, text: str) -> PlannedChange:
    """Plan another text of a heading, or with `^id` another id of a block, wherever links name it.

    Raises: SectionNotFound, InvalidName, NoteNotFound.
    """
    from obsidian_mcp.core.links import rename_heading as rename_part  # moves do without it

    contents, referrers = referrers_of(
        vault, {entry.path, *find_linking_files(vault, [entry.path])}
    )
    if entry.path not in contents:  # too large, or another program has just taken it
        contents[entry.path] = vault.read_content(vault.catalog.entry(entry.path))
    parsed = parser.parse(contents[entry.path].text.body)
    place = sections.find(parsed, heading)
    if place.heading is not None:
        file_edits = rename_part.plan_heading(
            vault.catalog, entry.path, parsed, place.heading, text, referrers=referrers
        )
    else:
        old, new = (
            heading.strip().removeprefix("#").removeprefix("^"),
            text.strip().removeprefix("^"),
        )
        file_edits = rename_part.plan_block(
            vault.catalog, entry.path, parsed, old, new, referrers=referrers
        )
    links = apply_file_edits(contents, file_edits)
    after = next(
        (file.after.text.body for file in links.rewritten if file.path == entry.path), parsed.body
    )
    bookmarks = _lost_part_bookmarks(vault, entry.path, parsed, after)
    return replace(links, warnings=(*links.warnings, *unread_links(vault), *bookmarks))


def _lost_part_bookmarks(
    vault: Vault, path: VaultPath, before: parser.Note, after: str
) -> list[str]:
    """Return a warning with the bookmarks of headings and blocks that a note has no more
    (BOOK-5)."""
    marked = [target for target in find_bookmarks(vault, {path}, None) if "#" in target]
    now = parser.parse(after) if marked else before
    parts = [(target, target.partition("#")[2]) for target in marked]
    lost = [
        target
        for target, part in parts
        if resolve_subpath(before, part) and not resolve_subpath(now, part)
    ]
    return (
        [f"Bookmarks stay as they are, and these name what is renamed: {list_places(lost)}."]
        if lost
        else []
    )
