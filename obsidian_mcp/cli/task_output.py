"""Tasks in lines for people (CLI-18, CLI-19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .render import safe


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
