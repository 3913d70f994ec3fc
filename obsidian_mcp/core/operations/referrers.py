"""The files whose links a change must follow, and the rewriting of these links.

A move, a merge, an extraction and a new name of a heading share it (specs/rename.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from obsidian_mcp import errors
from obsidian_mcp.core.files.file_entry import FileContent
from obsidian_mcp.core.files.settings import AppSettings
from obsidian_mcp.core.links import link_spans, rewrite
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.note.edits import apply
from obsidian_mcp.core.note.headings import heading_key
from obsidian_mcp.core.note.subpath import segments
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import Lines, write_count
from obsidian_mcp.core.text.vault_path import VaultPath, extension
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import Rewritten
from obsidian_mcp.core.vault.vault import Vault


def rewrite_links(
    vault: Vault, files: Mapping[VaultPath, VaultPath], warnings: Iterable[str] = ()
) -> PlannedChange:
    """Plan the rewriting of links to files that get other paths, and of relative links in them.

    `warnings` are added to those of the plan.
    """
    contents, referrers = referrers_of(
        vault, {*files, *find_linking_files(vault, [*files, *files.values()])}
    )
    planned = apply_file_edits(
        contents, rewrite.plan(vault.catalog, files, referrers, settings=vault.settings)
    )
    of_settings = vault.settings.warnings if planned.rewritten else ()
    return replace(
        planned, warnings=(*planned.warnings, *unread_links(vault), *of_settings, *warnings)
    )


def find_linking_files(vault: Vault, paths: Iterable[VaultPath]) -> set[VaultPath]:
    """Return the files with links to the names of these."""
    return {*vault.graph.sources_of(rewrite.link_keys(paths))}


def referrers_of(
    vault: Vault, files: set[VaultPath]
) -> tuple[dict[VaultPath, FileContent], list[link_spans.Referrer]]:
    """Return the content of these files, and the places of the links in them.

    Files that are no text have none (RENAME-14).
    """
    contents: dict[VaultPath, FileContent] = {}
    referrers = []
    for count, path in enumerate(sorted(files)):
        report_progress(count, len(files), "Rewriting links")
        entry = vault.catalog.get(path)
        if entry is None or entry.is_too_large:
            continue
        if extension(path) not in (vault_path.NOTE_EXTENSION, vault_path.CANVAS_EXTENSION):
            continue
        try:
            contents[path] = content = vault.read_content(entry)
        except errors.NoteNotFound:  # another program has just taken it, with its links
            continue
        if content.is_text:
            referrers.append(link_spans.read_referrer(path, content.text.body))
    return contents, referrers


def unread_links(vault: Vault) -> list[str]:
    """Return a warning with files that are too large to be read: nobody looks at their links.

    There is none where all can be read (RENAME-15).
    """
    large = vault.indexer.pending.too_large
    return (
        [f"Files that are too large to be read keep their links as they are: {list_places(large)}."]
        if large
        else []
    )


def apply_file_edits(
    contents: Mapping[VaultPath, FileContent], planned: Iterable[rewrite.FileEdits]
) -> PlannedChange:
    """Return the change that planned edits make of these contents, with warnings for what was
    skipped."""
    binary = [path for path, content in contents.items() if not content.is_text]
    warnings = (
        [f"Files that are not text keep their links as they are: {list_places(binary)}."]
        if binary
        else []
    )
    rewritten_files = []
    reformed: list[tuple[str, str]] = []
    for edits in planned:
        reformed += edits.reformed
        content = contents[edits.path]
        body = content.text.body
        if changes := [edit for edit in edits.edits if edit.span.slice(body) != edit.text]:
            lines = Lines(body)
            changed = sorted({lines.line(edit.span.start) + 1 for edit in changes})
            rewritten_files.append(
                Rewritten(content, content.with_body(apply(body, changes)), tuple(changed))
            )
        warnings += [
            f"{edits.path}: {skipped.original} was left as it is. {skipped.reason}"
            for skipped in edits.skipped
        ]
    return PlannedChange(tuple(rewritten_files), warnings=tuple(warnings), reformed=tuple(reformed))


def describe_reformed(change: PlannedChange, settings: AppSettings) -> str | None:
    """Return a sentence that says how many links have another form now, and why (RENAME-16)."""
    if not change.reformed:
        return None
    old, new = change.reformed[0]
    return (
        f"{write_count(len(change.reformed), 'link')} changed form, as {old} to {new}: the vault's "
        f"setting {settings.new_link_format!r} writes links so, and they lead where they led."
    )


def linked_headings(vault: Vault, path: VaultPath, note: parser.Note) -> frozenset[str]:
    """Return the keys of the headings of a note to which links lead, its own ones too."""
    subpaths = [
        *(link.link.subpath for link in vault.graph.backlinks(path).value),
        *(link.subpath for link in note.links if not link.path),
    ]
    return frozenset(heading_key(part) for subpath in subpaths for part in segments(subpath))


SHOWN = 10
"""Places that a warning lists."""


def list_places(places: Sequence[str]) -> str:
    """Return the first places for a warning, and how many more there are."""
    return name_first(places, SHOWN, "; ")
