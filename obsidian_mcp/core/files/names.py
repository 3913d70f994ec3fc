"""Names that no file has, and where new files go (specs/names.md)."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice

from obsidian_mcp.core.text.nearness import MOST_SEARCHED, nearest
from obsidian_mcp.core.text.vault_path import (
    NOTE_EXTENSION,
    TEXT_EXTENSIONS,
    VaultPath,
    basename,
    check_creatable,
    extension,
    name_key,
)
from obsidian_mcp.errors import AppError, NoteNotFound

from .catalog import Catalog

NEAR_NAMES_SHOWN = 5
_LINK = re.compile(r"\s*!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]\s*")


def link_target(raw: str) -> str | None:
    """Return what a name written as a link names: `[[Alpha|the plan]]` is Alpha (NAME-12). None for any other name."""
    link = _LINK.fullmatch(raw)
    return link[1] if link else None


def not_found(catalog: Catalog, raw: str, notice: str | None = None) -> NoteNotFound:
    """The error for a name that no file has, with the nearest names; `notice` says why it may yet be an alias."""
    path = catalog.parse(raw)
    paths = list(map(str, near(catalog, path)))
    note, _, part = raw.partition("#")
    whole = None
    with suppress(AppError):
        whole = catalog.find(note) if part else None
    if whole is not None:
        advice = f"{str(whole.path)!r} is one; give {part!r} in the argument for a section or heading."
    elif name_key(path) in catalog.folders():
        advice = "That is a folder; obsidian_list_files shows what is in it."
    elif paths:
        advice = f"Did you mean {' or '.join(repr(near_path) for near_path in paths)}?"
    else:
        advice = "Look with obsidian_search or obsidian_list_files."
    if notice:
        advice += f" It may be an alias. {notice}"
    return NoteNotFound(f"There is no note {raw!r} in the vault. {advice}", name=raw, near=paths)


def near(catalog: Catalog, path: str) -> list[VaultPath]:
    """Return files whose names are near that of a path: those with the name in theirs first, then similar ones."""
    key = name_key(basename(path))
    names: dict[str, list[VaultPath]] = {}
    for name, found in islice(catalog.by_name().items(), MOST_SEARCHED):
        names.setdefault(name.removesuffix(NOTE_EXTENSION), []).extend(found)
    alike = [name for name in names if key in name or (len(name) > 3 and name in key)]
    alike = sorted(alike, key=len)[:NEAR_NAMES_SHOWN]
    alike += [name for name in nearest(key, names, NEAR_NAMES_SHOWN) if name not in alike]
    return [found for name in alike for found in names[name]][:NEAR_NAMES_SHOWN]


def new_path(catalog: Catalog, raw: str) -> tuple[VaultPath, str]:
    """The path of a new file of this name, and its spelling for the disk: with `.md` unless it ends as a text file that
    the app makes, in folders as they are spelled (NAME-07, NAME-08). Raises: InvalidName, PermissionDenied."""
    path = catalog.parse(link_target(raw) or raw)
    if extension(path) not in TEXT_EXTENSIONS:
        path = VaultPath(path + NOTE_EXTENSION)
    check_creatable(path, catalog.known_folder(path))
    return spelled(catalog, path)


def spelled(catalog: Catalog, path: VaultPath) -> tuple[VaultPath, str]:
    """A path with its folders spelled as they exist: in the vault, and on disk."""
    folder, _, name = path.rpartition("/")
    if not folder:
        return path, path
    vault_folder, disk_folder = existing_folder(catalog, folder)
    return VaultPath(f"{vault_folder}/{name}"), f"{disk_folder}/{name}"


def existing_folder(catalog: Catalog, folder: str) -> tuple[str, str]:
    """The spelling that the longest known part of `folder` has, in the vault and on disk."""
    known = catalog.known_folder(folder)
    spelled = catalog.folders()[name_key(known)] if known else ("", "")
    return spelled[0] + folder[len(known) :], spelled[1] + folder[len(known) :]
