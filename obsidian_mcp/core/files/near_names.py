"""The files whose names are near one that no file has, and the error that offers them.

It is loaded when the first name is not found: comparing texts is of no use to a name that is right.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.nearness import MOST_SEARCHED, nearest_texts
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, name_key
from obsidian_mcp.errors import AppError, NoteNotFound

from .catalog import Catalog

NEAR_NAMES_SHOWN = 5


def not_found(catalog: Catalog, raw: str, notice: str | None = None) -> NoteNotFound:
    """Return the error for a name that no file has, with the nearest names; `notice` says why it
    may yet be an alias."""
    path = catalog.parse(raw)
    paths = list(map(str, near_files(catalog, path)))
    note, _, part = raw.partition("#")
    whole = None
    with suppress(AppError):
        whole = catalog.find(note) if part else None
    if whole is not None:
        advice = (
            f"{str(whole.path)!r} is one; give {part!r} in the argument for a section or heading."
        )
    elif catalog.folders.find(path) is not None:
        advice = "That is a folder; obsidian_list_files shows what is in it."
    elif paths:
        advice = f"Did you mean {' or '.join(map(repr, paths))}?"
    else:
        advice = "Look with obsidian_search or obsidian_list_files."
    if notice:
        advice += f" It may be an alias. {notice}"
    return NoteNotFound(f"There is no note {raw!r} in the vault. {advice}", name=raw, near=paths)


def find_typed(catalog: Catalog, path: str) -> VaultPath | None:
    """Return the one file whose path or name looks as it is typed, in whichever characters it is
    written (NAME-18)."""
    key = typed_key(path.removesuffix(NOTE_EXTENSION))
    alike = [
        candidate
        for name, paths in islice(catalog.paths_by_key().items(), MOST_SEARCHED)
        if not name.isascii() or not path.isascii()
        if typed_key(name.removesuffix(NOTE_EXTENSION)) == key.rpartition("/")[2]
        for candidate in paths
        if f"/{typed_key(candidate.removesuffix(NOTE_EXTENSION))}".endswith(f"/{key}")
    ]
    return alike[0] if len(alike) == 1 else None


def near_files(catalog: Catalog, path: str) -> list[VaultPath]:
    """Return files whose names are near that of a path: those with the name in theirs first,
    then similar ones."""
    key = name_key(vault_path.basename(path))
    names: dict[str, list[VaultPath]] = {}
    for name, paths in islice(catalog.paths_by_key().items(), MOST_SEARCHED):
        names.setdefault(name.removesuffix(NOTE_EXTENSION), []).extend(paths)
    alike = [name for name in names if key in name or (len(name) > 3 and name in key)]
    alike = sorted(alike, key=len)[:NEAR_NAMES_SHOWN]
    alike += [name for name in nearest_texts(key, names, NEAR_NAMES_SHOWN) if name not in alike]
    return [paths for name in alike for paths in names[name]][:NEAR_NAMES_SHOWN]
