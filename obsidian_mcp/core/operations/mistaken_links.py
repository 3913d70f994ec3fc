"""Links that a merge would lead to the heading or block of the other note."""

from __future__ import annotations

from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.note.subpath import resolve_subpath
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import (
    VaultPath,
)
from obsidian_mcp.core.vault.vault import Vault

from .referrers import find_linking_files, list_places, referrers_of


def warn_of_mistaken_links(
    vault: Vault,
    source: VaultPath,
    target: VaultPath,
    *,
    merged: str,
    moved: Span,
    part: Span | None = None,
) -> list[str]:
    """Return a warning with the links to one note that would lead to a heading or block of the
    other, after `moved` came from the note `source`, or its `part`, into `target`, now `merged`."""
    contents, referrers = referrers_of(
        vault, {source, target, *find_linking_files(vault, [source, target])}
    )
    before = {
        path: parser.parse(contents[path].text.body)
        for path in (source, target)
        if path in contents
    }
    after = parser.parse(merged)
    mistaken = []
    for referrer in referrers:
        links = [
            (place.link.path, place.link.subpath, place.link.original) for place in referrer.places
        ]
        links += [
            (card.path.value, card.subpath.value, "a card")
            for card in referrer.card_paths
            if card.subpath
        ]
        for path, subpath, written in links:
            goal = resolve(vault.catalog, referrer.path, path) if subpath else None
            then = resolve_subpath(before[goal], subpath) if goal in before else None
            if then is None or (
                goal == source and part and not part.start <= then.span.start < part.end
            ):
                continue
            now = resolve_subpath(after, subpath)
            while now is None and (
                subpath := subpath.lstrip("#").partition("#")[2]
            ):  # headings above a part stay
                now = resolve_subpath(after, f"#{subpath}")
            if now is not None and (moved.start <= now.span.start < moved.end) != (goal == source):
                mistaken.append(f"{referrer.path}: {written}")
    reason = (
        "Both notes have a heading or block of the same name, so these lead to the one of the "
        "other note now"
    )
    return [f"{reason}: {list_places(mistaken)}."] if mistaken else []
