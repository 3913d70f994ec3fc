"""Tags of the vault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.note import rename_tag as tag_rename
from obsidian_mcp.core.note.query_blocks import LANGUAGES, query_blocks
from obsidian_mcp.core.operations import bulk, move
from obsidian_mcp.core.operations.queries import inline_prefix
from obsidian_mcp.core.query.parser import quoted
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.text.call import checkpoint, report_progress
from obsidian_mcp.core.text.tags import covers, key
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note
from obsidian_mcp.core.vault.planned_change import PlannedChange, Rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError

from .arguments import Argument
from .changed import ChangedFiles, changed_files
from .paging import LINES_SHOWN, first_of, page_of
from .params import DryRun, Limit, Offset, VaultName, VaultNames
from .registry import tool

_WORD = re.compile(r"[^\s\"'`,:;!=<>&|()\[\]{}]+")
MOST_QUERY_NOTES = 2_000
"""Notes that may have a query with the tag, and are read."""


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
    incomplete: str | None = None
    """Says while the index is being built that the answer is not complete."""


@tool(title="Tags")
def tags(
    app: App,
    tag: Annotated[str, Argument(description="Notes with it or one nested below")] = "",
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
        return Tags(len(found.value), notes=notes, next_offset=following, incomplete=found.notice)
    used = place.graph.tags()
    order = sorted(used.value, key=lambda use: (-use.occurrences, use.tag.lower()))
    uses, following = page_of(order, offset, limit)
    listed = [ListedTag(f"#{use.tag.removeprefix('#')}", use.occurrences, use.files) for use in uses]
    return Tags(len(order), tags=listed, next_offset=following, incomplete=used.notice)


@tool(title="Rename tag", writes=True, destructive=True)
def rename_tag(
    app: App,
    tag: Annotated[str, Argument(description="Nested ones follow", min_length=1)],
    to: Annotated[str, Argument(description="Its new name", min_length=1)],
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> ChangedFiles:
    """Rename a tag in every note, property and canvas card, as one change."""
    place = app.vaults.get(vault)
    old, new = tag_rename.checked(tag), tag_rename.checked(to)
    plan = partial(_plan, place, old, new)
    renamed = bulk.make(place, "rename_tag", plan, dry_run=dry_run)
    warnings = list(renamed.warnings)
    if queries := list(_queries_with(place, old)):
        warnings.append(f"Queries are not changed, and these seem to name #{old}: {move.listed(queries)}.")
    return changed_files(renamed.rewritten, dry_run=dry_run, warnings=warnings)


def _plan(place: Vault, old: str, new: str) -> PlannedChange:
    renamed = []
    files = place.graph.files_tagged(old)
    for done, path in enumerate(files):
        report_progress(done, len(files), "Renaming the tag")
        entry = place.catalog.get(path)
        if entry is not None:
            content = place.read_text(entry)
            body = content.text.body
            rename = tag_rename.in_note if is_note(entry.path) else tag_rename.in_canvas
            after = rename(body, old, new)
            if after != body:
                renamed.append(Rewritten(content, after))
    broken = [path for path in place.graph.warnings().value if is_note(path) and _may_name(place, path, old)]
    reason = "The frontmatter is broken and seems to name the tag, which stays there; repair it and rename again"
    warnings = (f"{reason}: {move.listed(broken)}.",) if broken else ()
    if not files and not broken:
        warnings = (f"Nothing has the tag #{old}. obsidian_tags lists the tags that there are.",)
    return PlannedChange(tuple(renamed), warnings=warnings)


def _may_name(place: Vault, path: VaultPath, tag: str) -> bool:
    """Whether a note has broken frontmatter with the tag, or one nested below it, among its words."""
    entry = place.catalog.get(path)
    body = place.read_text(entry).text.body if entry is not None else ""
    found = frontmatter.read(body)
    if found is None or not found.error:
        return False
    return any(covers(tag, word) for word in _WORD.findall(found.block.yaml_span.of(body)))


def _queries_with(place: Vault, tag: str) -> Iterator[str]:
    """Yield the lines of bases, and of queries in notes, that seem to name a tag or one nested below it (TAG-32)."""
    prefix = inline_prefix(place)
    starts = [f"{fence}{word}" for fence in ("```", "~~~") for word in LANGUAGES]
    starts += [f"`{blank}{mark}" for blank in ("", " ") for mark in (prefix, "$=")]
    query = f'content:"{tag}" content:({" OR ".join(map(quoted, starts))})'
    found = place.search.find(Request(query, "exact", limit=MOST_QUERY_NOTES, snippets=0, characters=1 << 40))
    notes = sorted(hit.path for hit in found.hits if is_note(hit.path))
    for path in (*(entry.path for entry in place.entries() if extension(entry.path) == ".base"), *notes):
        checkpoint()
        entry = place.catalog.get(path)
        try:
            body = place.read_text(entry).text.body if entry is not None else ""
        except AppError:  # gone, or not downloaded
            continue
        if key(tag) not in body.lower():
            continue
        spans = [(0, body)]
        if is_note(path):
            blocks = query_blocks(parser.parse(body), prefix)
            spans = [(block.line - 1 + block.fenced, block.text) for block in blocks]
        for first, text in spans:
            for number, line in enumerate(text.split("\n"), first + 1):
                about_tags = "tag" in line.lower()
                words = (word.lstrip("-") for word in _WORD.findall(line))
                if any(covers(tag, word) and (about_tags or word.startswith("#")) for word in words):
                    yield f"{path} line {number}"
