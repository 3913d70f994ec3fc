"""Functions that make values, or tell their parts (specs/dataview.md, DV-82 to DV-84).

They are object, list, date, dur, number, string, link, embed, elink, typeof, meta.
"""

from __future__ import annotations

import re
from dataclasses import replace

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, index_by_name
from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.dataview.values import ExternalLink, link_type, type_name, value_text
from obsidian_mcp.core.expressions.dates import Date, from_milliseconds
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.expressions.values import ExpressionError, LinkValue, Value

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def _object(run: QueryRun, *arguments: Value) -> dict[str, Value]:
    if len(arguments) % 2:
        raise ExpressionError("object() requires an even number of arguments")
    keys = arguments[::2]
    if not all(isinstance(key, str) for key in keys):
        raise ExpressionError("keys should be of type string for object(key1, value1, ...)")
    run.budget.charge_items(len(arguments))
    return dict(zip(keys, arguments[1::2], strict=True))


def _list(run: QueryRun, *arguments: Value) -> list[Value]:
    run.budget.charge_items(len(arguments))
    return list(arguments)


def _date_of_text(run: QueryRun, text: str) -> Date | None:
    day_word = literals.match_day_word(text, 0, run.now)
    if day_word is None:
        return literals.parse_date(text)
    date, end = day_word
    return date if end == len(text) else None


def _date_of_link(run: QueryRun, link: LinkValue) -> Date | None:
    """Return the date in a link's display or path, or the day of its note (DV-83)."""
    for text in (link.display, link.path):
        date = literals.parse_date(text) if text else None
        if date is not None:
            return date
    page = run.page_of(link)
    day = None if page is None else page.file.get("day")
    return day if isinstance(day, Date) else None


def _date_in_format(run: QueryRun, text: str, form: str) -> Date:
    if form not in ("x", "X"):
        return literals.parse_date_as(text, form, run.now)
    number = _NUMBER.search(text)
    if number is None:
        raise ExpressionError(f"Not a number for format({form}): {text}")
    whole = float(number[0].partition(".")[0])
    return from_milliseconds(whole * 1000 if form == "X" else whole)


def _number_in(_run: QueryRun, text: str) -> float | None:
    number = _NUMBER.search(text)
    return float(number[0]) if number else None


def _meta(_run: QueryRun, link: LinkValue) -> dict[str, Value]:
    name = link_type(link)
    subpath = {"file": None, "header": link.subpath[1:], "block": link.subpath[2:]}[name]
    return {
        "display": link.display,
        "embed": link.embed,
        "path": link.path,
        "subpath": subpath,
        "type": name,
    }


_link = (
    Overloads("link", {1: (0,), 2: (0, 1)})
    .on(
        "string string? boolean?",
        lambda run, path, *arguments: LinkValue(run.full_path(path), "", *arguments),
    )
    .on("link", lambda _, link: link)
    .on("link string", lambda _, link, display: replace(link, display=display))
    .null_on("null", "null *")
)
_link.on("* null", lambda run, link, _: _link(run, link))

FUNCTIONS: dict[str, Implementation] = {
    "object": _object,
    "list": _list,
    "array": _list,
    "typeof": Overloads("type").on("*", lambda _, value: type_name(value)),
    **index_by_name(
        Overloads("date", {1: (0,)})
        .on("string", _date_of_text)
        .on("date", lambda _, date: date)
        .on("link", _date_of_link)
        .on("string string", _date_in_format)
        .null_on("null string", "null"),
        Overloads("dur", {1: (0,)})
        .on("string", lambda _, text: literals.parse_duration(text.strip(SPACES)))
        .on("duration", lambda _, duration: duration)
        .null_on("null"),
        Overloads("number", {1: (0,)})
        .on("number", lambda _, number: number)
        .on("string", _number_in)
        .null_on("null"),
        Overloads("string").on("*", lambda run, value: value_text(value, run.settings, run.budget)),
        _link,
        Overloads("embed", {1: (0,), 2: (0, 1)})
        .on("link boolean?", lambda _, link, embed=True: replace(link, embed=embed))
        .null_on_null(),
        Overloads("elink", {1: (0,), 2: (0,)})
        .on("string string", lambda _, url, display: ExternalLink(url, display))
        .on("string null?", lambda _, url, _none=None: ExternalLink(url, url))
        .null_on("null *", "null"),
        Overloads("meta").on("link", _meta),
    ),
}
