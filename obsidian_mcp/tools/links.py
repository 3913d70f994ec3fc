"""How notes hang together."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.app import App
from obsidian_mcp.core.graph import Reference

from .params import Limit, Name, Offset, VaultName
from .registry import tool


@dataclass(frozen=True, slots=True)
class OutgoingLink:
    link: str
    """As written."""
    path: str | None
    """The file it leads to; missing when there is none."""
    line: int | None = None
    """1-based; missing for links of properties and cards."""
    at: str | None = None
    """The property or card that holds it."""
    embed: bool | None = None


@dataclass(frozen=True, slots=True)
class Backlink:
    path: str
    line: int | None
    context: str
    embed: bool | None = None


@dataclass(frozen=True, slots=True)
class Links:
    path: str
    outgoing: list[OutgoingLink]
    backlinks: list[Backlink]
    outgoing_total: int
    backlinks_total: int
    next_offset: int | None = None
    note: str | None = None
    """Said while the index is being built."""


@tool("links", title="Links of a note")
def get_links(app: App, name: Name, limit: Limit = 50, offset: Offset = 0, vault: VaultName = "") -> Links:
    """Outgoing links and embeds of a note with the file each leads to (no path: unresolved), and its backlinks with
    the line around each.
    """
    place = app.vaults.get(vault)
    entry = place.find(name)
    outgoing = place.graph.outgoing(entry.path)
    backlinks = place.graph.backlinks(entry.path)
    incoming = [reference for reference in backlinks.value if reference.source != entry.path]
    page = incoming[offset : offset + limit]
    total = max(len(outgoing.value), len(incoming))
    return Links(
        path=entry.path,
        outgoing=[_outgoing(reference) for reference in outgoing.value[offset : offset + limit]],
        backlinks=list(map(_backlink, page, place.graph.contexts(page))),
        outgoing_total=len(outgoing.value),
        backlinks_total=len(incoming),
        next_offset=offset + limit if offset + limit < total else None,
        note=outgoing.building or backlinks.building,
    )


def _outgoing(reference: Reference) -> OutgoingLink:
    link = reference.link
    return OutgoingLink(
        link=link.original,
        path=reference.target,
        line=link.line + 1 if link.line is not None and not link.at else None,
        at=link.at or None,
        embed=True if link.kind == "embed" else None,
    )


def _backlink(reference: Reference, context: str) -> Backlink:
    link = reference.link
    return Backlink(
        path=reference.source,
        line=link.line + 1 if link.line is not None and not link.at else None,
        context=context,
        embed=True if link.kind == "embed" else None,
    )
