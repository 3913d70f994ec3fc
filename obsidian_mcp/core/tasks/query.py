"""The plugin's query language: read a query with its combinations of filters, run it on tasks, explain it (TASK-96 to
TASK-121)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple, cast

from obsidian_mcp.core.note.query_blocks import unfenced
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import QueryInvalid

from .filters import Environment, Explanation, Filter, Operator, combine, indent, parse_filter
from .order import Grouper, Sorter, TaskGroup, group_tasks, parse_grouper, parse_sorter, sort_tasks
from .settings import TaskSettings
from .statements import NO_JAVASCRIPT, QueryNote, Statement, read_statements
from .task import Task

_match_limit = re.compile(r"limit (groups )?(?:to )?([0-9]+)", re.IGNORECASE).match
_match_view = re.compile(r"view +(.*)", re.IGNORECASE).match
_match_visibility = re.compile(r"(?:hide|show) +(.*)", re.IGNORECASE).match
_DISPLAY_OPTIONS = (
    *(
        "backlink",
        "edit button",
        "nested backlink",
        "postpone button",
        "task count",
        "group count",
        "toolbar",
        "tree",
    ),
    *(
        "urgency",
        "cancelled date",
        "created date",
        "depends on",
        "done date",
        "due date",
        "id",
        "on completion",
    ),
    *("priority", "recurrence rule", "scheduled date", "start date", "tags"),
)
_DOES_NOT_UNDERSTAND = (
    "do not understand query.",
    (
        "Expected a filter such as `not done`, `due before tomorrow` or `path includes Work`, a combination such as "
        "`(not done) AND (priority is high)`, or sort by, group by, limit, short, full, hide, show, explain, preset."
    ),
)


@dataclass
class _Part:
    """The instructions of one source: the global query, the defaults of a note, or the query itself."""

    title: str
    filters: list[tuple[Statement, Filter]] = field(default_factory=list)
    sorters: list[tuple[Statement, Sorter]] = field(default_factory=list)
    groupers: list[tuple[Statement, Grouper]] = field(default_factory=list)
    layout: list[Statement] = field(default_factory=list)
    columns: Grouper | None = None
    sets_view: bool = False
    limit: int | None = None
    group_limit: int | None = None
    explains: bool = False
    ignores_global_query: bool = False

    def explain(self) -> str:
        """Blocks of lines with a blank line between; ends in a line end (TASK-120)."""
        blocks = ["ignore global query"] if self.ignores_global_query else []
        for statement, found in self.filters:
            detail = str(found.explanation)
            blocks.append(
                statement.explain()
                + ("" if detail == statement.line else f" =>\n{indent(detail, '  ')}")
            )
        if not self.filters:
            blocks.append("No filters supplied. All tasks will match the query.")
        blocks += [statement.explain() for statement, _ in (*self.groupers, *self.sorters)]
        blocks += [statement.explain() for statement in self.layout]
        if self.limit is not None:
            blocks.append(f"{_at_most(self.limit)}.")
        if self.group_limit is not None:
            blocks.append(
                f'{_at_most(self.group_limit)} per group (if any "group by" options are supplied).'
            )
        return f"{self.title}:\n\n" + "\n".join(indent(block, "  ") + "\n" for block in blocks)


def _at_most(count: int) -> str:
    return f"At most {write_count(count, 'task')}"


class Result(NamedTuple):
    """What a query finds."""

    tasks: tuple[Task, ...]
    """In order; with groups those of the groups, each once."""
    matched: int
    """How many there were before the limits."""
    groups: tuple[TaskGroup, ...] | None = None


class TasksQuery(NamedTuple):
    """A query that has been read."""

    environment: Environment
    filters: tuple[Filter, ...]
    sorters: tuple[Sorter, ...] = ()
    groupers: tuple[Grouper, ...] = ()
    limit: int | None = None
    group_limit: int | None = None
    explanation: str | None = None

    def run(self, tasks: Iterable[Task]) -> Result:
        """Filter, sort, limit, group, limit the groups (TASK-117)."""
        matches = [part.matches for part in self.filters]
        chosen = (task for task in _check_time(tasks) if all(match(task) for match in matches))
        found = sort_tasks(chosen, self.sorters, self.environment)
        matched = len(found)
        shown = found[: self.limit]
        if not self.groupers:
            return Result(tuple(shown), matched)
        groups = group_tasks(shown, self.groupers)
        if self.group_limit is not None:
            groups = [TaskGroup(group.names, group.tasks[: self.group_limit]) for group in groups]
        unique = dict.fromkeys(
            (task.path, task.place.line) for group in groups for task in group.tasks
        )
        by_place = {(task.path, task.place.line): task for task in shown}
        return Result(tuple(by_place[place] for place in unique), matched, tuple(groups))


def _check_time(tasks: Iterable[Task]) -> Iterator[Task]:
    """The tasks, as long as the call has time. Raises: OperationTimeout."""
    for task in tasks:
        checkpoint()
        yield task


def parse_query(
    text: str,
    environment: Environment,
    note: QueryNote | None = None,
    *,
    more: Iterable[Filter] = (),
) -> TasksQuery:
    """Read a query, or fence, with the global query, the note's and `more` filters (TASK-96). Raises: QueryInvalid."""
    settings, more = environment.settings, tuple(more)
    fence, lines = unfenced(text)
    own = _read_part(
        "Explanation of this Tasks code block query",
        lines if fence == "tasks" else text,
        environment,
        note,
    )
    defaults = _read_part(
        "Explanation of the Query File Defaults (from properties/frontmatter in the query's file)",
        _defaults(note),
        environment,
        note,
    )
    parts = [defaults, own] if _defaults(note) else [own]
    if settings.global_query.strip() and not (
        own.ignores_global_query or defaults.ignores_global_query
    ):
        everywhere = _read_part(
            "Explanation of the global query", settings.global_query, environment, note
        )
        everywhere.ignores_global_query = False
        parts.insert(0, everywhere)
    columns = next((part.columns for part in reversed(parts) if part.sets_view), None)
    groupers = [grouper for part in parts for _, grouper in part.groupers]
    return TasksQuery(
        environment,
        (*(found for part in parts for _, found in part.filters), *more),
        tuple(sorter for part in parts for _, sorter in part.sorters),
        tuple([columns, *groupers] if columns else groupers),
        _last([part.limit for part in parts]),
        _last([part.group_limit for part in parts]),
        _explain(parts, settings) if any(part.explains for part in parts) else None,
    )


def _last(limits: Sequence[int | None]) -> int | None:
    return next((limit for limit in reversed(limits) if limit is not None), None)


def _explain(parts: Sequence[_Part], settings: TaskSettings) -> str:
    only = (
        f"Only tasks containing the global filter '{settings.global_filter}'.\n\n"
        if settings.global_filter
        else ""
    )
    return only + "\n".join(part.explain() for part in parts)


def _defaults(note: QueryNote | None) -> str:
    """Instructions in the properties of the query's note (TASK-97)."""
    if note is None:
        return ""
    extra = note.property("TQ_extra_instructions")
    lines = ["explain"] if note.property("TQ_explain") is True else []
    return "\n".join([*lines, *([extra] if isinstance(extra, str) else [])])


def _read_part(title: str, text: str, environment: Environment, note: QueryNote | None) -> _Part:
    part = _Part(title)
    for statement in read_statements(text, environment.settings, note):
        if not (_display(statement, part, environment) or _order(statement, part, environment)):
            part.filters.append((statement, _filter(statement, environment)))
    return part


def _display(statement: Statement, part: _Part, environment: Environment) -> bool:
    """Read an instruction that changes what is shown, or how. Whether it was one. Raises: QueryInvalid."""
    line = statement.line
    lower = line.lower()
    if lower.startswith(("short", "full")):
        part.layout.append(statement)
    elif lower.startswith("explain"):
        part.explains = True
    elif lower.startswith("ignore global query"):
        part.ignores_global_query = True
    elif match := _match_limit(line):
        limit = int(match[2][:9])
        if match[1]:
            part.group_limit = limit
        else:
            part.limit = limit
    elif match := _match_view(line):
        part.sets_view, part.columns = True, _columns(statement, match[1].strip(), environment)
        part.layout.append(statement)
    elif match := _match_visibility(line):
        if not match[1].lower().startswith(_DISPLAY_OPTIONS):
            raise statement.invalid(
                "do not understand hide/show option.", f"Known are: {', '.join(_DISPLAY_OPTIONS)}."
            )
        part.layout.append(statement)
    else:
        return False
    return True


def _columns(statement: Statement, view: str, environment: Environment) -> Grouper | None:
    mode, _, rest = view.partition(" ")
    if mode.lower() == "list" and not rest:
        return None
    if "function" in rest.lower().split()[:2]:
        raise statement.invalid(NO_JAVASCRIPT)
    grouper = (
        parse_grouper(f"group {rest.strip()}", environment) if mode.lower() == "columns" else None
    )
    if grouper is None:
        raise statement.invalid(
            f'do not understand view mode "{view}".',
            "Write `view list` or `view columns by priority`.",
        )
    return grouper


def _order(statement: Statement, part: _Part, environment: Environment) -> bool:
    """Read `sort by` or `group by`. Whether it was one that is understood."""
    if (sorter := parse_sorter(statement.line, environment)) is not None:
        part.sorters.append((statement, sorter))
    elif (grouper := parse_grouper(statement.line, environment)) is not None:
        part.groupers.append((statement, grouper))
    else:
        return False
    return True


def _filter(statement: Statement, environment: Environment) -> Filter:
    try:
        found = parse_filter(statement.line, environment) or parse_boolean(
            statement.line, environment
        )
    except QueryInvalid as problem:
        if statement.line == statement.raw.strip():
            raise
        raise statement.invalid(problem.message) from None
    if found is None:
        raise statement.invalid(*_DOES_NOT_UNDERSTAND)
    return found


_DELIMITERS = (("(", ")"), ("[", "]"), ("{", "}"), ('"', '"'))
_is_boolean = re.compile(
    r"(?:AND|OR|XOR|NOT)\s*[(\[{\"]|\A[^(\[{\"]*+[(\[{\"].+[)\]}\"]", re.DOTALL
).search
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
        return _combine(_postfix(_tokens(line, *_delimiters(line))), environment, depth)
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
                values[-1] = (
                    (first and last)
                    if step == "AND"
                    else (first or last)
                    if step == "OR"
                    else first != last
                )
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
