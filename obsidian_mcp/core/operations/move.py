"""Plan moves of files and folders with the links that lead to them (semantics 7,
specs/rename.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from obsidian_mcp import errors
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.links import rewrite
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath, extension, is_note, name_key, parent
from obsidian_mcp.core.vault.operation import Move
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    AmbiguousName,
    InvalidArguments,
    InvalidName,
    NoteExists,
    PermissionDenied,
)

from .referrers import rewrite_links
from .stale_names import mentions


def relocate(
    vault: Vault, name: str | FileEntry, to: str, *, update_links: bool, keep_extension: bool = True
) -> PlannedChange:
    """Plan the move of a file or folder, with the links that lead to it.

    With `keep_extension` a file keeps its own, whatever its target has. A folder with files that
    the policy hides stays with those, and all else is moved one by one; so are files where the disk
    has the folder in another normal form, too (MOVE-05). Raises: NoteNotFound, AmbiguousName,
    NoteExists, InvalidName, PermissionDenied.
    """
    source, disk, is_folder = _source(vault, name)
    target, target_disk = _target(
        vault, source, to, keep_extension=keep_extension and not is_folder
    )
    if is_folder:
        if name_key(target + "/").startswith(name_key(source + "/")) and name_key(
            target
        ) != name_key(source):
            raise InvalidName(f"The folder {source!r} cannot be moved into itself.", path=source)
        disks = {entry.path: entry.disk for entry in vault.entries()}
        files = rewrite.folder_moves(disks, source, target)
        _check_apart(files)
        for path in files.values():
            vault.catalog.check_length(path)
        vault.check_target(target_disk, files.values() or [VaultPath(f"{target}/")])
    else:
        files = {source: target}
        vault.check_target(target_disk)
    occupant = vault.entry_at(target)
    occupied = (occupant is not None and occupant.path != source) or (
        vault.files.exists(target_disk) and name_key(source) != name_key(target)
    )
    if occupied or (target == source and disk == target_disk):
        raise NoteExists(
            f"There is already something at {str(target)!r}. Choose another name or folder.",
            path=str(target),
        )
    lost = mentions(vault, files, source if is_folder else None) if update_links else ()
    links = rewrite_links(vault, files, lost) if update_links else PlannedChange()
    moves = [
        Move(disk, target_disk, unlinked=update_links and not (links.rewritten or links.warnings))
    ]
    if is_folder:
        leaving = vault.folders.movable_entries(disk)
        spelled = (disks[path] for path in files)
        apart = [
            *(leaving or ()),
            *(spelled_path for spelled_path in spelled if not spelled_path.startswith(f"{disk}/")),
        ]
        depth = source.count("/") + 1
        moves = [Move(disk, target_disk)] if leaving is None else []
        moves += [Move(inner, f"{target_disk}/{inner.split('/', depth)[depth]}") for inner in apart]
    return replace(links, steps=tuple(moves), source=source, target=target, moved=files)


def _check_apart(files: Mapping[VaultPath, VaultPath]) -> None:
    """Check that no two files of a folder, which the disk may have in two normal forms (MOVE-05),
    get one path. Raises: NoteExists."""
    sources: dict[VaultPath, VaultPath] = {}
    for source, target in files.items():
        if (rival := sources.setdefault(target, source)) != source:
            raise NoteExists(
                f"{to_printable(rival)!r} and {to_printable(source)!r} cannot both be moved to "
                f"{str(target)!r}: the disk has the folder in two normal forms, with a file of "
                "this name in each. Rename or move one of the two first, by its exact path. "
                "Nothing moved.",
                path=str(target),
            )


def gather(
    vault: Vault, entries: Iterable[FileEntry], to: str, *, update_links: bool
) -> PlannedChange:
    """Plan to move files into a folder, which may be new; files that are in it stay.

    Raises: NoteExists, InvalidName, PermissionDenied, InvalidArguments for the name of a note.
    """
    folder = vault.folders.find_folder(to) or VaultPath("")
    if is_note(folder) and vault.catalog.folders.find(folder) is None:
        raise InvalidArguments(
            f"{to!r} is the name of a note, and `names` and `query` move notes into a folder. Give "
            "the folder, or the one note in `name`.",
            argument="to",
        )
    files: dict[VaultPath, VaultPath] = {}
    taken = set()
    moves = []
    for entry in entries:
        name = entry.path.rpartition("/")[2]
        target, disk = _choose_place(
            vault, VaultPath(f"{folder}/{name}" if folder else name), entry.path
        )
        if target == entry.path:
            continue
        vault.check_target(disk)
        if vault.entry_at(target) is not None or vault.files.exists(disk) or target in taken:
            raise NoteExists(
                f"{str(entry.path)!r} cannot go to {str(target)!r}: something of that name is "
                "there. Nothing moved.",
                path=str(target),
            )
        files[entry.path] = target
        taken.add(target)
        moves.append(Move(entry.disk, disk))
    links = (
        rewrite_links(vault, files, mentions(vault, files, None))
        if update_links
        else PlannedChange()
    )
    return replace(links, steps=tuple(moves), moved=files)


def _source(vault: Vault, name: str | FileEntry) -> tuple[VaultPath, str, bool]:
    """Return the path of what is to be moved, its spelling on disk, and whether it is a folder.

    A name that a file and a folder have is ambiguous (MOVE-06), unless it ends with a `/`. Raises:
    NoteNotFound, AmbiguousName.
    """
    if isinstance(name, FileEntry):
        return name.path, name.disk, False
    folder: tuple[VaultPath, str, bool] | None = None
    with suppress(PermissionDenied, InvalidName):
        path, disk = vault.folders.spell_folder(vault.folders.find_folder(name) or VaultPath(""))
        if path and vault.folders.folders_below(disk) is not None:
            folder = VaultPath(path), disk, True
    if folder is not None and name.strip().endswith("/"):
        return folder
    try:
        entry = vault.find(name)
    except (errors.NoteNotFound, PermissionDenied):
        if folder is None:
            raise
        return folder
    if folder is not None:
        candidates = [str(entry.path), f"{folder[0]}/"]
        raise AmbiguousName(
            f"{name!r} is a file and a folder. Give {candidates[0]!r} or {candidates[1]!r}.",
            candidates=candidates,
        )
    return entry.path, entry.disk, False


def _target(
    vault: Vault, source: VaultPath, to: str, *, keep_extension: bool
) -> tuple[VaultPath, str]:
    """Return where something is moved: its path, and its spelling on disk (MOVE-01).

    What is written means a new path, a place in an existing folder, or a new name beside the old
    one. Raises: InvalidName.
    """
    written = to.strip()
    into = written.endswith("/")
    if written.strip("/") == "":
        if not into:
            raise InvalidName(
                "The target is empty. Give a new path, a folder, or a new name.", to=to
            )
        return _choose_place(vault, VaultPath(source.rpartition("/")[2]), source)
    path = vault.folders.find_folder(to) or VaultPath("")
    spelled, disk = vault.folders.spell_folder(path)
    if into or (
        vault.folders.folders_below(disk) is not None and name_key(path) != name_key(source)
    ):
        return _choose_place(vault, VaultPath(f"{spelled}/{source.rpartition('/')[2]}"), source)
    if keep_extension and extension(path) != extension(source):
        path = VaultPath(path + (extension(source) or ""))
    if "/" not in written and parent(source):
        path = VaultPath(f"{parent(source)}/{path}")
    return _choose_place(vault, path, source)


def _choose_place(vault: Vault, path: VaultPath, source: VaultPath) -> tuple[VaultPath, str]:
    """Return where `source` goes, with its folders as they are spelled. Raises: InvalidName for a
    new name."""
    vault.catalog.check_creatable(path, source)
    return vault.catalog.spell_path(path)
