"""The command `task` (CLI-19)."""

from __future__ import annotations

import re
from typing import Any, Final

import click

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools import TOOLS

from .examples import epilog
from .options import Options
from .tool_commands import ToolCommand, arguments_of, parameter_of, plain_argument, run_tool

TOOL: Final = "obsidian_update_task"
ACTIONS: Final = ("done", "todo", "toggle", "in_progress", "on_hold", "cancelled", "edit", "add")
"""What `task` does; the first six are statuses."""
_PLACE: Final = re.compile(r"(.+):([0-9]+)")
_NAMED_OTHERWISE: Final = ("name", "line", "task", "action", "text")
"""Parameters of the tool that the command has in a form of its own."""


def _command() -> click.Command:
    """Return the command `task`: what to do, with which task, then the fields as options."""
    tool = TOOLS[TOOL]
    parameters: list[click.Parameter] = [
        click.Argument(["action"], type=click.Choice(ACTIONS)),
        click.Argument(["task"]),
        click.Option(["--note"], default="", help="Note of the task; of a new one, where it goes [default: today's]"),
        click.Option(["--text"], help="edit: new description"),
    ]
    parameters += [
        parameter_of(parameter, positional=False)
        for name, parameter in tool.parameters.items()
        if name not in _NAMED_OTHERWISE
    ]
    parameters.append(click.Option(["--json", "-j", "as_json"], is_flag=True, help="Print the answer as JSON."))
    return ToolCommand(
        "task",
        params=parameters,
        callback=_run,
        help="Complete, change or add a task. TASK is NOTE:LINE as `tasks` prints it, a text or part of it, an id, or "
        "^block-id; for add it is the text.",
        epilog=epilog("task"),
    )


@click.pass_obj
def _run(options: Options, /, action: str, task: str, note: str, as_json: bool, vault: str = "", **given: Any) -> None:
    arguments = arguments_of(TOOLS[TOOL], given) | _named(action, plain_argument(task), note)
    if action not in ("edit", "add"):
        if arguments.get("status"):
            raise InvalidArguments(f"{action} is a status already: leave --status out.", argument="status")
        arguments["status"] = action
    run_tool(TOOLS[TOOL], options, vault, arguments, as_json=as_json)


def _named(action: str, task: str, note: str) -> dict[str, Any]:
    """Which task is meant, as arguments of the tool."""
    if action == "add":
        return {"action": "add", "text": task, **({"name": note} if note else {"daily": True})}
    place = _PLACE.fullmatch(task)
    if place is not None and not note:
        return {"name": place[1], "line": int(place[2])}
    if note and task.isdecimal():
        return {"name": note, "line": int(task)}
    return {"name": note, "task": task}


task: Final = _command()
