"""How much of an answer a hit takes (SEARCH-75)."""

from __future__ import annotations

from dataclasses import fields, replace

from obsidian_mcp import json_codec
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.vault_path import VaultPath

from .hits import NOT_SENT, Group, Hit, Snippet

OVERHEAD_CHARACTERS = 240
"""What an answer needs besides its hits and remarks."""


def room_for(characters: int, *remarks: str | None) -> int:
    """Return the characters that an answer has for its hits."""
    return (
        characters
        - OVERHEAD_CHARACTERS
        - sum([len(json_codec.write_compact(remark)) for remark in remarks if remark])
    )


_SENT = {
    kind: tuple(field.name for field in fields(kind) if field.metadata != NOT_SENT)
    for kind in (Group, Hit, Snippet)
}
"""The members of records that are sent."""


def size_in_answer(record: Group | Hit | Snippet) -> int:
    """Return the characters of a record in an answer, with the comma behind it.

    Every member that is sent counts, whatever it is: a new one needs no change here.
    """
    return len(json_codec.write_compact(_sent_members(record))) + 1


def _sent_members(record: Group | Hit | Snippet) -> dict[str, object]:
    members: dict[str, object] = {}
    for name in _SENT[type(record)]:
        value = getattr(record, name)
        if isinstance(value, list):
            members[name] = [
                entry if isinstance(entry, str) else _sent_members(entry) for entry in value
            ]
        elif value is not None:
            members[name] = value
    return members


def fit_hit(hit: Hit, room: int) -> Hit:
    """Return as much of a hit as has room: fewer snippets, then a part of the path."""
    while hit.snippets and size_in_answer(hit) > room:
        hit = replace(hit, snippets=hit.snippets[:-1] or None)
    path, length = hit.path, len(hit.path)
    while size_in_answer(hit) > room and length:
        length = length * 3 // 4
        hit = replace(hit, path=VaultPath(cut_text(path, length)))
    return hit
