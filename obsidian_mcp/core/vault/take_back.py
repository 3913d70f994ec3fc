"""Bring files back to their state before a change that failed or was cut off (specs/safety.md)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from obsidian_mcp import logger
from obsidian_mcp.core.files.ports import Files, Step, StepKind
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import AppError, NoteExists, NoteNotFound, StaleEtag

ATTEMPTS = 10
"""Times that a file is brought back while another program keeps changing it."""


class TakenBack(NamedTuple):
    """What became of files that were to be as before a change."""

    lost: list[str]
    """Those that the disk refused to bring back."""
    mixed: list[Step]
    """Those that another program has changed so that its part and ours cannot be told apart. They
    are left as they are; each step leads from the old bytes to those that are there now."""


def take_back(files: Files, steps: Sequence[Step]) -> TakenBack:
    """Bring files back to their state before these steps, done or not.

    Changes of other programs since then stay, and only the step itself is taken out. A file in
    which the two cannot be told apart is left as it is.
    """
    in_each_folder = {step.disk.rpartition("/")[0]: step.disk for step in steps}
    for disk in in_each_folder.values():  # first: a new folder is removed only when it is empty
        files.sweep(disk)
    lost: list[str] = []
    mixed: list[Step] = []
    for step in reversed(steps):
        try:
            present = _take_back_step(files, step)
        except AppError as error:
            logger(__name__).error("%s could not be taken back: %s", step.disk, error.message)
            lost.append(step.disk)
        else:
            if present is not None:
                kind: StepKind = "create" if step.before is None else "write"
                mixed.append(Step(kind, step.disk, before=step.before, after=present))
    return TakenBack(lost, mixed)


def _take_back_step(files: Files, step: Step) -> bytes | None:
    """Take back one step.

    Return what the file holds where that is ours and another program's in one, else None. Raises:
    AppError.
    """
    if step.kind == "folder":
        files.remove_folder(step.disk)
        return None
    if step.target is not None:
        # the move was not made, or another file has the old name since
        with suppress(NoteExists, NoteNotFound):
            files.move(step.target, step.disk)
        return None
    for attempts_left in reversed(range(ATTEMPTS)):
        now: bytes | None = None
        with suppress(NoteNotFound):  # also where a folder has the name
            now = files.read_file(step.disk, sys.maxsize)
        restored = _without(step, now)
        if isinstance(restored, _Mixed):
            return now
        if restored == now:
            return None
        try:
            if restored is None:
                files.delete(step.disk, now)
            elif now is None:
                files.create(step.disk, restored)
            else:
                files.write(step.disk, restored, now)
        except (StaleEtag, NoteExists):  # another program wrote in the last moment
            if not attempts_left:
                raise
        else:
            return None
    return None


class _Mixed:
    """Stands for a content in which our part cannot be told apart from another program's."""


def _without(step: Step, now: bytes | None) -> bytes | _Mixed | None:
    """Return the content of a file that holds `now` after a step is taken back."""
    if now == step.after:
        return step.before
    # another program has deleted the file, or the step was not made
    if now is None or now == step.before:
        return now
    # it has added to the new file, or made another one of the name
    if step.before is None or step.after is None:
        return _Mixed()
    from obsidian_mcp.core.text.diff import count_differences, merge

    before, after, present = (Text.decode(data) for data in (step.before, step.after, now))
    # The step that a process died in may not have been made. What another program has made of the
    # old text is closer to the old text: without this look its lines, which are still there, would
    # come in a second time.
    if count_differences(before.body, present.body) < count_differences(after.body, present.body):
        return now
    merged = merge(after.body, before.body, present.body, neighbours=True)
    return _Mixed() if merged is None else Text(merged, present.bom).encode()
