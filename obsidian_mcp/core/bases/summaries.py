"""Summaries over the values of a column (BASE-75 to BASE-77)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from obsidian_mcp.core.expressions.dates import Date
from obsidian_mcp.core.expressions.evaluate import Context, Scope, compile_expression
from obsidian_mcp.core.expressions.javascript import round_half_up
from obsidian_mcp.core.expressions.syntax import SyntaxProblem
from obsidian_mcp.core.expressions.values import File, Value

from .base_file import Base
from .dates import difference
from .language import BASES, BaseRow
from .list_methods import deviation, mean, median
from .method import find_entry
from .operators import identify
from .parser import parse_or_problem
from .values import is_empty

Summary = Callable[[Sequence[Value], Context], Value]


def find_summary(base: Base, name: str, context: Context) -> Summary:
    """Return the summary of that name: one of the base, or a built-in one.

    One that is unknown or does not parse gives null, with a warning.
    """
    text = base.summaries.get(name)
    if text is not None:
        return _compile_summary(base, name, text, context)
    built_in: Summary | None = find_entry(BUILT_IN, name)
    if built_in is None:
        context.problems.note(
            f'The summary "{name}" is not known. Built-in summaries: {", ".join(BUILT_IN)}; '
            'others stand under "summaries" of the base.'
        )
    return built_in or (lambda *_: None)


def _compile_summary(base: Base, name: str, text: str, context: Context) -> Summary:
    node = parse_or_problem(text)
    if isinstance(node, SyntaxProblem):
        context.problems.note(
            f'Summary "{name}" does not parse: {base.describe(("summaries", name), node)}'
        )
        return lambda *_: None
    evaluate = compile_expression(node, BASES, frozenset({"values"}))
    row = BaseRow(File(context.source), {})
    return lambda values, _: evaluate(Scope(context, row, {"values": list(values)}))


def _summarize_numbers(
    compute: Callable[[list[float]], float | None], *, rounded: bool = False
) -> Summary:
    def summarize(values: Sequence[Value], _: Context) -> Value:
        result = compute([value for value in values if type(value) is float])
        return result if result is None or not rounded else round_half_up(result * 100.0) / 100.0

    return summarize


def _dates(values: Sequence[Value]) -> list[Date]:
    return sorted(
        (value for value in values if isinstance(value, Date)), key=lambda date: date.milliseconds
    )


def _range(values: Sequence[Value], _: Context) -> Value:
    """Return the largest number minus the smallest, or without numbers the time between dates."""
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
    "Unique": lambda values, context: float(
        len({identify(value, context) for value in values if not is_empty(value)})
    ),
}
