"""How much of an answer a hit takes (SEARCH-75)."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from obsidian_mcp.core.text.vault_path import VaultPath

from .hits import NOT_SENT, Hit, Snippet

if TYPE_CHECKING:
    pass


OVERHEAD_CHARACTERS = 240
"""What an answer needs besides its hits and remarks."""


as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def room_for(characters: int, *remarks: str | None) -> int:
    """Characters that an answer has for its hits."""
    return (
        characters
        - OVERHEAD_CHARACTERS
        - sum([len(as_json(remark)) for remark in remarks if remark])
    )


_SENT = {
    kind: tuple(field.name for field in fields(kind) if field.metadata != NOT_SENT)
    for kind in (Hit, Snippet)
}
"""The members of records that are sent."""


def hit_size(hit: Hit) -> int:
    """Return the characters of a hit in an answer, with the comma behind it."""
    return len(as_json(_sent(hit))) + 1


def _sent(record: Hit | Snippet) -> dict[str, object]:
    """Return the members of a record that are sent: whatever it has, but None."""
    members: dict[str, object] = {}
    for name in _SENT[type(record)]:
        value = getattr(record, name)
        if name == "snippets" and value is not None:
            members[name] = [_sent(snippet) for snippet in value]
        elif value is not None:
            members[name] = value
    return members


def fitted(hit: Hit, room: int) -> Hit:
    """As much of a hit as has room: fewer snippets, then a part of the path."""
    while hit.snippets and hit_size(hit) > room:
        hit = replace(hit, snippets=hit.snippets[:-1] or None)
    path = hit.path
    while hit_size(hit) > room and path:
        path = VaultPath(path[: len(path) * 3 // 4])
        hit = replace(hit, path=VaultPath(f"{path}…"))
    return hit
