"""Operators, equality and order of Bases (BASE-30 to BASE-37)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from obsidian_mcp.core.expressions.dates import UNITS, Date, Duration, day_of
from obsidian_mcp.core.expressions.evaluate import Context, Evaluate, Scope
from obsidian_mcp.core.expressions.javascript import divide, remainder
from obsidian_mcp.core.expressions.values import (
    MAX_VALUE_DEPTH,
    ExpressionError,
    File,
    LinkValue,
    Value,
)
from obsidian_mcp.core.text.collation import natural_key

from .dates import add, difference, parse_date, parse_duration
from .values import RelativeTime, is_true, link_text, path_of, text_of, type_name

BinaryOperation = Callable[[Value, Value, Context], Value]


def _invalid_operation(left: Value, right: Value) -> ExpressionError:
    return ExpressionError(f"Invalid operator between {type_name(left)} and {type_name(right)}")


def add_values(left: Value, right: Value, context: Context) -> Value:
    """Return `left + right`: numbers, a date and a duration, texts, lists, durations (BASE-30)."""
    if type(left) is float and type(right) is float:
        return left + right
    if isinstance(left, Date):
        duration = _duration(right)
        if duration is not None:
            return add(left, duration)
    if isinstance(left, str) or isinstance(right, str):
        first, second = text_of(left, context), text_of(right, context)
        context.budget.charge(len(first) + len(second))
        return first + second
    if left is None or right is None:
        return None
    if isinstance(left, list) and isinstance(right, list):
        context.budget.charge_items(len(left) + len(right))
        return left + right
    if isinstance(left, Duration) and isinstance(right, Duration):
        return left.add(right)
    raise _invalid_operation(left, right)


def subtract_values(left: Value, right: Value, _: Context) -> Value:
    """Return `left - right`: numbers, dates, a date and a duration, durations."""
    if type(left) is float and type(right) is float:
        return left - right
    if left is None or right is None:
        return None
    if isinstance(left, Date):
        if isinstance(right, Date):
            return difference(left, right)
        duration = _duration(right)
        if duration is not None:
            return add(left, duration.scale(-1))
    if isinstance(left, Duration) and isinstance(right, Duration):
        return left.add(right.scale(-1))
    raise _invalid_operation(left, right)


def _duration(value: Value) -> Duration | None:
    """Return a duration, or the one that a text says."""
    if isinstance(value, str):
        return parse_duration(value)
    return value if isinstance(value, Duration) else None


def _arithmetic(
    numbers: Callable[[float, float], float], *, scales_durations: bool
) -> BinaryOperation:
    """Return an operator on numbers, which may also multiply or divide a duration.

    Null on one side gives null, so that an empty property is no error.
    """

    def operate(left: Value, right: Value, _: Context) -> Value:
        if type(left) is float and type(right) is float:
            return numbers(left, right)
        if left is None or right is None:
            return None
        if scales_durations and isinstance(left, Duration) and type(right) is float:
            parts = (getattr(left, unit) for unit in UNITS)
            return Duration(*(numbers(part, right) if part else part for part in parts))
        raise _invalid_operation(left, right)

    return operate


def _compare(test: Callable[[Any, Any], bool]) -> BinaryOperation:
    """Return a comparison of numbers, dates, texts or durations; of different kinds it is false.

    A text beside a date or duration is read as one.
    """

    def compare(left: Value, right: Value, _: Context) -> Value:
        if type(left) is float and type(right) is float:
            return test(left, right)
        if isinstance(left, Date) or isinstance(right, Date):
            first, second = _date(left), _date(right)
            return first is not None and second is not None and test(first.moment, second.moment)
        if isinstance(left, str) and isinstance(right, str):
            return test(str(left), str(right))
        if isinstance(left, Duration) or isinstance(right, Duration):
            one_length, other_length = _duration(left), _duration(right)
            if one_length is None or other_length is None:
                return False
            return test(one_length.total_ms, other_length.total_ms)
        return False

    return compare


def _date(value: Value) -> Date | None:
    """Return a date, or the one that a text says."""
    if isinstance(value, str):
        return parse_date(value)
    return value if isinstance(value, Date) else None


def equals(left: Value, right: Value, context: Context, depth: int = 0) -> bool:
    """Return `left == right` (BASE-34).

    Raises: ExpressionError for lists and objects that are nested too deep.
    """
    left_type = type(left)
    if left_type is type(right) and (left_type is str or left_type is float):
        return bool(left == right)
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float) or isinstance(right, float):
        return type(left) is type(right) and bool(left == right)
    if isinstance(left, Date) or isinstance(right, Date):
        return _is_same_date(_date(left), _date(right))
    if isinstance(left, LinkValue | File) or isinstance(right, LinkValue | File):
        return _is_same_file(left, right, context)
    if isinstance(left, str) and isinstance(right, str):
        return str(left) == str(right)
    if isinstance(left, Duration) and isinstance(right, Duration):
        return left.total_ms == right.total_ms
    if depth >= MAX_VALUE_DEPTH:
        raise ExpressionError(f"The values are nested more than {MAX_VALUE_DEPTH} deep.")
    context.budget.tick()
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(
            equals(first, second, context, depth + 1)
            for first, second in zip(left, right, strict=True)
        )
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            equals(value, right[key], context, depth + 1) for key, value in left.items()
        )
    return type(left) is type(right) and bool(left == right)


def _is_same_date(left: Date | None, right: Date | None) -> bool:
    """Return whether two dates are equal: by their days, where one has no time of day."""
    if left is None or right is None:
        return False
    if not (left.has_time and right.has_time):
        return day_of(left).moment == day_of(right).moment
    return left.moment == right.moment


def _is_same_file(left: Value, right: Value, context: Context) -> bool:
    """Return whether two of Link, File and String mean one file.

    Links that lead nowhere are compared by their targets, and a text with what a link says.
    """
    if isinstance(left, str) or isinstance(right, str):
        text, link = (left, right) if isinstance(left, str) else (right, left)
        if not isinstance(link, LinkValue):
            return False
        return text in (link.target, f"[[{link.target}]]", link_text(link))
    if not isinstance(left, LinkValue | File) or not isinstance(right, LinkValue | File):
        return False
    first, second = path_of(left, context), path_of(right, context)
    if first is not None or second is not None:
        return first == second
    if isinstance(left, LinkValue) and isinstance(right, LinkValue):
        return left.target == right.target
    return False


def negate(value: Value, _: Context) -> Value:
    """Return `-value` of a number or a duration."""
    if value is None:
        return None
    if type(value) is float:
        return -value
    if isinstance(value, Duration):
        return value.scale(-1)
    raise ExpressionError(f"Invalid operator on {type_name(value)}")


def _logic(stop_at: bool) -> Callable[[Evaluate, Evaluate], Evaluate]:
    """Return `&&`, which stops at a false left side, or `||`, which stops at a true one.

    The right side is evaluated only where it decides, so that it may use what the left side tests.
    """

    def join(left: Evaluate, right: Evaluate) -> Evaluate:
        def evaluate(scope: Scope) -> Value:
            return stop_at if is_true(left(scope)) == stop_at else is_true(right(scope))

        return evaluate

    return join


BINARY: dict[str, BinaryOperation] = {
    "+": add_values,
    "-": subtract_values,
    "*": _arithmetic(operator.mul, scales_durations=True),
    "/": _arithmetic(divide, scales_durations=True),
    "%": _arithmetic(remainder, scales_durations=False),
    "==": equals,
    "!=": lambda left, right, context: not equals(left, right, context),
    "<": _compare(operator.lt),
    ">": _compare(operator.gt),
    "<=": _compare(operator.le),
    ">=": _compare(operator.ge),
}

UNARY: dict[str, Callable[[Value, Context], Value]] = {
    "!": lambda value, _: None if value is None else not is_true(value),
    "-": negate,
}

LAZY: dict[str, Callable[[Evaluate, Evaluate], Evaluate]] = {
    "&&": _logic(False),
    "||": _logic(True),
}


_BEFORE_ALL, _BEHIND_ALL = -1, 9
"""Ranks of null, around those of all types (0 to 5), so that it is last in both directions."""


def order_key(value: Value, context: Context, *, descending: bool = False) -> tuple[Any, ...]:
    """Return what sorting compares (BASE-36).

    The types come in this order: booleans, numbers, NaN, durations, dates, texts. Null is last in
    both directions, so its key depends on the direction.
    """
    if value is None:
        return (_BEFORE_ALL,) if descending else (_BEHIND_ALL,)
    match value:
        case bool():
            return 0, value
        case float():
            return (1, value) if value == value else (2,)
        case Duration():
            return 3, value.total_ms
        case Date() | RelativeTime():
            return 4, value.milliseconds
        case LinkValue():
            return 5, natural_key(value.display if value.display is not None else value.target)
    return 5, natural_key(text_of(value, context))


def identify(value: Value, context: Context) -> Any:
    """Return what two values of one group share; it is hashable (BASE-37)."""
    match value:
        case None | bool():
            return value is not None, value is True
        case float():
            return "number", value
        case LinkValue() | File():
            path = path_of(value, context)
            if path is not None:
                return "file", path
            return "link", value.target if isinstance(value, LinkValue) else ""
        case Date():
            return "date", value.moment, value.has_time
        case Duration():
            return "duration", value.total_ms
    return "text", type_name(value), text_of(value, context)
