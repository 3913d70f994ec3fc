"""Undo a change: all its files or none (SAFE-04 to SAFE-06), or a part of it (SAFE-31).

What other programs and later changes made of the files since is never lost silently: the caller is
shown both differences, and chooses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Literal, NamedTuple

from obsidian_mcp.core.files.ports import Recorded, Step, Undoing
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
from obsidian_mcp.errors import NoteNotFound, UndoConflict

from .history import latest_own_change, recall
from .moved_files import MovedFiles, look_for_moved
from .undo_part import ChangePart, choose_part

Wins = Literal["neither", "undo", "current", "both"]
"""For a file that has changed since: refuse, restore the old text, leave the file, or merge."""

TOOL = "undo"


class UndoneChange(NamedTuple):
    """What an undo did."""

    recorded: Recorded
    """The change that it took back, with the steps alone that were chosen."""
    change: Done
    """The change that it made itself."""
    untouched: list[Step]
    """Steps whose files were left as they are."""


def undo(
    vault: Vault,
    number: int | None,
    wins: Wins = "neither",
    paths: Sequence[str] = (),
    hunks: Sequence[int] = (),
) -> UndoneChange:
    """Take back a change; without a number the caller's own last one.

    With `paths` these files of it alone, with `hunks` these hunks of one file. Where no file needs
    a change, an empty change is noted, so that the next undo takes the one before. Raises:
    ChangeNotFound; InvalidArguments for a part that is not there; UndoConflict with a three-way
    difference, and nothing is changed.
    """
    with vault.lock_changes():
        recorded = latest_own_change(vault) if number is None else recall(vault, number)
        if recorded.undone_by is not None:
            raise UndoConflict(
                f"Change {recorded.number} has been undone already, by change "
                f"{recorded.undone_by}. Undo change {recorded.undone_by} to have it back.",
                change=recorded.number,
                undone_by=recorded.undone_by,
            )
        part = choose_part(recorded, paths, hunks, vault.catalog.path_of)
        change, untouched = plan(vault, recorded, wins, part)
        if not (part.is_all_of(recorded) or change.operations or untouched):
            raise UndoConflict(
                f"This part of change {recorded.number} is as it was before the change already, so "
                "nothing was undone.",
                change=recorded.number,
            )
        undone = recorded._replace(steps=part.steps)
        committed = vault.commit(TOOL, change.operations, change.undoes)
        return UndoneChange(undone, committed, untouched)


def plan(
    vault: Vault, recorded: Recorded, wins: Wins, part: ChangePart
) -> tuple[PlannedChange, list[Step]]:
    """Return the change that takes a part of another one back, and the steps that are left as they
    are.

    The steps are taken back from the last one on, because a later one may have moved what an
    earlier one wrote. Steps are left with `wins` "current", and of files that the change made and
    that are not there any more. Raises: UndoConflict.
    """
    moved = look_for_moved(vault, recorded, part.steps)
    chosen = set(part.steps)
    untouched: list[Step] = []
    free: set[str] = set()
    """Places that are taken now, and not any more once the operations planned so far are made."""

    moves = Moves(
        Move(step.disk, step.target) for step in recorded.steps if step.target is not None
    )
    counts = accumulate((step.target is not None for step in recorded.steps), initial=0)
    moves_before = list(counts)[:-1]
    """How many moves were made before each step."""

    def restore_steps(kind: str) -> Iterator[Operation]:
        for step, earlier in zip(reversed(recorded.steps), reversed(moves_before), strict=True):
            if step.kind != kind or step not in chosen:
                continue
            checkpoint()
            try:  # what was removed comes back after the moves
                place = step.disk if kind == "remove" else moves.place_after(step.disk, earlier)
                now = None if kind == "remove" and place in free else _content(vault, place)
                operation = _restore(vault, part, step, place, now=now, wins=wins)
                if operation is None and kind == "create" and now is None:
                    if wins != "undo":
                        _check_gone(vault, moved, step, place)
                    untouched.append(step)  # it was gone already, nobody knows where to
                    continue
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
    not_moved = places.move_all(part.steps)
    if not_moved and wins != "current":
        raise _not_back(not_moved[0])
    untouched += not_moved
    if not_moved and not len(places.moves):  # no old name is back, so the links stay too
        untouched += [step for step in reversed(part.steps) if step.kind == "write"]
    else:
        removals = [*restore_steps("write"), *removals]
    steps = (*removals, *places.operations, *restore_steps("remove"))
    undoes = Undoing(recorded.number, is_part=not part.is_all_of(recorded))
    return PlannedChange(steps=steps, undoes=undoes), untouched


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

    def move_all(self, steps: Sequence[Step]) -> list[Step]:
        """Plan to move the files and folders of a change back, the last one first, and to remove
        the folders that it made; return the moves that cannot be taken back."""
        not_moved = []
        for step in reversed(steps):
            if step.kind == "folder":
                self.remove_folder(step.disk)
            elif step.target is not None and not self.move(step.target, step.disk):
                not_moved.append(step)
        return not_moved

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


def _not_back(step: Step) -> UndoConflict:
    """Return the error for a file that cannot be moved back to its old name."""
    disk, target = step.disk, step.target or ""
    return UndoConflict(
        f"{normal_form(target)!r} cannot be moved back to {normal_form(disk)!r}: it has been moved "
        "or deleted since, or another file has its old name. Undo that, or move the file in the "
        "way, and try again.",
        path=normal_form(target),
    )


def _content(vault: Vault, disk: str) -> bytes | None:
    """Return what a file holds now; None where there is none."""
    with suppress(NoteNotFound):
        return vault.files.read_file(disk, sys.maxsize)
    return None


def _restore(
    vault: Vault, part: ChangePart, step: Step, disk: str, *, now: bytes | None, wins: Wins
) -> Operation | None:
    """Return the operation that restores one file, or hunks of it; None if it is unchanged.

    A file from which other hunks of the change were taken back since has not changed otherwise, so
    nothing of it is lost. Raises: UndoConflict.
    """
    if step.kind == "remove" and step.before is None:
        raise UndoConflict(
            f"{normal_form(disk)!r} was too large for the journal when it was deleted. It is in "
            "the trash: restore it from there.",
            path=normal_form(disk),
        )
    restored = part.restore(step)
    if now not in (restored, step.after):
        taken_back = part.find_taken_back(step, now)
        if taken_back is not None:
            restored = part.restore(step, taken_back)
        elif wins == "both" and now is not None:
            restored = _merge(step, disk, restored, now)
        elif wins != "undo":
            raise _conflict(disk, step, now)
    if now == restored:
        return None
    if restored is None:
        return Remove(disk, permanent=vault.policy.permanent_delete, before=now)
    return Create(disk, restored) if now is None else Write(disk, now, restored)


def _merge(step: Step, disk: str, restored: bytes | None, now: bytes) -> bytes:
    """Return a file that has changed since, with what is taken back. Raises: UndoConflict where
    both are on the same lines."""
    merged = merge(_body(step.after), _body(restored), _body(now))
    if merged is None:
        raise _conflict(disk, step, now, unmerged=True)
    return Text(merged, Text.decode(now).bom).encode()


def _check_gone(vault: Vault, moved: MovedFiles, step: Step, disk: str) -> None:
    """Check that a file which is to be removed was not moved instead.

    It would stay under its new name, and the undo be called done. Raises: UndoConflict with its
    place, but not with one that the policy hides (POL-01).
    """
    if vault.files.exists(disk):
        return
    place = moved.find_place(step, disk)
    if place and not vault.policy.is_visible(normal_form(place)):
        raise _conflict(disk, step, None)
    if place:
        raise UndoConflict(
            f"{normal_form(disk)!r} has been moved since, to {normal_form(place)!r}, so nothing "
            "was undone. Move it back or delete it there, or choose with wins: 'current' leaves "
            "it.",
            path=normal_form(place),
        )


def _body(data: bytes | None) -> str:
    return "" if data is None else Text.decode(data).body


def _conflict(disk: str, step: Step, now: bytes | None, *, unmerged: bool = False) -> UndoConflict:
    """Return the error for a file that is not as the change left it, with both differences."""
    path = normal_form(disk)
    if now is None:
        return UndoConflict(
            f"{path!r} has been moved or deleted since, so nothing was undone. Undo that first "
            "(obsidian_history shows it), or choose with wins: 'undo' brings the old text back "
            "under the old name, 'current' leaves it.",
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
