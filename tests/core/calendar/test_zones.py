"""Local time and zones, in every year and whatever the system knows (EXPR-10)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import obsidian_mcp
from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.calendar.luxon import write_luxon
from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.core.calendar.moment_parse import parse_moment
from obsidian_mcp.core.expressions.dates import from_nanoseconds
from tests.core.expressions.time_zones import time_zone
from tests.system import can

FAR = int(datetime(3500, 7, 1, 12, tzinfo=UTC).timestamp())
OLD = int(datetime(1903, 7, 1, 12, tzinfo=UTC).timestamp())
ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati"]
if can("time zones of processes"):
    ZONES += ["UTC+24", "UTC-24"]  # no object of Python is a day ahead
times = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31))  # noqa: DTZ001 - local


@pytest.mark.parametrize("name", ZONES)
@given(when=times)
@example(when=datetime(3484, 3, 9, 2, fold=1))  # noqa: DTZ001 - local
def test_a_local_time_comes_back_from_its_instant(name: str, when: datetime) -> None:
    with time_zone(name):
        here = clock.on_the_clock(when)
        assert clock.to_local_time(clock.instant(here)) == here
        assert abs(clock.offset(here)) <= timedelta(days=1)
        assert clock.name(here)


def test_a_zone_is_written_by_its_name_or_its_distance() -> None:
    """EXPR-10"""
    summer = datetime(2026, 7, 4, 12)  # noqa: DTZ001 - given a zone below
    assert write_luxon(summer.replace(tzinfo=ZoneInfo("Europe/Paris")), "z ZZZ") == "Europe/Paris +0200"
    assert write_luxon(summer.replace(tzinfo=timezone(timedelta(hours=5, minutes=30))), "z") == "UTC+5:30"
    assert write_luxon(summer.replace(tzinfo=UTC), "z") == "UTC"


@given(st.integers(2008, 2036), st.integers(0, 365 * 24 * 3600 - 1))
def test_years_after_those_that_systems_know_are_counted_as_years_that_fall_alike(year: int, second: int) -> None:
    """Both zones have kept their rule since 2008."""
    when = datetime(year, 1, 1) + timedelta(seconds=second)  # noqa: DTZ001 - local
    for name in ("Europe/Berlin", "America/New_York"):
        with time_zone(name):
            assert clock.offset(when.replace(year=year + 1200)) == clock.offset(when)


@pytest.mark.parametrize(("seconds", "month", "shown"), [(FAR, "3500-07", "14:00"), (OLD, "1903-07", "13:00")])
def test_a_files_time_may_be_of_any_year(seconds: int, month: str, shown: str) -> None:
    with time_zone("Europe/Berlin"):
        assert clock.month(seconds * 10**9) == month
        assert clock.local_time(seconds * 10**9).isoformat()[11:16] == shown
        assert from_nanoseconds(seconds * 10**9).moment.isoformat()[11:16] == shown


@pytest.mark.parametrize("seconds", [10**15, -(10**15)])
def test_a_files_time_outside_the_calendar_is_the_last_or_first_that_answers_show(seconds: int) -> None:
    assert clock.month(seconds * 10**9)[:2] in ("99", "10")


def test_moment_writes_and_reads_instants_of_any_year() -> None:
    with time_zone("Europe/Berlin"):
        for written in ("3500-07-01T12:00:00+02:00", "3500-12-01T12:00:00+01:00"):
            read = parse_moment(written, "YYYY-MM-DDTHH:mm:ssZ")
            assert read is not None
            assert format_moment(read, "YYYY-MM-DDTHH:mm:ssZ") == written
            epoch = format_moment(read, "X")
            assert parse_moment(epoch, "X") == read
        assert parse_moment("-62000000000", "X") is not None


@pytest.mark.parametrize(
    ("text", "hours"),
    [("Z", 0), ("z", 0), ("+2", 2), ("-03:30", -3.5), ("+0530", 5.5), ("Asia/Kolkata", 5.5), ("[Asia/Kolkata]", 5.5)],
)
def test_a_zone_is_read_in_every_form(text: str, hours: float) -> None:
    zone = clock.read_zone(text)
    assert zone is not None
    assert zone.utcoffset(datetime(2026, 1, 1)) == timedelta(hours=hours)  # noqa: DTZ001 - of that zone


@pytest.mark.parametrize("text", ["Nowhere/Else", "+24:00", "[]", "../x", "Europe/Berlin\0"])
def test_what_names_no_zone_is_none(text: str) -> None:
    assert clock.read_zone(text) is None


def test_only_one_file_asks_the_system_for_local_time_and_zones() -> None:
    package = Path(obsidian_mcp.__file__).parent
    asks = re.compile(r"fromtimestamp|time\.localtime|mktime|\.astimezone\(\)|\bZoneInfo\(")
    asking = [path.name for path in package.rglob("*.py") if asks.search(path.read_text(encoding="utf-8"))]
    assert asking == ["clock.py"]
