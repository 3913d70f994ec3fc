"""Dataview's tables for the shared evaluator (specs/dataview.md, DV-32 to DV-35)."""

from __future__ import annotations

from obsidian_mcp.core.dataview.comparison import type_name
from obsidian_mcp.core.dataview.expression_parser import WHOLE_ROW
from obsidian_mcp.core.dataview.functions import FUNCTIONS
from obsidian_mcp.core.dataview.functions.overloads import Implementation
from obsidian_mcp.core.dataview.objects import Extended
from obsidian_mcp.core.dataview.operators import OPERATORS, UNARY, field_of, index_of
from obsidian_mcp.core.dataview.pages import CHEAP_FILE_FIELDS, NotePage, run_of
from obsidian_mcp.core.expressions.evaluate import Compiler, Evaluate, Function, Language, Scope, compile_expression
from obsidian_mcp.core.expressions.syntax import FieldAccess, FunctionCall, IndexAccess, Name, Node
from obsidian_mcp.core.expressions.values import ExpressionError, Value

_MISSING = object()


def _name(name: str) -> Evaluate:
    """A field of the row, else `this`, else null."""
    if name == WHOLE_ROW.name:
        return lambda scope: Extended(scope.variables, Extended(scope.row, {"this": scope.context.this}))

    def evaluate(scope: Scope) -> Value:
        value = scope.row.get(name, _MISSING)
        if value is _MISSING:
            return scope.context.this if name == "this" else None
        return value

    return evaluate


def _call(node: FunctionCall, compiler: Compiler) -> Evaluate:
    arguments = [compiler.compile(argument) for argument in node.arguments]
    if isinstance(node.callee, Name):
        return _call_named(node.callee.name, arguments)
    callee = compiler.compile(node.callee)

    def call(scope: Scope) -> Value:
        function = callee(scope)
        values = [argument(scope) for argument in arguments]
        if isinstance(function, Function):
            return function(*values)
        if isinstance(function, str):
            return _function(function)(run_of(scope.context), *values)
        raise ExpressionError(f"Cannot call type '{type_name(function)}' as a function")

    return call


def _call_named(name: str, arguments: list[Evaluate]) -> Evaluate:
    function = FUNCTIONS.get(name)

    def call(scope: Scope) -> Value:
        values = [argument(scope) for argument in arguments]
        return (function or _function(name))(run_of(scope.context), *values)

    return call


def _function(name: str) -> Implementation:
    """Raises: ExpressionError for an unknown name."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise ExpressionError(f"Unrecognized function name '{name}'")
    return function


def _file_field(node: FieldAccess | IndexAccess, compiler: Compiler) -> Evaluate | None:
    """`file.name` and the like of a row that is a note, without an object for its file."""
    if not isinstance(node, FieldAccess) or node.of != _FILE or _FILE.name in compiler.parameters:
        return None
    cheap = CHEAP_FILE_FIELDS.get(node.name)
    if cheap is None:
        return None
    of, name = compiler.compile(node.of), node.name

    def evaluate(scope: Scope) -> Value:
        row = scope.row
        return cheap(row) if type(row) is NotePage else field_of(of(scope), name, scope)

    return evaluate


_FILE = Name("file")
LANGUAGE = Language(
    binary=OPERATORS,
    unary=UNARY,
    lazy={},
    name_of=_name,
    field=field_of,
    index=index_of,
    call=_call,
    compile_field=_file_field,
)


def compile_node(node: Node) -> Evaluate:
    """The function of an expression. Raises: QueryInvalid when it is nested too deep."""
    return compile_expression(node, LANGUAGE)
