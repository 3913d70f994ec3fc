"""What names a file by its path and stays as it is when the file goes: bases, bookmarks (BOOK-5).

A change of such a file warns of them, because nobody rewrites them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import suppress

from obsidian_mcp import errors
from obsidian_mcp.core.files.settings import BOOKMARKS_FILE
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note, name_key
from obsidian_mcp.core.text.wikilink import read_whole_wikilink, split_subpath
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    InvalidArguments,
)

from .referrers import list_places


def mentions(
    vault: Vault, files: Mapping[VaultPath, VaultPath], folder: VaultPath | None
) -> list[str]:
    """Return warnings with what names moved files by their old path, and is not rewritten.

    These are places in bases, and bookmarks. `files` are the moved files with their new paths,
    `folder` the folder that moved, if one did.
    """
    places = []
    for entry in vault.entries():
        if extension(entry.path) != ".base":
            continue
        from obsidian_mcp.core.bases.validation import find_texts  # loaded when it is needed

        try:
            text = vault.read_text(entry).text.body
        except errors.AppError:  # gone, or not downloaded
            continue
        for line, literal in find_texts(text):
            if _is_lost(vault, entry.path, literal, files, folder):
                places.append(f"{entry.path} line {line} ({literal!r})")
    marked = find_bookmarks(vault, files, folder)
    return [
        f"{kind} are not changed by a move, and these name what moves: {list_places(named)}."
        for kind, named in {"Bases": places, "Bookmarks": marked}.items()
        if named
    ]


def lost_bookmarks(vault: Vault, files: Container[VaultPath]) -> list[str]:
    """Return a warning with the bookmarks of files that are removed; nothing where there are none
    (BOOK-5)."""
    bookmarked = find_bookmarks(vault, files, None)
    return (
        [f"Bookmarks stay as they are, and these name what is removed: {list_places(bookmarked)}."]
        if bookmarked
        else []
    )


def find_bookmarks(
    vault: Vault, files: Container[VaultPath], folder: VaultPath | None
) -> list[str]:
    """Return the targets of the bookmarks of these files, and of a folder and what is in it."""
    if (data := vault.files.config(BOOKMARKS_FILE)) is not None:
        from obsidian_mcp.core.files import bookmarks  # many vaults have none

        with suppress(InvalidArguments):  # a broken file, which the app does not read either
            return [
                bookmark.target
                for bookmark in bookmarks.read_visible_bookmarks(data, vault.policy)
                if bookmark.is_of(files, folder)
            ]
    return []


def _is_lost(
    vault: Vault,
    base: VaultPath,
    literal: str,
    files: Mapping[VaultPath, VaultPath],
    folder: VaultPath | None,
) -> bool:
    """Return whether a text in a base that names a moved file or folder does so no more."""
    if folder is not None and name_key(literal.strip("/") + "/").startswith(name_key(folder + "/")):
        return True
    link = read_whole_wikilink(literal)
    path = (split_subpath(literal)[0] if link is None or link.is_embed else link.path).strip()
    target = resolve(vault.catalog, base, path) if path else None
    if target is None or target not in files:
        return False
    new = files[target].rpartition("/")[2]
    names = {name_key(new), name_key(new[: -len(".md")])} if is_note(new) else {name_key(new)}
    return name_key(path) not in names
