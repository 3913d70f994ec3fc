"""The part of Templater's language that needs no JavaScript (PERIODIC-12).

A template is read whole before any of its commands runs, and refused with a command outside this
part, so that no note gets half a template.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from inspect import signature
from itertools import accumulate
from typing import Any

from obsidian_mcp.core.calendar.clock import shift
from obsidian_mcp.core.calendar.locale import ENGLISH, Locale
from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.core.calendar.moment_parse import parse_moment, search_moment
from obsidian_mcp.core.calendar.periods import start_of
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.frontmatter.edits import merge_properties
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.vault_path import parent
from obsidian_mcp.errors import PropertiesUnreadable, TemplateFailed

from .templater_parse import TemplateCall, TemplateCommand, TemplateValue, read_template

INCLUDE_DEPTH = 10
"""Maximum depth of templates that include each other."""
MAX_INCLUDES = 500
"""Notes that one template may include, with those that its includes include."""
MAX_CHARACTERS = 10_000_000
"""Characters that one template may make, with those that its commands join on the way."""

_DURATION = re.compile(
    r"(?P<sign>[-+])?P(?:(?P<y>[-+]?\d+)Y)?(?:(?P<M>[-+]?\d+)M)?(?:(?P<w>[-+]?\d+)W)?"
    r"(?:(?P<d>[-+]?\d+)D)?"
    r"(?:T(?:(?P<h>[-+]?\d+)H)?(?:(?P<m>[-+]?\d+)M)?(?:(?P<s>[-+]?\d+)S)?)?"
)
_CURSOR = re.compile("\0([0-9]+)\0")


@dataclass(frozen=True, slots=True)
class TemplateTarget:
    """The note that a template is for, as it is before the template goes in.

    Times are local and without a zone.
    """

    path: str
    now: datetime
    created: datetime
    modified: datetime
    system_path: str = ""
    content: str = ""
    tags: Sequence[str] = ()
    """With their `#`."""
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(".md")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts about the vault that commands may ask for.

    `include` returns the text of a link such as `[[Note#Heading]]`, of a whole note with its
    properties; None where the link leads nowhere.
    """

    exists: Callable[[str], bool] = lambda _: False
    include: Callable[[str], str | None] = lambda _: None
    locale: Locale = ENGLISH


@dataclass(frozen=True, slots=True)
class RenderedTemplate:
    """A template that has run.

    Places of the cursor are still in `text`; `take_cursor` takes them out.
    """

    text: str
    warnings: tuple[str, ...] = ()


_CommandValue = str | float | bool


@dataclass
class _Run:
    """A template that is being run, with the counts that bound it."""

    target: TemplateTarget
    surroundings: Surroundings
    template: str
    including: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)
    included: list[str] = field(default_factory=list)
    """The frontmatter of the included notes, to be merged into that of the whole."""
    command: TemplateCommand | None = None
    counts: Counter[str] = field(default_factory=Counter)
    """Includes and characters so far, of the template and of all that it includes."""

    def count(self, noun: str, number: int, limit: int) -> None:
        """Count includes or characters, and check that they are not too many.

        Raises: TemplateFailed above `limit`, OperationTimeout when the call's time is over.
        """
        checkpoint()
        self.counts[noun] += number
        if self.counts[noun] > limit:
            raise self.failure(f"it makes more than {limit:,} {noun}. Nothing was written.")

    def failure(self, problem: str) -> TemplateFailed:
        line = self.command.line if self.command else 1
        return TemplateFailed(
            f'Template "{self.template}" line {line}: {problem}', template=self.template, line=line
        )


def has_commands(text: str) -> bool:
    """Return whether a template holds commands of Templater."""
    return "<%" in text


def render(
    name: str, text: str, target: TemplateTarget, surroundings: Surroundings
) -> RenderedTemplate:
    """Run the commands of a template called `name`.

    Raises: TemplateFailed for a command that only Templater in the app can run, and for arguments
    that cannot be read.
    """
    run = _Run(target, surroundings, name)
    rendered = _render(text, run)
    for block in run.included:
        checkpoint()
        rendered = _with_properties(rendered, block, run)
    return RenderedTemplate(rendered, tuple(dict.fromkeys(run.warnings)))


def _with_properties(text: str, block: str, run: _Run) -> str:
    """Return the text with the properties of an included note, as they are written where it has
    none."""
    if frontmatter.read_frontmatter(text) is None:
        return block + ("\n" if text and not block.endswith("\n") else "") + text
    read = frontmatter.read_frontmatter(block)
    try:
        return merge_properties(text, read.values or {} if read else {})
    except PropertiesUnreadable as error:
        raise run.failure(f"its properties cannot be read. {error.message}") from None


def take_cursor(text: str) -> tuple[str, tuple[int, int] | None]:
    """Return a text without the places of the cursor, and the line and column of the lowest.

    They are counted from 1.
    """
    parts = _CURSOR.split(text)
    text_only = "".join(parts[::2])
    places = zip(map(int, parts[1::2]), accumulate(map(len, parts[::2])), strict=False)
    lowest = min(places, default=None)
    if lowest is None:
        return text_only, None
    before = text_only[: lowest[1]]
    return text_only, (before.count("\n") + 1, len(before) - before.rfind("\n"))


def _render(text: str, run: _Run) -> str:
    parts = list(read_template(text, run.template, _is_known))  # all of it, before any of it runs
    written = []
    for part in parts:
        written.append(part if isinstance(part, str) else _evaluate(part, run))
        run.count("characters", len(written[-1]), MAX_CHARACTERS)
    return "".join(written)


def _evaluate(command: TemplateCommand, run: _Run) -> str:
    """Return what a command writes: its values, joined where one is a text.

    Numbers would be added, as in JavaScript; this is left to the app.
    """
    run.command = command
    result: _CommandValue | None = None
    for value in command.values:
        operand = _result(value, run)
        if result is None:
            result = operand
        elif isinstance(result, str) or isinstance(operand, str):
            result = _write(result) + _write(operand)
            run.count("characters", len(result), MAX_CHARACTERS)
        else:
            raise run.failure(
                f"{command.source} calculates: only Templater in the app can run that."
            )
    return _write(result if result is not None else "")


def _write(value: _CommandValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else value


def _result(value: TemplateValue, run: _Run) -> _CommandValue:
    if not isinstance(value, TemplateCall):
        return value
    if value.name.startswith("tp.frontmatter."):
        return _property(value.name.removeprefix("tp.frontmatter."), run)
    if value.arguments is None:
        return _PROPERTIES[value.name](run.target)
    return _FUNCTIONS[value.name](run, *(_result(argument, run) for argument in value.arguments))


def _property(key: str, run: _Run) -> str:
    value = run.target.properties.get(key)
    if value is None:
        run.warnings.append(f"The note has no property {key!r}; the template wrote nothing for it.")
        return ""
    items = value if isinstance(value, list) else [value]
    return ",".join(_write(item) if isinstance(item, bool | float) else str(item) for item in items)


def _text(run: _Run, value: _CommandValue, name: str) -> str:
    if not isinstance(value, str):
        raise run.failure(f"{name} must be text, not {_write(value)}.")
    return value


def _reference(
    run: _Run, reference: _CommandValue | None, pattern: _CommandValue | None
) -> datetime:
    """Return the date that a date function starts from: now, or what the template names.

    Raises: the run's failure for a text that is no date of this form.
    """
    if reference is None or reference == "":
        return run.target.now
    text = _text(run, reference, "the reference date")
    time: datetime | None = None
    if pattern is None:
        with suppress(ValueError):
            time = datetime.fromisoformat(text).replace(tzinfo=None)
    else:
        form = _text(run, pattern, "the format of the reference date")
        today = run.target.now.date()
        locale = run.surroundings.locale
        time = parse_moment(text, form, locale, today=today) or search_moment(
            text, form, locale, today=today
        )
    if time is None:
        of_form = f" of the form {pattern}" if pattern else ""
        raise run.failure(f"{text!r} cannot be read as a date{of_form}.")
    return time


def _move(run: _Run, when: datetime, offset: _CommandValue) -> datetime:
    """Return a date moved by days, or by an ISO 8601 duration as moment reads it (`P-1M`).

    The units of a duration are added from years to seconds, so that P1M1D of 31 January is a day in
    March.
    """
    try:
        if isinstance(offset, float) and not isinstance(offset, bool):
            return when + timedelta(days=round(offset))
        duration = _DURATION.fullmatch(offset) if isinstance(offset, str) else None
        if duration is not None and any(duration.groups()[1:]):
            sign = -1 if duration["sign"] == "-" else 1
            for unit in "yMwdhms":
                if duration[unit]:
                    when = shift(when, sign * int(duration[unit]), unit)
            return when
    except (ValueError, OverflowError):
        pass
    raise run.failure(
        f"{_write(offset)!r} is no offset: expected days, or a duration such as P-1M, P1Y, PT2H."
    )


def _format(run: _Run, when: datetime, pattern: _CommandValue) -> str:
    return format_moment(when, _text(run, pattern, "a format"), run.surroundings.locale)


def _date_command(begin: Callable[[_Run, datetime], datetime]) -> Callable[..., str]:
    """Return a function that writes a date.

    The date is the one that `begin` returns for the reference, moved by an offset.
    """

    def write_date(
        run: _Run,
        pattern: _CommandValue = "YYYY-MM-DD",
        offset: _CommandValue = 0.0,
        reference: _CommandValue | None = None,
        form: _CommandValue | None = None,
    ) -> str:
        when = begin(run, _reference(run, reference, form))
        return _format(run, _move(run, when, offset), pattern)

    return write_date


_now = _date_command(lambda _, when: when)


def _cursor(run: _Run, order: _CommandValue = 0.0) -> str:
    if isinstance(order, str) or order < 0:
        raise run.failure(f"{_write(order)!r} is no number of a cursor.")
    return f"\0{int(order)}\0"


def _include(run: _Run, link: _CommandValue) -> str:
    """Return the text of another template or note, rendered.

    Its properties are kept apart, to be merged.

    Raises: the run's failure for one that includes itself, is nested too deep or is not there.
    """
    written = _text(run, link, "the link to include").strip()
    target = written.removeprefix("[[").removesuffix("]]")
    if target in run.including:
        raise run.failure(f"{written} includes itself.")
    if len(run.including) >= INCLUDE_DEPTH:
        raise run.failure(f"templates include each other more than {INCLUDE_DEPTH} deep.")
    run.count("includes", 1, MAX_INCLUDES)
    text = run.surroundings.include(target)
    if text is None:
        raise run.failure(f"{written}, which it includes, is not in the vault.")
    inner = replace(run, template=target, including=(*run.including, target), command=None)
    rendered = _render(text, inner)
    properties = frontmatter.read_frontmatter(rendered)
    if properties is not None and properties.error:
        raise run.failure(f"the properties of {written} cannot be read. {properties.error}")
    start = text_start(rendered)
    run.included += [rendered[:start]] if start else []
    return rendered[start:]


_PROPERTIES: Mapping[str, Callable[[TemplateTarget], str]] = {
    "tp.file.title": lambda target: target.title,
    "tp.file.tags": lambda target: ",".join(target.tags),
    "tp.file.content": lambda target: target.content,
}

_TIME = "YYYY-MM-DD HH:mm"
_FUNCTIONS: Mapping[str, Callable[..., _CommandValue]] = {
    "tp.date.now": _now,
    "tp.date.tomorrow": lambda run, pattern="YYYY-MM-DD": _now(run, pattern, 1.0),
    "tp.date.yesterday": lambda run, pattern="YYYY-MM-DD": _now(run, pattern, -1.0),
    "tp.date.weekday": _date_command(
        lambda run, when: datetime.combine(
            start_of("week", when.date(), run.surroundings.locale), when.time()
        )
    ),
    "tp.file.folder": lambda run, absolute=False: (
        parent(run.target.path) or "/"
        if absolute is True
        else parent(run.target.path).rpartition("/")[2]
    ),
    "tp.file.path": lambda run, relative=False: (
        run.target.path if relative is True else run.target.system_path
    ),
    "tp.file.creation_date": lambda run, pattern=_TIME: _format(run, run.target.created, pattern),
    "tp.file.last_modified_date": lambda run, pattern=_TIME: _format(
        run, run.target.modified, pattern
    ),
    "tp.file.exists": lambda run, path: run.surroundings.exists(_text(run, path, "a path")),
    "tp.file.cursor": _cursor,
    "tp.file.include": _include,
}


def _is_known(call: TemplateCall) -> bool:
    """Return whether a name can be called with these arguments, or used without a call."""
    if call.name.startswith("tp.frontmatter."):
        return call.arguments is None
    if call.arguments is None:
        return call.name in _PROPERTIES
    if call.name not in _FUNCTIONS:
        return False
    try:
        signature(_FUNCTIONS[call.name]).bind(None, *call.arguments)
    except TypeError:
        return False
    return True
