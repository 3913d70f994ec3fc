"""Tags of the vault."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.note import rename_tag as tag_rename
from obsidian_mcp.core.text import progress
from obsidian_mcp.core.text.tags import covers
from obsidian_mcp.core.text.vault_path import VaultPath, is_note
from obsidian_mcp.core.vault import bulk, move
from obsidian_mcp.core.vault.vault import Vault

from .changed import ChangedFiles, changed_files
from .params import LINES_SHOWN, DryRun, Limit, Offset, VaultName, VaultNames, first_of, page_of
from .registry import tool

_WORD = re.compile(r"[^\s\"',\[\]{}]+")


@dataclass(frozen=True, slots=True)
class ListedTag:
    tag: str
    count: int
    """Occurrences, those of nested tags included."""
    notes: int


@dataclass(frozen=True, slots=True)
class TaggedNote:
    path: str
    tags: list[str]
    lines: list[int] | None = None
    more_lines: int | None = None


@dataclass(frozen=True, slots=True)
class Tags:
    total: int
    tags: list[ListedTag] | None = None
    notes: list[TaggedNote] | None = None
    next_offset: int | None = None
    note: str | None = None
    """Says while the index is being built that the answer is not complete."""


@tool(title="Tags")
def tags(
    app: App,
    tag: Annotated[str, Field(description="Notes with it or one nested below")] = "",
    limit: Limit = 100,
    offset: Offset = 0,
    vault: VaultNames = "",
) -> Tags:
    """List the vault's tags with counts, or the notes and cards that have a tag."""
    place = app.vaults.get(vault)
    if tag:
        found = place.graph.tagged(tag)
        page, following = page_of(found.value, offset, limit)
        notes = []
        for file in page:
            names = list(dict.fromkeys(f"#{fact.tag.removeprefix('#')}" for fact in file.tags))
            numbers = sorted({fact.line + 1 for fact in file.tags if fact.line is not None})
            lines, more_lines = first_of(numbers, LINES_SHOWN)
            notes.append(TaggedNote(file.path, names, lines or None, more_lines))
        return Tags(len(found.value), notes=notes, next_offset=following, note=found.notice)
    used = place.graph.tags()
    order = sorted(used.value, key=lambda use: (-use.occurrences, use.tag.lower()))
    uses, following = page_of(order, offset, limit)
    listed = [ListedTag(f"#{use.tag.removeprefix('#')}", use.occurrences, use.files) for use in uses]
    return Tags(len(order), tags=listed, next_offset=following, note=used.notice)


@tool(title="Rename tag", writes=True, destructive=True)
def rename_tag(
    app: App,
    tag: Annotated[str, Field(description="Nested ones follow", min_length=1)],
    to: Annotated[str, Field(description="Its new name", min_length=1)],
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> ChangedFiles:
    """Rename a tag in every note, property and canvas card, as one change that can be undone."""
    place = app.vaults.get(vault)
    old, new = tag_rename.checked(tag), tag_rename.checked(to)
    plan = partial(_plan, place, old, new)
    renamed = bulk.make(place, "rename_tag", plan, dry_run=dry_run)
    return changed_files(renamed.rewritten, dry_run=dry_run, warnings=renamed.warnings)


def _plan(place: Vault, old: str, new: str) -> move.Rewriting:
    renamed = []
    files = place.graph.files_tagged(old)
    for done, path in enumerate(files):
        progress.report(done, len(files), "Renaming the tag")
        entry = place.catalog.get(path)
        if entry is not None:
            content = place.read_text(entry)
            body = content.text.body
            rename = tag_rename.in_note if is_note(entry.path) else tag_rename.in_canvas
            after = rename(body, old, new)
            if after != body:
                renamed.append(move.Rewritten(content, after))
    broken = [path for path in place.graph.warnings().value if is_note(path) and _may_name(place, path, old)]
    reason = "The frontmatter is broken and seems to name the tag, which stays there; repair it and rename again"
    warnings = (f"{reason}: {move.listed(broken)}.",) if broken else ()
    if not files and not broken:
        warnings = (f"Nothing has the tag #{old}. obsidian_tags lists the tags that there are.",)
    return move.Rewriting(tuple(renamed), warnings)


def _may_name(place: Vault, path: VaultPath, tag: str) -> bool:
    """Whether a note has broken frontmatter with the tag, or one nested below it, among its words."""
    entry = place.catalog.get(path)
    body = place.read_text(entry).text.body if entry is not None else ""
    found = frontmatter.read(body)
    if found is None or not found.error:
        return False
    return any(covers(tag, word) for word in _WORD.findall(found.block.yaml_span.of(body)))
