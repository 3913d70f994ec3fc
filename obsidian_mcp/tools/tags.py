"""Tags of the vault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core.note import rename_tag
from obsidian_mcp.core.text import progress
from obsidian_mcp.core.text.vault_path import is_note
from obsidian_mcp.core.vault import move
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .params import DryRun, Limit, Offset, VaultName
from .registry import tool

DIFF_CHARACTERS = 10_000
FILES_SHOWN = 50


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


@dataclass(frozen=True, slots=True)
class Tags:
    total: int
    tags: list[ListedTag] | None = None
    notes: list[TaggedNote] | None = None
    renamed: list[str] | None = None
    """Notes and canvases in which the tag was renamed, or would be; `total` counts them all."""
    more_renamed: int | None = None
    diff: str | None = None
    next_offset: int | None = None
    note: str | None = None
    """Said while the index is being built."""


@tool("tags", title="Tags", writes=True, destructive=True, mixed="rename_to")
def tags(
    app: App,
    tag: Annotated[str, Field(description="Notes with this tag or one nested below it")] = "",
    rename_to: Annotated[str, Field(description="Rename tag, nested ones too, in the whole vault")] = "",
    dry_run: DryRun = False,
    limit: Limit = 100,
    offset: Offset = 0,
    vault: VaultName = "",
) -> Tags:
    """List the vault's tags with counts, the notes of a tag, or rename a tag everywhere."""
    place = app.vaults.get(vault)
    if rename_to:
        if not tag:
            raise InvalidArguments("rename_to needs tag: the tag to rename.", argument="tag")
        return _rename(place, rename_tag.checked(tag), rename_tag.checked(rename_to), dry_run=dry_run)
    if tag:
        found = place.graph.tagged(tag)
        page = found.value[offset : offset + limit]
        notes = [
            TaggedNote(
                file.path,
                list(dict.fromkeys(f"#{fact.tag.removeprefix('#')}" for fact in file.tags)),
                sorted({fact.line + 1 for fact in file.tags if fact.line is not None}) or None,
            )
            for file in page
        ]
        return Tags(len(found.value), notes=notes, next_offset=_next(offset, limit, found.value), note=found.notice)
    used = place.graph.tags()
    order = sorted(used.value, key=lambda use: (-use.occurrences, use.tag.lower()))
    listed = [
        ListedTag(f"#{use.tag.removeprefix('#')}", use.occurrences, use.files) for use in order[offset : offset + limit]
    ]
    return Tags(len(order), tags=listed, next_offset=_next(offset, limit, used.value), note=used.notice)


def _next(offset: int, limit: int, found: tuple[object, ...]) -> int | None:
    return offset + limit if offset + limit < len(found) else None


def _rename(place: Vault, old: str, new: str, *, dry_run: bool) -> Tags:
    def plan() -> move.Rewriting:
        return _plan(place, old, new)

    renamed = (plan() if dry_run else place.make("tags", plan)).rewritten
    shown = "".join(each.diff for each in renamed[:FILES_SHOWN]) if dry_run else None
    return Tags(
        len(renamed),
        renamed=[each.path for each in renamed[:FILES_SHOWN]],
        more_renamed=len(renamed) - FILES_SHOWN if len(renamed) > FILES_SHOWN else None,
        diff=shown[:DIFF_CHARACTERS] if shown is not None else None,
    )


def _plan(place: Vault, old: str, new: str) -> move.Rewriting:
    renamed = []
    files = place.graph.files_tagged(old)
    for done, path in enumerate(files):
        progress.report(done, len(files), "Renaming the tag")
        entry = place.catalog.get(path)
        if entry is not None:
            content = place.read_text(entry)
            body = content.text.body
            rename = rename_tag.in_note if is_note(entry.path) else rename_tag.in_canvas
            after = rename(body, old, new)
            if after != body:
                renamed.append(move.Rewritten(content, after))
    return move.Rewriting(tuple(renamed))
