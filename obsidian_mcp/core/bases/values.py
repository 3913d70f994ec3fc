"""The values of Bases: types, truth, texts, and properties as values (BASE-20 to BASE-23)."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.expressions.budget import ITEM_UNITS
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.evaluate import Context
from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import File, LinkValue, Value, check_depth, from_json
from obsidian_mcp.core.text.javascript_number import LEAST_EXPONENTIAL
from obsidian_mcp.core.text.wikilink import read_whole_wikilink, split_subpath

from .dates import humanize, parse_date

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?=\S)")


class TagValue(str):
    """A tag without its `#`."""

    __slots__ = ()


class RelativeTime(str):
    """The text of `relative()`, which sorts by its time."""

    __slots__ = ("milliseconds",)
    milliseconds: float


class Html(str):
    """A text that is HTML."""

    __slots__ = ()


class Icon(str):
    """The name of an icon."""

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
    """Return the name of a value's type; a link that leads out of the vault is a URL."""
    if type(value) is LinkValue and is_external(value):
        return "URL"
    return TYPE_NAMES[type(value)]


def is_external(link: LinkValue) -> bool:
    """Return whether a link leads out of the vault: its target has a scheme."""
    return ":" in link.path and _SCHEME.match(link.path) is not None


def is_true(value: Value) -> bool:
    """Return whether a filter with this value passes (BASE-21)."""
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
    """Return `value.isEmpty()` (BASE-22)."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def text_of(value: Value, context: Context, depth: int = 0) -> str:
    """Return `value.toString()` (BASE-23).

    `depth` is how many lists and objects the value stands in.
    Raises: ExpressionError for what is nested too deep or too large.
    """
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
    return json.dumps(_to_plain(value, context, depth), ensure_ascii=False, separators=(",", ":"))


def _to_plain(value: Value, context: Context, depth: int) -> Any:
    """Return a value as JSON has it: whole numbers without `.0`, other types as their texts."""
    context.budget.charge(ITEM_UNITS)
    check_depth(depth)
    match value:
        case None | bool():
            return value
        case float():
            is_plain = value == value // 1 and abs(value) < LEAST_EXPONENTIAL
            return int(value) if is_plain else value
        case list():
            return [_to_plain(item, context, depth + 1) for item in value]
        case dict():
            return {key: _to_plain(item, context, depth + 1) for key, item in value.items()}
    text = text_of(value, context, depth)
    context.budget.charge(len(text))
    return text


def date_text(date: Date) -> str:
    """Return a date as `2026-06-10` or `2026-06-10T12:34:56`, local."""
    text = date.moment.isoformat(timespec="seconds")
    return text[: len("YYYY-MM-DDTHH:MM:SS") if date.has_time else len("YYYY-MM-DD")]


def link_text(link: LinkValue) -> str:
    """Return a link as `[[target]]` or `[[target|display]]`.

    One that leads out of the vault is `[display](url)`, or the URL.
    """
    if is_external(link):
        return link.target if link.display is None else f"[{link.display}]({link.target})"
    return f"[[{link.target}]]" if link.display is None else f"[[{link.target}|{link.display}]]"


def read_link_value(text: str, source: str) -> LinkValue | None:
    """Return the link that a text is as a whole, `[[target]]` or `[[target|display]]`.

    None for any other text. `source` is the path of the note that holds it.
    """
    link = read_whole_wikilink(text)
    if link is None or link.is_embed:
        return None
    path, subpath = split_subpath((link.path + link.subpath).strip())
    display = None if link.display is None else link.display.strip()
    return LinkValue(path, subpath, display, source=source)


def wrap_property(raw: Value, source: str, *, tags: bool = False) -> Value:
    """Return the value of a property that its YAML has as `raw`, in the note `source` (BASE-20).

    `tags` says that it is the property `tags`, whose items are tags.
    """
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
    """Return the link or date that a text is, else the text."""
    link = read_link_value(text, source) if text[:2] == "[[" else None
    if link is not None:
        return link
    written = iso.read_iso(text) if text[:1].isdigit() else None
    date = parse_date(text) if written is not None and written.mark != " " else None
    return text if date is None else date


def local_date(moment: datetime) -> Date:
    """Return a local date and time, to the millisecond."""
    return Date(moment.replace(microsecond=moment.microsecond // 1000 * 1000))


def path_of(value: LinkValue | File, context: Context) -> str | None:
    """Return the path of the file that a link or file means; None for a link that leads nowhere."""
    if isinstance(value, File):
        return value.path
    return None if is_external(value) else context.follow(value)
