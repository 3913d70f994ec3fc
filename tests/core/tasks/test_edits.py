"""Single fields in a line (TASK-25, TASK-26, TASK-60 to TASK-64)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.tasks.change import add_task
from obsidian_mcp.core.tasks.fields import DATES, PRIORITIES
from obsidian_mcp.core.tasks.line import read_line, set_description, set_fields
from obsidian_mcp.core.tasks.settings import ReadNotation, TaskSettings
from obsidian_mcp.core.tasks.task_change import TaskChange

from .vectors import TODAY


@pytest.mark.parametrize(
    ("line", "values", "wanted"),
    [
        ("- [ ] a 📆️2026-01-01 🔁 every Sunday", {"due": "2026-02-02"}, "- [ ] a 📆️2026-02-02 🔁 every Sunday"),
        ("- [ ] a #x 📅 2026-01-01 #y ^b", {"start": "2026-01-01"}, "- [ ] a #x 🛫 2026-01-01 📅 2026-01-01 #y ^b"),
        ("- [ ] a  #x  ^b  ", {"priority": "high"}, "- [ ] a  #x ⏫  ^b  "),
        ("- [ ] a ⏫️ 📅 2026-01-01", {"priority": "low"}, "- [ ] a 🔽 📅 2026-01-01"),
        ("- [ ] a 📅 2026-01-01 📅 2026-01-02", {"due": None}, "- [ ] a"),
        ("- [ ] 📅 2026-01-01", {"priority": "high"}, "- [ ] ⏫ 📅 2026-01-01"),
        ("- [ ]  📅 2026-01-01", {"priority": "high"}, "- [ ]  ⏫ 📅 2026-01-01"),
        ("- [ ] ", {"due": "2026-01-01"}, "- [ ]  📅 2026-01-01"),
        ("- [ ] a\r", {"due": "2026-01-01"}, "- [ ] a 📅 2026-01-01\r"),
    ],
)
def test_a_field_is_set_and_nothing_else(line: str, values: dict[str, str | None], wanted: str) -> None:
    """TASK-25, TASK-60, TASK-61, TASK-62, TASK-63"""
    assert set_fields(line, values, "emoji") == wanted


def test_a_field_in_brackets_goes_with_its_comma() -> None:
    """TASK-62"""
    assert set_fields("- [ ] a [due:: 2026-01-01], (id:: x)", {"due": None}, "dataview") == "- [ ] a (id:: x)"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("- [ ] old #a 📅 2026-01-01 #b ^x", "- [ ] #task new 📅 2026-01-01 ^x"),
        ("- [ ] 📅 2026-01-01", "- [ ] #task new 📅 2026-01-01"),
        ("- [ ]  #only  ", "- [ ]  #task new  "),
    ],
)
def test_a_new_text_takes_the_place_of_the_description(line: str, wanted: str) -> None:
    """TASK-64"""
    assert set_description(line, "new", "#task", "emoji") == wanted


VALUES: dict[str, st.SearchStrategy[str]] = {
    **{name: st.dates().map(lambda day: day.isoformat()) for name in DATES},
    "priority": st.sampled_from([name for name in PRIORITIES if name != "none"]),
    "id": st.sampled_from(["a1", "b_2"]),
    "depends_on": st.sampled_from(["a1", "a1,b_2"]),
    "recurrence": st.sampled_from(["every day", "every week on Monday when done"]),
    "on_completion": st.sampled_from(["keep", "delete"]),
}


@st.composite
def fields(draw: st.DrawFn) -> dict[str, str | None]:
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), unique=True))
    return {name: draw(VALUES[name] | st.none()) for name in names}


@given(
    text=st.text(st.characters(codec="utf-8", exclude_characters="\r\n\u2028\u2029"), max_size=30),
    first=fields(),
    second=fields(),
    notation=st.sampled_from(["emoji", "dataview"]),
)
def test_what_is_set_is_read_and_the_rest_stays(
    text: str, first: dict[str, str | None], second: dict[str, str | None], notation: ReadNotation
) -> None:
    """TASK-60 to TASK-63: after any changes, removing all fields again gives the description of before."""
    bare = set_fields(f"- [ ] x {text} y", dict.fromkeys(VALUES), notation)
    line = set_fields(set_fields(bare, first, notation), second, notation)
    values: dict[str, Any] = {**first, **second}
    read = read_line(line, notation)
    assert read is not None
    assert {field.name: field.value for field in read.fields if field.name != "tag"} == {
        name: value for name, value in values.items() if value is not None
    }
    assert set_fields(line, dict.fromkeys(VALUES), notation) == bare


def test_a_new_task_has_the_day_on_which_it_was_added_where_the_settings_say_so() -> None:
    """TASK-66"""
    settings = TaskSettings(set_created_date=True)

    today = add_task("", TaskChange(text="a"), "", settings, TODAY)
    earlier = add_task("", TaskChange(text="a", created="2026-11-01"), "", settings, TODAY)

    assert today.new == ("- [ ] a ➕ 2026-11-25",)
    assert earlier.new == ("- [ ] a ➕ 2026-11-01",)
