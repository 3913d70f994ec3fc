"""Where the daily note of a day is (semantics 6.4)."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.files import daily
from obsidian_mcp.core.files.settings import DailyNotes

VECTORS = Path(__file__).parents[3] / "specs/vectors/daily.json"
CASES = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize(("pattern", "day", "expected"), CASES)
def test_a_date_is_written_as_the_app_writes_it(pattern: str, day: str, expected: str) -> None:
    assert daily.formatted(pattern, date.fromisoformat(day)) == expected


def test_the_note_is_in_the_folder_of_the_settings() -> None:
    day = date(2026, 11, 21)

    assert daily.path_of(DailyNotes(), day) == "2026-11-21.md"
    assert daily.path_of(DailyNotes(folder="/Journal/"), day) == "Journal/2026-11-21.md"
    assert daily.path_of(DailyNotes(folder="A/B", format="YYYY/MM-DD"), day) == "A/B/2026/11-21.md"


@given(st.dates(date(1900, 1, 1), date(2200, 1, 1)))
def test_the_weeks_of_a_year_follow_each_other(day: date) -> None:
    year, week = map(int, daily.formatted("gggg ww", day).split())

    assert 1 <= week <= 53
    assert abs(year - day.year) <= 1
    assert (
        daily.formatted("GGGG WW E", day)
        == f"{day.isocalendar().year:04} {day.isocalendar().week:02} {day.isoweekday()}"
    )
