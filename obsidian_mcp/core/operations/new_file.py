"""A new file, and the links that would lead to it, no longer to another file of its name
(RENAME-04)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from obsidian_mcp import errors
from obsidian_mcp.core.files.file_entry import FileContent
from obsidian_mcp.core.links import rewrite
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.core.vault.operation import Create, Operation
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import Rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    PermissionDenied,
)

from .referrers import apply_file_edits, find_linking_files, list_places, referrers_of, unread_links

MOST_REFERRERS = 3_000
"""Files with links to a name that are read when another file gets it: about three seconds."""


def plan_displacement(vault: Vault, created: VaultPath) -> PlannedChange:
    """Plan to rewrite the links that would lead to a new file from now on (RENAME-04).

    Until now they led to another file of its name; they get its path and go on leading there.
    """
    contents, planned, unseen = displaced_links(vault, created)
    rewritten_links = apply_file_edits(contents, planned)
    changed, refused = split_allowed(vault, rewritten_links.rewritten)
    warnings = [*unseen, *rewritten_links.warnings, *unread_links(vault)]
    if changed:
        paths = [file.path for file in changed]
        warnings.append(
            f"Links to the other file of this name have its path now, in {list_places(paths)}."
        )
    if refused:
        warnings.append(
            f"Links lead to the new note now in {list_places(refused)}, which the user's policy "
            "keeps as they are."
        )
    return PlannedChange(tuple(changed), warnings=tuple(warnings))


def create_file(
    vault: Vault, tool: str, path: VaultPath, disk: str, data: bytes
) -> tuple[str, ...]:
    """Make a file, and keep the links that lead to another file of its name.

    Return warnings. Raises: what `Vault.commit` raises.
    """
    with vault.lock_changes():
        operations: list[Operation] = [Create(disk, data)]
        warnings: tuple[str, ...] = ()
        if vault.catalog.find_by_name(path.rpartition("/")[2]):
            links = plan_displacement(vault, path)
            operations += links.operations
            warnings = links.warnings
        vault.commit(tool, operations)
        return warnings


def split_allowed(
    vault: Vault, files: Iterable[Rewritten]
) -> tuple[list[Rewritten], list[VaultPath]]:
    """Return the files that the policy allows to be written, and the paths of the others."""
    changed, refused = [], []
    for file in files:
        try:
            vault.policy.check_write(file.path, len(file.after.data))
        except (PermissionDenied, errors.StorageFailed):
            refused.append(file.path)
        else:
            changed.append(file)
    return changed, refused


def displaced_links(
    vault: Vault, created: VaultPath
) -> tuple[Mapping[VaultPath, FileContent], Iterable[rewrite.FileEdits], tuple[str, ...]]:
    """Return the files with such links, their edits, and a warning where nobody looked for them.

    Nobody waits for the index, or for long, while a file is made; see `plan_displacement`.
    """
    reason = ""  # Nobody waits for the index, or for long, while a file is made.
    if vault.indexer.pending.is_behind:
        reason = "the index does not know all files yet"
    elif len(referring := find_linking_files(vault, [created])) > MOST_REFERRERS:
        reason = f"{len(referring)} files have links to this name, too many to look at"
    if reason:
        return (
            {},
            (),
            (f"Links to other files of this name may lead to the new one now: {reason}.",),
        )
    contents, referrers = referrers_of(vault, referring)
    return (
        contents,
        rewrite.plan(vault.catalog, {}, referrers, settings=vault.settings, created=[created]),
        (),
    )
