"""Every mistake of a base with its place, and the texts that its expressions hold (BASE-09, BASE-91)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obsidian_mcp.core.expressions.syntax import Literal, SyntaxProblem, walk
from obsidian_mcp.errors import QueryInvalid

from .base_file import Path, Places, expressions, mistakes, parse_or_problem, read


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong at one place of a base. Line and column count from 1; `column` is None where it is not known."""

    message: str
    line: int
    column: int | None
    refused: bool
    """Whether the whole base is refused; else only a formula or filter has no value."""

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column is not None else ""
        return f"line {self.line}{column}: {self.message}"


def validate(text: str) -> list[Mistake]:
    """Every mistake of a base, in the order of its lines (BASE-09)."""
    try:
        base, refused = mistakes(text)
    except QueryInvalid as error:
        return [Mistake(error.message, error.data.get("line", 1), error.data.get("column"), refused=True)]
    places = Places(text)
    found = [Mistake(message, *places.find(path), refused=True) for path, message in refused]
    if base is not None:
        for path, expression in expressions(base, base.views):
            problem = parse_or_problem(expression)
            if isinstance(problem, SyntaxProblem):  # its place is exact where the YAML has the expression on one line
                line, column = places.find(path, inside=problem.at)
                found.append(Mistake(f"{_subject(path)}: {problem.explanation}", line, column, refused=False))
    return sorted(found, key=lambda mistake: (mistake.line, mistake.column or 0))


def text_literals(text: str) -> Iterator[tuple[int, str]]:
    """The texts in the expressions of a base, each with its line; nothing where the base is broken."""
    try:
        base = read(text)
    except QueryInvalid:
        return
    places = Places(text)
    for path, expression in expressions(base, base.views):
        node = parse_or_problem(expression)
        for part in () if isinstance(node, SyntaxProblem) else walk(node):
            if isinstance(part, Literal) and isinstance(part.value, str):
                yield places.find(path)[0], part.value


def _subject(path: Path) -> str:
    """What the expression at this place is."""
    match path:
        case ("formulas", name):
            return f'Formula "{name}"'
        case ("summaries", name):
            return f'Summary "{name}"'
        case ("views", int() as place, *_):
            return f"Filter of view {place + 1}"
    return "Filter"
