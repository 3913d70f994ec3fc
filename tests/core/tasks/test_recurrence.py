"""Rules of recurring tasks (TASK-50 to TASK-58)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.tasks.next_date import next_date
from obsidian_mcp.core.tasks.recurrence import parse_rule
from obsidian_mcp.core.tasks.rule_text import write_rule


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("every Sunday", "every week on Sunday"),
        ("EVERY 2 weekdays", "every 2 weeks on weekdays"),
        ("every week on mo, tu, we, th, fr", "every weekday"),
        ("every week on mo tu", "every week on Monday"),
        ("every 3 weeks on mo, tu, we, th, fr, sa, su", "every 3 weeks days"),
        ("every week in March", "every week in March"),
        ("every Friday the 13th", "every week on Friday the 13th"),
        ("every month on the last Friday and 1st Monday", "every month on the 1st Monday and last Friday"),
        ("every month on the second last", "every month on the 2nd last"),
        ("every month on the 15th, last and 1st", "every month on the 1st, 15th and last"),
        ("every month on the 2nd last, last and 3rd", "every month on the 3rd, last and 2nd last"),
        ("every 2 months in January", "every 2 months in January"),
        ("every april and december on the 1st and 24th", "every April and December on the 1st and 24th"),
        ("every 2 January on weekdays", "every 2 years January"),
        ("every year in week 20, 22", "every year in weeks 20 and 22"),
        ("every day at 9 and 17 for 3 times", "every day at 9 and 17 for 3 times"),
        ("every 101 days", "every 101 day"),
        ("every week until Jan 2, 2027 when done", "every week until January 2, 2027 when done"),
        ("every month on Monday, 2nd Tuesday", "every month on Monday and on the 2nd Tuesday"),
        ("every day on Friday", "every day"),
        ("every hour", "every hour"),
    ],
)
def test_rules_are_written_in_the_words_of_the_plugin(text: str, written: str) -> None:
    """TASK-50, TASK-52"""
    rule = parse_rule(text)
    assert rule is not None
    assert write_rule(rule) == written


@pytest.mark.parametrize(
    "text",
    [
        *(
            "every two days",
            "every other day",
            "every quarter",
            "2 days",
            "every 0 days",
            "every",
            "",
            "every day, until",
        ),
        *("every Monday and", "every May, foo", "every month on the 400th", "every day at", "every day for ever"),
        *("every day until soon", "every day until May 99 2026", "every week in week", "every Monday the 1st x, x"),
    ],
)
def test_rules_that_are_not_understood_are_none(text: str) -> None:
    """TASK-50"""
    rule = parse_rule(text)
    assert rule is None or not rule.is_complete


@pytest.mark.parametrize(
    ("text", "base", "wanted"),
    [
        ("every month", "2026-01-31", "2026-02-28"),
        ("every 3 months", "2026-11-30", "2027-02-28"),
        ("every month on the 31st", "2026-01-31", "2026-03-31"),
        ("every year", "2024-02-29", "2025-02-28"),
        ("every January", "2026-11-25", "2027-01-25"),
        ("every February on the 29th", "2026-11-25", "2028-02-29"),
        ("every 2 weeks on Monday", "2026-11-25", "2026-12-07"),
        ("every 6 hours", "2026-11-25", "2026-11-26"),
        ("every month on the 32nd", "2026-11-25", None),
        ("every day for 1 time", "2026-11-25", None),
        ("every day until January 1 2020", "2026-11-25", None),
    ],
)
def test_the_next_date(text: str, base: str, wanted: str | None) -> None:
    """TASK-56, TASK-57, TASK-58"""
    rule = parse_rule(text)
    assert rule is not None
    assert next_date(rule, date.fromisoformat(base)) == (wanted and date.fromisoformat(wanted))


WORDS = st.sampled_from(
    [
        *("every", "2", "3rd", "day", "week", "weekdays", "month", "year", "on", "the", "and", ",", "last", "second"),
        *("Monday", "fri", "May", "in", "at", "9", "for", "until", "2027", "when done"),
    ]
)


@given(st.lists(WORDS, max_size=9).map(" ".join))
def test_what_is_written_is_read_as_the_same_rule(text: str) -> None:
    """TASK-52: Reading and writing never fail, and settle after one round."""
    rule = parse_rule(f"every {text}")
    if rule is not None:
        again = parse_rule(write_rule(rule))
        if again is not None:
            assert write_rule(again) == write_rule(rule) or not again.is_complete or not rule.is_complete
