"""Properties: the frontmatter of notes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from obsidian_mcp.app import App
from obsidian_mcp.core.frontmatter import edits as core_properties
from obsidian_mcp.core.note import parser as note
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import InvalidArguments

from .params import DryRun, Etag, Limit, Offset, VaultName
from .registry import tool

JsonText = Annotated[
    str,
    BeforeValidator(lambda value: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)),
    Field(description='JSON or plain text: draft, 3, true, ["a", "b"], "[[Note]]"'),
]


@dataclass(frozen=True, slots=True)
class ListedProperty:
    property: str
    type: str
    """As assigned in the app, else the type of most values."""
    notes: int
    types: dict[str, int] | None = None
    """Types of the values, where they differ."""


@dataclass(frozen=True, slots=True)
class NoteValue:
    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Properties:
    path: str | None = None
    properties: dict[str, Any] | None = None
    vault_properties: list[ListedProperty] | None = None
    values: list[NoteValue] | None = None
    total: int | None = None
    changed: bool | None = None
    etag: str | None = None
    diff: str | None = None
    next_offset: int | None = None
    warning: str | None = None
    note: str | None = None
    """Said while the index is being built."""


@tool("properties", title="Properties", writes=True, destructive=True, mixed="action")
def properties(
    app: App,
    name: Annotated[str, Field(description="Note; without one the whole vault")] = "",
    property: Annotated[str, Field(description="One property")] = "",  # noqa: A002  the app's word
    action: Literal["get", "set", "remove"] = "get",
    value: JsonText = "",
    dry_run: DryRun = False,
    etag: Etag = "",
    limit: Limit = 100,
    offset: Offset = 0,
    vault: VaultName = "",
) -> Properties:
    """Read a note's properties (frontmatter), or set or remove one and touch nothing else. Without a note: the vault's
    properties with types and counts, or each note's value of one.
    """
    place = app.vaults.get(vault)
    if not name:
        if action != "get":
            raise InvalidArguments(f"{action} needs name: the note to change.", argument="name")
        return _of_vault(app, property, limit, offset, vault)
    entry = place.find(name)
    if action == "get":
        content = place.shown(entry)
        parsed = note.parse(content.text.body)
        values = parsed.properties
        if property:
            values = {key: found for key, found in values.items() if key.lower() == property.lower()}
        warning = parsed.frontmatter.error if parsed.frontmatter is not None else None
        return Properties(entry.path, values, etag=content.etag, warning=warning)
    if not property:
        raise InvalidArguments(f"{action} needs property: the one to {action}.", argument="property")

    def change(body: str) -> str:
        newline = Text(body).newline
        if action == "remove":
            return core_properties.remove_property(body, property, newline)
        return core_properties.set_property(body, property, meant(value), newline)

    edited = place.edit("properties", entry, change, etag, dry_run=dry_run)
    return Properties(
        entry.path,
        changed=edited.before.etag != edited.after.etag,
        etag=None if dry_run else edited.after.etag,
        diff=edited.diff if dry_run else None,
    )


def meant(value: str) -> Any:
    """What a value says: JSON where it is JSON, else the text as it stands."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def _of_vault(app: App, name: str, limit: int, offset: int, vault: str) -> Properties:
    place = app.vaults.get(vault)
    if name:
        found = place.graph.with_property(name)
        values = [NoteValue(each.path, each.value) for each in found.value[offset : offset + limit]]
        total, building = len(found.value), found.notice
        following = offset + limit if offset + limit < total else None
        return Properties(values=values, total=total, next_offset=following, note=building)
    used = place.graph.properties()
    order = sorted(used.value, key=lambda use: (-use.files, use.name.lower()))
    assigned = place.property_types
    listed = [
        ListedProperty(
            use.name,
            assigned.of(use.name) or next(iter(use.types)),
            use.files,
            dict(use.types) if len(use.types) > 1 else None,
        )
        for use in order[offset : offset + limit]
    ]
    following = offset + limit if offset + limit < len(order) else None
    return Properties(vault_properties=listed, total=len(order), next_offset=following, note=used.notice)
