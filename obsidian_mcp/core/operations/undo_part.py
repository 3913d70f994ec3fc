"""Which part of a change is to be taken back: some of its files, or hunks of one (SAFE-31)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from obsidian_mcp.core.files.ports import Recorded, Step
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.hunks import ChangedText
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import InvalidArguments

PATHS_NAMED = 20
"""Paths in the message of an error."""
EXTENSION = ".md"


@dataclass(frozen=True, slots=True)
class ChangePart:
    """Steps of a change that are to be taken back."""

    steps: tuple[Step, ...]
    """In the order in which they were made."""
    hunks: frozenset[int] = frozenset()
    """Of the one file that the steps are of; none: the whole of every file."""
    text: ChangedText | None = None
    """The text of that file, where there are hunks."""

    def is_all_of(self, recorded: Recorded) -> bool:
        """Whether it is the whole of a change."""
        return self.steps == recorded.steps and not self.hunks

    def restore(self, step: Step, also: frozenset[int] = frozenset()) -> bytes | None:
        """Return a file as the change left it, without what is to be taken back; None for no file.

        `also` names hunks that have been taken back already.
        """
        hunks = self.hunks | also
        if self.text is None or hunks == self.text.numbers:
            return step.before
        return Text(self.text.without(hunks), Text.decode(step.after or b"").bom).encode()

    def find_taken_back(self, step: Step, now: bytes | None) -> frozenset[int] | None:
        """Return the hunks of a step that alone have been taken back in a file since.

        None where anything else happened to it. Raises: OperationTimeout.
        """
        text = None if now is None else self.text or changed_text(step)
        if text is None or Text.decode(now or b"").bom != Text.decode(step.after or b"").bom:
            return None
        return text.find_taken_back(Text.decode(now or b"").body)


def changed_text(step: Step) -> ChangedText | None:
    """Return the text that a step changed.

    None for a file that is no text, that the change made or removed, or whose byte order mark it
    changed: these are taken back whole. Raises: OperationTimeout.
    """
    if step.before is None or step.after is None or b"\0" in step.before + step.after:
        return None
    before, after = Text.decode(step.before), Text.decode(step.after)
    return ChangedText(before.body, after.body) if before.bom == after.bom else None


def choose_part(
    recorded: Recorded, paths: Sequence[str], hunks: Iterable[int], path_of: Callable[[str], str]
) -> ChangePart:
    """Return the steps of a change on files with these paths, or hunks of the one among them.

    Without a path and a hunk it is the whole change. The folders that the change made for these
    files are among the steps: they go where they are empty. `path_of` gives the path of a place on
    disk, as `Catalog.path_of` does. Raises: InvalidArguments naming what there is to choose from.
    """
    numbers = frozenset(hunks)
    if not paths and not numbers:
        return ChangePart(recorded.steps)
    choice = _Choice(recorded, path_of)
    chosen_paths = {choice.find(path) for path in paths} or choice.sole_path()
    if numbers:
        return choice.hunks_of(chosen_paths, numbers)
    return choice.files(chosen_paths)


class _Choice:
    """The files of a change, by the paths that a person knows them by."""

    def __init__(self, recorded: Recorded, path_of: Callable[[str], str]) -> None:
        self._recorded = recorded
        self._path_of = path_of
        self._there = sorted(set[str]().union(*map(self._paths, recorded.steps)))

    def find(self, path: str) -> str:
        """Return a path as the change has it; its extension may be left out. Raises:
        InvalidArguments."""
        for spelling in (path, normal_form(path), normal_form(path) + EXTENSION):
            if spelling in self._there:
                return spelling
        raise InvalidArguments(
            f"Change {self._recorded.number} did not touch {path!r}. Its files: "
            f"{_name(self._there)}.",
            argument="paths",
        )

    def sole_path(self) -> set[str]:
        """Return the path of the only file whose text the change changed. Raises:
        InvalidArguments."""
        steps = self._recorded.steps
        changed = {self._path_of(step.disk) for step in steps if step.kind == "write"}
        if len(changed) != 1:
            raise InvalidArguments(
                f"Hunks are numbered in each file, and change {self._recorded.number} changed the "
                f"text of {len(changed)} files. Give the path of one: {_name(changed)}.",
                argument="hunks",
            )
        return changed

    def files(self, paths: AbstractSet[str]) -> ChangePart:
        """Return all steps on some files. Raises: InvalidArguments where links would not follow."""
        disks = self._disks(paths)
        steps = self._recorded.steps
        chosen = [step for step in steps if step.kind != "folder" and step.disk in disks]
        self._check_moves(chosen)
        return ChangePart(
            tuple(
                step
                for step in steps
                if step in chosen
                or (step.kind == "folder" and any(_is_inside(file, step.disk) for file in chosen))
            )
        )

    def hunks_of(self, paths: AbstractSet[str], hunks: frozenset[int]) -> ChangePart:
        """Return the step that changed the text of one file. Raises: InvalidArguments."""
        number = self._recorded.number
        if len(paths) > 1:
            raise InvalidArguments(
                "Hunks are numbered in each file: give one path with them, not several.",
                argument="paths",
            )
        (path,) = paths
        disks = self._disks(paths)
        writes = [
            step for step in self._recorded.steps if step.kind == "write" and step.disk in disks
        ]
        text = changed_text(writes[0]) if len(writes) == 1 else None
        if text is None:
            raise InvalidArguments(
                f"Change {number} has no hunks of {path!r}: it made, removed or moved that file, "
                "or it is no text. Take it back whole, without `hunks`.",
                argument="hunks",
            )
        if unknown := sorted(hunks - text.numbers):
            raise InvalidArguments(
                f"Change {number} has no hunk {unknown[0]} of {path!r}: they are numbered from 1 "
                f"to {max(text.numbers, default=0)}. obsidian_history shows them with `change` "
                f"{number}.",
                argument="hunks",
            )
        is_whole = hunks == text.numbers and len(self._recorded.steps) == 1
        return ChangePart(tuple(writes)) if is_whole else ChangePart(tuple(writes), hunks, text)

    def _disks(self, paths: AbstractSet[str]) -> set[str]:
        """Return the places of files before the change: one that it moved has two paths."""
        steps = self._recorded.steps
        return {step.disk for step in steps if not paths.isdisjoint(self._paths(step))}

    def _paths(self, step: Step) -> set[str]:
        """Return the paths of a step's file: the old one and the new one."""
        disks = () if step.kind == "folder" else (step.disk, step.target)
        return {self._path_of(disk) for disk in disks if disk is not None}

    def _check_moves(self, chosen: Sequence[Step]) -> None:
        """Check that links follow a file that is moved back. Raises: InvalidArguments."""
        moved = [step for step in chosen if step.target is not None]
        following = {
            self._path_of(step.disk)
            for step in self._recorded.steps
            if step.kind == "write" and step not in chosen
        }
        if moved and following:
            raise InvalidArguments(
                f"Change {self._recorded.number} moved {self._path_of(moved[0].disk)!r}, and "
                f"changed links for it in {_name(following)}. Give these paths too, or take the "
                "whole change back.",
                argument="paths",
            )


def _is_inside(step: Step, folder: str) -> bool:
    disks = (step.disk, step.target)
    return any(disk is not None and disk.startswith(f"{folder}/") for disk in disks)


def _name(paths: Iterable[str]) -> str:
    return name_first([repr(path) for path in sorted(paths)], PATHS_NAMED)
