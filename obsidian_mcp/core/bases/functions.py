"""Global functions, what a function's arguments must be, and the methods of every value (BASE-50 to BASE-52)."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.core.expressions.dates import Date, Duration, day_of
from obsidian_mcp.core.expressions.evaluate import Evaluate, Scope
from obsidian_mcp.core.expressions.limits import ITEM_UNITS
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import ExpressionError, File, LinkValue, Value
from obsidian_mcp.core.note.links import split_subpath
from obsidian_mcp.core.text.text import write_count

from .dates import parse_date, parse_duration
from .values import (
    Html,
    Icon,
    Image,
    as_text,
    is_empty,
    is_external,
    is_true,
    local,
    read_wikilink,
    text_of,
    type_name,
    with_display,
)

NUMBER: tuple[type, ...] = (float,)
STRING: tuple[type, ...] = (str, LinkValue)
"""Links count as texts by their target."""
PATTERN: tuple[type, ...] = (str, LinkValue, RegExpValue)

_NAMES = {NUMBER: "Number", STRING: "String", PATTERN: "String", (Date,): "Date"}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    types: tuple[type, ...] | None = None
    """None takes any value."""
    optional: bool = False
    rest: bool = False
    """Takes all further arguments."""


@dataclass(frozen=True, slots=True)
class Method:
    """A function with its parameters. `run` is called with the scope, the receiver (None for a global) and arguments;
    the first argument of a method in `BODIES` comes unevaluated, as a function of its variables."""

    run: Callable[..., Value]
    parameters: tuple[Parameter, ...] = ()
    takes_null: bool = False
    """Whether null as receiver or argument is a value like others; else the result is null."""


Body = Callable[..., Value]


def body_of(evaluate: Evaluate, scope: Scope) -> Body:
    """The unevaluated argument of `filter`, `map`, `reduce` as a function of its variables."""

    def run(**variables: Value) -> Value:
        scope.context.budget.tick()
        return evaluate(scope.within(variables))

    return run


def check(name: str, method: Method, arguments: Sequence[Value]) -> Sequence[Value] | None:
    """The arguments as the method takes them, None where a null makes the result null. Raises: ExpressionError."""
    parameters = method.parameters
    least = sum(not parameter.optional and not parameter.rest for parameter in parameters)
    most = len(parameters) if not (parameters and parameters[-1].rest) else None
    if not least <= len(arguments) <= (len(arguments) if most is None else most):
        raise ExpressionError(f'"{name}" expects {_count(least, most)}, given {len(arguments)}.')
    taken = []
    for place, argument in enumerate(arguments):
        parameter = parameters[min(place, len(parameters) - 1)]
        if parameter.types is None or (argument is None and parameter.optional):
            taken.append(argument)
            continue
        if argument is None:
            return None
        if not isinstance(argument, parameter.types) or (isinstance(argument, bool) and bool not in parameter.types):
            expected = _NAMES.get(parameter.types) or type_name(parameter.types[0]())
            raise ExpressionError(
                f'Type error in "{name}" parameter "{parameter.name}". '
                f"Expected {expected}, given {type_name(argument)}."
            )
        taken.append(argument.target if type(argument) is LinkValue and str in parameter.types else argument)
    return taken


def _count(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {write_count(least, 'argument')}"
    if least == most:
        return write_count(least, "argument")
    return f"{least} to {most} arguments"


def find(table: Mapping[str, Any], name: str) -> Any:
    """An entry by exact name, else in any case; None without one."""
    folded = name.lower()
    return table.get(name) or next((entry for key, entry in table.items() if key.lower() == folded), None)


# Global functions. `if` is not here: it is lazy.


def _date(scope: Scope, _: None, value: Value) -> Value:
    if value is None or isinstance(value, Date):
        return value
    text = as_text(value)
    date = parse_date(text) if text is not None else None
    if date is None:
        raise _unreadable(value, scope, "date")
    return date


def _duration(scope: Scope, _: None, value: Value) -> Value:
    if value is None or isinstance(value, Duration):
        return value
    duration = parse_duration(value) if isinstance(value, str) else None
    if duration is None:
        raise _unreadable(value, scope, "duration")
    return duration


_NUMERIC = re.compile(r"\s*[+-]?(?:[0-9]++(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")


def _number(scope: Scope, _: None, value: Value) -> Value:
    match value:
        case None | float():
            return value
        case bool():
            return float(value)
        case Date():
            return value.milliseconds
        case str() if _NUMERIC.fullmatch(value):
            return float(value)
    raise _unreadable(value, scope, "number")


def _unreadable(value: Value, scope: Scope, kind: str) -> ExpressionError:
    return ExpressionError(f'Unable to parse "{text_of(value, scope.context)[:200]}" as a {kind}.')


def _list(_: Scope, __: None, value: Value) -> Value:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _link(scope: Scope, _: None, target: Value, display: Value = None) -> Value:
    scope.context.budget.charge_items(2)
    shown = None if display is None else text_of(display, scope.context)
    source = scope.row.file.path
    if isinstance(target, LinkValue):
        return with_display(target, shown)
    if isinstance(target, File):
        return LinkValue(target.path, display=shown, source=source)
    text = target.strip()
    written = read_wikilink(text, source)
    if written is not None:
        return with_display(written, shown)
    path, subpath = (text, "") if is_external(LinkValue(text)) else split_subpath(text)
    return LinkValue(path, subpath, shown, source=source)


def _file(scope: Scope, _: None, target: Value) -> Value:
    if isinstance(target, File):
        return target
    link = target if isinstance(target, LinkValue) else _link(scope, None, target)
    return file_of(link, scope)


def file_of(link: LinkValue, scope: Scope) -> File | None:
    """The file that a link leads to."""
    path = None if is_external(link) else scope.context.follow(link)
    return None if path is None else scope.context.vault.file(path)


def _escape_html(scope: Scope, _: None, text: str) -> Value:
    scope.context.budget.charge(6 * len(text))
    return html.escape(text).replace("&#x27;", "&#39;")


def _image(scope: Scope, _: None, value: Value) -> Value:
    if isinstance(value, File):
        return Image(value.path)
    return Image(value.target if isinstance(value, LinkValue) else text_of(value, scope.context))


_NUMBERS = (Parameter("value", NUMBER), Parameter("value", NUMBER, rest=True))
GLOBALS: Mapping[str, Method] = {
    "date": Method(_date, (Parameter("date"),)),
    "duration": Method(_duration, (Parameter("value"),)),
    "number": Method(_number, (Parameter("input"),)),
    "list": Method(_list, (Parameter("element"),)),
    "min": Method(lambda _, __, *numbers: min(numbers), _NUMBERS),
    "max": Method(lambda _, __, *numbers: max(numbers), _NUMBERS),
    "link": Method(_link, (Parameter("path", (str, LinkValue, File)), Parameter("display", optional=True))),
    "file": Method(_file, (Parameter("path", (str, LinkValue, File)),)),
    "now": Method(lambda scope, _: local(scope.context.now)),
    "today": Method(lambda scope, _: day_of(local(scope.context.now))),
    "random": Method(lambda *_: random.random()),  # noqa: S311 - a formula asks for it
    "escapeHTML": Method(_escape_html, (Parameter("html", STRING),)),
    "html": Method(lambda _, __, text: Html(text), (Parameter("html", STRING),)),
    "image": Method(_image, (Parameter("path", (str, LinkValue, File)),)),
    "icon": Method(lambda _, __, text: Icon(text), (Parameter("name", STRING),)),
}


# Methods of every value


ANY: Mapping[str, Method] = {
    "isTruthy": Method(lambda _, value: is_true(value), takes_null=True),
    "isType": Method(
        lambda _, value, name: type_name(value).lower() == name.strip().lower(),
        (Parameter("type", STRING),),
        takes_null=True,
    ),
    "toString": Method(lambda scope, value: text_of(value, scope.context), takes_null=True),
    "isEmpty": Method(lambda _, value: is_empty(value), takes_null=True),
}

LINK_UNITS = 8 * ITEM_UNITS
"""Units of a link, which takes more memory than other items."""
