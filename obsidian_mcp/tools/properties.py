"""Properties, the frontmatter of notes: of one note, of the whole vault with their values, and set
in many notes at once.

Only the lines of a property that changes are written anew: a YAML library would rewrite the user's
quotes, comments and order (specs/frontmatter.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Annotated, Any

from obsidian_mcp import json_codec
from obsidian_mcp.app import App
from obsidian_mcp.core.graph.results import PropertyValue
from obsidian_mcp.core.index.freshness import Answer as IndexAnswer
from obsidian_mcp.core.note import parser as note
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.page_order import continue_order
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, DryRun, Etag, Limit, Offset, Query, VaultName
from .paging import ChangedFiles, changed_files, count_rows, next_offset, page_of
from .property_warnings import property_faults
from .registry import tool


@dataclass(frozen=True, slots=True)
class ListedProperty:
    property: str
    type: str
    """As assigned in the app, else the type of most values."""
    notes: int
    types: dict[str, int] | None = None
    """Types of the values, where they differ."""


@dataclass(frozen=True, slots=True)
class ValueCount:
    value: Any
    notes: int
    """With this value, or with it in their list."""
    path: str | None = None
    """Of the only note."""


@dataclass(frozen=True, slots=True)
class Properties:
    path: str | None = None
    properties: dict[str, Any] | None = None
    inline_fields: list[str] | None = None
    """Which of them stand in the text as inline fields of Dataview, and not, or not only, in the
    frontmatter."""
    vault_properties: list[ListedProperty] | None = None
    counts: list[ValueCount] | None = None
    """The values of one property, those of most notes first."""
    notes: int | None = None
    """That have the property."""
    values: list[PropertyValue] | None = None
    total: int | None = None
    etag: str | None = None
    next_offset: int | None = None
    warning: str | None = None
    incomplete: str | None = None
    """Says while the index is being built that the answer is not complete."""


@tool(title="Get properties")
def get_properties(
    app: App,
    name: Annotated[str, Argument(description="Note; else all")] = "",
    # the app calls it so
    property: Annotated[str, Argument(description="One property")] = "",  # noqa: A002
    details: Annotated[bool, Argument(description="Each note's value")] = False,
    limit: Limit = 100,
    offset: Offset = 0,
    vault: VaultName = "",
) -> Properties:
    """Read a note's properties (frontmatter). Without a note: the vault's, with types and counts,
    or one's values."""
    opened = app.vaults.get(vault, listed=False)
    if not name:
        details = details or current_call.get().wants_all
        if property and not details:
            return _count_values(opened, property, limit, offset)
        return _list_of_vault(opened, property, limit, offset)
    entry = opened.find(name)
    content = opened.read_shown(entry)
    parsed = note.parse(content.text.body)
    values, inline = dict(parsed.properties), None
    if opened.uses_dataview:
        from obsidian_mcp.core.dataview.note_data import with_inline_fields

        values, inline = with_inline_fields(values, parsed)
    if property:
        values = {
            key: property_value
            for key, property_value in values.items()
            if to_printable(key).lower() == property.lower()
        } or {
            key: property_value
            for key, property_value in values.items()
            if typed_key(to_printable(key)) == typed_key(property)
        }
        inline = [key for key in inline or () if key in values]
    warning = next(iter(property_faults(content.text.body)), None)
    fitting = count_rows(list(values.items()))
    if fitting < len(values):
        warning = (
            f"These are the first {fitting} of {len(values)} properties. Name one of the others "
            "with property."
        )
        values = dict(islice(values.items(), fitting))
    return Properties(
        entry.path, values, inline_fields=inline or None, etag=content.etag, warning=warning
    )


@tool(title="Set properties", writes=True, destructive=True, idempotent=True)
def set_properties(
    app: App,
    properties: Annotated[
        dict[str, Any],
        Argument(description='null removes: {"status": "done", "due": null}', min_length=1),
    ],
    # the default is never changed
    names: Annotated[list[str], Argument(description="Notes to change")] = [],  # noqa: B006
    query: Query = "",
    dry_run: DryRun = False,
    etag: Etag = "",
    vault: VaultName = "",
) -> ChangedFiles:
    """Set or remove properties (frontmatter) of one or many notes, as one change."""

    from obsidian_mcp.core.frontmatter import edits  # what reading properties does without
    from obsidian_mcp.core.operations import bulk

    change = partial(edits.set_properties, values=properties)
    opened = app.vaults.get(vault)
    entries, warnings = bulk.select_files(opened, names, query)
    if len(entries) == 1:
        edited = opened.edit("set_properties", entries[0], change, etag, dry_run=dry_run)
        changed = [edited] if edited.before.etag != edited.after.etag else []
        made_etag = None if dry_run else edited.after.etag
        return changed_files(changed, dry_run=dry_run, etag=made_etag, warnings=warnings)
    if etag:
        raise InvalidArguments("`etag` is for a single note; here are several.", argument="etag")
    plan = partial(bulk.plan_rewrites, opened, entries, change, "Setting properties")
    planned = bulk.make(opened, "set_properties", plan, dry_run=dry_run)
    return changed_files(planned.rewritten, dry_run=dry_run, warnings=warnings)


def _count_values(vault: Vault, name: str, limit: int, offset: int) -> Properties:
    """Return the values of one property with how many notes have each, the most frequent first; of
    a value that is a list each of its entries."""
    property_uses = _values_of(vault, name)
    paths_by_value: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    for use in property_uses.value:
        for value in use.value if isinstance(use.value, list) and use.value else [use.value]:
            key = json_codec.encode(value, str).decode()
            values.setdefault(key, value)
            paths_by_value.setdefault(key, []).append(str(use.path))
    order = sorted(paths_by_value, key=lambda key: (-len(set(paths_by_value[key])), key.lower()))
    counts = []
    arranged, start = continue_order(order, offset, str)
    for key in arranged[start : start + limit]:
        paths = list(dict.fromkeys(paths_by_value[key]))
        counts.append(ValueCount(values[key], len(paths), paths[0] if len(paths) == 1 else None))
    counts = counts[: count_rows(counts)]
    return Properties(
        counts=counts,
        notes=len(property_uses.value),
        total=len(order),
        next_offset=next_offset(start, len(counts), len(order)),
        incomplete=property_uses.notice,
    )


def _values_of(vault: Vault, name: str) -> IndexAnswer[tuple[PropertyValue, ...]]:
    """Return the values of a property; of the one whose name looks as it is typed, where no note
    has the very name (NAME-18)."""
    property_uses = vault.graph.with_property(name)
    if property_uses.value:
        return property_uses
    names = {use.name for use in vault.graph.properties().value}
    alike = {used.lower() for used in names if typed_key(used) == typed_key(name)}
    return vault.graph.with_property(alike.pop()) if len(alike) == 1 else property_uses


def _list_of_vault(vault: Vault, name: str, limit: int, offset: int) -> Properties:
    """Return the value of one property in each note; without a name, all properties of the vault,
    the most frequent first."""
    if name:
        property_uses = _values_of(vault, name)
        of_all, start = continue_order(property_uses.value, offset, attrgetter("path"))
        values = list(of_all[start : start + limit])
        values = values[: count_rows(values)]
        following = next_offset(start, len(values), len(of_all))
        return Properties(
            values=values,
            total=len(property_uses.value),
            next_offset=following,
            incomplete=property_uses.notice,
        )
    used = vault.graph.properties()
    order = sorted(used.value, key=lambda use: (-use.files, use.name.lower()))
    uses, following = page_of(order, offset, limit, attrgetter("name"))
    assigned = vault.property_types
    listed = [
        ListedProperty(
            use.name,
            assigned.assigned_type(use.name) or next(iter(use.types)),
            use.files,
            dict(use.types) if len(use.types) > 1 else None,
        )
        for use in uses
    ]
    return Properties(
        vault_properties=listed, total=len(order), next_offset=following, incomplete=used.notice
    )
