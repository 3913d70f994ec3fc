"""Dates, durations and calendar arithmetic (specs/expressions.md)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from obsidian_mcp.core.expressions.dates import Date, Duration, from_milliseconds, shift
from obsidian_mcp.core.expressions.values import ExpressionError

from .time_zones import time_zone


@pytest.fixture
def new_york() -> Iterator[None]:
    with time_zone("America/New_York"):
        yield


def date(text: str) -> Date:
    return Date(datetime.fromisoformat(text))


@pytest.mark.usefixtures("new_york")
def test_a_time_that_the_clocks_skip_is_moved_on() -> None:
    """EXPR-12: 2:30 on 8 March 2026 is 3:30, and a minute later 3:31."""
    before = date("2026-03-07T02:30")
    assert shift(before, Duration(days=1), elapsed=True) == date("2026-03-08T03:30")
    assert shift(before, Duration(days=1, minutes=1), elapsed=True) == date("2026-03-08T03:31")
    assert shift(before, Duration(hours=24), elapsed=False) == date("2026-03-08T03:30")


@pytest.mark.usefixtures("new_york")
def test_a_fraction_of_a_week_is_time_that_passes() -> None:
    """EXPR-12"""
    before = date("2026-03-07T00:00")
    assert shift(before, Duration(weeks=0.25), elapsed=True) == date("2026-03-08T19:00")


@pytest.mark.usefixtures("new_york")
def test_a_local_date_knows_daylight_saving() -> None:
    """EXPR-10"""
    passed = date("2026-03-09").milliseconds - date("2026-03-08").milliseconds
    assert passed == 23 * 3_600_000
    assert from_milliseconds(date("2026-07-01T10:30").milliseconds) == date("2026-07-01T10:30")


@pytest.mark.usefixtures("new_york")
def test_hours_move_on_the_local_clock_or_by_elapsed_time() -> None:
    """EXPR-12"""
    day = Duration(hours=24)
    assert shift(date("2026-03-08"), day, elapsed=False) == date("2026-03-09T00:00")
    assert shift(date("2026-03-08"), day, elapsed=True) == date("2026-03-09T01:00")


@pytest.mark.parametrize(
    ("start", "duration", "end"),
    [
        ("2025-01-31", Duration(months=1), "2025-02-28"),
        ("2024-02-29", Duration(years=1), "2025-02-28"),
        ("2025-03-31", Duration(months=-1), "2025-02-28"),
        ("2025-01-01", Duration(months=1, weeks=1, days=1, hours=36), "2025-02-10T12:00"),
        ("2025-01-01", Duration(days=1.5), "2025-01-02T12:00"),
    ],
)
def test_months_move_on_the_calendar_and_the_rest_behind_them(start: str, duration: Duration, end: str) -> None:
    """EXPR-12"""
    assert shift(date(start), duration, elapsed=False) == date(end)


def test_a_duration_as_a_number_has_months_of_30_and_years_of_365_days() -> None:
    """EXPR-11"""
    assert Duration(years=1, months=1, days=1).total_ms == (365 + 30 + 1) * 86_400_000
    assert Duration(months=1) != Duration(days=30)
    assert Duration(hours=1).add(Duration(minutes=30)).scale(2) == Duration(hours=2, minutes=60)


@pytest.mark.parametrize("duration", [Duration(years=9000), Duration(days=1e12), Duration(hours=float("inf"))])
def test_dates_outside_of_the_calendar_are_errors(duration: Duration) -> None:
    """EXPR-10"""
    with pytest.raises(ExpressionError, match="years 1 to 9999"):
        shift(date("2025-01-01"), duration, elapsed=False)
    with pytest.raises(ExpressionError, match="years 1 to 9999"):
        from_milliseconds(1e300)
