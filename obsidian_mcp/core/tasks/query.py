"""The plugin's query language: read a query, run it on tasks, explain it (TASK-96 to TASK-121)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from obsidian_mcp.core.note.query_blocks import unfenced
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.errors import QueryInvalid

from .boolean import parse_boolean
from .filters import Environment, Filter, indent, parse_filter
from .order import Grouper, Sorter, TaskGroup, group_tasks, parse_grouper, parse_sorter, sort_tasks
from .settings import TaskSettings
from .statements import NO_JAVASCRIPT, QueryNote, Statement, read_statements
from .task import Task

_match_limit = re.compile(r"limit (groups )?(?:to )?([0-9]+)", re.IGNORECASE).match
_match_view = re.compile(r"view +(.*)", re.IGNORECASE).match
_match_visibility = re.compile(r"(?:hide|show) +(.*)", re.IGNORECASE).match
_DISPLAY_OPTIONS = (
    *("backlink", "edit button", "nested backlink", "postpone button", "task count", "group count", "toolbar", "tree"),
    *("urgency", "cancelled date", "created date", "depends on", "done date", "due date", "id", "on completion"),
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
        blocks: list[str] = []
        if self.ignores_global_query:
            blocks.append("ignore global query")
        for statement, found in self.filters:
            detail = str(found.explanation)
            more = "" if detail == statement.line else f" =>\n{indent(detail, '  ')}"
            blocks.append(statement.explain() + more)
        if not self.filters:
            blocks.append("No filters supplied. All tasks will match the query.")
        blocks += [statement.explain() for statement, _ in (*self.groupers, *self.sorters)]
        blocks += [statement.explain() for statement in self.layout]
        if self.limit is not None:
            blocks.append(f"{_at_most(self.limit)}.")
        if self.group_limit is not None:
            blocks.append(f'{_at_most(self.group_limit)} per group (if any "group by" options are supplied).')
        return f"{self.title}:\n\n" + "\n".join(indent(block, "  ") + "\n" for block in blocks)


def _at_most(count: int) -> str:
    return f"At most {count} task{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Result:
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
        unique = dict.fromkeys((task.path, task.place.line) for group in groups for task in group.tasks)
        by_place = {(task.path, task.place.line): task for task in shown}
        return Result(tuple(by_place[place] for place in unique), matched, tuple(groups))


def _check_time(tasks: Iterable[Task]) -> Iterator[Task]:
    """The tasks, as long as the call has time. Raises: OperationTimeout."""
    for task in tasks:
        checkpoint()
        yield task


def parse_query(
    text: str, environment: Environment, note: QueryNote | None = None, *, more: Iterable[Filter] = ()
) -> TasksQuery:
    """Read a query, or fence, with the global query, the note's and `more` filters (TASK-96). Raises: QueryInvalid."""
    settings, more = environment.settings, tuple(more)
    fence, lines = unfenced(text)
    own_text = lines if fence == "tasks" else text
    own = _read_part("Explanation of this Tasks code block query", own_text, environment, note)
    defaults = _read_part(
        "Explanation of the Query File Defaults (from properties/frontmatter in the query's file)",
        _defaults(note),
        environment,
        note,
    )
    parts = [defaults, own] if _defaults(note) else [own]
    if settings.global_query.strip() and not (own.ignores_global_query or defaults.ignores_global_query):
        everywhere = _read_part("Explanation of the global query", settings.global_query, environment, note)
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
    only = f"Only tasks containing the global filter '{settings.global_filter}'.\n\n" if settings.global_filter else ""
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
            raise statement.invalid("do not understand hide/show option.", f"Known are: {', '.join(_DISPLAY_OPTIONS)}.")
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
    grouper = parse_grouper(f"group {rest.strip()}", environment) if mode.lower() == "columns" else None
    if grouper is None:
        raise statement.invalid(
            f'do not understand view mode "{view}".', "Write `view list` or `view columns by priority`."
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
        found = parse_filter(statement.line, environment) or parse_boolean(statement.line, environment)
    except QueryInvalid as problem:
        if statement.line == statement.raw.strip():
            raise
        raise statement.invalid(problem.message) from None
    if found is None:
        raise statement.invalid(*_DOES_NOT_UNDERSTAND)
    return found
