"""Filters joined by AND, OR, XOR and NOT (TASK-108)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, cast

from obsidian_mcp.errors import QueryInvalid

from .environment import Environment
from .explanation import BooleanOperator, Explanation, combine
from .filters import Filter, parse_filter
from .task import Task

_DELIMITERS = (("(", ")"), ("[", "]"), ("{", "}"), ('"', '"'))

_is_boolean = re.compile(
    r"(?:AND|OR|XOR|NOT)\s*[(\[{\"]|\A[^(\[{\"]*+[(\[{\"].+[)\]}\"]", re.DOTALL
).search

_PRECEDENCE: dict[BooleanOperator, int] = {"NOT": 4, "XOR": 3, "AND": 2, "OR": 1}

_OPERATORS = re.compile(r"AND|XOR|OR|NOT")


class _Malformed(ValueError):
    """A combination that cannot be read; the message says why."""


MAX_DEPTH = 20
"""Combinations inside combinations, which can be where each has delimiters of another kind."""


def parse_boolean(line: str, environment: Environment, depth: int = 0) -> Filter | None:
    """Return the filter that a combination of filters means, None where the line is none.

    `depth` is how many combinations it stands in.
    Raises: QueryInvalid.
    """
    if not _is_boolean(line):
        return None
    try:
        if depth > MAX_DEPTH:
            raise _Malformed(f"combinations are nested more than {MAX_DEPTH} deep")
        parts = _postfix(_tokens(line, *_delimiters(line)))
        return _combine(parts, environment, depth)
    except _Malformed as problem:
        raise QueryInvalid(
            "Could not interpret the following instruction as a Boolean combination:\n"
            f"    {line}\nThe error message is:\n    {problem}",
            line=line,
        ) from None


def _delimiters(line: str) -> tuple[str, str]:
    """Return the pair of delimiters that surrounds the operands of a combination.

    It is the one that the line begins and ends with; the others are then part of the operands.
    Raises: _Malformed.
    """
    inner = re.sub(r"^[A-Z ]*\s*", "", line.strip())
    for opening, closing in _DELIMITERS:
        if inner[:1] == opening and inner[-1:] == closing:
            return opening, closing
    raise _Malformed(
        "All filters in a Boolean instruction must be inside one of these pairs of delimiter "
        'characters: (...) or [...] or {...} or "...". Combinations of those delimiters are not '
        "supported."
    )


class _Operand(str):
    """A line that is a filter, or a combination of another kind of delimiters."""

    __slots__ = ()


_BooleanToken = _Operand | BooleanOperator | Literal["(", ")"]


def _tokens(line: str, opening_mark: str, closing_mark: str) -> list[_BooleanToken]:
    """Split a combination as the plugin does, by the delimiters with the operators beside them.

    A delimiter inside an operand is part of it only where no operator stands beside it.
    Raises: _Malformed.
    """
    opening, closing = re.escape(opening_mark), re.escape(closing_mark)
    pieces = re.split(rf"({closing}\s*(?:AND|OR|AND +NOT|OR +NOT|XOR)\s*{opening})", line)
    for splitter in (rf"(NOT\s*{opening})", rf"(^[{opening} ]*)", rf"([{closing} ]*$)"):
        pieces = [part for piece in pieces for part in re.split(splitter, piece) if part]
    is_structure = re.compile(
        rf"[ {opening}{closing}]+| *{closing} *(?:AND|OR|XOR) *{opening} *"
        rf"|(?:AND|OR|XOR|NOT) *{opening}|{closing} *(?:AND|OR|XOR)|AND|OR|XOR|NOT"
    ).fullmatch
    structure = "".join(piece if is_structure(piece) else "_" for piece in pieces)
    if opening_mark == closing_mark and re.search(rf"{opening_mark} *{opening_mark}", structure):
        raise _malformed_query("a filter in quotes cannot begin or end with a quote")
    tokens: list[_BooleanToken] = []
    for piece in pieces:
        if is_structure(piece):
            tokens += _structure(piece, opening_mark, closing_mark)
        else:
            tokens.append(_Operand(piece))
    return tokens


def _structure(piece: str, opening_mark: str, closing_mark: str) -> list[_BooleanToken]:
    """Return the operators and delimiters in a piece without operands."""
    if opening_mark == closing_mark:  # quotes do not nest
        return cast("list[_BooleanToken]", _OPERATORS.findall(piece))
    words = re.findall(rf"{_OPERATORS.pattern}|[{re.escape(opening_mark + closing_mark)}]", piece)
    parentheses = {opening_mark: "(", closing_mark: ")"}
    return cast("list[_BooleanToken]", [parentheses.get(word, word) for word in words])


def _postfix(tokens: Sequence[_BooleanToken]) -> list[_Operand | BooleanOperator]:
    """Return the tokens with every operator behind its operands, by their precedence.

    Raises: _Malformed.
    """
    if ("NOT", "NOT") in pairwise(tokens):
        raise _malformed_query("NOT stands twice")
    output: list[_Operand | BooleanOperator] = []
    pending: list[BooleanOperator | Literal["("]] = []
    expects_operand = True

    def close(strength: int) -> None:
        while pending and (operator := pending[-1]) != "(" and _PRECEDENCE[operator] >= strength:
            output.append(operator)
            pending.pop()

    for part in tokens:
        begins_operand = isinstance(part, _Operand) or part in ("(", "NOT")
        if begins_operand != expects_operand:
            raise _malformed_query(
                f"{'an operator' if begins_operand else 'a filter'} is missing in front of '{part}'"
            )
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


def _combine(
    parts: Sequence[_Operand | BooleanOperator], environment: Environment, depth: int
) -> Filter:
    """Return the filter of a combination whose operators stand behind their operands."""
    steps: list[Filter | BooleanOperator] = []
    explanations: list[Explanation] = []
    for part in parts:
        if isinstance(part, _Operand):
            operand = _parse_operand(part, environment, depth)
            steps.append(operand)
            explanations.append(operand.explain_in(part))
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
                last, first = values.pop(), values.pop()
                values.append(_apply(step, first, last))
        return values[0]

    if len(steps) == 1 and isinstance(steps[0], Filter):
        only = steps[0]
        return Filter(matches, explanations[0], only.days, only.status, only.path)
    return Filter(matches, explanations[0])


def _apply(operator: BooleanOperator, first: bool, last: bool) -> bool:
    if operator == "AND":
        return first and last
    if operator == "OR":
        return first or last
    return first != last


def _parse_operand(line: str, environment: Environment, depth: int) -> Filter:
    """Return the filter of an operand.

    Raises: _Malformed.
    """
    try:
        operand = parse_filter(line, environment) or parse_boolean(line, environment, depth + 1)
    except QueryInvalid as problem:
        raise _Malformed(f"couldn't parse sub-expression '{line}': {problem.message}") from None
    if operand is None:
        raise _Malformed(f"couldn't parse sub-expression '{line}': do not understand query")
    return operand
