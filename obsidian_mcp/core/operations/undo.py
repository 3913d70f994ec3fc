"""Undo a change: all its files or none (SAFE-04 to SAFE-06).

What other programs and later changes made of the files since is never lost silently: the caller is
shown both differences, and chooses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from operator import attrgetter
from typing import Literal

from obsidian_mcp.core.files.ports import Recorded, Step
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.diff import merge, short_diff
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.core.vault.changes import Done
from obsidian_mcp.core.vault.moves import Moves
from obsidian_mcp.core.vault.operation import Create, Move, Operation, Remove, RemoveFolder, Write
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, ChangeNotFound, NoteNotFound, UndoConflict

Wins = Literal["neither", "undo", "current", "both"]
"""For a file that has changed since: refuse, restore the old text, leave the file, or merge."""

TOOL = "undo"
PAGE = 1_000
"""Changes that are read at once where all of them are looked through."""


def history(
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


def last_change(vault: Vault) -> Recorded:
    """Return the caller's own latest change that is not undone and is no undo itself (SAFE-20).

    Raises: ChangeNotFound, which names the latest change of somebody else where there is one.
    """
    own = vault.journal.author()
    foreign: Recorded | None = None
    for recorded in _visible_changes(vault):
        if recorded.undoes is None and recorded.undone_by is None:
            if recorded.author.is_same(own):
                return recall(vault, recorded.number)
            foreign = foreign or recorded
    if foreign is None:
        raise ChangeNotFound("There is no change to undo.", change=None)
    raise ChangeNotFound(
        "This client has made no change that could be undone since it was started. The latest "
        "change is number "
        f"{foreign.number} ({foreign.tool}) by {describe_author(vault, foreign)}; give its number "
        "to take it back.",
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


def undo(
    vault: Vault, number: int | None, wins: Wins = "neither"
) -> tuple[Recorded, Done, list[Step]]:
    """Take back a change; without a number the caller's own last one.

    Return it, the change that undid it, and the steps whose files were left as they are. Where no
    file needs a change, an empty change is noted, so that the next undo takes the one before.
    Raises: ChangeNotFound; UndoConflict with a three-way difference, and nothing is changed.
    """
    with vault.lock_changes():
        recorded = last_change(vault) if number is None else recall(vault, number)
        if recorded.undone_by is not None:
            raise UndoConflict(
                f"Change {recorded.number} has been undone already, by change "
                f"{recorded.undone_by}. "
                f"Undo change {recorded.undone_by} to have it back.",
                change=recorded.number,
                undone_by=recorded.undone_by,
            )
        change, untouched = plan(vault, recorded, wins)
        return recorded, vault.commit(TOOL, change.operations, change.undoes), untouched


def plan(vault: Vault, recorded: Recorded, wins: Wins) -> tuple[PlannedChange, list[Step]]:
    """Return the change that takes another one back, and the steps that are left as they are.

    The steps are taken back from the last one on, because a later one may have moved what an
    earlier one wrote. Steps are left with `wins` "current" alone. Raises: UndoConflict.
    """
    untouched: list[Step] = []
    free: set[str] = set()
    """Places that are taken now, and not any more once the operations planned so far are made."""

    moves = Moves(
        Move(step.disk, step.target) for step in recorded.steps if step.target is not None
    )
    moves_before = [*accumulate((step.target is not None for step in recorded.steps), initial=0)][
        :-1
    ]
    """How many moves were made before each step."""

    def restore_steps(kind: str) -> Iterator[Operation]:
        for step, earlier in zip(reversed(recorded.steps), reversed(moves_before), strict=True):
            if step.kind != kind:
                continue
            checkpoint()
            try:  # what was removed comes back after the moves
                place = step.disk if kind == "remove" else moves.place_after(step.disk, earlier)
                operation = _content(
                    vault, step, place, wins, is_free=kind == "remove" and place in free
                )
                if operation is None and kind == "create" and wins != "undo":
                    _check_gone(vault, recorded, step, place)
            except UndoConflict:
                if wins != "current":
                    raise
                untouched.append(step)
                continue
            if operation is not None:
                yield operation

    removals = list(restore_steps("create"))
    free |= {operation.disk for operation in removals if isinstance(operation, Remove)}
    places = _PlacesBack(vault, free)
    for step in reversed(recorded.steps):
        if step.kind == "folder":
            places.remove_folder(step.disk)
        elif step.target is not None and not places.move(step.target, step.disk):
            if wins != "current":
                raise _not_back(step.disk, step.target)
            untouched.append(step)
    if len(moves) and not len(places.moves):  # no old name is back, so the links stay too
        untouched += [step for step in reversed(recorded.steps) if step.kind == "write"]
    else:
        removals = [*restore_steps("write"), *removals]
    steps = (*removals, *places.operations, *restore_steps("remove"))
    return PlannedChange(steps=steps, undoes=recorded.number), untouched


class _PlacesBack:
    """The places of files and folders while moves are planned back, the last one first."""

    def __init__(self, vault: Vault, free: set[str]) -> None:
        """`free`: places that are taken now, and not any more when the moves are made."""
        self._files = vault.files
        self._free = free
        self._leaving: dict[str, str] = {}
        """Folders that the change has made and that are to go: where each of them is now."""
        self.operations: list[Operation] = []
        self.moves = Moves()

    def move(self, disk: str, target: str) -> bool:
        """Plan to move a file or folder back; False where it is not there, or its old place is
        taken."""
        is_free = (
            not self._is_there(target)
            or target in self._free
            or name_key(disk) == name_key(target)
            or self._will_be_gone(target)
        )
        if not is_free or not self._is_there(disk):
            return False
        self.operations.append(Move(disk, target))
        self.moves.append(Move(disk, target))
        self._free.add(disk)
        self._free.discard(target)
        self._leaving.pop(target, None)
        return True

    def remove_folder(self, disk: str) -> None:
        """Plan to remove a folder that the change has made.

        Its place is free afterwards if nothing but files of the change was in it.
        """
        checkpoint()
        self.operations.append(RemoveFolder(disk))
        present = self.moves.place_before(disk)
        if present is not None:
            self._leaving[disk] = present

    def _will_be_gone(self, disk: str) -> bool:
        """Whether a folder that the change has made holds nothing that stays.

        Its files are listed only where something is to come to its place: of folders nested deeply,
        listing each one would take a time that grows with the square of their number.
        """
        present = self._leaving.get(disk)
        return present is not None and all(
            file.disk in self._free for file in self._files.scan(present)
        )

    def _is_there(self, disk: str) -> bool:
        """Whether something is at a place when the moves planned so far are made."""
        present = self.moves.place_before(disk)
        return present is not None and self._files.exists(present)


def _not_back(disk: str, target: str) -> UndoConflict:
    """Return the error for a file that cannot be moved back to its old name."""
    return UndoConflict(
        f"{normal_form(target)!r} cannot be moved back to {normal_form(disk)!r}: it has been "
        "moved or deleted "
        "since, or another file has its old name. Undo that, or move the file in the way, and "
        "try again.",
        path=normal_form(target),
    )


def _content(vault: Vault, step: Step, disk: str, wins: Wins, *, is_free: bool) -> Operation | None:
    """Return the operation that restores one file; None if it is unchanged. Raises:
    UndoConflict."""
    now = None
    if not is_free:
        with suppress(NoteNotFound):
            now = vault.files.read_file(disk, sys.maxsize)
    if step.kind == "remove" and step.before is None:
        raise UndoConflict(
            f"{normal_form(disk)!r} was too large for the journal when it was deleted. It is in "
            "the trash: restore it "
            "from there.",
            path=normal_form(disk),
        )
    if now == step.before:
        return None
    restored = step.before
    if now != step.after:
        if wins == "both" and now is not None:
            merged = merge(_body(step.after), _body(step.before), _body(now))
            if merged is None:
                raise _conflict(disk, step, now, unmerged=True)
            restored = Text(merged, Text.decode(now).bom).encode()
        elif wins != "undo":
            raise _conflict(disk, step, now)
    if restored is None:
        return Remove(disk, permanent=vault.policy.permanent_delete, before=now)
    return Create(disk, restored) if now is None else Write(disk, now, restored)


def _check_gone(vault: Vault, recorded: Recorded, step: Step, disk: str) -> None:
    """Check that a file which is to be removed was not moved instead.

    It would stay under its new name, and the undo be called done. Raises: UndoConflict with its
    place, but not with one that the policy hides (POL-01).
    """
    if vault.files.exists(disk):
        return
    later = sorted(vault.journal.list_since(recorded.number), key=attrgetter("number"))
    moves = Moves(
        Move(moved_step.disk, moved_step.target)
        for change in later
        for moved_step in change.steps
        if moved_step.target is not None
    )
    place = moves.place_after(disk)
    if place == disk or not vault.files.exists(place):
        paths = vault.catalog.find_by_name(normal_form(disk.rpartition("/")[2]))
        namesakes = (entry.disk for path in paths if (entry := vault.catalog.get(path)) is not None)
        place = next(
            (namesake for namesake in namesakes if _holds(vault, namesake, step.after)), ""
        )
    if place and not vault.policy.is_visible(normal_form(place)):
        raise _conflict(disk, step, None)
    if place:
        raise UndoConflict(
            f"{normal_form(disk)!r} has been moved since, to {normal_form(place)!r}, so nothing "
            "was undone. Move it "
            "back or delete it there, or choose with wins: 'current' leaves it.",
            path=normal_form(place),
        )


def _holds(vault: Vault, disk: str, data: bytes | None) -> bool:
    with suppress(AppError):
        return vault.files.read_file(disk) == data
    return False


def _body(data: bytes | None) -> str:
    return "" if data is None else Text.decode(data).body


def _conflict(disk: str, step: Step, now: bytes | None, *, unmerged: bool = False) -> UndoConflict:
    """Return the error for a file that is not as the change left it, with both differences."""
    path = normal_form(disk)
    if now is None:
        return UndoConflict(
            f"{path!r} has been moved or deleted since, so nothing was undone. Undo that first "
            "(obsidian_history shows "
            "it), or choose with wins: 'undo' brings the old text back under the old name, "
            "'current' leaves it.",
            path=path,
        )
    return UndoConflict(
        f"{path!r} has changed since, so nothing was undone. The change did this:\n"
        f"{short_diff(path, _body(step.before), _body(step.after))}Since then:\n"
        f"{short_diff(path, _body(step.after), _body(now))}"
        + ("Both changed the same lines, which cannot be merged. " if unmerged else "")
        + "Choose with wins: 'undo' brings the old text back, 'current' leaves this file"
        + (". Or change the note with obsidian_edit_note." if unmerged else ", 'both' merges."),
        path=path,
    )
