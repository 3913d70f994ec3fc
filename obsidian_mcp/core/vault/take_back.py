"""Bring files back to their state before a change that failed or was cut off (specs/safety.md)."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from contextlib import suppress

from obsidian_mcp.core.files.ports import Files, Step
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import AppError, NoteExists, NoteNotFound, StaleEtag

log = logging.getLogger(__name__)

ATTEMPTS = 10
"""Times that a file is brought back while another program keeps changing it."""


def take_back(files: Files, steps: Sequence[Step]) -> list[str]:
    """Bring files back to their state before these steps, done or not; return those that could not be. Changes of other
    programs since then stay; a file in which they cannot be told apart is left as it is."""
    in_each_folder = {step.disk.rpartition("/")[0]: step.disk for step in steps}
    for disk in in_each_folder.values():  # first: a new folder is removed only when it is empty
        files.sweep(disk)
    lost = []
    for step in reversed(steps):
        try:
            _take_back_step(files, step)
        except AppError as error:
            log.error("%s could not be taken back: %s", step.disk, error.message)
            lost.append(step.disk)
    return lost


def _take_back_step(files: Files, step: Step) -> None:
    if step.kind == "folder":
        files.remove_folder(step.disk)
        return
    if step.target is not None:
        with suppress(NoteExists, NoteNotFound):  # the move was not made, or another file has the old name since
            files.move(step.target, step.disk)
        return
    for left in reversed(range(ATTEMPTS)):
        now: bytes | None = None
        with suppress(NoteNotFound):  # also where a folder has the name
            now = files.read(step.disk, sys.maxsize)
        wanted = _without(step, now)
        if wanted == now:
            return
        try:
            if wanted is None:
                files.delete(step.disk)
            elif now is None:
                files.create(step.disk, wanted)
            else:
                files.write(step.disk, wanted, now)
        except (StaleEtag, NoteExists):  # another program wrote in the last moment
            if not left:
                raise
        else:
            return


def _without(step: Step, now: bytes | None) -> bytes | None:
    """Return the content of a file that holds `now` after a step is taken back."""
    if now == step.after:
        return step.before
    if now is None or step.before is None or step.after is None:
        return now  # another program has deleted, edited or made the whole file since
    from obsidian_mcp.core.text.diff import count_differences, merge

    before, after, present = (Text.decode(data) for data in (step.before, step.after, now))
    # The step that a process died in may not have been made. What another program has made of the old text is closer
    # to the old text: without this look its lines, which are still there, would come in a second time.
    if count_differences(before.body, present.body) < count_differences(after.body, present.body):
        return now
    merged = merge(after.body, before.body, present.body, neighbours=True)
    return now if merged is None else Text(merged, present.bom).encode()
