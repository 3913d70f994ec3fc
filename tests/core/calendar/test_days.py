"""Days in words (TASK-80 to TASK-83)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.calendar.days import PERSON, TASKS, TASKS_QUERY, read_coming_day, read_days
from obsidian_mcp.core.tasks.filters import date_filter
from tests.core.tasks.vectors import TODAY, measured, needs_vectors, today_of


@needs_vectors
def test_filters_take_the_days_that_the_plugin_takes() -> None:
    """TASK-80, TASK-81, TASK-82"""
    wrong = []
    for case in measured("dates")["cases"]:
        found = date_filter("due", f"on {case['text']}", today_of(case))
        days = found and found.days and [str(found.days.first), str(found.days.last)]
        if days != case["want"]:
            wrong.append((case, days))
    assert not wrong


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("This WEEK", "2026-11-23", "2026-11-29"),
        ("last quarter", "2026-07-01", "2026-09-30"),
        ("2026-W53", "2026-12-28", "2027-01-03"),
        ("2026-12-01   2026-11-30", "2026-11-30", "2026-12-01"),
        ("2026-13-01 2026-11-30", "2026-11-30", "2026-11-30"),
        ("sat", "2026-11-28", "2026-11-28"),
        ("sunday", "2026-11-22", "2026-11-22"),
        ("next sunday", "2026-11-29", "2026-11-29"),
        ("in twelve months", "2027-11-25", "2027-11-25"),
        ("a week ago", "2026-11-18", "2026-11-18"),
        ("may", "2027-05-01", "2027-05-01"),
        ("May 2027", "2027-05-01", "2027-05-01"),
    ],
)
def test_periods(text: str, first: str, last: str) -> None:
    """TASK-80, TASK-81, TASK-82"""
    days = read_days(text, TODAY, TASKS_QUERY)
    assert days is not None
    assert (str(days.first), str(days.last)) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("since Monday", "2026-11-23", "2026-11-25"),
        ("since friday", "2026-11-20", "2026-11-25"),
        ("since the last week", "2026-11-16", "2026-11-25"),
        ("since 14 december", "2025-12-14", "2026-11-25"),
        ("since 2026-11-01", "2026-11-01", "2026-11-25"),
        ("past week", "2026-11-18", "2026-11-25"),
        ("in the past 2 weeks", "2026-11-11", "2026-11-25"),
        ("the last week", "2026-11-16", "2026-11-22"),
        ("this month so far", "2026-11-01", "2026-11-25"),
        ("so far this year", "2026-01-01", "2026-11-25"),
    ],
)
def test_periods_up_to_today(text: str, first: str, last: str) -> None:
    """PERIODIC-9: tools take them, queries of the plugin Tasks do not."""
    days = read_days(text, TODAY)
    assert days is not None
    assert (str(days.first), str(days.last)) == (first, last)
    assert read_days(text, TODAY, TASKS_QUERY) is None


@pytest.mark.parametrize(
    "text",
    [
        *("not 2026-11-30", "day after tomorrow", "dec", "31 June", "in a few days", "2 weeks", "Feb 29", "14 dec,"),
        *("now", "-3d", "22.11.2026", "2026/11/22", "W47", "2026-W5", "in 2 quarters", "Q4"),
    ],
)
def test_other_texts_are_no_days(text: str) -> None:
    """TASK-80"""
    assert read_days(text, TODAY, TASKS_QUERY) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("wednesday", "2026-11-25"),
        ("this Tuesday", "2026-12-01"),
        ("next friday", "2026-12-04"),
        ("24 november", "2027-11-24"),
        ("29 February", "2028-02-29"),
        ("next month", "2026-12-25"),
        ("yesterday", "2026-11-24"),
        ("last friday", None),
        ("this week", None),
        ("May", None),
        ("2026-02-30", None),
        ("2026-11-30 2026-12-01", None),
    ],
)
def test_days_to_be_written_are_never_past_by_chance(text: str, wanted: str | None) -> None:
    """TASK-83"""
    found = read_coming_day(text, TODAY)
    assert (found and found.isoformat()) == wanted


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("last 7 days", "2026-11-18", "2026-11-25"),
        ("past two weeks", "2026-11-11", "2026-11-25"),
        ("next 3 months", "2026-11-25", "2027-02-25"),
        ("2026-11-20..2026-11-30", "2026-11-20", "2026-11-30"),
        ("2026-11-30 to 2026-11-20", "2026-11-20", "2026-11-30"),
        ("22.11.2026", "2026-11-22", "2026-11-22"),
        ("+2w", "2026-12-09", "2026-12-09"),
        ("week 47", "2026-11-16", "2026-11-22"),
    ],
)
def test_a_person_may_say_more_than_a_query_of_tasks(text: str, first: str, last: str) -> None:
    """TASK-132, SEARCH-12"""
    for ways in (PERSON, TASKS):
        days = read_days(text, TODAY, ways)
        assert days is not None
        assert (str(days.first), str(days.last)) == (first, last)
    assert read_days(text, TODAY, TASKS_QUERY) is None


@pytest.mark.parametrize(
    ("text", "person", "tasks"),
    [
        ("friday", "2026-11-27", "2026-11-27"),
        ("tuesday", "2026-12-01", "2026-11-24"),
        ("next friday", "2026-11-27", "2026-12-04"),
        ("last wednesday", "2026-11-18", "2026-11-18"),
        ("3 january", "2026-01-03", "2027-01-03"),
    ],
)
def test_people_and_the_plugin_do_not_mean_the_same_day_by_some_words(text: str, person: str, tasks: str) -> None:
    """PERIODIC-9, TASK-81, TASK-82"""
    found = [read_days(text, TODAY, ways) for ways in (PERSON, TASKS)]
    assert [days and str(days.first) for days in found] == [person, tasks]


@given(st.text(), st.dates(date(1, 1, 2), date(9999, 12, 30)))
def test_no_text_is_too_strange(text: str, today: date) -> None:
    for known in (text, f"in {text} days", f"{len(text)} years ago", "next year", "last week", "14 October"):
        days, day = read_days(known, today, TASKS), read_coming_day(known, today)
        assert days is None or days.first <= days.last
        assert day is None or type(day) is date
