"""The measured cases of `../shared/data/tasks`, and small vaults of tasks made from texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.tasks.file_date import file_date
from obsidian_mcp.core.tasks.settings import WITHOUT_PLUGIN, TaskSettings, parse_settings
from obsidian_mcp.core.tasks.statements import QueryNote
from obsidian_mcp.core.tasks.task import Task, TaskPlace, read_task

FOLDER = Path(__file__).parents[4] / "shared/data/tasks"
TODAY = date(2026, 11, 25)

needs_vectors = pytest.mark.skipif(not FOLDER.exists(), reason="../shared/data/tasks is not here")

Case = Mapping[str, Any]


def measured(name: str) -> Any:
    """The contents of one file; without any cases where the folder is missing."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"cases": [], "vaults": {}}


def settings_of(case: Case) -> TaskSettings:
    """The plugin's settings of a case."""
    return WITHOUT_PLUGIN if case.get("plugin") is False else parse_settings(members(case.get("settings") or {}))


def members(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The plugin's own members: `statuses` of a case are rows of symbol, name, next symbol and type."""
    rows = [
        {"symbol": symbol, "name": name, "nextStatusSymbol": following, "type": kind, "availableAsCommand": True}
        for symbol, name, following, kind in settings.get("statuses", ())
    ]
    own = {key: value for key, value in settings.items() if key != "statuses"}
    return {**own, "statusSettings": {"coreStatuses": rows[:2], "customStatuses": rows[2:]}} if rows else own


def today_of(case: Case) -> date:
    return date.fromisoformat(case["today"])


def tasks_of(files: Mapping[str, str], settings: TaskSettings, today: date = TODAY) -> list[Task]:
    """The tasks of a vault given as its files, by path and line."""
    found: list[Task] = []
    for path, text in files.items():
        note, lines = parse(text), text.split("\n")
        for item in note.tasks:
            headings = [heading.text for heading in note.outline if heading.line < item.line]
            place = TaskPlace(path, item.line + 1, headings[-1] if headings else None)
            task = read_task(lines[item.line].rstrip("\r"), place, settings, file_date(path, settings, today))
            if task is not None:
                found.append(task)
    return found


def query_note(files: Mapping[str, str], path: str | None) -> QueryNote | None:
    """The note that a query of a case stands in."""
    if path is None:
        return None
    return QueryNote(path, parse(files[path]).properties if path in files else {})
