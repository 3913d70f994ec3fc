"""The changes that were made, for those who may see them, and who made them (SAFE-20)."""

from __future__ import annotations

from collections.abc import Iterator

from obsidian_mcp.core.files.ports import Recorded
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import ChangeNotFound

PAGE = 1_000
"""Changes that are read at once where all of them are looked through."""


def list_changes(
    vault: Vault,
    disk: str | None = None,
    limit: int = 50,
    offset: int = 0,
    *,
    anywhere: bool = False,
) -> tuple[list[Recorded], int]:
    """Return a page of changes, the latest first, and how many there are.

    A change that touched a file which the policy hides is not one of them (POL-01).
    """
    if not vault.policy.restricts_reading:
        return vault.journal.changes(disk, limit, offset, anywhere=anywhere)
    visible_changes = list(_visible_changes(vault, disk, anywhere=anywhere))
    return visible_changes[offset : offset + limit], len(visible_changes)


def _visible_changes(
    vault: Vault, disk: str | None = None, *, anywhere: bool = False
) -> Iterator[Recorded]:
    """Yield the changes that the policy does not hide, the latest first. Raises:
    OperationTimeout."""
    offset = 0
    while page := vault.journal.changes(disk, PAGE, offset, anywhere=anywhere)[0]:
        checkpoint()
        yield from (recorded for recorded in page if _is_visible(vault, recorded))
        offset += len(page)


def visible_numbers(vault: Vault) -> frozenset[int]:
    """Return the numbers of all changes that the policy does not hide. Raises:
    OperationTimeout."""
    return frozenset(recorded.number for recorded in _visible_changes(vault))


def recall(vault: Vault, number: int) -> Recorded:
    """Return a change with its bytes. Raises: ChangeNotFound."""
    recorded = vault.journal.change(number)
    if recorded is None or not _is_visible(vault, recorded):
        raise ChangeNotFound(
            f"The journal has no change {number}. obsidian_history lists the changes there are.",
            change=number,
        )
    return recorded


def _is_visible(vault: Vault, recorded: Recorded) -> bool:
    """Whether the policy shows every file that a change touched."""
    touched = {
        disk
        for step in recorded.steps
        if step.kind != "folder"
        for disk in (step.disk, step.target)
        if disk
    }
    return all(vault.policy.is_visible(normal_form(disk)) for disk in touched)


def latest_change(vault: Vault) -> Recorded | None:
    """Return the latest change by anybody that is not undone and is no undo itself; None where
    there is none."""
    return next(filter(_can_be_undone, _visible_changes(vault)), None)


def _can_be_undone(recorded: Recorded) -> bool:
    return recorded.undoes is None and recorded.undone_by is None


def latest_own_change(vault: Vault) -> Recorded:
    """Return the caller's own latest change that is not undone and is no undo itself (SAFE-20).

    Raises: ChangeNotFound, which names the latest change of somebody else where there is one.
    """
    own = vault.journal.author()
    foreign: Recorded | None = None
    for recorded in _visible_changes(vault):
        if _can_be_undone(recorded):
            if recorded.author.is_same(own):
                return recall(vault, recorded.number)
            foreign = foreign or recorded
    if foreign is None:
        raise ChangeNotFound("There is no change to undo.", change=None)
    raise ChangeNotFound(
        "This client has made no change that could be undone since it was started. The latest "
        f"change is number {foreign.number} ({foreign.tool}) by {describe_author(vault, foreign)}; "
        "give its number to take it back.",
        change=None,
        latest=foreign.number,
    )


def describe_author(vault: Vault, recorded: Recorded) -> str:
    """Return who made a change, in words for an answer."""
    own, author = vault.journal.author(), recorded.author
    if author == own:
        return "this client"
    if author.client and author.client == own.client:
        return f"{author.client} (another session)"
    return author.client or "an unknown client"
