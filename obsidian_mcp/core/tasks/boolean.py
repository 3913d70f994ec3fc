"""Filters joined by AND, OR, XOR and NOT (TASK-108)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, cast

from obsidian_mcp.errors import QueryInvalid

from .filters import Environment, Explanation, Filter, Operator, combine, parse_filter
from .task import Task

_DELIMITERS = (("(", ")"), ("[", "]"), ("{", "}"), ('"', '"'))
_is_boolean = re.compile(r"(?:AND|OR|XOR|NOT)\s*[(\[{\"]|\A[^(\[{\"]*+[(\[{\"].+[)\]}\"]", re.DOTALL).search
_PRECEDENCE: dict[Operator, int] = {"NOT": 4, "XOR": 3, "AND": 2, "OR": 1}
_OPERATORS = re.compile(r"AND|XOR|OR|NOT")


class _Malformed(ValueError):
    """A combination that cannot be read; the message says why."""


MAX_DEPTH = 20
"""Combinations inside combinations, where each has delimiters of another kind."""


def parse_boolean(line: str, environment: Environment, depth: int = 0) -> Filter | None:
    """Return the filter that a combination of filters means, None where the line is none. Raises: QueryInvalid."""
    if not _is_boolean(line):
        return None
    try:
        if depth > MAX_DEPTH:
            raise _Malformed(f"combinations are nested more than {MAX_DEPTH} deep")
        parts = _postfix(_tokens(line, *_delimiters(line)))
        return _combine(parts, environment, depth)
    except _Malformed as problem:
        raise QueryInvalid(
            f"Could not interpret the following instruction as a Boolean combination:\n    {line}\n"
            f"The error message is:\n    {problem}",
            line=line,
        ) from None


def _delimiters(line: str) -> tuple[str, str]:
    inner = re.sub(r"^[A-Z ]*\s*", "", line.strip())
    for opening, closing in _DELIMITERS:
        if inner[:1] == opening and inner[-1:] == closing:
            return opening, closing
    raise _Malformed(
        "All filters in a Boolean instruction must be inside one of these pairs of delimiter characters: "
        '(...) or [...] or {...} or "...". Combinations of those delimiters are not supported.'
    )


class _Operand(str):
    """A line that is a filter, or a combination of another kind of delimiters."""

    __slots__ = ()


_Token = _Operand | Operator | Literal["(", ")"]


def _tokens(line: str, left: str, right: str) -> list[_Token]:
    opening, closing = re.escape(left), re.escape(right)
    pieces = re.split(rf"({closing}\s*(?:AND|OR|AND +NOT|OR +NOT|XOR)\s*{opening})", line)
    for splitter in (rf"(NOT\s*{opening})", rf"(^[{opening} ]*)", rf"([{closing} ]*$)"):
        pieces = [part for piece in pieces for part in re.split(splitter, piece) if part]
    is_structure = re.compile(
        rf"[ {opening}{closing}]+| *{closing} *(?:AND|OR|XOR) *{opening} *|(?:AND|OR|XOR|NOT) *{opening}"
        rf"|{closing} *(?:AND|OR|XOR)|AND|OR|XOR|NOT"
    ).fullmatch
    if left == right and re.search(
        rf"{left} *{left}", "".join(piece if is_structure(piece) else "_" for piece in pieces)
    ):
        raise _malformed_query("a filter in quotes cannot begin or end with a quote")
    tokens: list[_Token] = []
    for piece in pieces:
        tokens += _structure(piece, left, right) if is_structure(piece) else [_Operand(piece)]
    return tokens


def _structure(piece: str, left: str, right: str) -> list[_Token]:
    if left == right:  # quotes do not nest
        return cast("list[_Token]", _OPERATORS.findall(piece))
    found = re.findall(rf"{_OPERATORS.pattern}|[{re.escape(left + right)}]", piece)
    return cast("list[_Token]", [{left: "(", right: ")"}.get(word, word) for word in found])


def _postfix(tokens: Sequence[_Token]) -> list[_Operand | Operator]:
    """The tokens with every operator behind its operands. Raises: _Malformed."""
    if ("NOT", "NOT") in pairwise(tokens):
        raise _malformed_query("NOT stands twice")
    output: list[_Operand | Operator] = []
    pending: list[Operator | Literal["("]] = []
    expects_operand = True

    def close(strength: int) -> None:
        while pending and (operator := pending[-1]) != "(" and _PRECEDENCE[operator] >= strength:
            output.append(operator)
            pending.pop()

    for part in tokens:
        begins_operand = isinstance(part, _Operand) or part in ("(", "NOT")
        if begins_operand != expects_operand:
            raise _malformed_query(f"{'an operator' if begins_operand else 'a filter'} is missing in front of '{part}'")
        match part:
            case _Operand():
                output.append(part)
                expects_operand = False
            case "(" | "NOT":
                pending.append(part)
            case ")":
                close(0)
                if not pending:
                    raise _malformed_query("a closing delimiter has no opening one")
                pending.pop()
            case _:
                close(_PRECEDENCE[part])
                pending.append(part)
                expects_operand = True
    close(0)
    if expects_operand:
        raise _malformed_query("a filter is missing at the end")
    if pending:
        raise _malformed_query("an opening delimiter has no closing one")
    return output


def _malformed_query(problem: str) -> _Malformed:
    return _Malformed(f"malformed boolean query -- {problem}")


def _combine(parts: Sequence[_Operand | Operator], environment: Environment, depth: int) -> Filter:
    steps: list[Filter | Operator] = []
    explanations: list[Explanation] = []
    for part in parts:
        if isinstance(part, _Operand):
            found = _operand(part, environment, depth)
            steps.append(found)
            explanations.append(found.explained_in(part))
        else:
            steps.append(part)
            operands = explanations[-1:] if part == "NOT" else explanations[-2:]
            explanations[-len(operands) :] = [combine(part, operands)]

    def matches(task: Task) -> bool:
        values: list[bool] = []
        for step in steps:
            if isinstance(step, Filter):
                values.append(step.matches(task))
            elif step == "NOT":
                values[-1] = not values[-1]
            else:
                last = values.pop()
                first = values[-1]
                values[-1] = (first and last) if step == "AND" else (first or last) if step == "OR" else first != last
        return values[0]

    if len(steps) == 1 and isinstance(steps[0], Filter):
        only = steps[0]
        return Filter(matches, explanations[0], only.days, only.status, only.path)
    return Filter(matches, explanations[0])


def _operand(line: str, environment: Environment, depth: int) -> Filter:
    try:
        found = parse_filter(line, environment) or parse_boolean(line, environment, depth + 1)
    except QueryInvalid as problem:
        raise _Malformed(f"couldn't parse sub-expression '{line}': {problem.message}") from None
    if found is None:
        raise _Malformed(f"couldn't parse sub-expression '{line}': do not understand query")
    return found
