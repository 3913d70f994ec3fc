"""What a value holds: contains and its relatives, extract, length (DV-88, DV-89)."""

from __future__ import annotations

import re
from collections.abc import Callable

from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, index_by_name
from obsidian_mcp.core.dataview.operators import field_of
from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.dataview.values import are_equal
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.values import ExpressionError, Value
from obsidian_mcp.core.text.text import utf16_length


def _are_equal(run: QueryRun, left: Value, right: Value) -> bool:
    return are_equal(left, right, run.path_of)


def _contains(name: str, fold: Callable[[str], str] = str, *, recursive: bool = True) -> Overloads:
    """Return the function `name`, one of contains and its relatives (DV-88).

    It says whether a list has such an element, a text such a part, an object such a key, or else
    whether both values are equal. With `recursive`, a list that is an element is looked into.
    """
    function = Overloads(name, {2: (1,)})

    def list_contains(run: QueryRun, values: list[Value], element: Value) -> bool:
        test = function if recursive else _are_equal
        for value in values:
            run.budget.tick()
            if test(run, value, element):
                return True
        return False

    return (
        function.on("array *", list_contains)
        .on("string string", lambda _, text, part: fold(part) in fold(text))
        .on("object string", lambda _, keys, key: key in keys)
        .on("* *", _are_equal)
    )


def _contains_word(_run: QueryRun, text: str, word: str) -> bool:
    """Return whether a text has a whole word, in any case.

    A word is of ASCII letters, digits and `_`, as for JavaScript.
    """
    pattern = re.compile(rf"(?a:\b){re.escape(word)}(?a:\b)", re.IGNORECASE)
    return any(map(pattern.search, _LINE_END.split(text)))


_LINE_END = re.compile(r"[\n\r\u2028\u2029]")


def _extract(run: QueryRun, *arguments: Value) -> Value:
    if not arguments:
        return "extract(object, key1, ...) requires at least 1 argument"
    value, *keys = arguments
    if isinstance(value, list):
        run.budget.charge_items(len(value) * (1 + len(keys)))
        return [_extract(run, item, *keys) for item in value]
    scope = Scope(run, {})
    fields: dict[str, Value] = {}
    for key in keys:
        if not isinstance(key, str):
            raise ExpressionError("extract(object, key1, ...) must be called with string keys")
        fields[key] = field_of(value, key, scope)
    return fields


FUNCTIONS: dict[str, Implementation] = {
    "extract": _extract,
    **index_by_name(
        _contains("contains"),
        _contains("icontains", str.lower),
        _contains("econtains", recursive=False),
        Overloads("containsword", {2: (0, 1)}).on("string string", _contains_word).null_on_null(),
        Overloads("length")
        .on("array", lambda _, values: float(len(values)))
        .on("object", lambda _, fields: float(len(fields)))
        .on("string", lambda _, text: float(utf16_length(text)))
        .on("null", lambda *_: 0.0),
    ),
}
