"""The plugin's query language: read a query, run it on tasks, explain it (TASK-96 to TASK-121)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from obsidian_mcp.core.note.query_blocks import remove_fence
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import QueryInvalid

from .boolean import parse_boolean
from .digits import read_digits
from .environment import Environment
from .explanation import indent
from .filters import Filter, parse_filter
from .groups import Grouper, TaskGroup, group_tasks, parse_grouper
from .order import Sorter, parse_sorter, sort_tasks
from .settings import TaskSettings
from .statements import NO_JAVASCRIPT, QueryNote, Statement, read_statements
from .task import Task

_match_limit = re.compile(r"limit (groups )?(?:to )?([0-9]+)", re.IGNORECASE).match
_match_view = re.compile(r"view +(.*)", re.IGNORECASE).match
_match_visibility = re.compile(r"(?:hide|show) +(.*)", re.IGNORECASE).match
_DISPLAY_OPTIONS = (
    *("backlink", "edit button", "nested backlink", "postpone button", "task count"),
    *("group count", "toolbar", "tree", "urgency", "cancelled date", "created date"),
    *("depends on", "done date", "due date", "id", "on completion", "priority"),
    *("recurrence rule", "scheduled date", "start date", "tags"),
)
_INSTRUCTION_HELP = (
    "Expected a filter such as `not done`, `due before tomorrow` or `path includes Work`, a "
    "combination such as `(not done) AND (priority is high)`, or sort by, group by, limit, short, "
    "full, hide, show, explain, preset."
)


@dataclass
class _SourcePart:
    """The instructions of one source.

    A source is the global query, the defaults of a note, or the query itself.
    """

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
        """Return blocks of lines with a blank line between; ends in a line end (TASK-120)."""
        blocks: list[str] = []
        if self.ignores_global_query:
            blocks.append("ignore global query")
        for statement, part_filter in self.filters:
            detail = str(part_filter.explanation)
            more = "" if detail == statement.line else f" =>\n{indent(detail, '  ')}"
            blocks.append(statement.explain() + more)
        if not self.filters:
            blocks.append("No filters supplied. All tasks will match the query.")
        blocks += [statement.explain() for statement, _ in (*self.groupers, *self.sorters)]
        blocks += [statement.explain() for statement in self.layout]
        if self.limit is not None:
            blocks.append(f"{_describe_limit(self.limit)}.")
        if self.group_limit is not None:
            blocks.append(
                f'{_describe_limit(self.group_limit)} per group (if any "group by" options are '
                "supplied)."
            )
        return f"{self.title}:\n\n" + "\n".join(indent(block, "  ") + "\n" for block in blocks)


def _describe_limit(count: int) -> str:
    return f"At most {write_count(count, 'task')}"


@dataclass(frozen=True, slots=True)
class TasksResult:
    """What a query finds."""

    tasks: tuple[Task, ...]
    """In order; with groups those of the groups, each once."""
    matched: int
    """How many there were before the limits."""
    groups: tuple[TaskGroup, ...] | None = None
    """None for a query without groups."""


@dataclass(frozen=True, slots=True)
class TasksQuery:
    """A query that has been read."""

    environment: Environment
    filters: tuple[Filter, ...]
    sorters: tuple[Sorter, ...] = ()
    groupers: tuple[Grouper, ...] = ()
    limit: int | None = None
    group_limit: int | None = None
    explanation: str | None = None
    """Only where the query asks for it."""

    def run_tasks_query(self, tasks: Iterable[Task]) -> TasksResult:
        """Filter, sort, limit, group, limit the groups (TASK-117)."""
        tests = [part.matches for part in self.filters]
        matching = (task for task in _check_time(tasks) if all(test(task) for test in tests))
        in_order = sort_tasks(matching, self.sorters, self.environment)
        matched = len(in_order)
        limited = in_order[: self.limit]
        if not self.groupers:
            return TasksResult(tuple(limited), matched)
        groups = group_tasks(limited, self.groupers)
        if self.group_limit is not None:
            groups = [TaskGroup(group.names, group.tasks[: self.group_limit]) for group in groups]
        unique = dict.fromkeys(
            (task.path, task.place.line) for group in groups for task in group.tasks
        )
        by_place = {(task.path, task.place.line): task for task in limited}
        return TasksResult(tuple(by_place[place] for place in unique), matched, tuple(groups))


def _check_time(tasks: Iterable[Task]) -> Iterator[Task]:
    """Yield the tasks, as long as the call has time.

    Raises: OperationTimeout.
    """
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
    """Read a query with the global query and the defaults of its note in front of it (TASK-96).

    `text` may be a whole ```` ```tasks ```` block. `more` are filters in addition.
    Raises: QueryInvalid.
    """
    more = tuple(more)
    parts = _read_parts(text, environment, note)
    columns = next((part.columns for part in reversed(parts) if part.sets_view), None)
    groupers = [grouper for part in parts for _, grouper in part.groupers]
    explains = any(part.explains for part in parts)
    return TasksQuery(
        environment,
        filters=(*(part_filter for part in parts for _, part_filter in part.filters), *more),
        sorters=tuple(sorter for part in parts for _, sorter in part.sorters),
        groupers=tuple([columns, *groupers] if columns else groupers),
        limit=_last_limit([part.limit for part in parts]),
        group_limit=_last_limit([part.group_limit for part in parts]),
        explanation=_explain(parts, environment.settings) if explains else None,
    )


def _read_parts(text: str, environment: Environment, note: QueryNote | None) -> list[_SourcePart]:
    """Read the global query, the defaults of the note and the query itself, as far as they count.

    Raises: QueryInvalid.
    """
    fence, lines = remove_fence(text)
    own_text = lines if fence == "tasks" else text
    own = _read_part("Explanation of this Tasks code block query", own_text, environment, note)
    default_text = _default_instructions(note)
    defaults = _read_part(
        "Explanation of the Query File Defaults (from properties/frontmatter in the query's file)",
        default_text,
        environment,
        note,
    )
    parts = [defaults, own] if default_text else [own]
    global_query = environment.settings.global_query
    ignores_global_query = own.ignores_global_query or defaults.ignores_global_query
    if global_query.strip() and not ignores_global_query:
        title = "Explanation of the global query"
        everywhere = _read_part(title, global_query, environment, note)
        everywhere.ignores_global_query = False  # it cannot switch itself off
        parts.insert(0, everywhere)
    return parts


def _last_limit(limits: Sequence[int | None]) -> int | None:
    return next((limit for limit in reversed(limits) if limit is not None), None)


def _explain(parts: Sequence[_SourcePart], settings: TaskSettings) -> str:
    text = "\n".join(part.explain() for part in parts)
    if settings.global_filter:
        return f"Only tasks containing the global filter '{settings.global_filter}'.\n\n{text}"
    return text


def _default_instructions(note: QueryNote | None) -> str:
    """Return the instructions in the properties of the query's note (TASK-97)."""
    if note is None:
        return ""
    extra = note.property("TQ_extra_instructions")
    lines = ["explain"] if note.property("TQ_explain") is True else []
    return "\n".join([*lines, *([extra] if isinstance(extra, str) else [])])


def _read_part(
    title: str, text: str, environment: Environment, note: QueryNote | None
) -> _SourcePart:
    part = _SourcePart(title)
    for statement in read_statements(text, environment.settings, note):
        is_no_filter = _read_display(statement, part, environment) or _read_order(
            statement, part, environment
        )
        if not is_no_filter:
            part.filters.append((statement, _read_filter(statement, environment)))
    return part


def _read_display(statement: Statement, part: _SourcePart, environment: Environment) -> bool:
    """Read an instruction that changes what is shown, or how, into a part of the query.

    Return whether it was one.
    Raises: QueryInvalid.
    """
    line = statement.line
    lower = line.lower()
    if lower.startswith(("short", "full")):
        part.layout.append(statement)
    elif lower.startswith("explain"):
        part.explains = True
    elif lower.startswith("ignore global query"):
        part.ignores_global_query = True
    elif match := _match_limit(line):
        limit = read_digits(match[2])
        if match[1]:
            part.group_limit = limit
        else:
            part.limit = limit
    elif match := _match_view(line):
        part.sets_view, part.columns = True, _columns(statement, match[1].strip(), environment)
        part.layout.append(statement)
    elif match := _match_visibility(line):
        if not match[1].lower().startswith(_DISPLAY_OPTIONS):
            raise statement.statement_error(
                "do not understand hide/show option.", f"Known are: {', '.join(_DISPLAY_OPTIONS)}."
            )
        part.layout.append(statement)
    else:
        return False
    return True


def _columns(statement: Statement, view: str, environment: Environment) -> Grouper | None:
    """Return what the columns of a view are grouped by, None for a list.

    Raises: QueryInvalid.
    """
    mode, _, arguments = view.partition(" ")
    if mode.lower() == "list" and not arguments:
        return None
    if "function" in arguments.lower().split()[:2]:
        raise statement.statement_error(NO_JAVASCRIPT)
    grouper = None
    if mode.lower() == "columns":
        grouper = parse_grouper(f"group {arguments.strip()}", environment)
    if grouper is None:
        raise statement.statement_error(
            f'do not understand view mode "{view}".',
            "Write `view list` or `view columns by priority`.",
        )
    return grouper


def _read_order(statement: Statement, part: _SourcePart, environment: Environment) -> bool:
    """Read `sort by` or `group by` into a part of the query.

    Return whether it was one that is understood.
    """
    sorter = parse_sorter(statement.line, environment)
    if sorter is not None:
        part.sorters.append((statement, sorter))
        return True
    grouper = parse_grouper(statement.line, environment)
    if grouper is not None:
        part.groupers.append((statement, grouper))
        return True
    return False


def _read_filter(statement: Statement, environment: Environment) -> Filter:
    """Return the filter that an instruction means.

    Raises: QueryInvalid, which also says how the instruction stands in the query, where that is
    something else.
    """
    line = statement.line
    try:
        line_filter = parse_filter(line, environment) or parse_boolean(line, environment)
    except QueryInvalid as problem:
        if line == statement.raw.strip():
            raise
        raise statement.statement_error(problem.message) from None
    if line_filter is None:
        raise statement.statement_error("do not understand query.", _INSTRUCTION_HELP)
    return line_filter
