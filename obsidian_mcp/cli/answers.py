"""Answers of tools for people: the text of each kind of answer, and the remarks about it
(specs/cli.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from obsidian_mcp.core.text.fit import name_first

from .cells import align_objects, mask_controls, person_text

AnswerData = Mapping[str, Any]
FILES_NAMED = 3
"""Of a change in the history; `history --json` names all."""


def format_answer(data: AnswerData) -> str:
    """Return data as lines: `key: value`, lists of objects as tables with a line of titles, other
    lists a line each."""
    return "".join(f"{line}\n" for key, value in data.items() for line in _lines(key, value))


def _lines(key: str, value: Any) -> Iterator[str]:
    label = f"{key.replace('_', ' ')}:"
    if isinstance(value, Mapping):
        inside: Any = format_answer(value).splitlines()
    elif isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
        inside = align_objects(value)
    elif isinstance(value, list):
        inside = map(person_text, value)
    elif isinstance(value, str) and "\n" in value:
        inside = (
            "\t".join(map(mask_controls, line.split("\t"))) for line in value.splitlines()
        )  # a diff keeps its tabs
    else:
        yield f"{label} {person_text(value, key)}"
        return
    yield label
    yield from (f"  {line}" for line in inside)


def history(data: AnswerData) -> str:
    """Return the history with commands in the place of tools (CLI-12), and the first files of each
    change: one of 800 files would be a row that nobody can read."""
    changes = []
    for change in data["changes"]:
        command = command_of(change["tool"])
        files = name_first(change["files"], FILES_NAMED)
        changes.append(
            {
                ("command" if key == "tool" else key): value
                for key, value in {**change, "tool": command, "files": files}.items()
            }
        )
    return format_answer({**data, "changes": changes})


def command_of(tool: str) -> str:
    """Return the command that calls a tool, which is named as in the journal; its own name where
    there is none."""
    from obsidian_mcp.tools.offer import PREFIX, table

    entry = table().tools.get(PREFIX + tool)
    return entry.command if entry and entry.command else tool


# The state of the vault: rules CHECK-04 and CHECK-05


def check(data: AnswerData) -> str:
    """Return what each check found, a line each, and what repairs it."""
    from .main import translate_tool_names

    parts = []
    for result in data["results"]:
        title = (
            f"{result['check'].replace('_', ' ')}: "
            f"{result['total']}{' (broken)' if 'broken' in result else ''}"
        )
        lines = []
        for finding in result["findings"]:
            place = "".join(
                f"{mask_controls(str(finding[key]))}:" for key in ("path", "line") if key in finding
            )
            repair = translate_tool_names(finding.get("repair", ""))
            text = f"{mask_controls(finding.get('text', ''))} {repair}".rstrip()
            lines.append(f"  {place} {text}".rstrip(": "))
        notes = [result["note"]] if "note" in result else []
        parts.append("\n".join([title, *lines, *notes, translate_tool_names(result["repair"]), ""]))
    return "\n".join(parts) if parts else "Nothing was found.\n"


def github_annotations(data: AnswerData) -> str:
    """Return the findings as GitHub's runners read them: an error for what is broken, else a
    warning."""
    return "".join(
        f"::{'error' if 'broken' in result else 'warning'} "
        f"title={result['check'].replace('_', ' ')}"
        + "".join(
            f",{member}={_escape(str(finding[key]), ',:')}"
            for member, key in (("file", "path"), ("line", "line"))
            if key in finding
        )
        + f"::{_escape(finding.get('text', result['repair'].partition('.')[0]))}\n"
        for result in data["results"]
        for finding in result["findings"]
    )


def _escape(text: str, marks: str = "") -> str:
    return "".join(f"%{ord(char):02X}" if char in f"%\r\n{marks}" else char for char in text)


# Tasks: rules CLI-18 and CLI-19


def task(data: AnswerData) -> tuple[str, str]:
    """Return the lines that stand in a note after a change, with their places, and its warnings."""
    path, first = data["path"], data["line"]
    if data["new"]:
        # Lines of a card may stand between it and its next occurrence (BOARD-6).
        places = [first] if len(data["new"]) == 1 else sorted([first, data["next"]["line"]])
        lines = [
            f"{path}:{number}: {mask_controls(line)}\n"
            for number, line in zip(places, data["new"], strict=True)
        ]
    else:
        lines = [f"Deleted {path}:{first}: {mask_controls(line)}\n" for line in data["old"]]
    return "".join(lines), notes_of(data)


def notes_of(data: AnswerData) -> str:
    """Return the warnings of an answer, a line each, for standard error."""
    return "".join(f"Note: {mask_controls(warning)}\n" for warning in data.get("warnings", ()))


def tasks(data: AnswerData) -> tuple[str, str]:
    """Return a list of tasks as `path:line: task` under the names of their groups, and what there
    is to say of it."""
    remarks = [] if data["tasks"] else ["No tasks found."]
    remarks += [data["note"]] if "note" in data else []
    return tasks_text(data), "".join(f"{mask_controls(line)}\n" for line in remarks)


def tasks_text(data: AnswerData) -> str:
    """Return a list of tasks as `path:line: task`, under the names of their groups."""
    lines = {
        f"{task['path']}:{task['line']}": mask_controls(task["text"].lstrip("> \t"))
        for task in data["tasks"]
    }
    text = f"{data['explanation']}\n" if "explanation" in data else ""
    if "groups" not in data:
        return text + "".join(f"{place}: {line}\n" for place, line in lines.items())
    groups = []
    for group in data["groups"]:
        title = " / ".join(map(mask_controls, group["names"]))
        groups.append(
            f"{title}\n" + "".join(f"  {place}: {lines[place]}\n" for place in group["tasks"])
        )
    return text + "\n".join(groups)
