"""Global functions, and the methods of every value (BASE-51, BASE-52).

`if` is not here: it does not evaluate all its arguments.
"""

from __future__ import annotations

import html
import random
import re
from collections.abc import Mapping
from dataclasses import replace

from obsidian_mcp.core.expressions.dates import Date, Duration, day_of
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.values import ExpressionError, File, LinkValue, Value
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.wikilink import split_subpath

from .dates import parse_date, parse_duration
from .file_methods import follow_link
from .method import NUMBER, STRING, Method, Parameter
from .values import (
    Html,
    Icon,
    Image,
    is_empty,
    is_external,
    is_true,
    local_date,
    read_link_value,
    text_of,
    type_name,
)

_MAX_QUOTED = 200
"""Characters of a value in a message."""
_HTML_GROWTH = 6
"""Characters that one may become in HTML: `"` is `&quot;`."""


def _date(scope: Scope, _: None, value: Value) -> Value:
    if value is None or isinstance(value, Date):
        return value
    text = value.target if type(value) is LinkValue else value
    date = parse_date(text) if isinstance(text, str) else None
    if date is None:
        raise _unreadable_error(value, scope, "date")
    return date


def _duration(scope: Scope, _: None, value: Value) -> Value:
    if value is None or isinstance(value, Duration):
        return value
    duration = parse_duration(value) if isinstance(value, str) else None
    if duration is None:
        raise _unreadable_error(value, scope, "duration")
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
    raise _unreadable_error(value, scope, "number")


def _unreadable_error(value: Value, scope: Scope, expected: str) -> ExpressionError:
    text = cut_text(text_of(value, scope.context), _MAX_QUOTED)
    return ExpressionError(f'Unable to parse "{text}" as a {expected}.')


def _link(scope: Scope, _: None, target: Value, display: Value = None) -> Value:
    scope.context.budget.charge_items(2)
    display_text = None if display is None else text_of(display, scope.context)
    source = scope.row.file.path
    if isinstance(target, File):
        return LinkValue(target.path, display=display_text, source=source)
    text = target.strip()
    wikilink = read_link_value(text, source)
    if wikilink is not None:
        return wikilink if display_text is None else replace(wikilink, display=display_text)
    path, subpath = (text, "") if is_external(LinkValue(text)) else split_subpath(text)
    return LinkValue(path, subpath, display_text, source=source)


def _file(scope: Scope, _: None, target: Value) -> Value:
    return target if isinstance(target, File) else follow_link(_link(scope, None, target), scope)


def _escape_html(scope: Scope, _: None, text: str) -> Value:
    scope.context.budget.charge(_HTML_GROWTH * len(text))
    return html.escape(text).replace("&#x27;", "&#39;")


def _image(scope: Scope, _: None, value: Value) -> Value:
    return Image(value.path if isinstance(value, File) else text_of(value, scope.context))


def _list(_: Scope, __: None, value: Value) -> Value:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


_NUMBERS = (Parameter("value", NUMBER), Parameter("value", NUMBER, repeats=True))

GLOBALS: Mapping[str, Method] = {
    "date": Method(_date, (Parameter("date"),)),
    "duration": Method(_duration, (Parameter("value"),)),
    "number": Method(_number, (Parameter("input"),)),
    "list": Method(_list, (Parameter("element"),)),
    "min": Method(lambda _, __, *numbers: min(numbers), _NUMBERS),
    "max": Method(lambda _, __, *numbers: max(numbers), _NUMBERS),
    "link": Method(
        _link, (Parameter("path", (str, LinkValue, File)), Parameter("display", optional=True))
    ),
    "file": Method(_file, (Parameter("path", (str, LinkValue, File)),)),
    "now": Method(lambda scope, _: local_date(scope.context.now)),
    "today": Method(lambda scope, _: day_of(local_date(scope.context.now))),
    "random": Method(lambda *_: random.random()),  # noqa: S311 - a formula asks for it
    "escapeHTML": Method(_escape_html, (Parameter("html", STRING),)),
    "html": Method(lambda _, __, text: Html(text), (Parameter("html", STRING),)),
    "image": Method(_image, (Parameter("path", (str, LinkValue, File)),)),
    "icon": Method(lambda _, __, text: Icon(text), (Parameter("name", STRING),)),
}

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
