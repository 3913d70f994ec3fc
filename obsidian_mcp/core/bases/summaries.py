"""Summaries over the values of a column (BASE-75 to BASE-77)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from obsidian_mcp.core.expressions.dates import Date
from obsidian_mcp.core.expressions.evaluate import Context
from obsidian_mcp.core.expressions.javascript import round_half_up
from obsidian_mcp.core.expressions.values import Value

from .dates import difference
from .list_methods import deviation, mean, median
from .operators import identity
from .values import is_empty

Summary = Callable[[Sequence[Value], Context], Value]


def _summarize_numbers(compute: Callable[[list[float]], float | None], *, rounded: bool = False) -> Summary:
    def summarize(values: Sequence[Value], _: Context) -> Value:
        result = compute([value for value in values if type(value) is float])
        if result is None or not rounded:
            return result
        return round_half_up(result * 100.0) / 100.0

    return summarize


def _dates(values: Sequence[Value]) -> list[Date]:
    return sorted((value for value in values if isinstance(value, Date)), key=lambda date: date.milliseconds)


def _range(values: Sequence[Value], _: Context) -> Value:
    numbers = [value for value in values if type(value) is float]
    if numbers:
        return max(numbers) - min(numbers)
    dates = _dates(values)
    return difference(dates[-1], dates[0]) if dates else None


def _count(test: Callable[[Value], bool]) -> Summary:
    return lambda values, _: float(sum(test(value) for value in values))


BUILT_IN: Mapping[str, Summary] = {
    "Average": _summarize_numbers(mean, rounded=True),
    "Min": _summarize_numbers(lambda numbers: min(numbers, default=None)),
    "Max": _summarize_numbers(lambda numbers: max(numbers, default=None)),
    "Sum": _summarize_numbers(lambda numbers: float(sum(numbers))),
    "Median": _summarize_numbers(median),
    "Stddev": _summarize_numbers(deviation, rounded=True),
    "Range": _range,
    "Earliest": lambda values, _: next(iter(_dates(values)), None),
    "Latest": lambda values, _: next(reversed(_dates(values)), None),
    "Checked": _count(lambda value: value is True),
    "Unchecked": _count(lambda value: value is False),
    "Empty": _count(is_empty),
    "Filled": _count(lambda value: not is_empty(value)),
    "Unique": lambda values, context: float(len({identity(value, context) for value in values if not is_empty(value)})),
}
