"""The nodes that all parsers make, and how a parser says what is wrong (EXPR-30, EXPR-31)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .values import Value

MAX_DEPTH = 300
"""Deepest nesting of nodes; evaluation needs one stack frame for each."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written out."""

    value: Value


@dataclass(frozen=True, slots=True)
class BareName:
    """A bare name: a field, a root such as `file`, a parameter, or a function that is called."""

    name: str


@dataclass(frozen=True, slots=True)
class FieldAccess:
    """`of.name`."""

    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class IndexAccess:
    """`of[by]`."""

    of: Node
    by: Node


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`callee(arguments)`."""

    callee: Node
    """A `BareName` for a global function, a `FieldAccess` for a method, else a function value."""
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """`-operand`, `!operand`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`, also with `&&` and `and`.

    Which operators are lazy is up to the language.
    """

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[first, second]`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """`{key: value}`."""

    entries: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Lambda:
    """`(parameters) => body`."""

    parameters: tuple[str, ...]
    body: Node


Node = (
    Literal
    | BareName
    | FieldAccess
    | IndexAccess
    | FunctionCall
    | Unary
    | Binary
    | ListOf
    | ObjectOf
    | Lambda
)


class SyntaxProblem(Exception):
    """A text that does not parse.

    `at` is the code point where it was noticed, in the text that was parsed.
    """

    def __init__(self, at: int, problem: str, expected: str = "", hint: str = "") -> None:
        super().__init__(problem)
        self.at = at
        self.problem = problem
        """What stands there: `"==" cannot stand here`, `the text ends here`."""
        self.expected = expected
        self.hint = hint

    @property
    def explanation(self) -> str:
        """The message without the place."""
        expected = f" Expected {self.expected}." if self.expected else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.problem}.{expected}{hint}"


def children(node: Node) -> Iterator[Node]:
    """Yield the nodes directly inside a node, in the order of its parts."""
    for part in (getattr(node, name) for name in node.__slots__):
        for inner in part if isinstance(part, tuple) else (part,):
            # an entry of an object is a key with a node
            child = inner[1] if isinstance(inner, tuple) else inner
            if isinstance(child, Node):
                yield child


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes inside it."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += children(current)
