"""Where the note of a period is, and which period a note, a text or a name such as `daily:today`
means (PERIODIC-6 to PERIODIC-9, PERIODIC-11, PERIODIC-19)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from obsidian_mcp.core.calendar.clock import Calendar, shift
from obsidian_mcp.core.calendar.days import DayRules, read_days
from obsidian_mcp.core.calendar.locale import ENGLISH, Locale
from obsidian_mcp.core.calendar.moment import format_moment, has_token, pieces, split_parts
from obsidian_mcp.core.calendar.moment_parse import parse_fields, resolve_fields
from obsidian_mcp.core.calendar.periods import ADJECTIVES, PERIODS, SHIFT_UNITS, Period, start_of
from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Files
from obsidian_mcp.core.text.vault_path import VaultPath, basename, parse
from obsidian_mcp.errors import InvalidArguments, NoteNotFound

from .settings import PeriodicSettings, PeriodRule, PeriodRules, UniqueNotes, read_settings

TRIES = 60
"""Minutes that are tried for the name of a unique note."""
_PREFIXED = re.compile(rf"\s*({'|'.join(ADJECTIVES)}):(.*)", re.IGNORECASE | re.DOTALL)
_BARE = {"": "this", "current": "this"}
_STEPS = {"last": "yesterday", "this": "today", "next": "tomorrow"}
"""What a bare word means of days; of longer periods it means the last, this or next one."""


def note_path(rule: PeriodRule, when: date, locale: Locale) -> str:
    """Return the path, with `.md`, that the rule gives the note of a day or time, there or not
    (PERIODIC-6)."""
    path = "/".join(_segments(f"{rule.folder}/{format_moment(when, rule.format, locale)}"))
    return path if path.endswith(".md") else f"{path}.md"


def note_day(rule: PeriodRule, path: str, locale: Locale, today: date | None = None) -> date | None:
    """The day that a path names by the rule's format, a week before month and day; None for none
    (PERIODIC-7)."""
    formats = format_segments(rule.format)
    if not formats:
        return None
    names = _segments(path.removesuffix(".md"))
    count = 1 if _is_whole(rule.period, formats[-1], locale) else len(formats)
    if len(names) < count:
        return None
    pattern, name = "/".join(formats[-count:]), "/".join(names[-count:])
    fields = parse_fields(name, pattern, locale)
    found = None if fields is None else resolve_fields(fields, locale, today)
    if fields is None or found is None:
        return None
    if rule.period == "week" and fields.keys() & {"week", "iso_week"}:
        rest = {key: number for key, number in fields.items() if key not in ("month", "day")}
        found = resolve_fields(rest, locale, today) or found
    return found.date()


def weeks_of(rule: PeriodRule, locale: Locale) -> Locale:
    """Return the locale by which the weeks of a rule begin: with those of ISO 8601 where its format
    has them."""
    return replace(locale, first_day=1, doy=4) if has_token(rule.format, "GW") else locale


def first_day(rule: PeriodRule, day: date, locale: Locale) -> date:
    """Return the first day of the rule's period that holds a day."""
    return start_of(rule.period, day, weeks_of(rule, locale))


def find_elsewhere(rule: PeriodRule, day: date, locale: Locale, paths: Iterable[str]) -> str | None:
    """Return the note of the period that holds a day which is not at its path: the shortest path
    below the folder whose name reads as the period. Core daily notes are at their path only."""
    if rule.source == "core":
        return None
    wanted = first_day(rule, day, locale)
    found = [
        path
        for path, noted in period_notes(rule, paths, locale, day)
        if first_day(rule, noted, locale) == wanted
    ]
    return min(found, key=lambda path: (len(path), path), default=None)


def period_notes(
    rule: PeriodRule, paths: Iterable[str], locale: Locale, today: date | None = None
) -> Iterable[tuple[str, date]]:
    """Return the notes below the rule's folder whose names read as its period, with their days."""
    folder = "/".join(_segments(rule.folder))
    for path in paths:
        if path.endswith(".md") and (not folder or path.startswith(f"{folder}/")):
            day = note_day(rule, path, locale, today)
            if day is not None:
                yield path, day


@lru_cache(maxsize=64)
def format_segments(pattern: str) -> tuple[str, ...]:
    """Split a format at the slashes that part folders, also those inside `[literal]` text."""
    segments = [""]
    for piece in pieces(pattern):
        if piece.startswith("["):
            first, *others = piece[1:-1].split("/")
            segments[-1] += f"[{first}]"
            segments += [f"[{other}]" for other in others]
        elif piece == "/":
            segments.append("")
        else:
            segments[-1] += piece
    return tuple(segment for segment in segments if segment not in ("", "[]"))


def _is_whole(period: Period, pattern: str, locale: Locale) -> bool:
    """Whether a part of a format names a period of this length without the parts before it."""
    tokens = {text for text, is_token in split_parts(pattern, locale) if is_token}
    letters = {token[0] for token in tokens}
    if letters & set("xX"):
        return True
    if not letters & set("YyGg"):
        return False
    week = bool(letters & set("wW"))
    day = bool(
        ("M" in letters and tokens & {"D", "DD", "Do"})
        or tokens & {"DDD", "DDDD"}
        or (week and letters & set("deE"))
    )
    match period:
        case "day":
            return day
        case "week":
            return week or day
        case "month":
            return "M" in letters or day
        case "quarter":
            return bool(letters & set("MQ")) or day
        case "year":
            return True


def unique_path(
    settings: UniqueNotes,
    now: datetime,
    is_taken: Callable[[str], bool],
    name: str = "",
    locale: Locale = ENGLISH,
) -> str | None:
    """The path of a new note named by the first free minute, and `name` behind it; None where
    `TRIES` are taken."""
    folder = "/".join(_segments(settings.folder))
    for minutes in range(TRIES):
        stamp = format_moment(shift(now, minutes, "m"), settings.format, locale)
        path = "/".join(filter(None, [folder, f"{stamp} {name}".strip()])) + ".md"
        if not is_taken(path):
            return path
    return None


def _segments(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


_PERIOD_OF_UNIT = {unit: period for period, unit in SHIFT_UNITS.items()}


def read_date(text: str, period: Period, rules: PeriodRules, locale: Locale, today: date) -> date:
    """Return the day that a text names (`yesterday`, `2026-W47`, `Q4`, a name in the period's own
    format) for a note of this period, which may be longer. Raises: InvalidArguments for none, a
    longer period, or several days."""
    if rules[period].configured and (own := note_day(rules[period], text.strip(), locale, today)):
        return own
    weeks = weeks_of(rules["week"], locale)
    numbered = (weeks.first_day, weeks.doy) if rules["week"].configured else DayRules().numbered
    days = read_days(text, today, DayRules(weeks=weeks, numbered=numbered))
    if days is None:
        raise InvalidArguments(
            f'Cannot read the date "{text}". Try 2026-11-22, yesterday, last monday or 2026-W47.',
            argument="date",
        )
    unit = _PERIOD_OF_UNIT.get(days.unit)
    if unit is None or PERIODS.index(unit) > PERIODS.index(period):
        raise InvalidArguments(
            f'"{text}" names {f"a {unit}" if unit else "several days"}, and a {period} is needed. '
            f"Try {today.isoformat()}, yesterday or last monday.",
            argument="date",
        )
    return days.first


class Located(NamedTuple):
    """The note of one period: where it is or would be. `entry` is None where there is none yet."""

    rule: PeriodRule
    path: VaultPath
    day: date
    """The day that was named."""
    first: date
    """First day of the period."""
    entry: FileEntry | None
    warnings: tuple[str, ...]
    """Settings that cannot be read, so that this may be another place than the user's."""


@dataclass(frozen=True, slots=True)
class PeriodicNames:
    """Finds the periodic notes of one vault by the names that people give them."""

    _files: Files
    _policy: Policy
    _catalog: Catalog
    _calendar: Calendar
    _look_up: Callable[[VaultPath], FileEntry | None]
    """Returns the file at a path, also one that was not noticed yet."""

    @property
    def settings(self) -> PeriodicSettings:
        """The settings as they stand now."""

        def read(name: str) -> str | None:
            data = self._files.config(name)
            return None if data is None else data.decode("utf-8", "replace")

        return read_settings(read, self._calendar.language, self._calendar.week_start)

    def locate(self, period: Period, text: str = "today") -> Located:
        """Return where the note of a period is: `yesterday`, `2026-W47`, `last` (PERIODIC-9).
        Raises: InvalidArguments for no such period, InvalidName for a path that cannot be,
        PermissionDenied for a hidden one (POL-18)."""
        settings = self.settings
        said = _BARE.get(text.strip().lower(), text)
        if said in _STEPS:
            said = _STEPS[said] if period == "day" else f"{said} {period}"
        day = read_date(said, period, settings.rules, settings.locale, self._calendar.today)
        rule = settings.rules[period]
        first = first_day(rule, day, settings.locale)
        named_by = datetime.combine(day, self._calendar.now().time()) if period == "day" else first
        path = parse(note_path(rule, named_by, settings.locale))
        entry = self._look_up(path)
        if entry is None and rule.source != "core":
            elsewhere = find_elsewhere(rule, day, settings.locale, self._catalog.by_path())
            entry = None if elsewhere is None else self._look_up(VaultPath(elsewhere))
        if entry is None and not self._policy.visible(path):
            raise self._policy.refused_setting(f"the place of {adjective_of(period)} notes")
        return Located(rule, entry.path if entry else path, day, first, entry, settings.warnings)

    def named(self, raw: str) -> Located | None:
        """Return the note that a name such as `daily:today` means; None for any other name
        (PERIODIC-11)."""
        found = _PREFIXED.fullmatch(raw)
        return self.locate(ADJECTIVES[found[1].lower()], found[2]) if found else None

    def missing(self, located: Located) -> NoteNotFound:
        """The error for a periodic note that is not there."""
        rule, adjective = located.rule, adjective_of(located.rule.period)
        shown = located.day.isoformat() if rule.period == "day" else basename(located.path)
        would_be = f"There is no {adjective} note of {shown} yet. It would be {str(located.path)!r}"
        hint = (
            "; obsidian_daily_note makes it, with content or create."
            if can_be_made(rule)
            else f". {not_set_up(rule)}"
        )
        return NoteNotFound(would_be + hint, path=str(located.path))


def can_be_made(rule: PeriodRule) -> bool:
    return rule.configured or rule.period == "day"


def not_set_up(rule: PeriodRule) -> str:
    return (
        f"{adjective_of(rule.period).capitalize()} notes are not set up. The user can set them up "
        "in Obsidian with the plugin Periodic "
        f"Notes{' or Calendar' if rule.period == 'week' else ''}; daily notes need no plugin."
    )


def adjective_of(period: Period) -> str:
    return next(word for word, named in ADJECTIVES.items() if named == period)
