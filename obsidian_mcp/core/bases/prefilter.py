"""Narrows the files that a base evaluates, by the values that the index has of all files (BASE-78).

A filter over one property has one outcome for each different value of it, however many notes have
that value. So it is evaluated once for each value, and only the files with a value that passes are
evaluated one by one. A filter over a tag narrows them as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from obsidian_mcp.core.expressions.evaluate import Context, Scope, compile_expression
from obsidian_mcp.core.expressions.syntax import (
    BareName,
    Binary,
    FieldAccess,
    FunctionCall,
    IndexAccess,
    ListOf,
    Literal,
    Node,
    SyntaxProblem,
    Unary,
    children,
)
from obsidian_mcp.core.expressions.values import ExpressionError, File, Value

from .base_file import BaseFilter, FilterStatement
from .language import BASES, BaseRow
from .parser import parse_or_problem
from .values import is_true, wrap_property

_METHODS: Final = frozenset(
    (
        *("contains", "containsAny", "containsAll", "isEmpty", "isTruthy", "isType", "lower"),
        *("startsWith", "endsWith", "trim", "title", "toString", "round", "abs", "ceil", "floor"),
    )
)
"""Methods whose result depends on the value alone, not on the file that has it."""
_FUNCTIONS: Final = frozenset(("number", "date", "duration", "list", "min", "max", "now", "today"))
"""Global functions of which the same is true."""
_ROOTS: Final = frozenset(("file", "this", "formula"))
"""Names that mean no property."""


class PassingFiles:
    """The files that may pass the first filters: all but some, or only some."""

    def __init__(self) -> None:
        self._candidates: set[str] | None = None
        """The files that may pass; None for all."""
        self._excluded: set[str] = set()
        """Files that cannot pass, although they may be candidates."""
        self._failing: set[str] = set()
        """Files for which a filter is or may be an error, which the query counts."""

    @property
    def paths(self) -> Collection[str] | None:
        """The files; None where they are most of all."""
        return (
            None
            if self._candidates is None
            else (self._candidates - self._excluded) | self._failing
        )

    def has(self, path: str) -> bool:
        """Whether a file is among them."""
        if path in self._failing:
            return True
        return path not in self._excluded and (self._candidates is None or path in self._candidates)

    def keep(self, paths: Iterable[str], failing: Iterable[str] = ()) -> None:
        """Keep only some files; the `failing` ones stay whatever comes."""
        self._failing.update(path for path in failing if self.has(path))
        self._candidates = {path for path in paths if self.has(path)}
        self._excluded.clear()

    def drop(self, paths: Iterable[str], failing: Iterable[str] = ()) -> None:
        """Leave out some files."""
        self._failing.update(path for path in failing if self.has(path))
        self._excluded.update(paths)


def passing_files(filters: Sequence[BaseFilter], context: Context) -> PassingFiles:
    """Return the files that may pass filters all of which must hold."""
    passing = PassingFiles()
    for statement in _leading_statements(filters):
        node = parse_or_problem(statement.text)
        if isinstance(node, SyntaxProblem) or not _narrow(passing, node, context):
            break
    return passing


def _leading_statements(filters: Sequence[BaseFilter]) -> Iterator[FilterStatement]:
    """Yield the statements that are evaluated first, up to one that is joined otherwise."""
    for part in filters:
        if isinstance(part, FilterStatement):
            yield part
        elif part.kind == "and":
            yield from _leading_statements(part.parts)
            if not all(_is_plain(inner) for inner in part.parts):
                return
        else:
            return


def _is_plain(part: BaseFilter) -> bool:
    return isinstance(part, FilterStatement) or (
        part.kind == "and" and all(map(_is_plain, part.parts))
    )


def _narrow(passing: PassingFiles, node: Node, context: Context) -> bool:
    """Leave out files for which a condition is false; return False where that cannot be told."""
    match node:
        case Binary("&&", left, right):
            return _narrow(passing, left, context) and _narrow(passing, right, context)
        case FunctionCall(FieldAccess(BareName("file"), "hasTag"), names) if names:
            tags = [name.value for name in names if isinstance(name, Literal)]
            if len(tags) != len(names) or not all(isinstance(tag, str) for tag in tags):
                return False
            passing.keep(context.vault.tagged_files([str(tag) for tag in tags]))
            return True
    key = _property_of(node)
    return key is not None and _narrow_by_value(passing, node, key, context)


def _narrow_by_value(passing: PassingFiles, node: Node, key: str, context: Context) -> bool:
    evaluate = compile_expression(node, BASES)

    def outcome(value: Value) -> bool | None:
        """Return what the condition says of a value; None for an error."""
        row = BaseRow(File(""), {})
        row.properties[key] = wrap_property(value, "", tags=key == "tags")
        try:
            return is_true(evaluate(Scope(context, row)))
        except ExpressionError:
            return None

    of_none = outcome(None)
    if of_none is None:
        return False
    matching, failing, without = list[str](), list[str](), list[str]()
    for text, value in context.vault.values(key):
        result = None if _has_link(value) else outcome(value)
        (failing if result is None else matching if result else without).append(text)
        context.budget.end_row(kept=False)

    def files_with(texts: Collection[str]) -> set[str]:
        return {*context.vault.files_with_values(key, texts, passing.paths)}

    may_fail = files_with(failing)
    if of_none:
        passing.drop(files_with(without) - files_with(matching) - may_fail, may_fail)
    else:
        passing.keep(files_with(matching), may_fail)
    return True


def _property_of(node: Node) -> str | None:
    """Return the key of the one property that a condition is about; None where it is about more."""
    keys: set[str] = set()
    return keys.pop() if _is_of_value(node, keys) and len(keys) == 1 else None


def _is_of_value(node: Node, keys: set[str]) -> bool:
    """Whether the value of a node depends on properties alone, whose keys are added."""
    match node:
        case Literal():
            return True
        case FieldAccess(BareName("note"), name) | IndexAccess(
            BareName("note"), Literal(str() as name)
        ):
            keys.add(name.lower())
            return True
        case BareName(name):
            keys.add(name.lower())
            return name not in _ROOTS and name != "note"
        case FunctionCall(FieldAccess(of, name), arguments):
            return name in _METHODS and all(_is_of_value(part, keys) for part in (of, *arguments))
        case FunctionCall(BareName(name), arguments):
            return name in _FUNCTIONS and all(_is_of_value(part, keys) for part in arguments)
        case Unary() | Binary() | ListOf() | FieldAccess():
            return all(_is_of_value(part, keys) for part in children(node))
        case _:
            return False


def _has_link(value: Value) -> bool:
    """Whether a value has a link, whose target depends on the note that has it."""
    match value:
        case str():
            return value.startswith("[[")
        case list():
            return any(map(_has_link, value))
        case dict():
            return any(map(_has_link, value.values()))
        case _:
            return False
