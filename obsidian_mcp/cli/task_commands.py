"""The commands about tasks, and their answers in lines for people (CLI-18, CLI-19)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import click

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.tools import TOOLS

from .options import Options
from .render import safe

TOOL: Final = "obsidian_update_task"
ACTIONS: Final = ("done", "todo", "toggle", "in_progress", "on_hold", "cancelled", "edit", "add")
"""What `task` does; the first six are statuses."""
_PLACE: Final = re.compile(r"(.+):([0-9]+)")
_NAMED_OTHERWISE: Final = ("name", "line", "task", "action", "text")
"""Parameters of the tool that the command has in a form of its own."""


def task_text(data: Mapping[str, Any]) -> str:
    """Return the lines that stand in a note after a change, with their places."""
    first = data["line"] if "next" not in data else min(data["line"], data["next"]["line"])
    if not data["new"]:
        return "".join(f"Deleted {data['path']}:{data['line']}: {safe(line)}\n" for line in data["old"])
    return "".join(f"{data['path']}:{number}: {safe(line)}\n" for number, line in enumerate(data["new"], first))


def task_remarks(data: Mapping[str, Any]) -> str:
    """Return the warnings of a change."""
    return "".join(f"Note: {safe(warning)}\n" for warning in data.get("warnings", ()))


def tasks_text(data: Mapping[str, Any]) -> str:
    """Return a list of tasks as `path:line: task`, under the names of their groups."""
    lines = {f"{task['path']}:{task['line']}": safe(task["text"].lstrip("> \t")) for task in data["tasks"]}
    text = f"{data['explanation']}\n" if "explanation" in data else ""
    if "groups" not in data:
        return text + "".join(f"{place}: {line}\n" for place, line in lines.items())
    groups = []
    for group in data["groups"]:
        title = " / ".join(map(safe, group["names"]))
        groups.append(f"{title}\n" + "".join(f"  {place}: {lines[place]}\n" for place in group["tasks"]))
    return text + "\n".join(groups)


def tasks_remarks(data: Mapping[str, Any]) -> str:
    """Return what there is to say about a list of tasks besides the tasks."""
    lines = [] if data["tasks"] else ["No tasks found."]
    if "note" in data:
        lines.append(data["note"])
    return "".join(f"{safe(line)}\n" for line in lines)


def task_command() -> click.Command:
    """Return the command `task`: what to do, with which task, then the fields as options."""
    from .examples import epilog
    from .tool_commands import ToolCommand, parameter_of, vault_option

    tool = TOOLS[TOOL]
    parameters: list[click.Parameter] = [
        click.Argument(["action"], type=click.Choice(ACTIONS)),
        click.Argument(["task"]),
        click.Option(["--note"], default="", help="Note of the task; of a new one, where it goes [default: today's]"),
        click.Option(["--text"], help="edit: new description"),
    ]
    for key, field in tool.model.model_fields.items():
        if key == "vault":
            parameters.append(vault_option())
        elif key not in _NAMED_OTHERWISE:
            parameters.append(parameter_of(key, field, positional=False))
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
    from .tool_commands import options_for, plain_argument, run_tool

    fields = {
        key: list(value) if isinstance(value, tuple) else plain_argument(value)
        for key, value in given.items()
        if value not in (None, ())
    }
    arguments = {**fields, **_named(action, plain_argument(task), note)}
    if action not in ("edit", "add"):
        if fields.get("status"):
            raise InvalidArguments(f"{action} is a status already: leave --status out.", argument="status")
        arguments["status"] = action
    run_tool(TOOLS[TOOL], options_for(options, vault), arguments, as_json=as_json)


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
