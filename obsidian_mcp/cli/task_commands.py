"""The command `task` (CLI-19)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from obsidian_mcp.errors import InvalidArguments

from .grammar import Subcommand
from .options import Options
from .tool_commands import call_tool

_PLACE: Final = re.compile(r"(.+):([0-9]+)")


def run(options: Options, command: Subcommand, given: Mapping[str, Any]) -> None:
    """Complete, change or add a task. Raises: InvalidArguments."""
    arguments = dict(given)
    action, task, note = arguments.pop("action"), arguments.pop("task"), arguments.pop("note", "")
    if action not in ("edit", "add"):
        if "status" in arguments:
            raise InvalidArguments(f"{action} is a status already: leave --status out.", argument="status")
        arguments["status"] = action
    call_tool(options, command, arguments | _read_task(action, task, note))


def _read_task(action: str, task: str, note: str) -> dict[str, Any]:
    """Which task is meant, as arguments of the tool."""
    if action == "add":
        return {"action": "add", "text": task, **({"name": note} if note else {"daily": True})}
    place = _PLACE.fullmatch(task)
    if place is not None and not note:
        return {"name": place[1], "line": int(place[2])}
    if note and task.isdecimal():
        return {"name": note, "line": int(task)}
    return {"task": task, **({"name": note} if note else {})}
