"""Values of Dataview: types, truth, order, and texts (specs/dataview.md, DV-50 to DV-58)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.dataview.durations import convert_to_unit, duration_text
from obsidian_mcp.core.dataview.settings import DataviewSettings
from obsidian_mcp.core.expressions.budget import ITEM_UNITS, Budget
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.evaluate import Function
from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.expressions.values import LinkValue, Value, check_depth
from obsidian_mcp.core.text.collation import compare_texts, exact_key, is_same_text

ResolveLink = Callable[[LinkValue], str]
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
    """Return the name of a value's type, as `typeof` gives it (DV-50).

    Every mapping is an object.
    """
    return _TYPE_NAMES.get(type(value), "object")


def is_true(value: Value) -> bool:
    """Return whether a condition with this value holds (DV-51). NaN is true."""
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
            return convert_to_unit(value, "seconds") != 0
        case _:
            return True


def link_type(link: LinkValue) -> str:
    """Return what a link leads to: `block`, `header` or `file`."""
    if link.subpath.startswith("#^"):
        return "block"
    return "header" if link.subpath else "file"


def compare(left: Value, right: Value, resolve: ResolveLink | None = None) -> float:
    """Return a negative number, 0 or a positive one, by the total order of values (DV-52).

    Not a proper order for dates of different zones and for durations: see DV-55. Without `resolve`,
    as inside lists and objects, links compare by their written paths.
    """
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


def are_equal(left: Value, right: Value, resolve: ResolveLink | None = None) -> bool:
    """Return `left = right`."""
    if type(left) is str and type(right) is str:
        return is_same_text(left, right)
    if type(left) is LinkValue and type(right) is LinkValue and resolve is not None:
        return left.subpath == right.subpath and is_same_text(resolve(left), resolve(right))
    return compare(left, right, resolve) == 0


def order_key(resolve: ResolveLink) -> Callable[[Value, bool], Any]:
    """Return the key by which rows are sorted and grouped, as `sort_rows` takes it."""
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
    """Return the name of a file without its folder and without `.md`."""
    return path.rpartition("/")[2].removesuffix(".md")


def link_text(link: LinkValue) -> str:
    """Return a link as `[[path#sub|display]]`, the display always there (DV-58)."""
    target = (link.path + link.subpath).replace("|", "\\|")
    display = link.display
    if not display:
        display = file_title(link.path)
        if link.subpath:
            display += " > " + link.subpath[2 if link_type(link) == "block" else 1 :]
    return f"{'!' if link.embed else ''}[[{target}|{display}]]"


def value_text(value: Value, settings: DataviewSettings, budget: Budget, depth: int = 0) -> str:
    """Return the text of a value, for `+` with a text, string(), join() and display() (DV-57).

    `depth` is how many lists and objects it stands in.
    Raises: ExpressionError for one that is nested too deep or builds too much.
    """
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
            return luxon.write_luxon(
                clock, settings.date_format if is_day else settings.date_time_format
            )
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
            pairs = (f"{key}: {text}" for key, text in zip(value, texts, strict=True))
            return f"{{ {', '.join(pairs)} }}"
        case _:
            raise TypeError(f"no text for {type(value).__name__}")


def _parts(
    values: list[Value], settings: DataviewSettings, budget: Budget, depth: int
) -> list[str]:
    check_depth(depth)
    texts = []
    for value in values:
        text = value_text(value, settings, budget, depth + 1)
        budget.charge(len(text) + ITEM_UNITS)
        texts.append(text)
    return texts
