"""Values of Dataview: types, truth and order (specs/dataview.md, DV-50 to DV-55), lengths of time as Luxon treats and
writes them (DV-70 to DV-74, DV-78), and texts of values (DV-57, DV-58)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.dataview.settings import Settings
from obsidian_mcp.core.expressions.evaluate import Function
from obsidian_mcp.core.expressions.javascript import number_text, shown_decimal
from obsidian_mcp.core.expressions.values import (
    ITEM_UNITS,
    UNIT_MS,
    UNITS,
    Budget,
    Date,
    Duration,
    LinkValue,
    Value,
    check_depth,
    shift,
)
from obsidian_mcp.core.text.collation import compare_texts, exact_key, same_text


def _in_one(larger: str, smaller: str) -> float:
    """How many of the smaller unit one of the larger is, converted directly (DV-72)."""
    if larger == "years" and smaller in ("months", "weeks"):
        return 12 if smaller == "months" else 52
    return 4 if larger == "months" and smaller == "weeks" else UNIT_MS[larger] / UNIT_MS[smaller]


def in_unit(duration: Duration, unit: str) -> float:
    """The whole duration in one unit, as a fraction: `.days` and the like (DV-72)."""
    value: float = getattr(shift_to(duration, [unit]), unit)
    return value


def shift_to(duration: Duration, units: list[str]) -> Duration:
    """The duration spread over these units; what is left over becomes a fraction of the last one (DV-73)."""
    built: dict[str, float] = {}
    left: dict[str, float] = {}
    last = ""
    for unit in UNITS:
        own = getattr(duration, unit)
        if unit in units:
            last = unit
            for larger, amount in left.items():
                own += _in_one(larger, unit) * amount
                left[larger] = 0.0
            whole = float(math.trunc(own)) if math.isfinite(own) else own
            built[unit] = whole
            left[unit] = (own * 1000 - whole * 1000) / 1000
        else:
            left[unit] = own
    for unit, amount in left.items():
        if amount and last:
            built[last] += amount if unit == last else amount / _in_one(last, unit)
    _normalize(built)
    return Duration(**built)


def normalized(duration: Duration) -> Duration:
    """Fractions moved down, full units moved up, fractions moved down again (DV-71)."""
    return shift_to(duration, list(UNITS))


def _normalize(values: dict[str, float]) -> None:
    """Move full units up and then fractions down, among the units that are there; the sum's sign is kept."""
    units = [unit for unit in UNITS if unit in values]
    if not all(math.isfinite(value) for value in values.values()):
        return
    sign = -1.0 if sum(values[unit] * UNIT_MS[unit] for unit in units) < 0 else 1.0
    for larger, smaller in reversed(list(pairwise(units))):
        factor = _in_one(larger, smaller)
        carried = math.floor(values[smaller] * sign / factor)
        values[larger] += carried * sign
        values[smaller] -= carried * factor * sign
    for larger, smaller in pairwise(units):
        fraction = math.fmod(values[larger], 1)
        values[larger] -= fraction
        values[smaller] += fraction * _in_one(larger, smaller)


def duration_text(duration: Duration) -> str:
    """`1 day, 2 hours`; empty for no time at all (DV-74)."""
    spread = normalized(duration)
    parts = []
    for unit in UNITS:
        if amount := getattr(spread, unit):
            shown = _amount(amount)
            parts.append(f"{shown} {unit[:-1] if shown in ('1', '-1') else unit}")
    return ", ".join(parts)


def _amount(number: float) -> str:
    """With at most three decimals, as English numbers are written without commas."""
    if not math.isfinite(number):
        return number_text(number).replace("Infinity", "∞")
    return format(shown_decimal(number, 3), "f").rstrip("0").rstrip(".")


def between(later: Date, earlier: Date) -> Duration:
    """`later - earlier`: the calendar difference, normalized (DV-70); negative where the first is the earlier one."""
    if later.milliseconds < earlier.milliseconds:
        return normalized(_difference(later, earlier).scale(-1.0))
    return normalized(_difference(earlier, later))


def _difference(start: Date, end: Date) -> Duration:
    """Years, months, days, then the time that is left, from `start` to the later `end`."""
    first, last = start.moment, end.moment
    years = float(last.year - first.year)
    cursor, years = _not_beyond(start, end, {}, "years", years)
    months = float(last.month - cursor.moment.month + 12 * (last.year - cursor.moment.year))
    cursor, months = _not_beyond(start, end, {"years": years}, "months", months)
    days = float((_day(last) - _day(cursor.moment)).days)
    cursor, days = _not_beyond(start, end, {"years": years, "months": months}, "days", days)
    rest = shift_to(
        Duration(milliseconds=end.milliseconds - cursor.milliseconds),
        ["hours", "minutes", "seconds", "milliseconds"],
    )
    return Duration(years=years, months=months, days=days).plus(rest)


def _not_beyond(
    start: Date, end: Date, whole: dict[str, float], unit: str, amount: float
) -> tuple[Date, float]:
    """`start` later by `whole` and as much of `unit` as does not pass `end`, and how much that is."""
    for fewer in range(3):
        cursor = shift(start, Duration(**whole, **{unit: amount - fewer}), elapsed=True)
        if cursor.milliseconds <= end.milliseconds:
            break
    return cursor, amount - fewer


def _day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC)


_DURATION_LETTERS = {
    "y": "years", "M": "months", "w": "weeks", "d": "days",
    "h": "hours", "m": "minutes", "s": "seconds", "S": "milliseconds",
}  # fmt: skip


def format_duration(duration: Duration, form: str) -> str:
    """The duration spread over the units that the format names, the smallest one cut (DV-78)."""
    parts = luxon.split_format(form)
    units = [
        _DURATION_LETTERS[text[0]]
        for text, is_run in parts
        if is_run and text[0] in _DURATION_LETTERS
    ]
    spread = shift_to(duration, units) if units else duration
    written = []
    for text, is_run in parts:
        unit = _DURATION_LETTERS.get(text[0]) if is_run else None
        if unit is None:
            written.append(text)
            continue
        amount = getattr(spread, unit)
        whole = number_text(abs(float(amount // 1)))
        written.append(("-" if amount < 0 else "") + whole.rjust(len(text), "0"))
    return "".join(written)


Resolve = Callable[[LinkValue], str]
"""The full path of the file that a link leads to; its written path where it leads nowhere."""


@dataclass(frozen=True, slots=True)
class ExternalLink:
    """The value of `elink`."""

    url: str
    display: str


_TYPE_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    float: "number",
    str: "string",
    Date: "date",
    Duration: "duration",
    LinkValue: "link",
    list: "array",
    dict: "object",
    Function: "function",
    ExternalLink: "widget",
}
_TYPES_THAT_ARE_ALL_EQUAL = frozenset({"function", "widget", "null"})


def type_name(value: Value) -> str:
    """The name of a value's type, as `typeof` gives it (DV-50). Every mapping is an object."""
    return _TYPE_NAMES.get(type(value), "object")


def is_true(value: Value) -> bool:
    """Whether a condition with this value holds (DV-51). NaN is true."""
    if value is None or value is True or value is False:
        return value is True
    match value:
        case str() | float() | list() | Mapping():
            return bool(value)
        case LinkValue():
            return bool(value.path)
        case Date():
            return value.milliseconds != 0
        case Duration():
            return in_unit(value, "seconds") != 0
        case _:
            return True


def link_type(link: LinkValue) -> str:
    return "block" if link.subpath.startswith("#^") else "header" if link.subpath else "file"


def compare(left: Value, right: Value, resolve: Resolve | None = None) -> float:
    """Negative, 0 or positive (DV-52, DV-55). Without `resolve`, as inside lists, links compare as written."""
    left_type, right_type = type_name(left), type_name(right)
    if left_type != right_type:
        return -1 if left is None or (right is not None and left_type < right_type) else 1
    if left is right or left_type in _TYPES_THAT_ARE_ALL_EQUAL:
        return 0
    if left_type == "link":
        paths = (left.path, right.path) if resolve is None else (resolve(left), resolve(right))
        return (
            compare_texts(*paths)
            or compare_texts(link_type(left), link_type(right))
            or compare_texts(left.subpath, right.subpath)
        )
    return _COMPARE[left_type](left, right)


def equal(left: Value, right: Value, resolve: Resolve | None = None) -> bool:
    """`left = right`."""
    if type(left) is str and type(right) is str:
        return same_text(left, right)
    if type(left) is LinkValue and type(right) is LinkValue and resolve is not None:
        return left.subpath == right.subpath and same_text(resolve(left), resolve(right))
    return compare(left, right, resolve) == 0


def order_key(resolve: Resolve) -> Callable[[Value, bool], Any]:
    """The key by which rows are sorted and grouped, as `sort_rows` takes it."""
    by_comparison = cmp_to_key(lambda left, right: int(compare(left, right, resolve)))

    def key(value: Value, _descending: bool) -> Any:
        name = type_name(value)
        if name == "string":
            return name, exact_key(value)
        if name == "null":
            return ("", 0)
        return name, value if name in ("number", "boolean") else by_comparison(value)

    return key


def _compare_numbers(left: float, right: float) -> int:
    return -1 if left < right else 0 if left == right else 1


def _compare_dates(left: Date, right: Date) -> int:
    if left.moment.tzinfo is None and right.moment.tzinfo is None:
        return -1 if left.moment < right.moment else int(left.moment > right.moment)
    if left.milliseconds < right.milliseconds:
        return -1
    same = left.milliseconds == right.milliseconds and left.moment.tzinfo == right.moment.tzinfo
    return 0 if same else 1


def _compare_lists(left: list[Value], right: list[Value]) -> float:
    return next(filter(None, map(compare, left, right)), len(left) - len(right))


def _compare_objects(left: Mapping[str, Value], right: Mapping[str, Value]) -> float:
    left_keys, right_keys = sorted(left, key=_utf16), sorted(right, key=_utf16)
    by_value = (compare(left[key], right[key]) for key in left_keys)
    return _compare_lists(left_keys, right_keys) or next(filter(None, by_value), 0)


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


_COMPARE: dict[str, Callable[[Any, Any], float]] = {
    "string": compare_texts,
    "number": _compare_numbers,
    "boolean": _compare_numbers,
    "date": _compare_dates,
    "duration": lambda left, right: -1 if left.total_ms < right.total_ms else int(left != right),
    "array": _compare_lists,
    "object": _compare_objects,
}


def file_title(path: str) -> str:
    """The name of a file without its folder and without `.md`."""
    return path.rpartition("/")[2].removesuffix(".md")


def link_text(link: LinkValue) -> str:
    """`[[path#sub|display]]`, the display always there (DV-58)."""
    target = (link.path + link.subpath).replace("|", "\\|")
    display = link.display
    if not display:
        display = file_title(link.path)
        if link.subpath:
            display += " > " + link.subpath[2 if link_type(link) == "block" else 1 :]
    return f"{'!' if link.embed else ''}[[{target}|{display}]]"


def value_text(value: Value, settings: Settings, budget: Budget, depth: int = 0) -> str:
    """The text of a value (DV-57). Raises: ExpressionError for one that is nested too deep or builds too much."""
    match value:
        case str():
            return value
        case None:
            return settings.null_text
        case bool():
            return "true" if value else "false"
        case float():
            return number_text(value)
        case LinkValue():
            return link_text(value)
        case Date():
            clock = value.moment
            is_day = clock.hour == clock.minute == clock.second == 0
            return luxon.write(clock, settings.date_format if is_day else settings.date_time_format)
        case Duration():
            return duration_text(value)
        case ExternalLink():
            return f"[{value.display}]({value.url})"
        case Function():
            return "<function>"
        case list():
            text = ", ".join(_parts(value, settings, budget, depth))
            return f"[{text}]" if depth else text
        case Mapping():
            texts = _parts(list(value.values()), settings, budget, depth)
            return (
                "{ "
                + ", ".join(f"{key}: {text}" for key, text in zip(value, texts, strict=True))
                + " }"
            )
        case _:
            raise TypeError(f"no text for {type(value).__name__}")


def _parts(values: list[Value], settings: Settings, budget: Budget, depth: int) -> list[str]:
    check_depth(depth)
    texts = []
    for value in values:
        text = value_text(value, settings, budget, depth + 1)
        budget.charge(len(text) + ITEM_UNITS)
        texts.append(text)
    return texts
