"""Evaluation: nodes become functions once per query, which run once per row (EXPR-33 to EXPR-36).

What differs between the languages is in a `Language`; the evaluator knows none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from obsidian_mcp.errors import QueryInvalid

from . import syntax
from .budget import Budget
from .values import ExpressionError, LinkValue, Value
from .vault_view import VaultView

LINKS_REMEMBERED = 50_000
"""Links whose file one query remembers."""


class Problems:
    """What went wrong in single rows, and warnings about the whole query (EXPR-50).

    Of a step each different message is kept, with the number of rows.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self.notes: list[str] = []
        """Warnings about the query as a whole, in order."""

    def record(self, step: str, message: str) -> None:
        """Note that a row failed in a step."""
        self._counts[step, message] += 1

    @property
    def failures(self) -> int:
        """How many rows failed, in all steps."""
        return self._counts.total()

    def note(self, warning: str) -> None:
        """Add a warning about the query as a whole, once."""
        if warning not in self.notes:
            self.notes.append(warning)

    def list_counts(self) -> list[tuple[str, str, int]]:
        """Return step, message and number of rows, in the order of first occurrence."""
        return [(step, message, count) for (step, message), count in self._counts.items()]


@dataclass(slots=True)
class Context:
    """One run of one query."""

    vault: VaultView
    now: datetime
    """Naive, local: the one clock reading of the query."""
    this: Value = None
    """What `this` means; its form is up to the language."""
    source: str = ""
    """Path of the file from which links that are written in the query resolve."""
    budget: Budget = field(default_factory=Budget)
    problems: Problems = field(default_factory=Problems)
    resolve: Callable[[str, str], str | None] = field(init=False)
    """As that of the vault."""

    def __post_init__(self) -> None:
        self.resolve = lru_cache(LINKS_REMEMBERED)(self.vault.resolve)

    def follow(self, link: LinkValue) -> str | None:
        """Return the path of the file that a link leads to; None where it leads nowhere."""
        return self.resolve(link.path, link.source)


NO_VARIABLES: Mapping[str, Value] = {}
"""Shared by all scopes that are not inside a lambda."""


class Scope:
    """What the expressions of one row see. Each language keeps in `row` what it needs."""

    __slots__ = ("context", "row", "variables")

    def __init__(
        self, context: Context, row: Any, variables: Mapping[str, Value] | None = None
    ) -> None:
        self.context = context
        self.row = row
        self.variables: Mapping[str, Value] = variables or NO_VARIABLES
        """Parameters of the lambdas around, by name."""

    def with_variables(self, variables: Mapping[str, Value]) -> Scope:
        """Return the scope of a lambda's body: inner parameters hide outer ones."""
        return Scope(self.context, self.row, {**self.variables, **variables})


Evaluate = Callable[[Scope], Value]
"""A compiled expression. Raises: ExpressionError."""

_MISSING = object()


@dataclass(frozen=True)
class Function:
    """A lambda with the scope in which it was made: the value of a `Lambda` node."""

    parameters: tuple[str, ...]
    body: Evaluate
    scope: Scope

    def __call__(self, *arguments: Value) -> Value:
        """Evaluate the body.

        Missing arguments keep the value that the name has outside; further ones are left out.
        """
        self.scope.context.budget.tick()
        return self.body(
            self.scope.with_variables(dict(zip(self.parameters, arguments, strict=False)))
        )


@dataclass(frozen=True)
class Language:
    """The tables in which the languages differ. Operators take (left, right, context)."""

    binary: Mapping[str, Callable[[Value, Value, Context], Value]]
    unary: Mapping[str, Callable[[Value, Context], Value]]
    lazy: Mapping[str, Callable[[Evaluate, Evaluate], Evaluate]]
    """Operators whose right side may stay unevaluated."""
    name_of: Callable[[str], Evaluate]
    """What a bare name means that is no parameter."""
    field: Callable[[Value, str, Scope], Value]
    """`value.name`"""
    index: Callable[[Value, Value, Scope], Value]
    """`value[key]`"""
    call: Callable[[syntax.FunctionCall, Compiler], Evaluate]
    """A call, which compiles its arguments as its table of functions says."""
    compile_field: Callable[
        [syntax.FieldAccess | syntax.IndexAccess, Compiler], Evaluate | None
    ] = lambda _node, _compiler: None
    """A faster or different function for some accesses, such as `file.name` without a file object.

    None for all others.
    """


@dataclass(frozen=True)
class Compiler:
    """Turns nodes into functions. `parameters` are the names that lambdas around the node bind."""

    language: Language
    parameters: frozenset[str] = frozenset()
    depth: int = 0

    def __post_init__(self) -> None:
        """Raises: QueryInvalid when nested too deep."""
        if self.depth > syntax.MAX_DEPTH:
            raise QueryInvalid(
                f"An expression is nested more than {syntax.MAX_DEPTH} deep. Split it into several."
            )

    def compile(self, node: syntax.Node, parameters: frozenset[str] = frozenset()) -> Evaluate:
        """Return the function of a node in which `parameters` are bound too.

        Raises: QueryInvalid when it is nested too deep.
        """
        language = self.language
        inner = Compiler(language, self.parameters | parameters, self.depth + 1)
        match node:
            case syntax.Literal(value):
                return lambda _: value
            case syntax.BareName(name):
                return inner.name(name)
            case syntax.FieldAccess() | syntax.IndexAccess():
                return language.compile_field(node, inner) or inner.access(node)
            case syntax.FunctionCall():
                return language.call(node, inner)
            case syntax.Unary(operator, operand):
                apply, of = language.unary[operator], inner.compile(operand)
                return lambda scope: apply(of(scope), scope.context)
            case syntax.Binary():
                return inner.binary(node)
            case syntax.ListOf(nodes):
                items = [inner.compile(item) for item in nodes]

                def build_list(scope: Scope) -> Value:
                    scope.context.budget.charge_items(len(items))
                    return [item(scope) for item in items]

                return build_list
            case syntax.ObjectOf(nodes_by_key):
                entries = [(key, inner.compile(value)) for key, value in nodes_by_key]

                def build_object(scope: Scope) -> Value:
                    scope.context.budget.charge_items(2 * len(entries))
                    return {key: value(scope) for key, value in entries}

                return build_object
            case syntax.Lambda(names, body):
                inside = inner.compile(body, frozenset(names))
                return lambda scope: Function(names, inside, scope)

    def binary(self, node: syntax.Binary) -> Evaluate:
        """Return the function of an operator with two operands."""
        first, second = self.compile(node.left), self.compile(node.right)
        lazy = self.language.lazy.get(node.operator)
        if lazy is not None:
            return lazy(first, second)
        combine = self.language.binary[node.operator]
        if isinstance(node.right, syntax.Literal):  # the same for every row
            constant = node.right.value
            return lambda scope: combine(first(scope), constant, scope.context)
        return lambda scope: combine(first(scope), second(scope), scope.context)

    def access(self, node: syntax.FieldAccess | syntax.IndexAccess) -> Evaluate:
        """Return the function of a field or an item of a value.

        It is null for a null index, which is why that is evaluated first: what it is taken of may
        be an error.
        """
        of = self.compile(node.of)
        if isinstance(node, syntax.FieldAccess):
            get, name = self.language.field, node.name
            return lambda scope: get(of(scope), name, scope)
        by, get_item = self.compile(node.by), self.language.index

        def access_item(scope: Scope) -> Value:
            index = by(scope)
            return None if index is None else get_item(of(scope), index, scope)

        return access_item

    def name(self, name: str) -> Evaluate:
        """Return the function of a bare name.

        It is a parameter where a lambda around binds the name, else what the language makes of it.
        """
        outside = self.language.name_of(name)
        if name not in self.parameters:
            return outside

        def parameter(scope: Scope) -> Value:
            value = scope.variables.get(name, _MISSING)
            return outside(scope) if value is _MISSING else value

        return parameter


def compile_expression(
    node: syntax.Node, language: Language, parameters: frozenset[str] = frozenset()
) -> Evaluate:
    """Return the function of a whole expression.

    Raises: QueryInvalid when it is nested too deep.
    """
    return Compiler(language).compile(node, parameters)


def evaluate_or_error(evaluate: Evaluate, scope: Scope) -> Value | ExpressionError:
    """Return the value, or the error as a value: for a cell."""
    try:
        return evaluate(scope)
    except ExpressionError as error:
        # without a traceback, which would keep every value that was in use when it was raised
        return ExpressionError(error.message)
