"""Cases of our own, rule by rule (specs/tasks.md); the results were checked as tests/core/cases.py says."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from obsidian_mcp.core.calendar.days import TASKS_QUERY, read_coming_day, read_days
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.tasks.change import add_task, update_task
from obsidian_mcp.core.tasks.find import list_checkboxes
from obsidian_mcp.core.tasks.listing import ListRequest, list_filters
from obsidian_mcp.core.tasks.query import parse_query
from obsidian_mcp.core.tasks.settings import TaskSettings
from obsidian_mcp.core.tasks.statements import QueryNote
from obsidian_mcp.core.tasks.task import TaskPlace, read_task
from obsidian_mcp.core.tasks.task_change import TaskChange
from tests.core.cases import check_cases

from .test_query import environment_of
from .test_task import _members
from .vectors import TODAY, tasks_of

FILES = {
    "Home/Garden.md": """# Beds
- [ ] sow peas #garden/veg ⏫ 📅 2026-11-24 🆔 peas
- [ ] water peas #garden 🔁 every day 📅 2026-11-25 ⛔ peas
- [x] buy soil #garden ✅ 2026-11-20 📅 2026-11-21
    - [ ] carry soil

## Tools
- [/] clean spade 🔽 🛫 2026-12-01
- [-] sell mower ❌ 2026-11-02
""",
    "Home/House.md": """- [ ] call roofer 🔺 ⏳ 2026-11-26
- [ ] Paint door 📅 2026-12-24 #House
- [ ] bad day 📅 2026-13-01
""",
    "Work.md": """1. [ ] write report ➕ 2026-11-01 📅 2026-11-30
> - [ ] quoted item ⏬

* [ ] 10 slides
+ [ ] 9 slides #talk
""",
}
SETTINGS = TaskSettings()
HOUSE = QueryNote(
    "Home/House.md",
    {"Focus": "door", "open": "not done\npath includes Home", "off": None, "note": "# a comment\nnot done"},
)


def _list(request: ListRequest) -> list[str]:
    tasks = tasks_of(FILES, SETTINGS)
    filters = list(list_filters(request, environment_of(SETTINGS, TODAY, tasks)))
    return [task.description for task in tasks if all(part.matches(task) for part in filters)]


def evaluate(kind: str, given: str) -> Any:
    """Kinds: `line` is read, `status` changed on 2026-11-25, `due` set to it, `days` and `day` in words, `query`
    and `explain` of a query in Work.md, `inside` of one in HOUSE, `list` of a ListRequest."""
    match kind:
        case "line":
            return _members(read_task(given, TaskPlace("a.md", 1), SETTINGS))
        case "days":
            days = read_days(given, TODAY, TASKS_QUERY)
            return days and [str(days.first), str(days.last)]
        case "day":
            return str(read_coming_day(given, TODAY))
        case "list":
            return _list(ListRequest(**json.loads(given)))
        case "query" | "explain" | "inside":
            tasks = tasks_of(FILES, SETTINGS)
            note = HOUSE if kind == "inside" else QueryNote("Work.md")
            query = parse_query(given, environment_of(SETTINGS, TODAY, tasks), note)
            if kind == "explain":
                return query.explanation
            result = query.run_tasks_query(tasks)
            if result.groups is not None:
                return [[list(group.names), [task.description for task in group.tasks]] for group in result.groups]
            return [task.description for task in result.tasks]
        case "add":
            text, _, due = given.partition(" | ")
            return list(add_task("", TaskChange(text=text, due=due), "", SETTINGS, TODAY).new)
    status, _, line = given.partition(" | ")
    change = TaskChange(status=status) if kind == "status" else TaskChange(**{kind: status})
    return list(update_task(line, list_checkboxes("a.md", parse(line))[0], change, SETTINGS, TODAY).new)


def test_lines_days_and_queries_have_the_results_of_the_table(update: bool) -> None:
    """TASK-20 to TASK-121"""
    assert date(2026, 11, 25) == TODAY
    check_cases(Path(__file__).with_name("cases.tsv"), evaluate, update=update)
