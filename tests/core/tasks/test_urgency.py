"""How urgent a task is, in the points of the plugin."""

from __future__ import annotations

from datetime import timedelta

import pytest

from obsidian_mcp.core.tasks.settings import TaskSettings
from obsidian_mcp.core.tasks.task import TaskPlace, read_task
from obsidian_mcp.core.tasks.urgency import urgency

from .vectors import TODAY

NO_PRIORITY = 1.95


def points(fields: str) -> float:
    task = read_task(f"- [ ] a {fields}", TaskPlace("a.md", 1), TaskSettings())
    assert task is not None
    return urgency(task, TODAY)


def day(days_from_today: int) -> str:
    return str(TODAY + timedelta(days_from_today))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [("🔺", 9.0), ("⏫", 6.0), ("🔼", 3.9), ("", NO_PRIORITY), ("🔽", 0.0), ("⏬", -1.8)],
)
def test_a_priority_has_its_points(fields: str, expected: float) -> None:
    """TASK-116"""
    assert points(fields) == expected


@pytest.mark.parametrize(
    ("days_from_today", "expected"),
    [(-8, 12.0), (-7, 12.0), (-6, 12 * (20 * 0.8 / 21 + 0.2)), (0, 8.8), (7, 5.6), (14, 2.4), (15, 2.4)],
)
def test_a_due_date_counts_for_more_from_two_weeks_before_to_one_week_after(
    days_from_today: int, expected: float
) -> None:
    """TASK-116"""
    assert points(f"📅 {day(days_from_today)}") == pytest.approx(NO_PRIORITY + expected)


def test_a_scheduled_date_counts_from_its_day_on_and_a_start_date_up_to_it() -> None:
    """TASK-116"""
    scheduled = [points(f"⏳ {day(days)}") for days in (-1, 0, 1)]
    assert scheduled == [NO_PRIORITY + 5, NO_PRIORITY + 5, NO_PRIORITY]
    start = [points(f"🛫 {day(days)}") for days in (-1, 0, 1)]
    assert start == [NO_PRIORITY, NO_PRIORITY, NO_PRIORITY - 3]


def test_the_points_of_a_task_are_added_up() -> None:
    """TASK-116"""
    assert points(f"⏫ 📅 {day(-7)} ⏳ {day(0)} 🛫 {day(1)}") == 6 + 12 + 5 - 3
