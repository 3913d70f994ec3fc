"""A function of Bases with its parameters, and how a call is checked (BASE-50)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.core.expressions.dates import Date
from obsidian_mcp.core.expressions.evaluate import Evaluate, Scope
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import ExpressionError, LinkValue, Value
from obsidian_mcp.core.text.text import write_count

from .values import type_name

NUMBER: tuple[type, ...] = (float,)
"""All numbers are doubles, as in JavaScript."""
STRING: tuple[type, ...] = (str, LinkValue)
"""Links count as texts by their target."""
PATTERN: tuple[type, ...] = (str, LinkValue, RegExpValue)
"""What a text can be searched for."""

_NAMES = {NUMBER: "Number", STRING: "String", PATTERN: "String", (Date,): "Date"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a method may be given at one place."""

    name: str
    types: tuple[type, ...] | None = None
    """None takes any value."""
    optional: bool = False
    repeats: bool = False
    """Takes all further arguments."""


@dataclass(frozen=True, slots=True)
class Method:
    """A function with its parameters.

    The first argument of a method in `language.BODIES` is not evaluated before the call: `run` gets
    it as a function of its variables.
    """

    run: Callable[..., Value]
    """Called with the scope, the receiver (None for a global function) and the arguments."""
    parameters: tuple[Parameter, ...] = ()
    takes_null: bool = False
    """Whether null as receiver or argument is a value like others; else the result is null."""


Body = Callable[..., Value]
"""An unevaluated argument; it is called with its variables by keyword."""


def bind_body(evaluate: Evaluate, scope: Scope) -> Body:
    """Return the unevaluated argument of `filter`, `map`, `reduce` as a function."""

    def evaluate_with(**variables: Value) -> Value:
        scope.context.budget.tick()
        return evaluate(scope.with_variables(variables))

    return evaluate_with


def check_arguments(
    name: str, method: Method, arguments: Sequence[Value]
) -> Sequence[Value] | None:
    """Return the arguments as the method takes them: links as texts where it takes texts.

    None where one of them is null and makes the result null.
    Raises: ExpressionError for a wrong number or type of arguments.
    """
    parameters = method.parameters
    minimum = sum(not parameter.optional and not parameter.repeats for parameter in parameters)
    maximum = len(parameters) if not (parameters and parameters[-1].repeats) else None
    if len(arguments) < minimum or (maximum is not None and len(arguments) > maximum):
        raise ExpressionError(
            f'"{name}" expects {_write_range(minimum, maximum)}, given {len(arguments)}.'
        )
    accepted = []
    for place, argument in enumerate(arguments):
        parameter = parameters[min(place, len(parameters) - 1)]
        if parameter.types is None or (argument is None and parameter.optional):
            accepted.append(argument)
            continue
        if argument is None:
            return None
        is_stray_bool = isinstance(argument, bool) and bool not in parameter.types
        if not isinstance(argument, parameter.types) or is_stray_bool:
            expected = _NAMES.get(parameter.types) or type_name(parameter.types[0]())
            raise ExpressionError(
                f'Type error in "{name}" parameter "{parameter.name}". '
                f"Expected {expected}, given {type_name(argument)}."
            )
        if type(argument) is LinkValue and str in parameter.types:
            argument = argument.target
        accepted.append(argument)
    return accepted


def _write_range(minimum: int, maximum: int | None) -> str:
    if maximum is None:
        return f"at least {write_count(minimum, 'argument')}"
    return (
        write_count(minimum, "argument")
        if minimum == maximum
        else f"{minimum} to {maximum} arguments"
    )


def find_entry(table: Mapping[str, Any], name: str) -> Any:
    """Return an entry by exact name, else in any case; None without one."""
    return table.get(name) or next(
        (entry for key, entry in table.items() if key.lower() == name.lower()), None
    )
