"""Days in words in a query (QUERY-56)."""

from __future__ import annotations

from datetime import date

import pytest

from obsidian_mcp.core.query.parser import parse, with_days
from obsidian_mcp.errors import QueryInvalid

TODAY = date(2026, 11, 25)
SPAN = "OR (>2026-11-24T23:59:59 <2026-12-02T23:59:59)"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("[due:>last monday]", "[due:>2026-11-23T23:59:59]"),
        ("[due:> last monday <next month]", "[due:> 2026-11-23T23:59:59 <2026-12-01]"),
        ('[due:<"in 3 days"] zebra', "[due:<2026-11-28] zebra"),
        ("[due:<today OR null]", "[due:<2026-11-25 OR null]"),
        ('[due:"next 7 days"]', f'[due:(("next 7 days") {SPAN})]'),
        ("[due:-next 7 days]", f"[due:-((next 7 days) {SPAN})]"),
        ("x [due:today]", "x [due:((today) OR (>2026-11-24T23:59:59 <2026-11-25T23:59:59))]"),
    ],
)
def test_days_in_words_become_dates(query: str, expected: str) -> None:
    assert with_days(query, lambda: TODAY) == expected
    parse(expected)


@pytest.mark.parametrize(
    "query",
    [
        "today",
        "[due:>2026-11-01]",
        "[rating:>5]",
        "[due]",
        "[name:may]",
        "[a:2026-11]",
        "[a:not today]",
        "[[x: today]]",
    ],
)
def test_other_values_stay_as_they_are(query: str) -> None:
    assert with_days(query, lambda: TODAY) == query


def test_a_query_that_is_too_long_is_refused_before_its_words_are_read() -> None:
    with pytest.raises(QueryInvalid, match="longer than 10000 characters"):
        with_days("[due:today] " * 1_000_000, lambda: TODAY)
