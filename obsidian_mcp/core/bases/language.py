"""The tables of Bases as a `Language`: what names, fields and calls mean (BASE-16 to BASE-19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.evaluate import (
    NO_VARIABLES,
    Compiler,
    Evaluate,
    Language,
    Scope,
    evaluate_or_error,
)
from obsidian_mcp.core.expressions.javascript import list_index
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.syntax import (
    BareName,
    FieldAccess,
    FunctionCall,
    IndexAccess,
    Literal,
    Node,
)
from obsidian_mcp.core.expressions.values import ExpressionError, File, LinkValue, Value

from .date_methods import DATE_FIELDS, DATES, DURATION_FIELDS
from .file_methods import FILE_FIELDS, FILES, LINKS, TAGS, properties
from .globals import ANY, GLOBALS
from .list_methods import LIST, LIST_FIELDS, OBJECT
from .method import Method, bind_body, check_arguments, find_entry
from .operators import BINARY, LAZY, UNARY
from .text_methods import NUMBERS, REGEXPS, TEXT, TEXT_FIELDS
from .values import (
    Html,
    Icon,
    Image,
    RelativeTime,
    TagValue,
    is_true,
    type_name,
    wrap_property,
)


def _on_target(method: Method) -> Method:
    """Return a method of texts for links, which count as texts by their target."""
    run = method.run
    return replace(method, run=lambda scope, link, *arguments: run(scope, link.target, *arguments))


METHODS: Mapping[type, Mapping[str, Method]] = {
    type(None): ANY,
    bool: ANY,
    float: {**ANY, **NUMBERS},
    **{text_type: {**ANY, **TEXT} for text_type in (str, RelativeTime, Html, Icon, Image)},
    TagValue: {**ANY, **TEXT, **TAGS},
    Date: {**ANY, **DATES},
    Duration: ANY,
    list: {**ANY, **LIST},
    dict: {**ANY, **OBJECT},
    RegExpValue: {**ANY, **REGEXPS},
    File: {**ANY, **FILES},
    LinkValue: {**ANY, **{name: _on_target(method) for name, method in TEXT.items()}, **LINKS},
}
FIELDS: Mapping[type, Mapping[str, Callable[[Any, Scope], Value]]] = {
    **dict.fromkeys((str, RelativeTime, Html, Icon, Image, TagValue), TEXT_FIELDS),
    Date: DATE_FIELDS,
    Duration: DURATION_FIELDS,
    list: LIST_FIELDS,
    File: FILE_FIELDS,
}
BODIES: Mapping[str, frozenset[str]] = {
    "filter": frozenset({"value", "index", "key"}),
    "map": frozenset({"value", "index", "key"}),
    "reduce": frozenset({"value", "index", "acc"}),
}
"""Methods whose first argument is evaluated for each item, and the names that it may see."""

INFINITE_LOOP = ExpressionError("Infinite loop detected in formula")
"""The value of a formula while it is computed: who asks for it then is part of a circle."""


class BaseRow:
    """One file of a query, with what has been computed for it."""

    __slots__ = ("file", "formulas", "properties", "results")

    def __init__(self, file: File, formulas: Mapping[str, Evaluate]) -> None:
        self.file = file
        self.formulas = formulas
        self.properties: dict[str, Value] = {}
        """Properties by name in lower case, once they were asked for."""
        self.results: dict[str, Value | ExpressionError] = {}
        """Formulas by name, once they were asked for; while one is computed, the error of a circle.
        """


def note_property(name: str) -> Evaluate:
    """Return the function of a property of the row's note, its name in any case.

    It is null for a note without the property.
    """
    key = name.lower()

    def read_once(scope: Scope) -> Value:
        row: BaseRow = scope.row
        value = row.properties.get(key, _UNKNOWN)
        if value is _UNKNOWN:
            value = row.properties[key] = _read_property(scope, row.file.path, key)
        return value

    return read_once


def formula_value(name: str) -> Evaluate:
    """Return the function of a formula of the base; it is null for an unknown one.

    A formula is computed once per row, without the variables of the expression that uses it. One
    that uses itself is an error.
    """

    def compute_once(scope: Scope) -> Value:
        row: BaseRow = scope.row
        result = row.results.get(name, _UNKNOWN)
        if result is _UNKNOWN:
            formula = row.formulas.get(name)
            if formula is None:
                return None
            row.results[name] = INFINITE_LOOP
            outside = scope if scope.variables is NO_VARIABLES else Scope(scope.context, row)
            try:
                result = evaluate_or_error(formula, outside)
            except RecursionError:
                result = ExpressionError("The formulas use each other too deep.")
            scope.context.budget.hold(result)
            row.results[name] = result
        if isinstance(result, ExpressionError):
            raise ExpressionError(result.message)
        return result

    return compute_once


_UNKNOWN = object()


def file_field(name: str) -> Evaluate:
    """Return the function of a field of the row's file; an unknown one is an error."""
    get = FILE_FIELDS.get(name)
    if get is None:
        return lambda scope: field_of(scope.row.file, name, scope)
    return lambda scope: get(scope.row.file, scope)


def _this_field(name: str) -> Evaluate:
    """Return the function of `this.file`, or of a property of `this`."""
    key = name.lower()

    def read_this(scope: Scope) -> Value:
        this = scope.context.this
        if not isinstance(this, File):
            return None
        return this if name == "file" else _read_property(scope, this.path, key)

    return read_this


def _read_property(scope: Scope, path: str, key: str) -> Value:
    return wrap_property(scope.context.vault.column(key).get(path), path, tags=key == "tags")


_ROOTS: Mapping[str, Callable[[str], Evaluate]] = {
    "file": file_field,
    "note": note_property,
    "formula": formula_value,
    "this": _this_field,
}


def _name(name: str) -> Evaluate:
    """Return the function of a bare name."""
    match name:
        case "file":
            return lambda scope: scope.row.file
        case "this":
            return lambda scope: scope.context.this
        case "note":
            return lambda scope: properties(scope.row.file, scope)
        case "formula":
            return lambda scope: {name: formula_value(name)(scope) for name in scope.row.formulas}
    return note_property(name)


def _access(node: FieldAccess | IndexAccess, compiler: Compiler) -> Evaluate | None:
    """Return the function of `file.name`, `note["key"]`, `formula.x` or `this.y`; else None.

    Without it, an access to one property would first make an object of all of them.
    """
    match node:
        case FieldAccess(BareName(root), name) if (
            root in _ROOTS and root not in compiler.parameters
        ):
            return _ROOTS[root](name)
        case IndexAccess(BareName("note" | "formula" | "this" as root), Literal(str() as name)):
            return _ROOTS[root](name) if root not in compiler.parameters else None
    return None


def field_of(value: Value, name: str, scope: Scope) -> Value:
    """Return `value.name`.

    Raises: ExpressionError for a field that no value of this type has.
    """
    if value is None:
        return None
    if type(value) is dict:
        return value.get(name)
    get = FIELDS.get(type(value), {}).get(name)
    if get is None:
        raise ExpressionError(f'Cannot find "{name}" on type {type_name(value)}')
    return get(value, scope)


def item_of(value: Value, key: Value, _: Scope) -> Value:
    """Return `value[key]`: an item, a letter, or the value of a key; null where there is none.

    Raises: ExpressionError for other types.
    """
    if value is None:
        return None
    if isinstance(value, list | str) and isinstance(key, float):
        place = list_index(key)
        return value[place] if place is not None and place < len(value) else None
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    subject = f'"{key}"' if isinstance(key, str) else f"an item by {type_name(key)}"
    raise ExpressionError(f"Cannot find {subject} on type {type_name(value)}")


def _call(node: FunctionCall, compiler: Compiler) -> Evaluate:
    match node.callee:
        case BareName(name) if name.lower() == "if":
            return _compile_if(name, [compiler.compile(argument) for argument in node.arguments])
        case BareName(name):
            return _function(None, name, node.arguments, compiler)
        case FieldAccess(of, name):
            return _function(compiler.compile(of), name, node.arguments, compiler)
    callee = compiler.compile(node.callee)

    def refuse(scope: Scope) -> Value:
        raise ExpressionError(f"{type_name(callee(scope))} is not a function")

    return refuse


def _compile_if(name: str, arguments: list[Evaluate]) -> Evaluate:
    if not 2 <= len(arguments) <= 3:
        return fail_with(f'"{name}" expects 2 to 3 arguments, given {len(arguments)}.')
    condition, then = arguments[:2]
    otherwise = arguments[2] if len(arguments) > 2 else lambda _: None
    return lambda scope: then(scope) if is_true(condition(scope)) else otherwise(scope)


def fail_with(message: str) -> Evaluate:
    """Return an expression that has no value for any row."""

    def fail(_: Scope) -> Value:
        raise ExpressionError(message)

    return fail


def _function(
    receiver: Evaluate | None, name: str, nodes: tuple[Node, ...], compiler: Compiler
) -> Evaluate:
    """Return the call of a method, or of a global function, which has no receiver.

    Which method it is depends on the type of the receiver, so it is found for every row.
    """
    variables = find_entry(BODIES, name) if receiver else None
    body = compiler.compile(nodes[0], variables) if variables is not None and nodes else None
    arguments = [compiler.compile(node) for node in (nodes if body is None else nodes[1:])]

    def call(scope: Scope) -> Value:
        value = receiver(scope) if receiver else None
        method: Method | None = find_entry(METHODS[type(value)] if receiver else GLOBALS, name)
        if receiver and value is None and (method is None or not method.takes_null):
            return None
        if method is None:
            on_type = f" on type {type_name(value)}" if receiver else ""
            raise ExpressionError(f'Cannot find function "{name}"{on_type}')
        argument_values = [argument(scope) for argument in arguments]
        if body is not None:
            argument_values.insert(0, bind_body(body, scope))
        accepted = check_arguments(name, method, argument_values)
        return None if accepted is None else method.run(scope, value, *accepted)

    return call


BASES = Language(
    binary=BINARY,
    unary=UNARY,
    lazy=LAZY,
    name_of=_name,
    field=field_of,
    index=item_of,
    call=_call,
    compile_field=_access,
)
