"""How a query was understood, as a tree of sentences (TASK-120, TASK-121)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

BooleanOperator = Literal["AND", "OR", "XOR", "NOT"]

_MEANING: dict[str, str] = {
    "AND": "All of",
    "OR": "At least one of",
    "XOR": "Exactly one of",
    "NOT": "None of",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A sentence with what explains it further, or an operator with its operands."""

    text: str
    children: tuple[Explanation, ...] = ()
    operator: BooleanOperator | None = None

    def __str__(self) -> str:
        """Return one line for each sentence, children indented by two spaces.

        It does not recurse: a chain of combinations may be deeper than Python's stack.
        """
        lines: list[str] = []
        pending = [(self, 0)]
        while pending:
            node, depth = pending.pop()
            lines.append("  " * depth + node.line)
            pending += [(child, depth + 1) for child in reversed(node.children)]
        return "\n".join(lines)

    @property
    def line(self) -> str:
        """The sentence alone, of an operator its name and meaning."""
        if self.operator is None:
            return self.text
        if len(self.children) > 1:
            return f"{self.operator} ({_MEANING[self.operator]}):"
        return f"{self.operator}:"


def combine(operator: BooleanOperator, operands: Sequence[Explanation]) -> Explanation:
    """Return the explanation of an operator; a chain of `AND` or `OR` becomes one list."""
    first, last = operands[0], operands[-1]
    if operator in ("AND", "OR") and first.operator == operator and last.operator is None:
        return Explanation("", (*first.children, last), operator)
    return Explanation("", tuple(operands), operator)


def indent(text: str, spaces: str) -> str:
    """Return a text with every line indented, empty ones too."""
    return "\n".join(spaces + line for line in text.split("\n"))
