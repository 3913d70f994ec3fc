"""A change that was planned for a call and not made, and what a change does to each file (PLAN)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from obsidian_mcp.core.files.ports import DiskFile, Recorded
from obsidian_mcp.core.note import parser
from obsidian_mcp.core.text.diff import Hunk, hunks
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.vault.moves import Moves
from obsidian_mcp.core.vault.operation import (
    Create,
    MakeFolder,
    Move,
    Operation,
    RemoveFolder,
    Write,
)
from obsidian_mcp.core.vault.planned_change import PlannedChange

ChangeKind = Literal["create", "modify", "move", "delete"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a change does to one file, or to a folder that it moves."""

    path: str
    kind: ChangeKind
    before: bytes | None = None
    """None where there is no file, or its text does not change."""
    after: bytes | None = None
    to: str | None = None
    """Where it is moved."""

    @property
    def is_text(self) -> bool:
        return b"\0" not in (self.before or b"") + (self.after or b"")

    def hunks(self) -> list[tuple[Hunk, str]]:
        """Return each run of lines that change, with the heading that it stands under.

        Files that are no text have none.
        """
        if not self.is_text or self.before == self.after:
            return []
        before, after = (_to_printable(data) for data in (self.before, self.after))
        note = parser.parse(before or after)
        starts = note.lines.starts
        heading_starts = [heading.span.start for heading in note.outline]

        def heading_above(hunk: Hunk) -> str:
            first = (hunk.old if before else hunk.new) - 1
            above = bisect_right(heading_starts, starts[min(first, len(starts) - 1)])
            return note.outline[above - 1].text if above else ""

        return [(hunk, heading_above(hunk)) for hunk in hunks(before, after)]

    def counts(self) -> tuple[int, int]:
        """Return how many lines are added and removed."""
        lines = [line for hunk, _ in self.hunks() for line in hunk.lines]
        return sum(line[0] == "+" for line in lines), sum(line[0] == "-" for line in lines)


def _to_printable(data: bytes | None) -> str:
    return (
        Text.decode(data or b"").body.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    )


@dataclass(frozen=True)
class Plan:
    """A change that was planned for a call and not made.

    `make` can make the call again, to see whether it would change further files by now.
    """

    id: str
    tool: str
    change: PlannedChange
    paths: Mapping[str, str]
    """By path on disk, the paths of its files when it was made."""
    base: dict[str, DiskFile | None]
    """By path on disk, the files that are moved or removed as they were."""
    expires: float
    """On the clock of `Plans`."""
    make: Callable[[], object]
    """Makes the change anew."""

    @property
    def size(self) -> int:
        """The bytes of the texts that it holds in memory."""
        texts = (
            operation
            for operation in self.change.operations
            if isinstance(operation, Write | Create)
        )
        return sum(len(operation.before) + len(operation.after) for operation in texts)

    @cached_property
    def moves(self) -> Moves:
        """The places on disk that move, in the order of the change."""
        return Moves(move for move in self.change.operations if isinstance(move, Move))

    @cached_property
    def by_path(self) -> dict[str, list[Operation]]:
        """The operations of every file, by path; moves come last among them, as they are made."""
        operations_by_path: dict[str, list[Operation]] = {
            self.paths[move.disk]: [] for move in self.moves
        }
        for operation in self.change.operations:
            if not isinstance(operation, RemoveFolder | MakeFolder):
                operations_by_path.setdefault(self.paths[operation.disk], []).append(operation)
        return operations_by_path


def changed_files(recorded: Recorded, path_of: Callable[[str], str]) -> list[FileChange]:
    """Return what a change that was made did to every file.

    `path_of` gives the path of a place on disk, as `Catalog.path_of` does.
    """
    changes_by_path: dict[str, FileChange] = {}
    for step in recorded.steps:
        disk, path = step.disk, path_of(step.disk)
        match step.kind:
            case "folder":
                continue
            case "move":
                earlier = changes_by_path.get(disk, FileChange(path, "move"))
                changes_by_path[disk] = replace(earlier, kind="move", to=path_of(step.target or ""))
            case "create":
                changes_by_path[disk] = FileChange(path, "create", None, step.after)
            case "remove":
                changes_by_path[disk] = FileChange(path, "delete", step.before, None)
            case "write":
                changes_by_path[disk] = FileChange(path, "modify", step.before, step.after)
    return list(changes_by_path.values())
