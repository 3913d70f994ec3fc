"""The filters of a query (TASK-100 to TASK-106)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from obsidian_mcp.core.calendar.days import PERIOD_FORMS, TASKS_QUERY, DayRules, Days, read_days
from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.errors import QueryInvalid

from .environment import Environment
from .explanation import Explanation
from .fields import DATES, PRIORITIES
from .settings import TaskSettings
from .statements import NO_JAVASCRIPT, filename_of, folder_of, root_of
from .statuses import TYPES, TaskStatus
from .task import Task
from .text_match import contains, parse_regexp

TaskTest = Callable[[Task], bool]


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter of a query.

    `days`, `status` and `path` say which tasks an index may leave out, because the filter would not
    take them.
    """

    matches: TaskTest
    explanation: Explanation
    days: Days | None = None
    """Only a task with a day in this range in its line can match; None: any can."""
    status: Callable[[TaskStatus], bool] | None = None
    """The whole filter, where it is about nothing but the status."""
    path: Callable[[str], bool] | None = None
    """The whole filter, where it is about nothing but the path of the note."""

    def explain_in(self, line: str) -> Explanation:
        """Return the explanation as part of a larger one, behind the line where they differ."""
        if str(self.explanation) == line:
            return self.explanation
        return Explanation(f"{line} =>", (self.explanation,))


def parse_filter(line: str, environment: Environment) -> Filter | None:
    """Return the filter that a line means, None for other lines and for combinations.

    Raises: QueryInvalid where the line begins as a filter and goes on in another way.
    """
    lower = line.lower()
    for parse in (
        _parse_instruction,
        _parse_status_type,
        _parse_priority,
        _parse_date,
        _parse_text,
    ):
        line_filter = parse(line, lower, environment)
        if line_filter is not None:
            return line_filter
    if re.match(r"(?:filter|sort|group) by function", lower):
        raise QueryInvalid(NO_JAVASCRIPT, line=line)
    return None


def _parse_instruction(line: str, lower: str, environment: Environment) -> Filter | None:
    """Parse an instruction without a value, such as `is recurring` or `no due date`."""
    if lower in ("done", "not done"):
        is_done = lower == "done"
        types = "DONE or CANCELLED or NON_TASK" if is_done else "TODO or IN_PROGRESS or ON_HOLD"
        return status_filter(
            lambda status: status.is_done == is_done, Explanation(f"status type is {types}")
        )
    expected, phrase = True, lower
    for negative, positive in (("is not ", "is "), ("no ", "has ")):
        if lower.startswith(negative):
            expected, phrase = False, positive + lower.removeprefix(negative)
    test = _TESTS.get(phrase)
    if test is None:
        return None
    return Filter(lambda task: test(task, environment) == expected, Explanation(line))


def path_filter(matches: Callable[[str], bool], explanation: Explanation) -> Filter:
    """Return a filter that is about nothing but the path of the note."""
    return Filter(lambda task: matches(task.path), explanation, path=matches)


def status_filter(matches: Callable[[TaskStatus], bool], explanation: Explanation) -> Filter:
    """Return a filter that is about nothing but the status."""
    return Filter(lambda task: matches(task.status), explanation, status=matches)


def _is_top_level(task: Task) -> bool:
    """Return whether a task is not indented; one space behind the mark of a quote belongs to it."""
    _, mark, spaces = task.indentation.rpartition(">")
    return spaces in ("", " ") if mark else not task.indentation


def has_happens_date(task: Task) -> bool:
    """Return whether a start, scheduled or due date is written, be it a calendar day or not."""
    return any(task.has_date(name) for name in ("start", "scheduled", "due"))


def _test_date_is_written(name: str) -> Callable[[Task, Environment], bool]:
    return lambda task, _: task.has_date(name)


def _test_date_is_invalid(name: str) -> Callable[[Task, Environment], bool]:
    return lambda task, _: name in task.invalid


_TESTS: dict[str, Callable[[Task, Environment], bool]] = {
    "exclude sub-items": lambda task, _: _is_top_level(task),
    "is recurring": lambda task, _: task.rule is not None,
    "is blocked": lambda task, environment: environment.dependencies.is_blocked(task),
    "is blocking": lambda task, environment: environment.dependencies.blocks(task),
    "has id": lambda task, _: task.id is not None,
    "has depends on": lambda task, _: bool(task.depends_on),
    **dict.fromkeys(("has tag", "has tags"), lambda task, _: bool(task.tags)),
    "has happens date": lambda task, _: has_happens_date(task),
    **{f"has {name} date": _test_date_is_written(name) for name in DATES},
    **{f"{name} date is invalid": _test_date_is_invalid(name) for name in DATES},
}
"""Instructions without a value; `is not` and `no` are the opposite of `is` and `has`."""


_NO_STATUS = "EMPTY"
"""The plugin's own name for no status at all."""


def _parse_status_type(line: str, lower: str, _: Environment) -> Filter | None:
    if not lower.startswith("status.type"):
        return None
    match = re.fullmatch(r"status\.type (is|is not) ([^ ]+)", lower)
    if match is None or match[2].upper() not in (*TYPES, _NO_STATUS):
        raise QueryInvalid(
            f"Invalid status.type instruction: {line!r}. Write `status.type is` or `status.type is "
            f"not` and one of {' '.join(TYPES)}.",
            line=line,
        )
    status_type, expected = match[2].upper(), match[1] == "is"
    return status_filter(lambda status: (status.type == status_type) == expected, Explanation(line))


def _parse_priority(line: str, lower: str, _: Environment) -> Filter | None:
    match = re.fullmatch(
        rf"priority(?:\s+is)?(?:\s+(above|below|not))?\s+({'|'.join(PRIORITIES)})", lower
    )
    if match is None:
        return None
    relation, level = match.groups()
    explanation = line if relation else f"priority is {line.rsplit(maxsplit=1)[-1]}"
    return Filter(priority_test(relation, level), Explanation(explanation))


def priority_test(relation: str | None, level: str) -> TaskTest:
    """Return the test whether a priority is `above`, `below` or `not` a level.

    Without a relation, the test is whether the priority is this level.
    """
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
_SYNONYMS = {"on": "in", "in or before": "on or before", "in or after": "on or after"}
_DATE_LINE = re.compile(r"(due|scheduled|starts|created|done|cancelled|happens) (.*)", re.DOTALL)


def _parse_date(line: str, lower: str, environment: Environment) -> Filter | None:
    """Return the filter of a line about a date, None for a line about something else (TASK-103).

    Raises: QueryInvalid for a date that is not understood, and for an unexpanded template.
    """
    match = _DATE_LINE.fullmatch(lower)
    if match is None:
        return None
    name = "start" if match[1] == "starts" else match[1]
    for template in ("<%", "YYYY-MM-DD"):
        if template in line:
            raise QueryInvalid(
                f'Instruction contains unexpanded template text: "{template}" - and cannot be '
                f"interpreted. Write the date instead. Problem line: {line!r}.",
                line=line,
            )
    # a task without a start date can be begun at any time, so `starts` takes it as well
    line_filter = date_filter(name, match[2], environment.today, or_missing=name == "start")
    if line_filter is None:
        raise QueryInvalid(
            f"do not understand {name} date. Problem line: {line!r}. Expected, behind on, in, "
            f"before, after, on or before or on or after: {PERIOD_FORMS}.",
            line=line,
        )
    return line_filter


def date_filter(
    name: str, phrase: str, today: date, *, or_missing: bool = False, rules: DayRules = TASKS_QUERY
) -> Filter | None:
    """Return the filter for a date and a phrase such as `before next week` (TASK-103).

    None for other words. With `or_missing`, a task without the date matches as well.
    """
    match = _RELATION.match(phrase.lower())
    relation = _SYNONYMS.get(match[1], match[1]) if match else "in"
    period = phrase[match.end() :] if match else phrase
    # `in` may belong to the period: `in two days`
    days = read_days(period, today, rules) or read_days(phrase, today, rules)
    if days is None:
        return None
    matching = _matching_days(relation, days)
    first, last = matching.first, matching.last
    explanation = _explain_dates(name, relation, days, or_missing=or_missing)
    names = ("start", "scheduled", "due") if name == "happens" else (name,)

    def matches(task: Task) -> bool:
        if or_missing and not task.has_date(name):
            return True
        dates = (getattr(task, date_name) for date_name in names)
        return any(day is not None and first <= day <= last for day in dates)

    return Filter(matches, explanation, None if or_missing else matching)


_NO_DAYS = Days(date.max, date.min)


def _matching_days(relation: str, days: Days) -> Days:
    """Return the days that have the relation to a period; none where the calendar ends."""
    day = timedelta(days=1)
    match relation:
        case "before":
            return Days(date.min, days.first - day) if days.first > date.min else _NO_DAYS
        case "after":
            return Days(days.last + day, date.max) if days.last < date.max else _NO_DAYS
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
    """Return a day as explanations write it: `2023-04-19 (Wednesday 19th April 2023)`."""
    return format_moment(day, "YYYY-MM-DD (dddd Do MMMM YYYY)")


_OPERATORS = "includes|does not include|regex matches|regex does not match"
_TEXT_LINE = re.compile(
    r"(?:(?P<name>path|folder|root|filename|heading|description|status\.name|recurrence|id)"
    rf" (?P<operator>{_OPERATORS})"
    rf"|(?P<tag>tags?) (?P<tag_operator>{_OPERATORS}|include|do not include)) (?P<value>.*)",
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


def _parse_text(line: str, _: str, environment: Environment) -> Filter | None:
    """Return the filter of a line about a text, None for a line about something else.

    Conditions on the path or the status are filters of their own kind: they are tried once for a
    file or status, not for every task.
    """
    match = _TEXT_LINE.fullmatch(line)
    if match is None:
        return None
    operator, value = (match["operator"] or match["tag_operator"]).lower(), match["value"]
    expected = "not" not in operator
    if "regex" in operator:
        test, explanation = parse_regexp(line, value)
    else:
        test, explanation = contains(value), Explanation(line)
    if match["tag"]:
        return Filter(lambda task: any(map(test, task.tags)) == expected, explanation)
    name = match["name"].lower()
    if name == "description":
        settings = environment.settings
        return Filter(
            lambda task: test(without_global_filter(task.description, settings)) == expected,
            explanation,
        )
    if name in _PATH_TEXTS:
        part_of = _PATH_TEXTS[name]
        return path_filter(lambda path: test(part_of(path)) == expected, explanation)
    if name == "status.name":
        return status_filter(lambda status: test(status.name) == expected, explanation)
    text_of = _TEXTS[name]
    return Filter(lambda task: test(text_of(task)) == expected, explanation)
