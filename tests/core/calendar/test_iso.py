"""The one reader of ISO dates; others build on it."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obsidian_mcp
from obsidian_mcp.core.calendar.iso import calendar_day, find_days, is_datetime, read_iso

SPELLS_A_DATE = re.compile(r"(?:\\d|\[0-9\])(?:\{4\}|(?:\\d){3})[^\s\"']{0,12}-[^\s\"']{0,12}?(?:\\d|\[0-9\])")
MAY_SPELL_IT = {"calendar/iso.py", "calendar/days.py", "dataview/literals.py"}


def test_at_most_three_files_of_the_package_spell_the_pattern_of_an_iso_date() -> None:
    core = Path(obsidian_mcp.__file__).parent / "core"
    texts = {path: path.read_text(encoding="utf-8") for path in core.parent.rglob("*.py")}
    spelling = {path for path, text in texts.items() if SPELLS_A_DATE.search(text)}
    assert spelling <= {core / path for path in MAY_SPELL_IT}


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))  # noqa: DTZ001 - local
def test_what_is_written_is_read(when: datetime) -> None:
    for timespec in ("minutes", "seconds", "milliseconds", "microseconds"):
        for mark in ("T", " "):
            written = read_iso(when.isoformat(mark, timespec))
            assert written is not None
            assert when.isoformat(timespec=timespec).startswith(written.moment.isoformat(timespec="minutes"))
            assert written.moment.microsecond // 1000 == (when.microsecond // 1000 if len(timespec) > 8 else 0)
    assert calendar_day(when.date().isoformat()) == when.date()


@pytest.mark.parametrize(
    ("text", "hour", "zone"),
    [
        ("2026-11-22", "", ""),
        ("2026-11-22T09:05", "09", ""),
        ("2026-11-22 09:05:01.25Z", "09", "Z"),
        ("2026-11-22t09:05:01+02:00", "09", "+02:00"),
        ("2026-11-22T09:05 -0330", "09", " -0330"),
    ],
)
def test_the_parts_of_a_time_are_told_apart(text: str, hour: str, zone: str) -> None:
    written = read_iso(text)
    assert written is not None
    assert (written.day, written.hour, written.zone) == ("2026-11-22", hour, zone)


@pytest.mark.parametrize(
    "text", ["", "2026", "2026-11", "2026-1-2", "2026-11-22T9:05", "2026-11-22T", "٢٠٢٦-١١-٢٢", "x"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_iso(text) is None
    assert calendar_day(text) is None


def test_a_time_of_a_property_has_no_zone_and_is_in_the_calendar() -> None:
    assert [is_datetime(text) for text in ("2026-11-22T09:05", "2026-11-22T09:05:09")] == [True, True]
    wrong = ("2026-11-22", "2026-02-30T09:05", "2026-11-22T24:05", "2026-11-22 09:05", "2026-11-22T09:05Z")
    assert [text for text in wrong if is_datetime(text)] == []


def test_days_are_found_within_other_text() -> None:
    assert list(find_days("on 2026-11-22 and 20261123")) == ["2026-11-22", "2026-11-23"]
    assert list(find_days("Log 20261123")) == ["2026-11-23"]
    assert list(find_days("no day, 123456")) == []
