"""Files of Python as the measures read them: text, syntax tree, functions, and places in them."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Place:
    """Where something was counted, and what."""

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}"


class Source:
    """One file; what several measures need is computed once."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.lines = text.splitlines()
        self.tree = ast.parse(text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        """Every function and method, also those inside others; no lambdas."""
        return [node for node in self.nodes if isinstance(node, Function)]

    @cached_property
    def methods(self) -> set[Function]:
        """The functions whose first parameter is the instance or the class."""
        return {
            member
            for node in self.nodes
            if isinstance(node, ast.ClassDef)
            for member in node.body
            if isinstance(member, Function) and "staticmethod" not in decorators(member)
        }

    @cached_property
    def docstrings(self) -> list[tuple[Documented, ast.Expr]]:
        """The docstrings of the file, its classes and functions, each with what it belongs to."""
        return [
            (node, statement)
            for node in self.nodes
            if isinstance(node, Documented)
            for statement in node.body[:1]
            if isinstance(statement, ast.Expr) and is_text(statement)
        ]

    def place(self, node: ast.stmt | ast.expr | ast.arg, name: str) -> Place:
        return Place(self.file, node.lineno, name)


@cache
def read_sources(package: Path) -> list[Source]:
    """Return the files of Python below a folder; their paths begin with its name. They are read once.

    Meanwhile no garbage is collected: there is none among half a million nodes of syntax, and
    looking for it takes three quarters of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        sources = [
            Source(path.relative_to(package.parent).as_posix(), path.read_text("utf-8"))
            for path in sorted(package.rglob("*.py"))
        ]
        for source in sources:
            _ = source.nodes
    finally:
        if was_enabled:
            gc.enable()
    return sources


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a string alone: a docstring, or the explanation below a constant."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def decorators(function: Function) -> set[str]:
    """Return the names of a function's decorators, without their arguments."""
    return {ast.unparse(node).partition("(")[0] for node in function.decorator_list}


def is_tool(function: Function) -> bool:
    """Whether a function is one that models call; its parameters are the arguments of a call."""
    return "tool" in decorators(function)


def parameters(function: Function) -> Iterator[ast.arg]:
    """Yield every parameter, in the order of the signature."""
    arguments = function.args
    yield from arguments.posonlyargs
    yield from arguments.args
    if arguments.vararg:
        yield arguments.vararg
    yield from arguments.kwonlyargs
    if arguments.kwarg:
        yield arguments.kwarg
