"""Times as people write them, and as answers say them (specs/search.md, SEARCH-12)."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.calendar.clock import month, nanoseconds, shift
from obsidian_mcp.core.calendar.days import read_moment

NOW = datetime.fromisoformat("2024-05-31T18:30")

READ = [
    ("2024", "2024-01-01T00:00:00"),
    ("2024-05", "2024-05-01T00:00:00"),
    (" 2024-05-31 ", "2024-05-31T00:00:00"),
    ("2024-05-31T07:15", "2024-05-31T07:15:00"),
    ("2024-05-31 07:15:09", "2024-05-31T07:15:09"),
    ("2024-05-31T07:15Z", "2024-05-31T07:15:00+00:00"),
    ("today", "2024-05-31T00:00:00"),
    ("Yesterday", "2024-05-30T00:00:00"),
    ("90d", "2024-03-02T18:30:00"),
    ("1 day ago", "2024-05-30T18:30:00"),
    ("12h", "2024-05-31T06:30:00"),
    ("2 Weeks", "2024-05-17T18:30:00"),
    ("3m", "2024-02-29T18:30:00"),
    ("6 months ago", "2023-11-30T18:30:00"),
    ("1y", "2023-05-31T18:30:00"),
    ("2mo", "2024-03-31T18:30:00"),
    ("-7d", "2024-05-24T00:00:00"),
    ("31.5.2024", "2024-05-31T00:00:00"),
    ("last monday", "2024-05-27T00:00:00"),
    ("last 7 days", "2024-05-24T00:00:00"),
    ("this month", "2024-05-01T00:00:00"),
    ("2024-W05", "2024-01-29T00:00:00"),
    ("2024-05-01 2024-04-01", "2024-04-01T00:00:00"),
]
NOT_READ = [
    "",
    "soon",
    "7",
    "d",
    "7x",
    "7 d ago or so",
    "2024-13",
    "2024-02-30",
    "05/31/2024",
    "١d",
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_a_time_is_read_as_its_beginning(text: str, expected: str) -> None:
    found = read_moment(text, NOW)
    assert found is not None
    assert found.isoformat() == expected


@pytest.mark.parametrize("text", NOT_READ)
def test_what_is_no_time_is_none(text: str) -> None:
    assert read_moment(text, NOW) is None


@pytest.mark.parametrize("text", ["999999y", "999999w", "0001", "9999-12-31", "0001-01-01T00:00+14:00"])
def test_times_that_no_clock_shows_can_be_compared(text: str) -> None:
    found = read_moment(text, NOW)
    assert found is not None
    assert (nanoseconds(found) < nanoseconds(NOW)) == (text != "9999-12-31")


@given(st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**30), 10**30))
def test_any_time_of_a_file_has_a_month(mtime_ns: int) -> None:
    assert len(month(mtime_ns)) == 7


@pytest.mark.parametrize(
    ("when", "count", "unit"),
    [("9999-12-31", 1, "M"), ("9999-01-01", 1, "y"), ("0001-01-01", -1, "M"), ("0001-02-01", -1, "Q")],
)
def test_what_lies_outside_the_calendar_is_an_overflow(when: str, count: int, unit: str) -> None:
    with pytest.raises(OverflowError):
        shift(datetime.fromisoformat(when), count, unit)
