"""Dataview's tables for the shared evaluator (specs/dataview.md, DV-32 to DV-35)."""

from __future__ import annotations

from obsidian_mcp.core.dataview.expression_parser import WHOLE_ROW
from obsidian_mcp.core.dataview.functions import FUNCTIONS
from obsidian_mcp.core.dataview.operators import OPERATORS, UNARY, field_of, item_of
from obsidian_mcp.core.dataview.pages import CHEAP, FILE_FIELDS, NotePage, run_of
from obsidian_mcp.core.dataview.records import ABSENT, ExtendedRecord
from obsidian_mcp.core.dataview.values import type_name
from obsidian_mcp.core.expressions.evaluate import (
    Compiler,
    Evaluate,
    Function,
    Language,
    Scope,
    compile_expression,
)
from obsidian_mcp.core.expressions.syntax import (
    BareName,
    FieldAccess,
    FunctionCall,
    IndexAccess,
    Node,
)
from obsidian_mcp.core.expressions.values import ExpressionError, Value


def _name(name: str) -> Evaluate:
    """Return the function of a name: a field of the row, else `this`, else null."""
    if name == WHOLE_ROW.name:
        return _whole_row

    def evaluate(scope: Scope) -> Value:
        value = scope.row.get(name, ABSENT)
        if value is ABSENT:
            return scope.context.this if name == "this" else None
        return value

    return evaluate


def _whole_row(scope: Scope) -> Value:
    """Return the fields of the row, and `this` below them, under the variables of a lambda."""
    row = ExtendedRecord(scope.row, {"this": scope.context.this})
    return ExtendedRecord(scope.variables, row)


def _call(node: FunctionCall, compiler: Compiler) -> Evaluate:
    arguments = [compiler.compile(argument) for argument in node.arguments]
    name = node.callee.name if isinstance(node.callee, BareName) else None
    callee = compiler.compile(node.callee) if name is None else None

    def call(scope: Scope) -> Value:
        function = callee(scope) if callee else name
        values = [argument(scope) for argument in arguments]
        if isinstance(function, Function):
            return function(*values)
        if not isinstance(function, str):
            raise ExpressionError(f"Cannot call type '{type_name(function)}' as a function")
        implementation = FUNCTIONS.get(function)
        if implementation is None:
            raise ExpressionError(f"Unrecognized function name '{function}'")
        return implementation(run_of(scope.context), *values)

    return call


def _file_field(node: FieldAccess | IndexAccess, compiler: Compiler) -> Evaluate | None:
    """Return the function of `file.name` and the like; None for other accesses.

    Of a row that is a note it takes the field without an object for its file, which most queries
    would make for every note only to read its name or link.
    """
    if not isinstance(node, FieldAccess) or node.of != FILE_NAME or node.name not in CHEAP:
        return None
    if "file" in compiler.parameters:
        return None
    compute_field = FILE_FIELDS[node.name]
    of, name = compiler.compile(node.of), node.name

    def evaluate(scope: Scope) -> Value:
        row = scope.row
        return compute_field(row) if type(row) is NotePage else field_of(of(scope), name, scope)

    return evaluate


FILE_NAME = BareName("file")
"""The node of the name `file`."""

LANGUAGE = Language(
    binary=OPERATORS,
    unary=UNARY,
    lazy={},
    name_of=_name,
    field=field_of,
    index=item_of,
    call=_call,
    compile_field=_file_field,
)


def compile_node(node: Node) -> Evaluate:
    """Return the function of an expression.

    Raises: QueryInvalid when it is nested too deep.
    """
    return compile_expression(node, LANGUAGE)
