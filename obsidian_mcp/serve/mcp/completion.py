"""Completes half-typed names of notes, folders, tags and vaults (specs/prompts.md PROMPT-04)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.text.vault_path import basename, is_note, name_key
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError

MAX_VALUES = 100
"""The most values that the protocol allows in one answer."""

_BEGINS, _WORD_BEGINS, _CONTAINS = range(3)
"""How a name has what is typed, the best first."""

Completes = Literal["note", "file", "folder", "tag", "vault", ""]
"""What an argument names; "" for one that is not completed."""


def complete(app: App, kind: Completes, typed: str, vault: str = "") -> tuple[list[str], int]:
    """Return the best names, and how many there are: those that begin with `typed`, then those with
    a word that does, then those that contain it; none for an unknown vault."""
    try:
        if kind == "vault":
            return _rank_names(((name, name) for name in app.vaults.names()), typed)
        opened = app.vaults.get(vault)
    except AppError:
        return [], 0
    match kind:
        case "note":
            return _notes(opened, typed)
        case "file":
            return _rank_names(
                ((str(entry.path), basename(entry.path)) for entry in opened.entries()), typed
            )
        case "folder":
            with opened.lock:
                folders = list(opened.catalog.folders.paths)
            return _rank_names(((path, path.rpartition("/")[2]) for path in folders), typed)
        case "tag":
            tags = [use.tag for use in opened.graph.tags().value]
            return _rank_names(((tag, tag) for tag in tags), typed.removeprefix("#"))
        case _:
            return [], 0


def _notes(vault: Vault, typed: str) -> tuple[list[str], int]:
    """Complete notes by their shortest unique name: the bare name, else the path."""
    hidden = vault.hides()
    notes = [
        str(entry.path)
        for entry in vault.entries()
        if is_note(entry.path) and not hidden(entry.path)
    ]
    with vault.lock:
        has_name_alone = {
            path: len(vault.catalog.find_by_name(path.rpartition("/")[2])) == 1 for path in notes
        }
    paths = (
        (
            basename(path) if has_name_alone[path] and "/" not in typed else path[: -len(".md")],
            basename(path),
        )
        for path in notes
    )
    return _rank_names(paths, typed)


def _rank_names(names: Iterable[tuple[str, str]], typed: str) -> tuple[list[str], int]:
    """Rank names; each comes with the part that people begin to type."""
    key = name_key(typed.strip())
    ranked = []
    for name, short in names:
        whole, head = name_key(name), name_key(short)
        if key not in whole:
            continue
        if head.startswith(key) or whole.startswith(key):
            rank = _BEGINS
        elif f" {key}" in whole:
            rank = _WORD_BEGINS
        else:
            rank = _CONTAINS
        ranked.append((rank, len(name), name))
    return [name for _, _, name in heapq.nsmallest(MAX_VALUES, ranked)], len(ranked)
