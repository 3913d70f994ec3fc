"""Every mistake of a base with its place, and the texts in its expressions (BASE-09, BASE-91)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obsidian_mcp.core.expressions.syntax import Literal, SyntaxProblem, walk
from obsidian_mcp.errors import QueryInvalid

from .base_file import list_expressions
from .base_reader import read_base, read_with_mistakes
from .parser import parse_or_problem
from .places import YamlPath, find_place


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong at one place of a base. Line and column count from 1."""

    message: str
    line: int
    column: int | None
    """None where it is not known."""
    refused: bool
    """Whether the whole base is refused; else only a formula or filter has no value."""

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column is not None else ""
        return f"line {self.line}{column}: {self.message}"


def validate_base(text: str) -> list[Mistake]:
    """Return every mistake of a base, in the order of its lines (BASE-09)."""
    try:
        base, refused = read_with_mistakes(text)
    except QueryInvalid as error:
        line, column = error.data.get("line", 1), error.data.get("column")
        return [Mistake(error.message, line, column, refused=True)]
    mistakes = [
        Mistake(message, *find_place(text, path), refused=True) for path, message in refused
    ]
    if base is not None:
        for path, expression in list_expressions(base, base.views):
            problem = parse_or_problem(expression)
            if isinstance(problem, SyntaxProblem):
                # its place is exact where the YAML has the expression on one line
                line, column = find_place(text, path, problem.at)
                message = f"{_subject(path)}: {problem.explanation}"
                mistakes.append(Mistake(message, line, column, refused=False))
    return sorted(mistakes, key=lambda mistake: (mistake.line, mistake.column or 0))


def find_texts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the texts in the expressions of a base, each with its line.

    Nothing where the base is broken.
    """
    try:
        base = read_base(text)
    except QueryInvalid:
        return
    for path, expression in list_expressions(base, base.views):
        node = parse_or_problem(expression)
        for part in () if isinstance(node, SyntaxProblem) else walk(node):
            if isinstance(part, Literal) and isinstance(part.value, str):
                yield find_place(text, path)[0], part.value


def _subject(path: YamlPath) -> str:
    """Return what the expression at this place is, as a message begins with it."""
    match path:
        case ("formulas", name):
            return f'Formula "{name}"'
        case ("summaries", name):
            return f'Summary "{name}"'
        case ("views", int() as place, *_):
            return f"Filter of view {place + 1}"
    return "Filter"
