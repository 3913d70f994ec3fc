"""The values of Bases: types, truth, texts, properties as values (BASE-20 to BASE-23), operators, equality and order
(BASE-30 to BASE-37)."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.expressions.evaluate import Context, Evaluate, Scope
from obsidian_mcp.core.expressions.javascript import divide, number_text, remainder
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import (
    ITEM_UNITS,
    MAX_VALUE_DEPTH,
    UNITS,
    Date,
    Duration,
    ExpressionError,
    File,
    LinkValue,
    Value,
    check_depth,
    day_of,
    from_json,
)
from obsidian_mcp.core.note.links import split_subpath, split_wikilink, wikilink
from obsidian_mcp.core.text.collation import natural_key

from .dates import add, difference, humanize, parse_date, parse_duration

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?=\S)")


class TagValue(str):
    """A tag without its `#`."""

    __slots__ = ()


class RelativeTime(str):
    """The text of `relative()`, which sorts by its time."""

    __slots__ = ("milliseconds",)
    milliseconds: float


class Html(str):
    __slots__ = ()


class Icon(str):
    __slots__ = ()


class Image(str):
    """The path or URL of an image."""

    __slots__ = ()


TYPE_NAMES: dict[type, str] = {
    type(None): "Null",
    bool: "Boolean",
    float: "Number",
    str: "String",
    RelativeTime: "String",
    Date: "Date",
    Duration: "Duration",
    list: "List",
    dict: "Object",
    RegExpValue: "RegExp",
    File: "File",
    LinkValue: "Link",
    TagValue: "Tag",
    Html: "HTML",
    Icon: "Icon",
    Image: "Image",
}
"""As messages and `isType` spell them."""


def type_name(value: Value) -> str:
    return "URL" if type(value) is LinkValue and is_external(value) else TYPE_NAMES[type(value)]


def is_external(link: LinkValue) -> bool:
    """Whether it leads out of the vault: its target has a scheme."""
    return ":" in link.path and _SCHEME.match(link.path) is not None


def is_true(value: Value) -> bool:
    """Whether a filter with this value passes (BASE-21)."""
    if value is None or isinstance(value, bool):
        return value is True
    match value:
        case float():
            return value != 0 and value == value
        case str():
            return value != ""
        case list() | dict():
            return bool(value)
        case Duration():
            return value.total_ms != 0
    return True


def is_empty(value: Value) -> bool:
    """`isEmpty()` (BASE-22)."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def text_of(value: Value, context: Context, depth: int = 0) -> str:
    """`toString()` (BASE-23). Raises: ExpressionError for what is nested too deep or too large."""
    if isinstance(value, str):
        return f"![]({value})" if type(value) is Image else str(value)
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return number_text(value)
        case Date():
            return date_text(value)
        case Duration():
            return humanize(value)
        case LinkValue():
            return link_text(value)
        case File():
            return value.path
        case RegExpValue():
            return f"/{value.source}/{value.flags}"
    check_depth(depth)
    context.budget.charge_items(1)
    if isinstance(value, list):
        return context.budget.join(text_of(item, context, depth + 1) for item in value)
    return json.dumps(_plain(value, context, depth), ensure_ascii=False, separators=(",", ":"))


def _plain(value: Value, context: Context, depth: int) -> Any:
    """An object as JSON shows it."""
    context.budget.charge(ITEM_UNITS)
    check_depth(depth)
    match value:
        case None | bool():
            return value
        case float():
            return int(value) if value == value // 1 and abs(value) < 1e21 else value
        case list():
            return [_plain(item, context, depth + 1) for item in value]
        case dict():
            return {key: _plain(item, context, depth + 1) for key, item in value.items()}
    text = text_of(value, context, depth)
    context.budget.charge(len(text))
    return text


def date_text(date: Date) -> str:
    """`2026-06-10` or `2026-06-10T12:34:56`, local."""
    return date.moment.isoformat(timespec="seconds")[: 19 if date.has_time else 10]


def link_text(link: LinkValue) -> str:
    """`[[target]]` or `[[target|display]]`; a link that leads out of the vault is `[display](url)` or the URL."""
    if is_external(link):
        return link.target if link.display is None else f"[{link.display}]({link.target})"
    return f"[[{link.target}]]" if link.display is None else f"[[{link.target}|{link.display}]]"


def read_wikilink(text: str, source: str) -> LinkValue | None:
    """The link that a text is as a whole, `[[target]]` or `[[target|display]]`; None for any other text."""
    found = wikilink(text)
    if found is None or found.end() != len(text):
        return None
    target, display = split_wikilink(found[1])
    path, subpath = split_subpath(target.strip())
    return LinkValue(path, subpath, display.strip() if display is not None else None, source=source)


def wrap_property(raw: Value, source: str, *, tags: bool = False) -> Value:
    """The value of a property as its YAML has it, in the note `source` (BASE-20). `tags`: it is the property `tags`."""
    if type(raw) is str:
        return _read_text(raw, source)
    if raw is None or raw is True or raw is False or type(raw) is float:
        return raw
    if tags and isinstance(raw, list):
        return [
            TagValue(item.removeprefix("#")) if type(item) is str else wrap_property(item, source)
            for item in raw
        ]
    return from_json(raw, lambda text: _read_text(text, source))


def _read_text(text: str, source: str) -> Value:
    """The link or date that a text is, else the text."""
    if text[:2] == "[[" and (link := read_wikilink(text, source)) is not None:
        return link
    written = iso.read(text) if text[:1].isdigit() else None
    date = parse_date(text) if written is not None and written.mark != " " else None
    return text if date is None else date


def local(moment: datetime) -> Date:
    """A local date and time, to the millisecond."""
    return Date(moment.replace(microsecond=moment.microsecond // 1000 * 1000))


Operator = Callable[[Value, Value, Context], Value]


def _invalid_operation(left: Value, right: Value) -> ExpressionError:
    return ExpressionError(f"Invalid operator between {type_name(left)} and {type_name(right)}")


def plus(left: Value, right: Value, context: Context) -> Value:
    if type(left) is float and type(right) is float:
        return left + right
    if isinstance(left, Date) and (duration := _duration(right)) is not None:
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
        return left.plus(right)
    raise _invalid_operation(left, right)


def minus(left: Value, right: Value, _: Context) -> Value:
    if type(left) is float and type(right) is float:
        return left - right
    if left is None or right is None:
        return None
    if isinstance(left, Date):
        if isinstance(right, Date):
            return difference(left, right)
        if (duration := _duration(right)) is not None:
            return add(left, duration.scaled(-1))
    if isinstance(left, Duration) and isinstance(right, Duration):
        return left.plus(right.scaled(-1))
    raise _invalid_operation(left, right)


def _duration(value: Value) -> Duration | None:
    return (
        parse_duration(value)
        if isinstance(value, str)
        else value
        if isinstance(value, Duration)
        else None
    )


def _arithmetic(numbers: Callable[[float, float], float], *, scales_durations: bool) -> Operator:
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


def _compare(test: Callable[[Any, Any], bool]) -> Operator:
    def compare(left: Value, right: Value, _: Context) -> Value:
        if type(left) is float and type(right) is float:
            return test(left, right)
        if isinstance(left, Date) or isinstance(right, Date):
            first, second = _date(left), _date(right)
            return first is not None and second is not None and test(first.moment, second.moment)
        if isinstance(left, str) and isinstance(right, str):
            return test(str(left), str(right))
        if isinstance(left, Duration) or isinstance(right, Duration):
            longer, shorter = _duration(left), _duration(right)
            return (
                longer is not None
                and shorter is not None
                and test(longer.total_ms, shorter.total_ms)
            )
        return False

    return compare


def _date(value: Value) -> Date | None:
    return (
        parse_date(value) if isinstance(value, str) else value if isinstance(value, Date) else None
    )


def equals(left: Value, right: Value, context: Context, depth: int = 0) -> bool:
    """`==` (BASE-34)."""
    kind = type(left)
    if kind is type(right) and (kind is str or kind is float):
        return bool(left == right)
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float) or isinstance(right, float):
        return type(left) is type(right) and bool(left == right)
    if isinstance(left, Date) or isinstance(right, Date):
        return _same_date(_date(left), _date(right))
    if isinstance(left, LinkValue | File) or isinstance(right, LinkValue | File):
        return _same_file(left, right, context)
    if isinstance(left, str) and isinstance(right, str):
        return str(left) == str(right)
    if isinstance(left, Duration) and isinstance(right, Duration):
        return left.total_ms == right.total_ms
    if depth >= MAX_VALUE_DEPTH:
        raise ExpressionError(f"The values are nested more than {MAX_VALUE_DEPTH} deep.")
    context.budget.tick()
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(
            equals(one, other, context, depth + 1) for one, other in zip(left, right, strict=True)
        )
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            equals(value, right[key], context, depth + 1) for key, value in left.items()
        )
    return type(left) is type(right) and bool(left == right)


def _same_date(left: Date | None, right: Date | None) -> bool:
    if left is None or right is None:
        return False
    if not (left.has_time and right.has_time):
        return day_of(left).moment == day_of(right).moment
    return left.moment == right.moment


def _same_file(left: Value, right: Value, context: Context) -> bool:
    """Whether two of Link, File and String mean one file; links that lead nowhere by their target."""
    if isinstance(left, str) or isinstance(right, str):
        text, link = (left, right) if isinstance(left, str) else (right, left)
        return isinstance(link, LinkValue) and text in (
            link.target,
            f"[[{link.target}]]",
            link_text(link),
        )
    if not isinstance(left, LinkValue | File) or not isinstance(right, LinkValue | File):
        return False
    first, second = path_of(left, context), path_of(right, context)
    if first is None and second is None:
        return (
            isinstance(left, LinkValue)
            and isinstance(right, LinkValue)
            and left.target == right.target
        )
    return first == second


def path_of(value: LinkValue | File, context: Context) -> str | None:
    """Path of the file that it means; None for a link that leads nowhere."""
    if isinstance(value, File):
        return value.path
    return None if is_external(value) else context.follow(value)


def minus_sign(value: Value, _: Context) -> Value:
    if value is None:
        return None
    if type(value) is float:
        return -value
    if isinstance(value, Duration):
        return value.scaled(-1)
    raise ExpressionError(f"Invalid operator on {type_name(value)}")


def _logic(stop_at: bool) -> Callable[[Evaluate, Evaluate], Evaluate]:
    """`&&` stops at a false left side, `||` at a true one."""

    def join(left: Evaluate, right: Evaluate) -> Evaluate:
        def evaluate(scope: Scope) -> Value:
            return stop_at if is_true(left(scope)) == stop_at else is_true(right(scope))

        return evaluate

    return join


BINARY: dict[str, Operator] = {
    "+": plus,
    "-": minus,
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
    "-": minus_sign,
}
LAZY: dict[str, Callable[[Evaluate, Evaluate], Evaluate]] = {
    "&&": _logic(False),
    "||": _logic(True),
}


def order_key(value: Value, context: Context, *, descending: bool = False) -> tuple[Any, ...]:
    """What sorting compares: booleans, numbers, durations, dates, texts; null last in both directions (BASE-36)."""
    if value is None:
        return (-1,) if descending else (9,)
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


def identity(value: Value, context: Context) -> Any:
    """What two values of one group share; hashable (BASE-37)."""
    match value:
        case None | bool():
            return value is not None, value is True
        case float():
            return "number", value
        case LinkValue() | File():
            path = path_of(value, context)
            return (
                ("file", path)
                if path is not None
                else ("link", value.target if isinstance(value, LinkValue) else "")
            )
        case Date():
            return "date", value.moment, value.has_time
        case Duration():
            return "duration", value.total_ms
    return "text", type_name(value), text_of(value, context)
