"""Bases that name a file or folder in their expressions: a move does not change them (BASE-91)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note.links import split_subpath, split_wikilink, wikilink
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note, name_key
from obsidian_mcp.errors import AppError

if TYPE_CHECKING:
    from .vault import Vault

SHOWN = 10
"""Places that a warning lists."""


def mentions(vault: Vault, files: Mapping[VaultPath, VaultPath], folder: VaultPath | None) -> list[str]:
    """A warning with the places in bases that will not find a file, or a folder, after its move; else nothing.

    `files` are the moved files with their new paths, `folder` the moved folder.
    """
    places = []
    for entry in vault.entries():
        if extension(entry.path) != ".base":
            continue
        try:
            text = vault.read_text(entry).text.body
        except AppError:  # gone, or not downloaded
            continue
        for line, literal in _literals(text):
            if _is_lost(vault, entry.path, literal, files, folder):
                places.append(f"{entry.path} line {line} ({literal!r})")
    if not places:
        return []
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return [f"Bases are not changed by a move, and these name what moves: {'; '.join(places[:SHOWN])}{more}."]


def _literals(text: str) -> Iterator[tuple[int, str]]:
    """The texts in the expressions of a base, each with its line."""
    from obsidian_mcp.core.bases.validation import text_literals  # loaded when it is needed

    return text_literals(text)


def _is_lost(
    vault: Vault, base: VaultPath, literal: str, files: Mapping[VaultPath, VaultPath], folder: VaultPath | None
) -> bool:
    """Whether a text that names a moved file or folder does so no more."""
    if folder is not None and name_key(literal.strip("/") + "/").startswith(name_key(folder + "/")):
        return True
    found = wikilink(literal)
    path = split_subpath(split_wikilink(found[1])[0] if found and found.end() == len(literal) else literal)[0].strip()
    target = resolve(vault.catalog, base, path) if path else None
    if target is None or target not in files:
        return False
    new = files[target].rpartition("/")[2]
    names = {name_key(new), name_key(new[: -len(".md")])} if is_note(new) else {name_key(new)}
    return name_key(path) not in names
