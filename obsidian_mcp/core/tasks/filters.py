"""The filters of a query, and the tree of sentences that explains them (TASK-100 to TASK-106, TASK-120, TASK-121)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from obsidian_mcp.core.calendar.days import PERIOD_FORMS, TASKS_QUERY, Days, Ways, read_days
from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.errors import QueryInvalid

from .settings import TYPES, Status, TaskSettings
from .statements import NO_JAVASCRIPT, filename_of, folder_of, root_of
from .task import DATES, PRIORITIES, Task

if TYPE_CHECKING:
    from obsidian_mcp.core.query.regexp import RegExp


@dataclass(frozen=True)
class Dependencies:
    """Which ids the tasks of the vault that are not done have and wait for."""

    open_ids: frozenset[str]
    awaited_ids: frozenset[str]

    @staticmethod
    def read(tasks: Iterable[Task]) -> Dependencies:
        """Return the dependencies between all tasks of a vault (TASK-106)."""
        still_open = [task for task in tasks if not task.status.is_done]
        return Dependencies(
            frozenset(task.id for task in still_open if task.id),
            frozenset(id_ for task in still_open for id_ in task.depends_on),
        )

    def blocks(self, task: Task) -> bool:
        """Whether a task that is not done waits for this one, which is not done either."""
        return not task.status.is_done and task.id in self.awaited_ids

    def is_blocked(self, task: Task) -> bool:
        """Whether this task, which is not done, waits for one that is not done either."""
        return not task.status.is_done and not self.open_ids.isdisjoint(task.depends_on)


@dataclass(frozen=True)
class Environment:
    """What filters, sorters and groupers know besides the task."""

    settings: TaskSettings
    today: date
    load_dependencies: Callable[[], Dependencies]

    @cached_property
    def dependencies(self) -> Dependencies:
        return self.load_dependencies()


Predicate = Callable[[Task], bool]


class Filter(NamedTuple):
    """One filter. `days`, `status` and `path` say what an index may leave out before the filter is asked."""

    matches: Predicate
    explanation: Explanation
    days: Days | None = None
    """Only a task with a day in this range in its line can match; None: any can."""
    status: Callable[[Status], bool] | None = None
    """The whole filter, where it is about nothing but the status."""
    path: Callable[[str], bool] | None = None
    """The whole filter, where it is about nothing but the path of the note."""

    def explained_in(self, line: str) -> Explanation:
        """The explanation as part of a larger one."""
        return (
            self.explanation
            if str(self.explanation) == line
            else Explanation(f"{line} =>", (self.explanation,))
        )


def parse_filter(line: str, environment: Environment) -> Filter | None:
    """Return the filter that a line means, None for other lines and for combinations. Raises: QueryInvalid."""
    lower = line.lower()
    for read in (_instruction, _status_type, _priority, _dates, _text):
        if (found := read(line, lower, environment)) is not None:
            return found
    if re.match(r"(?:filter|sort|group) by function", lower):
        raise QueryInvalid(NO_JAVASCRIPT, line=line)
    return None


def _instruction(line: str, lower: str, environment: Environment) -> Filter | None:
    """Instructions without a value."""
    if lower in ("done", "not done"):
        wanted = lower == "done"
        text = "DONE or CANCELLED or NON_TASK" if wanted else "TODO or IN_PROGRESS or ON_HOLD"
        return by_status(
            lambda status: status.is_done == wanted, Explanation(f"status type is {text}")
        )
    wanted, phrase = True, lower
    for negative, positive in (("is not ", "is "), ("no ", "has ")):
        if lower.startswith(negative):
            wanted, phrase = False, positive + lower.removeprefix(negative)
    test = _TESTS.get(phrase)
    return (
        None
        if test is None
        else Filter(lambda task: test(task, environment) == wanted, Explanation(line))
    )


def by_path(matches: Callable[[str], bool], explanation: Explanation) -> Filter:
    """Return a filter that is about nothing but the path of the note."""
    return Filter(lambda task: matches(task.path), explanation, path=matches)


def by_status(matches: Callable[[Status], bool], explanation: Explanation) -> Filter:
    """Return a filter that is about nothing but the status."""
    return Filter(lambda task: matches(task.status), explanation, status=matches)


def _is_top_level(task: Task) -> bool:
    _, mark, rest = task.indentation.rpartition(">")
    return rest in ("", " ") if mark else not task.indentation


def has_happens_date(task: Task) -> bool:
    """Whether a start, scheduled or due date is written, be it a calendar day or not."""
    return any(task.has_date(name) for name in ("start", "scheduled", "due"))


_TESTS: dict[str, Callable[[Task, Environment], bool]] = {
    "exclude sub-items": lambda task, _: _is_top_level(task),
    "is recurring": lambda task, _: task.rule is not None,
    "is blocked": lambda task, environment: environment.dependencies.is_blocked(task),
    "is blocking": lambda task, environment: environment.dependencies.blocks(task),
    "has id": lambda task, _: task.id is not None,
    "has depends on": lambda task, _: bool(task.depends_on),
    **dict.fromkeys(("has tag", "has tags"), lambda task, _: bool(task.tags)),
    "has happens date": lambda task, _: has_happens_date(task),
    **{f"has {name} date": lambda task, _, name=name: task.has_date(name) for name in DATES},  # type: ignore[misc]
    **{
        f"{name} date is invalid": lambda task, _, name=name: name in task.invalid for name in DATES
    },  # type: ignore[misc]
}
"""Instructions without a value; `is not` and `no` are the opposite of `is` and `has`."""


def _status_type(line: str, lower: str, _: Environment) -> Filter | None:
    if not lower.startswith("status.type"):
        return None
    match = re.fullmatch(r"status\.type (is|is not) ([^ ]+)", lower)
    if match is None or match[2].upper() not in (
        *TYPES,
        "EMPTY",
    ):  # the plugin's own name for no status at all
        raise QueryInvalid(
            f"Invalid status.type instruction: {line!r}. Write `status.type is` or `status.type is not` and one of "
            f"{' '.join(TYPES)}.",
            line=line,
        )
    kind, wanted = match[2].upper(), match[1] == "is"
    return by_status(lambda status: (status.type == kind) == wanted, Explanation(line))


def _priority(line: str, lower: str, _: Environment) -> Filter | None:
    match = re.fullmatch(
        rf"priority(?:\s+is)?(?:\s+(above|below|not))?\s+({'|'.join(PRIORITIES)})", lower
    )
    if match is None:
        return None
    relation, level = match.groups()
    explanation = line if relation else f"priority is {line.rsplit(maxsplit=1)[-1]}"
    return Filter(priority_predicate(relation, level), Explanation(explanation))


def priority_predicate(relation: str | None, level: str) -> Predicate:
    """Return whether a priority is `above`, `below` or `not` a level, or is it where the relation is None."""
    rank = PRIORITIES.index(level)
    match relation:
        case "above":
            return lambda task: PRIORITIES.index(task.priority) < rank
        case "below":
            return lambda task: PRIORITIES.index(task.priority) > rank
        case "not":
            return lambda task: task.priority != level
    return lambda task: task.priority == level


_RELATION = re.compile(r"((?:on|in) or before|before|(?:on|in) or after|after|on|in) ?")
_DATE_LINE = re.compile(r"(due|scheduled|starts|created|done|cancelled|happens) (.*)", re.DOTALL)


def _dates(line: str, lower: str, environment: Environment) -> Filter | None:
    match = _DATE_LINE.fullmatch(lower)
    if match is None:
        return None
    name = "start" if match[1] == "starts" else match[1]
    for template in ("<%", "YYYY-MM-DD"):
        if template in line:
            raise QueryInvalid(
                f'Instruction contains unexpanded template text: "{template}" - and cannot be interpreted. '
                f"Write the date instead. Problem line: {line!r}.",
                line=line,
            )
    found = date_filter(name, match[2], environment.today, or_missing=name == "start")
    if found is None:
        raise QueryInvalid(
            f"do not understand {name} date. Problem line: {line!r}. Expected, behind on, in, before, after, "
            f"on or before or on or after: {PERIOD_FORMS}.",
            line=line,
        )
    return found


def date_filter(
    name: str, phrase: str, today: date, *, or_missing: bool = False, ways: Ways = TASKS_QUERY
) -> Filter | None:
    """Return the filter for a date and a phrase such as `before next week`; None for other words (TASK-103). With
    `or_missing`, a task without the date matches as well."""
    match = _RELATION.match(phrase.lower())
    written = match[1] if match else "in"
    relation = {"on": "in", "in or before": "on or before", "in or after": "on or after"}.get(
        written, written
    )
    days = read_days(phrase[match.end() :] if match else phrase, today, ways) or read_days(
        phrase, today, ways
    )
    if days is None:
        return None
    wanted = _wanted_days(relation, days)
    first, last = wanted.first, wanted.last
    explanation = _explain_dates(name, relation, days, or_missing=or_missing)
    names = ("start", "scheduled", "due") if name == "happens" else (name,)

    def matches(task: Task) -> bool:
        if or_missing and not task.has_date(name):
            return True
        return any(
            (day := getattr(task, each)) is not None and first <= day <= last for each in names
        )

    return Filter(matches, explanation, None if or_missing else wanted)


def _wanted_days(relation: str, days: Days) -> Days:
    """The days that have the relation to a period; none where the calendar ends."""
    one = timedelta(days=1)
    match relation:
        case "before":
            return (
                Days(date.min, days.first - one)
                if days.first > date.min
                else Days(date.max, date.min)
            )
        case "after":
            return (
                Days(days.last + one, date.max)
                if days.last < date.max
                else Days(date.max, date.min)
            )
        case "on or before":
            return Days(date.min, days.last)
        case "on or after":
            return Days(days.first, date.max)
    return days


def _explain_dates(name: str, relation: str, days: Days, *, or_missing: bool) -> Explanation:
    field = "due, start or scheduled" if name == "happens" else name
    missing = f"OR no {field} date" if or_missing else ""
    if relation == "in" and days.first != days.last:
        parts = [f"{long_date(days.first)} and", f"{long_date(days.last)} inclusive", missing]
        return Explanation(
            f"{field} date is between:", tuple(Explanation(part) for part in parts if part)
        )
    day = days.last if relation in ("after", "on or before") else days.first
    words = f"{field} date is {'on' if relation == 'in' else relation} {long_date(day)}"
    return Explanation(f"{words} {missing}".rstrip())


def long_date(day: date) -> str:
    """`2023-04-19 (Wednesday 19th April 2023)`."""
    return format_moment(day, "YYYY-MM-DD (dddd Do MMMM YYYY)")


_OPERATORS = "includes|does not include|regex matches|regex does not match"
_TEXT_LINE = re.compile(
    rf"(?:(path|folder|root|filename|heading|description|status\.name|recurrence|id) ({_OPERATORS})"
    rf"|(tags?) ({_OPERATORS}|include|do not include)) (.*)",
    re.IGNORECASE | re.DOTALL,
)


def without_global_filter(text: str, settings: TaskSettings) -> str:
    """Return a description without the first occurrence of the global filter."""
    return text.replace(settings.global_filter, "", 1).strip() if settings.global_filter else text


_PATH_TEXTS: dict[str, Callable[[str], str]] = {
    "path": lambda path: path,
    "folder": folder_of,
    "root": root_of,
    "filename": lambda path: f"{filename_of(path)}.md",
}
_TEXTS: dict[str, Callable[[Task], str]] = {
    "heading": lambda task: task.place.heading or "",
    "recurrence": lambda task: task.recurrence,
    "id": lambda task: task.id or "",
}


def _text(line: str, _: str, environment: Environment) -> Filter | None:
    match = _TEXT_LINE.fullmatch(line)
    if match is None:
        return None
    operator, value = (match[2] or match[4]).lower(), match[5]
    wanted = "not" not in operator
    found, explanation = (
        parse_regexp(line, value) if "regex" in operator else (contains(value), Explanation(line))
    )
    if match[3]:
        return Filter(lambda task: any(map(found, task.tags)) == wanted, explanation)
    name = match[1].lower()
    if name == "description":
        settings = environment.settings
        return Filter(
            lambda task: found(without_global_filter(task.description, settings)) == wanted,
            explanation,
        )
    if name in _PATH_TEXTS:
        part_of = _PATH_TEXTS[name]
        return by_path(lambda path: found(part_of(path)) == wanted, explanation)
    if name == "status.name":
        return by_status(lambda status: found(status.name) == wanted, explanation)
    text_of = _TEXTS[name]
    return Filter(lambda task: found(text_of(task)) == wanted, explanation)


Operator = Literal["AND", "OR", "XOR", "NOT"]

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
    operator: Operator | None = None

    def __str__(self) -> str:
        """One line for each sentence, children indented by two spaces."""
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
        return (
            f"{self.operator} ({_MEANING[self.operator]}):"
            if len(self.children) > 1
            else f"{self.operator}:"
        )


def combine(operator: Operator, operands: Sequence[Explanation]) -> Explanation:
    """Return the explanation of an operator; a chain of `AND` or `OR` becomes one list."""
    first, last = operands[0], operands[-1]
    if operator in ("AND", "OR") and first.operator == operator and last.operator is None:
        return Explanation("", (*first.children, last), operator)
    return Explanation("", tuple(operands), operator)


def indent(text: str, spaces: str) -> str:
    """Return a text with every line indented, empty ones too."""
    return "\n".join(spaces + line for line in text.split("\n"))


MAX_REGEXP_LENGTH = 500
MAX_REPETITIONS = 25
_REGEXP_HELP = "Write it as /pattern/ or /pattern/flags, for example /waiting|waits/i."


def contains(value: str) -> Callable[[str], bool]:
    """Return whether a text contains this one, in any case."""
    lower = value.lower()
    return lambda text: lower in text.lower()


def parse_regexp(line: str, value: str) -> tuple[Callable[[str], bool], Explanation]:
    """Return the test of a line's `/…/flags`, and how it is explained (TASK-105). Raises: QueryInvalid."""
    match = re.fullmatch(r"/(.+)/([^/]*)", value)
    if match is None:
        raise QueryInvalid(f"Invalid instruction: {line!r}. {_REGEXP_HELP}", line=line)
    source, flags = match.groups()
    pattern = _compile_regexp(source, flags)
    if isinstance(pattern, str):
        raise QueryInvalid(
            f"Error: Parsing regular expression. {pattern} Problem line: {line!r}.", line=line
        )
    shown = {0: "no flags", 1: f"flag '{flags}'"}.get(
        len(flags), f"flags '{''.join(sorted(flags))}'"
    )
    intro = "using regex: ".ljust(line.index("/") - 2)
    return pattern.found, Explanation(f"{intro}'{_escape_slashes(source)}' with {shown}")


def _escape_slashes(source: str) -> str:
    """A valid expression as JavaScript writes it: as it was written, with a backslash before every bare slash."""
    return re.sub(
        r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|/",
        lambda part: "\\/" if part[0] == "/" else part[0],
        source,
    )


def _compile_regexp(source: str, flags: str) -> RegExp | str:
    """An expression that may be run, or what keeps it from that (TASK-105)."""
    if len(source) > MAX_REGEXP_LENGTH:
        return f"It has {len(source)} characters, of at most {MAX_REGEXP_LENGTH}."
    if set(flags) - set("dgimsuv") or len(set(flags)) < len(flags):
        return f"The flags {flags!r} are not known; i takes either case."
    from obsidian_mcp.core.query.regexp import InvalidRegExp, translate  # takes 20 ms

    try:
        pattern = translate(source, match_case="i" not in flags)
    except InvalidRegExp as problem:
        return f"/{source}/: {problem.problem}."
    repetitions, nested = _repetitions(source)
    if nested:
        return f"/{source}/ repeats a repetition, as in (a+)+, which can take very long."
    if repetitions > MAX_REPETITIONS:
        return f"/{source}/ has {repetitions} repetitions, of at most {MAX_REPETITIONS}."
    return pattern


_REGEXP_PARTS = re.compile(
    r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|\(|\)|(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??", re.DOTALL
)


def _repetitions(source: str) -> tuple[int, bool]:
    """How many repetitions a valid expression has, and whether one holds another."""
    count = 0
    groups = [False]
    """For each open group whether a repetition is in it."""
    closed = -1
    closed_repeats = False
    for match in _REGEXP_PARTS.finditer(re.sub(r"\(\?", "(", source)):
        part = match[0]
        if part == "(":
            groups.append(False)
        elif part == ")":
            closed, closed_repeats = match.end(), groups.pop()
            groups[-1] = groups[-1] or closed_repeats
        elif part[0] in "*+?{":
            if closed == match.start() and closed_repeats:
                return count, True
            count += 1
            groups[-1] = True
    return count, False
