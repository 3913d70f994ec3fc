"""Nodes become functions once per query, run once per row (EXPR-33 to EXPR-36); rows are filtered, sorted, grouped,
flattened and limited (EXPR-51 to EXPR-55). A `Language` has what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from obsidian_mcp.errors import QueryInvalid

from . import syntax
from .javascript import slice_bounds
from .values import Budget, ExpressionError, LinkValue, Value, VaultView

LINKS_REMEMBERED = 50_000
"""Links whose file one query remembers."""


class Problems:
    """What went wrong in single rows: distinct messages of a step with the number of rows (EXPR-50)."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self.notes: list[str] = []
        """Warnings about the query as a whole, in order."""

    def record(self, step: str, message: str) -> None:
        self._counts[step, message] += 1

    @property
    def failures(self) -> int:
        return self._counts.total()

    def note(self, warning: str) -> None:
        """Add a warning about the query as a whole, once."""
        if warning not in self.notes:
            self.notes.append(warning)

    def counted(self) -> list[tuple[str, str, int]]:
        """Step, message and number of rows, in the order of first occurrence."""
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
        """Path of the file that a link leads to."""
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

    def within(self, variables: Mapping[str, Value]) -> Scope:
        """The scope of a lambda's body: inner parameters hide outer ones."""
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
        """Missing arguments keep the value that the name has outside; further ones are left out."""
        self.scope.context.budget.tick()
        return self.body(self.scope.within(dict(zip(self.parameters, arguments, strict=False))))


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
    """A faster or different function for some accesses (`file.name` without a file object); None for all others."""


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
        """The function of a node in which `parameters` are bound too. Raises: QueryInvalid when nested too deep."""
        language, inner = (
            self.language,
            Compiler(self.language, self.parameters | parameters, self.depth + 1),
        )
        match node:
            case syntax.Literal(value):
                return lambda _: value
            case syntax.Name(name):
                return inner.name(name)
            case syntax.FieldAccess() | syntax.IndexAccess():
                return language.compile_field(node, inner) or inner.access(node)
            case syntax.FunctionCall():
                return language.call(node, inner)
            case syntax.Unary(operator, operand):
                apply, of = language.unary[operator], inner.compile(operand)
                return lambda scope: apply(of(scope), scope.context)
            case syntax.Binary(operator, left, right):
                first, second = inner.compile(left), inner.compile(right)
                if operator in language.lazy:
                    return language.lazy[operator](first, second)
                combine = language.binary[operator]
                if isinstance(right, syntax.Literal):  # the same for every row
                    constant = right.value
                    return lambda scope: combine(first(scope), constant, scope.context)
                return lambda scope: combine(first(scope), second(scope), scope.context)
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

    def access(self, node: syntax.FieldAccess | syntax.IndexAccess) -> Evaluate:
        """A field or an item of a value; null for a null index, whatever the value is: that may be an error."""
        of = self.compile(node.of)
        if isinstance(node, syntax.FieldAccess):
            get, name = self.language.field, node.name
            return lambda scope: get(of(scope), name, scope)
        by, get_item = self.compile(node.by), self.language.index
        return lambda scope: (
            None if (index := by(scope)) is None else get_item(of(scope), index, scope)
        )

    def name(self, name: str) -> Evaluate:
        """A parameter where a lambda around binds the name, else what the language makes of it."""
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
    """The function of a whole expression. Raises: QueryInvalid when it is nested too deep."""
    return Compiler(language).compile(node, parameters)


def evaluate_or_error(evaluate: Evaluate, scope: Scope) -> Value | ExpressionError:
    """The value, or the error as a value: for a cell."""
    try:
        return evaluate(scope)
    except ExpressionError as error:
        return ExpressionError(
            error.message
        )  # without a traceback, which would keep every value in use


T = TypeVar("T")
ROW_ITEMS = 8
"""List items that take as much memory as one more row."""

OrderKey = Callable[[Value, bool], Any]
"""(value, descending) -> something that Python compares; `descending` lets nulls stay last in both directions."""


class SortBy(NamedTuple):
    value: Evaluate
    descending: bool = False


class KeyedRows(NamedTuple):
    """Neighbouring rows with one key. `key` is the value of the first."""

    key: Value
    rows: list[Scope]


def filter_rows(
    rows: Iterable[Scope], passes: Callable[[Scope], bool], context: Context, step: str
) -> list[Scope]:
    """The rows that pass, in order (EXPR-51)."""
    kept = []
    end_row = context.budget.end_row
    for row in rows:
        keep = False
        try:
            keep = passes(row)
        except ExpressionError as error:
            context.problems.record(step, error.message)
        end_row(kept=keep)
        if keep:
            kept.append(row)
    return kept


def evaluate_rows(
    rows: Sequence[Scope], value: Callable[[Scope], T], context: Context, step: str
) -> list[tuple[Scope, T]]:
    """Each row with a value of its own."""
    found: list[tuple[Scope, T]] = []
    for row in rows:
        try:
            found.append((row, value(row)))
        except ExpressionError as error:
            context.problems.record(step, error.message)
        context.budget.end_row(kept=True)
    return found


def _add_keys(
    rows: Sequence[Scope],
    keys: Sequence[SortBy],
    order_key: OrderKey,
    context: Context,
    step: str,
    *,
    keep_errors: bool,
) -> list[tuple[Scope, list[tuple[Any, Value]]]]:
    """Each row with order key and value of every key."""
    found = []
    for row in rows:
        pairs: list[tuple[Any, Value]] = []
        try:
            for key in keys:
                try:
                    value = key.value(row)
                    context.budget.hold(value)
                    pairs.append((order_key(value, key.descending), value))
                except ExpressionError:
                    if not keep_errors:
                        raise
                    pairs.append((order_key(None, key.descending), None))
            found.append((row, pairs))
        except ExpressionError as error:
            context.problems.record(step, error.message)
        context.budget.end_row(kept=True)
    return found


def sort_rows(
    rows: Sequence[Scope],
    keys: Sequence[SortBy],
    order_key: OrderKey,
    context: Context,
    step: str,
    *,
    keep_errors: bool = False,
) -> list[Scope]:
    """The rows by one key after the other, stable in both directions (EXPR-52). `keep_errors`: a failed key is null."""
    found = _add_keys(rows, keys, order_key, context, step, keep_errors=keep_errors)
    for place in reversed(range(len(keys))):
        found.sort(key=lambda pair: pair[1][place][0], reverse=keys[place].descending)
    return [row for row, _ in found]


def group_rows(
    rows: Sequence[Scope],
    by: SortBy,
    order_key: OrderKey,
    context: Context,
    step: str,
    *,
    keep_errors: bool = False,
) -> list[KeyedRows]:
    """Rows with equal order keys together, by key, then as the rows (EXPR-53). `keep_errors`: a failed key is null."""
    found = _add_keys(rows, [by], order_key, context, step, keep_errors=keep_errors)
    found.sort(key=lambda pair: pair[1][0][0], reverse=by.descending)
    groups = [list(members) for _, members in groupby(found, key=lambda pair: pair[1][0][0])]
    return [KeyedRows(members[0][1][0][1], [row for row, _ in members]) for members in groups]


def flatten_rows(
    rows: Sequence[Scope],
    values: Evaluate,
    extend: Callable[[Scope, Value], Scope],
    context: Context,
    step: str,
) -> list[Scope]:
    """One row for each item of a list; a value that is no list gives one row, an empty list none (EXPR-54)."""
    flat: list[Scope] = []
    for row, value in evaluate_rows(rows, values, context, step):
        items = value if isinstance(value, list) else [value]
        context.budget.hold([None] * (ROW_ITEMS * len(items)))
        flat.extend(extend(row, item) for item in items)
        context.budget.end_row(kept=True)
    return flat


def limit_rows(rows: Sequence[Scope], count: float) -> Sequence[Scope]:
    """The first `count` rows; a negative count drops the last rows (EXPR-55)."""
    return rows[: slice_bounds(len(rows), 0, count)[1]]
