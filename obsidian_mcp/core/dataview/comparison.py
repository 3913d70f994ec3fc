"""Types, truth and the total order of values (specs/dataview.md, DV-50 to DV-55)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from obsidian_mcp.core.dataview.durations import in_unit
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.evaluate import Function
from obsidian_mcp.core.expressions.values import LinkValue, Value
from obsidian_mcp.core.text.collation import compare_texts, exact_key, same_text

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
    if value is True or value is False:
        return bool(value)
    match value:
        case None:
            return False
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
        if left is None or right is None:
            return -1 if left is None else 1
        return -1 if left_type < right_type else 1
    if left is right or left_type in _TYPES_THAT_ARE_ALL_EQUAL:
        return 0
    if left_type == "link":
        return _compare_links(left, right, resolve)
    return _COMPARE[left_type](left, right)


def equal(left: Value, right: Value, resolve: Resolve | None = None) -> bool:
    """`left = right`."""
    if type(left) is str and type(right) is str:
        return same_text(left, right)
    if type(left) is LinkValue and type(right) is LinkValue and resolve is not None:
        return left.subpath == right.subpath and same_text(resolve(left), resolve(right))
    return compare(left, right, resolve) == 0


def order_key(resolve: Resolve) -> Callable[[Value, bool], Any]:
    """The key by which rows are sorted and grouped, as `rows.sort_rows` takes it."""
    by_comparison = cmp_to_key(lambda left, right: int(compare(left, right, resolve)))

    def key(value: Value, _descending: bool) -> Any:
        name = type_name(value)
        if name == "string":
            return name, exact_key(value)
        if name == "null":
            return ("", 0)
        if name in ("number", "boolean"):
            return name, value
        return name, by_comparison(value)

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


def _compare_links(left: LinkValue, right: LinkValue, resolve: Resolve | None) -> int:
    paths = (left.path, right.path) if resolve is None else (resolve(left), resolve(right))
    return (
        compare_texts(*paths)
        or compare_texts(link_type(left), link_type(right))
        or compare_texts(left.subpath, right.subpath)
    )


def _compare_lists(left: list[Value], right: list[Value]) -> float:
    for one, other in zip(left, right, strict=False):
        order = compare(one, other)
        if order:
            return order
    return len(left) - len(right)


def _compare_objects(left: Mapping[str, Value], right: Mapping[str, Value]) -> float:
    left_keys, right_keys = sorted(left, key=_utf16), sorted(right, key=_utf16)
    order = _compare_lists(left_keys, right_keys)
    if order:
        return order
    for key in left_keys:
        order = compare(left[key], right[key])
        if order:
            return order
    return 0


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
