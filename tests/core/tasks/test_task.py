"""Reading the line of a task (TASK-01 to TASK-04, TASK-20 to TASK-27)."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.tasks.fields import DATES
from obsidian_mcp.core.tasks.file_date import file_date
from obsidian_mcp.core.tasks.line import read_line
from obsidian_mcp.core.tasks.rule_text import write_rule
from obsidian_mcp.core.tasks.settings import (
    DEFAULT_PRESETS,
    WITHOUT_PLUGIN,
    TaskSettings,
    parse_settings,
    read_task_settings,
)
from obsidian_mcp.core.tasks.statuses import DEFAULTS, StatusRegistry, TaskStatus
from obsidian_mcp.core.tasks.task import Task, TaskPlace, read_task

from .vectors import FOLDER, TODAY, measured, needs_vectors, settings_of, tasks_of

ENABLED = b'["obsidian-tasks-plugin"]'
HERE = TaskPlace("a.md", 1)


def _members(task: Task | None) -> dict[str, Any] | None:
    if task is None:
        return None
    found: dict[str, Any] = {
        "status": task.status.symbol,
        "status_type": task.status.type,
        "description": task.description,
        **{name: str(day) for name in DATES if (day := task.day(name)) is not None},
        **{name: value for name in ("on_completion", "id", "block_id") if (value := getattr(task, name))},
        **{name: list(value) for name in ("depends_on", "tags") if (value := getattr(task, name))},
    }
    if task.priority != "none":
        found["priority"] = task.priority
    if task.rule is not None:
        found["recurrence"] = write_rule(task.rule)
    if task.scheduled_inferred:
        found["scheduled_inferred"] = True
    return found


@needs_vectors
def test_lines_are_read_as_the_plugin_reads_them() -> None:
    """TASK-20, TASK-21, TASK-22, TASK-23"""
    cases = measured("parse")["cases"]
    wrong = []
    for case in cases:
        settings, path = settings_of(case), case.get("path", "a.md")
        task = read_task(case["line"], TaskPlace(path, 1), settings, file_date(path, settings, TODAY))
        wanted = case["want"] and {key: value for key, value in case["want"].items() if key != "invalid"}
        invalid = (case["want"] or {}).get("invalid", [])
        if _members(task) != wanted or (task and sorted(set(task.invalid) & set(DATES)) != sorted(invalid)):
            wrong.append((case, _members(task)))
    assert not wrong
    assert cases


@needs_vectors
def test_the_tasks_of_whole_notes_are_those_of_the_app() -> None:
    """TASK-02, TASK-04"""
    wrong = []
    for case in measured("files")["cases"]:
        recording = json.loads((FOLDER.parent / "recordings" / case["recording"]).read_text(encoding="utf-8"))
        found = [
            [task.place.line, task.place.heading, task.status.symbol, task.description]
            for task in tasks_of({"a.md": recording["fileContents"]}, TaskSettings())
        ]
        if found != case["want"]:
            wrong.append((case["id"], found, case["want"]))
    assert not wrong


def test_reading_stops_at_the_first_word_that_is_no_field() -> None:
    """TASK-21"""
    task = read_task("- [ ] pay 📅 2026-11-30 rent 🔼 #home ⏳2026-11-29 ^b1", HERE, TaskSettings())
    assert task is not None
    assert task.due is None
    assert (task.scheduled, task.priority, task.block_id) == (date(2026, 11, 29), "medium", "b1")
    assert task.description == "pay 📅 2026-11-30 rent #home"


def test_the_leftmost_of_two_values_counts() -> None:
    """TASK-22"""
    task = read_task("- [ ] a 📅 2026-01-01 📅 2026-02-02", HERE, TaskSettings())
    assert task is not None
    assert task.due == date(2026, 1, 1)


def test_a_date_that_is_no_day_is_there_but_invalid() -> None:
    """TASK-24"""
    task = read_task("- [ ] a 🔁 every week 📅 2026-02-30", HERE, TaskSettings())
    assert task is not None
    assert task.has_date("due")
    assert task.due is None
    assert task.rule is None
    assert task.invalid == {"due": "2026-02-30", "recurrence": "every week"}


def test_without_the_plugin_both_notations_are_read() -> None:
    """TASK-03"""
    line = "- [ ] a [priority:: high] 📅 2026-11-30"
    both, one = read_task(line, HERE, WITHOUT_PLUGIN), read_task(line, HERE, TaskSettings())
    assert both is not None
    assert one is not None
    assert (both.priority, one.priority) == ("high", "none")
    assert one.description == "a [priority:: high]"


@pytest.mark.parametrize("line", ["- [ ] plain", "-\t[ ] #task tab behind the marker", "- [ab] #task", "[ ] #task"])
def test_lines_without_the_filter_or_of_another_form_are_no_tasks(line: str) -> None:
    """TASK-02"""
    assert read_task(line, HERE, TaskSettings(global_filter="#task")) is None


def test_settings_are_the_plugins_defaults_where_they_are_missing_or_broken() -> None:
    """TASK-01, TASK-03"""
    for enabled, data in ((None, b"{}"), (b"[]", None), (b"{", None)):
        assert read_task_settings(enabled, data) == WITHOUT_PLUGIN
    for data in (None, b"{", b"[]"):
        assert read_task_settings(ENABLED, data) == TaskSettings()
    broken = {"globalFilter": 3, "setDoneDate": "no", "presets": [], "statusSettings": 1, "filenameAsDateFolders": 2}
    assert parse_settings(broken) == TaskSettings()


def test_settings_are_read() -> None:
    """TASK-01, TASK-10"""
    row = {"symbol": "!", "name": "Important", "nextStatusSymbol": "x", "type": "nonsense"}
    found = read_task_settings(
        ENABLED,
        json.dumps(
            {
                "globalFilter": "#task",
                "taskFormat": "dataview",
                "setCreatedDate": True,
                "includes": {"mine": "not done"},
                "statusSettings": {"customStatuses": [row, {**row, "name": "Twice"}, {"symbol": ""}, 4]},
                "unknown": 1,
            }
        ).encode(),
    )
    assert found.global_filter == "#task"
    assert found.notation == "dataview"
    assert found.set_created_date
    assert found.presets == {"mine": "not done"}
    assert found.statuses.get("!") == TaskStatus("!", "Important", "x", "TODO")
    assert [status.symbol for status in found.statuses.statuses] == [" ", "x", "!", "!"]
    assert "this_file" in DEFAULT_PRESETS


def test_statuses_follow_their_links() -> None:
    """TASK-11, TASK-12, TASK-13, TASK-14"""
    registry = StatusRegistry()
    assert registry.get("X") == TaskStatus("X", "Unknown", "x", "TODO")
    assert [status.is_done for status in DEFAULTS] == [False, True, False, True]
    assert registry.toggle(registry.get("/")).symbol == "x"
    chain = StatusRegistry((TaskStatus("d", "Done", "p", "DONE"), TaskStatus("p", "Doing", "d", "IN_PROGRESS")))
    assert chain.reopen(chain.get("d")).symbol == "p"
    alone = StatusRegistry((TaskStatus("d", "Done", "d", "DONE"),))
    assert alone.reopen(alone.get("d")).symbol == " "


def test_the_date_of_a_notes_name_is_that_of_its_tasks() -> None:
    """TASK-27"""
    settings = TaskSettings(
        use_filename_as_scheduled_date=True, filename_date_format="D MMM YYYY", filename_date_folders=("Daily",)
    )
    assert file_date("Daily/5 Nov 2026.md", settings, TODAY) == date(2026, 11, 5)
    assert file_date("Daily/20261105 x.md", settings, TODAY) == date(2026, 11, 5)
    assert file_date("Daily/2026-11-06.md", settings, TODAY) == date(2026, 11, 6)  # not in the format
    assert file_date("Daily/notes.md", settings, TODAY) is None
    assert file_date("Daily/2026-13-05 20261105.md", settings, TODAY) is None
    assert file_date("Other/2026-11-05.md", settings, TODAY) is None
    task = read_task("- [ ] a ➕ 2026-01-01", HERE, settings, date(2026, 11, 5))
    assert task is not None
    assert (task.scheduled, task.scheduled_inferred) == (date(2026, 11, 5), True)


@given(st.text(), st.sampled_from(["emoji", "dataview", "both"]))
def test_no_line_is_too_strange_to_read(text: str, notation: Any) -> None:
    """TASK-20: The places of a line lie in it and in order."""
    line = read_line(f"- [ ] {text}", notation)
    assert line is not None
    assert line.body_start <= line.description_end <= line.body_end <= len(line.text)


def test_a_heading_in_a_quote_heads_no_task() -> None:
    """TASK-04"""
    text = "# Real\n\n> # Quoted\n> - [ ] a\n\n- [ ] b\n```\n- [ ] code\n```\n"
    assert [(task.place.line, task.place.heading) for task in tasks_of({"a.md": text}, TaskSettings())] == [
        (4, "Real"),
        (6, "Real"),
    ]


def test_parsing_a_note_finds_its_checkboxes() -> None:
    """TASK-02: The item list of the note parser is the source."""
    assert [item.mark for item in parse("- [ ] a\n- [x] b\n- c\n").tasks] == [" ", "x"]
