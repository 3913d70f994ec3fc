"""What was changed through this program, and taking it back.

The journal (`adapters/journal.py`) has the old bytes of every change by any client. An undo is a
change of its own, with a number, so that it can be undone, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.calendar.timestamp import timestamp
from obsidian_mcp.core.files.ports import Recorded, Step
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.operations import history as past_changes
from obsidian_mcp.core.operations import undo as core_undo
from obsidian_mcp.core.operations.undo import Wins
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.diff import diff
from obsidian_mcp.core.text.fit import MARK, cut_text
from obsidian_mcp.core.text.page_order import continue_order
from obsidian_mcp.core.text.text import Text, byte_count, split_lines, to_printable
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import NoteNotFound

from .arguments import Argument, Limit, Offset, VaultName
from .paging import FILES_SHOWN, first_of, next_offset
from .registry import tool

NEW_CHANGES = 100
"""Changes that may have been made since the first page of a list, and are listed after it."""
FILES_OF_A_CHANGE = 20
"""Files that a list of changes names of each."""
FILE_STARTS = ("--- a/", "moved ", "binary ")
"""How the lines of the next file begin."""
DIFF_BYTES = 4_096
"""Of the difference of a change on one page."""


@dataclass(frozen=True, slots=True)
class PastChange:
    change: int
    time: str
    tool: str
    files: list[str]
    by: str
    """The client that made it."""
    more_files: int | None = None
    undoes: int | None = None
    undoes_part: int | None = None
    """The change of which it took back a part."""
    undone_by: int | None = None


@dataclass(frozen=True, slots=True)
class History:
    changes: list[PastChange]
    total: int
    diff: str | None = None
    next_offset: int | None = None


@tool(title="History of changes")
def history(
    app: App,
    name: Annotated[str, Argument(description="Of this note")] = "",
    change: Annotated[int, Argument(description="With its diff", ge=0)] = 0,
    limit: Limit = 20,
    offset: Offset = 0,
    vault: VaultName = "",
) -> History:
    """List the changes made by these tools, latest first."""
    opened = app.vaults.get(vault)
    if change:
        return _show_change(opened, past_changes.recall(opened, change), name, offset)
    disk, anywhere = _disk_of(opened, name) if name else (None, False)
    depth = offset + limit + (NEW_CHANGES if offset else 0) if limit else 0
    changes, total = past_changes.list_changes(opened, disk, depth, anywhere=anywhere)
    arranged, start = continue_order(changes, offset, lambda recorded: recorded.number)
    return History(
        [_describe_change(opened, recorded) for recorded in arranged[start : start + limit]],
        total,
        next_offset=next_offset(start, limit, total),
    )


def _show_change(vault: Vault, recorded: Recorded, name: str, offset: int) -> History:
    """Return one change with a page of its difference, or of that of one file; pages are counted in
    lines (TOOL-37)."""
    steps: Iterable[Step] = recorded.steps
    if name:
        disk, _ = _disk_of(vault, name)
        steps = [step for step in recorded.steps if disk in (step.disk, step.target)]
    described = [_describe_change(vault, recorded)]
    if current_call.get().wants_all:
        return History(described, 1, to_printable("".join(_diff_of(vault, step) for step in steps)))
    lines: list[str] = []
    size, position, is_more, head = 0, 0, False, ""
    for line in (line for step in steps for line in split_lines(_diff_of(vault, step))):
        position += 1
        if position <= offset:
            head = line if line.startswith("--- a/") else head
            continue
        if not lines and head and not line.startswith(FILE_STARTS):
            lines.append(head)  # of the file that goes on
        size += byte_count(line)
        if lines and size > DIFF_BYTES:
            is_more = True
            break
        lines.append(cut_text(line, DIFF_BYTES, f"{MARK}\n"))
    following = position - 1 if is_more else None
    return History(described, 1, to_printable("".join(lines)), following)


@dataclass(frozen=True, slots=True)
class Undone:
    undone: int
    files: list[str]
    """Those that are as before the change."""
    by: str
    """The client whose change it was."""
    change: int
    """The number under which the undo itself can be undone."""
    more_files: int | None = None
    left: list[str] | None = None
    """Files that stay as they are (wins: current), and new ones that were gone already: whoever
    moved and changed one has it elsewhere. At most 50."""


UndoPaths = Annotated[list[str], Argument(description="Only these")]
UndoHunks = Annotated[list[int], Argument(description="Of one file, as in history")]


@tool(title="Undo a change", writes=True, destructive=True)
def undo(
    app: App,
    change: Annotated[int, Argument(description="Its number; 0: your last one", ge=0)] = 0,
    wins: Annotated[
        Wins, Argument(description="If changed since: refuse, undo, leave, merge")
    ] = "neither",
    paths: UndoPaths = [],  # noqa: B006
    hunks: UndoHunks = [],  # noqa: B006
    vault: VaultName = "",
) -> Undone:
    """Take back a change or a part: all its bytes or none."""
    opened = app.vaults.get(vault)
    recorded, undoing, untouched = core_undo.undo(opened, change or None, wins, paths, hunks)
    stays = {(step.disk, step.target) for step in untouched}
    taken_back = tuple(step for step in recorded.steps if (step.disk, step.target) not in stays)
    files, more_files = first_of(_files(opened, taken_back), FILES_SHOWN)
    by = past_changes.describe_author(opened, recorded)
    return Undone(
        recorded.number,
        files,
        by,
        undoing.change,
        more_files,
        _files(opened, untouched)[:FILES_SHOWN] or None,
    )


def _disk_of(vault: Vault, name: str) -> tuple[str, bool]:
    """Return what a name means as the journal has it, a path on disk, and whether the file may have
    been in any folder.

    A file that is gone is in no list of the vault: only its name can be looked for then.
    """
    written = name if name.lower().endswith(".md") else name + ".md"
    if (
        vault.catalog.path_of(written) == written != normal_form(written)
        and vault.journal.changes(written, 1, 0)[1]
    ):
        return written, False  # a twin that is gone, byte for byte (NAME-06)
    try:
        return vault.find(name).disk, False
    except NoteNotFound:
        path = to_printable(vault.catalog.parse(name))
        return path if path.lower().endswith(".md") else path + ".md", True


def _files(vault: Vault, steps: Iterable[Step]) -> list[str]:
    path_of = vault.catalog.path_of
    moves = [(step.disk, step.target) for step in steps if step.kind != "folder"]
    return list(
        dict.fromkeys(
            " -> ".join(path_of(disk) for disk in move if disk is not None) for move in moves
        )
    )


def _describe_change(vault: Vault, recorded: Recorded) -> PastChange:
    files, more_files = first_of(_files(vault, recorded.steps), FILES_OF_A_CHANGE)
    time, by = timestamp(int(recorded.time * 1e9)), past_changes.describe_author(vault, recorded)
    undoes = recorded.undoes
    return PastChange(
        recorded.number,
        time,
        recorded.tool,
        files,
        by,
        more_files,
        undoes=undoes.change if undoes is not None and not undoes.is_part else None,
        undoes_part=undoes.change if undoes is not None and undoes.is_part else None,
        undone_by=recorded.undone_by,
    )


def _diff_of(vault: Vault, step: Step) -> str:
    if step.kind == "folder":
        return ""
    path = vault.catalog.path_of(step.disk)
    if step.kind == "move":
        return f"moved {path} -> {vault.catalog.path_of(step.target or '')}\n"
    if b"\0" in (step.before or b"") + (step.after or b""):
        return f"binary {path}\n"
    before, after = (Text.decode(data or b"").body for data in (step.before, step.after))
    return diff(path, before, after, is_numbered=True)
