"""Commands about tasks (HEADLESS-13)."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.text.vault_path import is_note

from .call import NO_NOTE, DropInCall, order_key, write_pairs
from .properties import is_of_one_file
from .words import DropInRefused

NONE = "No tasks found."


class FoundTask(NamedTuple):
    path: str
    line: int
    """1-based."""
    mark: str
    text: str
    """The line without its indentation."""


def tasks(call: DropInCall) -> str:
    listed = [task for task in _list_tasks(call) if _is_wanted(call, task.mark)]
    listed.sort(key=lambda task: (order_key(task.path), task.line))
    if listed and call.has("verbose") and not call.words.format and not call.has("total"):
        groups = groupby(listed, key=lambda task: task.path)
        parts = (
            "\n".join([path, *(f"{task.line}: {task.text}" for task in group)])
            for path, group in groups
        )
        return "\n\n".join(parts)
    if call.words.format:
        table = [
            {"status": task.mark, "text": task.text, "file": task.path, "line": str(task.line)}
            for task in listed
        ]
        return call.format_rows(table, NONE)
    return call.join_lines([task.text for task in listed], NONE)


def _is_wanted(call: DropInCall, mark: str) -> bool:
    status = _status(call)
    if status and mark != status:
        return False
    if call.has("todo") != call.has("done"):
        return (mark == " ") == call.has("todo")
    return True


def _status(call: DropInCall) -> str:
    """Return the character of `status`; some shells leave its quotes."""
    status = call.text("status")
    return status[1] if len(status) == 3 and status[0] == status[2] == '"' else status


def _list_tasks(call: DropInCall) -> list[FoundTask]:
    """Return the tasks of one note, of the notes below a folder, or of the vault."""
    folder = call.text("path")
    if folder and folder not in call.vault.catalog and call.folder(folder.strip("/")) is not None:
        start = f"{folder.strip('/')}/"
        return [task for task in _list_of_vault(call) if task.path.startswith(start)]
    if call.has("daily") and not call.names_file:
        entry = call.vault.periodic.locate("day").entry
        return _list_of_note(call, entry) if entry is not None else []
    return _list_of_note(call, call.note()) if is_of_one_file(call) else _list_of_vault(call)


def _list_of_vault(call: DropInCall) -> list[FoundTask]:
    return call.vault.graph.tasks(
        lambda located: [
            FoundTask(str(path), fact.line + 1, fact.mark, fact.text.lstrip(" \t"))
            for path, fact in located
        ]
    ).value


def _list_of_note(call: DropInCall, entry: FileEntry) -> list[FoundTask]:
    body = call.body(entry)
    written = body.split("\n")
    return [
        FoundTask(
            str(entry.path),
            item.line + 1,
            item.mark or "",
            written[item.line].removesuffix("\r").lstrip(" \t"),
        )
        for item in parse(body).tasks
    ]


def task(call: DropInCall) -> str:
    """Print one task, or change its mark."""
    call.writes = bool(_status(call)) or any(map(call.has, ("done", "todo", "toggle")))
    entry, line = _find_line(call)
    entry_of_task = _find_task(call, entry, line)
    mark = _new_mark(call, entry_of_task.mark)
    if mark is None:
        return write_pairs(
            {
                "file": entry_of_task.path,
                "line": entry_of_task.line,
                "status": entry_of_task.mark,
                "text": entry_of_task.text,
            }
        )

    def change(body: str) -> str:
        item = next((task for task in parse(body).tasks if task.line == line - 1), None)
        if item is None:
            raise DropInRefused(f"No task found at {entry.path}:{line}.")
        box = body.rindex("[", 0, item.content.start)
        return f"{body[: box + 1]}{mark}{body[body.index(']', box + 2) :]}"

    call.vault.edit("update_task", entry, change)
    return _find_task(call, entry, line).text


def _find_line(call: DropInCall) -> tuple[FileEntry, int]:
    """Return the note and the line, counted from 1. Raises: DropInRefused."""
    path, _, number = call.text("ref").rpartition(":")
    if path:
        entry = call.file_at(path)
    else:
        number = call.text("line")
        if reference := call.text("ref"):
            entry = call.file_at(reference)
        elif call.has("daily") and not call.names_file:
            located = call.vault.periodic.locate("day")
            if located.entry is None:
                raise DropInRefused(f'File "{located.path}" not found.')
            entry = located.entry
        else:
            entry = call.file()
    if not is_note(entry.path):
        raise DropInRefused(NO_NOTE)
    if not number:
        raise DropInRefused("Missing required parameter: line=<n>")
    if not (number.isascii() and number.isdecimal()):
        raise DropInRefused(f"Invalid number: {number}")
    return entry, int(number)


def _find_task(call: DropInCall, entry: FileEntry, line: int) -> FoundTask:
    listed = next((task for task in _list_of_note(call, entry) if task.line == line), None)
    if listed is None:
        raise DropInRefused(f"No task found at {entry.path}:{line}.")
    return listed


def _new_mark(call: DropInCall, mark: str) -> str | None:
    """Return the mark to write; None where nothing is to change."""
    if status := _status(call):
        if len(status) != 1 or status in "\n]":
            raise DropInRefused(f"Invalid status: {status}. Give one character.")
        return status
    marks = {"done": "x", "todo": " ", "toggle": "x" if mark == " " else " "}
    return next((new for word, new in marks.items() if call.has(word)), None)
