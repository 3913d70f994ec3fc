"""Where the note of a period is, and which period a note's path means.

See PERIODIC-6 to PERIODIC-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from functools import lru_cache

from obsidian_mcp.core.calendar.locale import Locale
from obsidian_mcp.core.calendar.moment import format_moment, has_token, pieces, split_parts
from obsidian_mcp.core.calendar.moment_parse import parse_fields, resolve_fields
from obsidian_mcp.core.calendar.periods import Period, start_of

from .settings import PeriodRule


def note_path(rule: PeriodRule, when: date, locale: Locale) -> str:
    """Return the path that the rule gives the note of a day, with `.md`, whether it exists or not.

    With a datetime, times of day in the format are those of it (PERIODIC-6).
    """
    path = "/".join(path_segments(f"{rule.folder}/{format_moment(when, rule.format, locale)}"))
    return path if path.endswith(".md") else f"{path}.md"


def note_day(rule: PeriodRule, path: str, locale: Locale, today: date | None = None) -> date | None:
    """Return the day that a note's path names by the rule's format; None where it names none.

    In weeks, a week number goes before the month and day of the same name (PERIODIC-7).
    """
    formats = format_segments(rule.format)
    if not formats:
        return None
    names = path_segments(path.removesuffix(".md"))
    count = 1 if _is_whole(rule.period, formats[-1], locale) else len(formats)
    if len(names) < count:
        return None
    pattern, name = "/".join(formats[-count:]), "/".join(names[-count:])
    fields = parse_fields(name, pattern, locale)
    time = None if fields is None else resolve_fields(fields, locale, today)
    if fields is None or time is None:
        return None
    if rule.period == "week" and fields.keys() & {"week", "iso_week"}:
        week_fields = {key: number for key, number in fields.items() if key not in ("month", "day")}
        time = resolve_fields(week_fields, locale, today) or time
    return time.date()


def weeks_of(rule: PeriodRule, locale: Locale) -> Locale:
    """Return the locale by which the weeks of a rule begin.

    A format with the weeks of ISO 8601 has weeks from Monday on.
    """
    return replace(locale, first_day=1, doy=4) if has_token(rule.format, "GW") else locale


def first_day(rule: PeriodRule, day: date, locale: Locale) -> date:
    """Return the first day of the rule's period that holds a day."""
    return start_of(rule.period, day, weeks_of(rule, locale))


def find_elsewhere(rule: PeriodRule, day: date, locale: Locale, paths: Iterable[str]) -> str | None:
    """Return the note of the period that contains a day, out of the paths of the vault's notes.

    It is asked for where the path of the rule has no note. Notes that a plugin makes may lie
    anywhere below the folder, as long as their names read as the same period; the shortest path
    wins. Core daily notes are at their path only (PERIODIC-8).
    """
    if rule.source == "core":
        return None
    start = first_day(rule, day, locale)
    same_period = [
        path
        for path, note_date in period_notes(rule, paths, locale, day)
        if first_day(rule, note_date, locale) == start
    ]
    return min(same_period, key=lambda path: (len(path), path), default=None)


def period_notes(
    rule: PeriodRule, paths: Iterable[str], locale: Locale, today: date | None = None
) -> Iterable[tuple[str, date]]:
    """Yield the notes below the rule's folder whose names read as its period, with their days."""
    folder = "/".join(path_segments(rule.folder))
    for path in paths:
        if path.endswith(".md") and (not folder or path.startswith(f"{folder}/")):
            day = note_day(rule, path, locale, today)
            if day is not None:
                yield path, day


@lru_cache(maxsize=64)
def format_segments(pattern: str) -> tuple[str, ...]:
    """Return the parts of a format between the slashes that part folders.

    Slashes inside `[literal]` text part folders, too.
    """
    segments = [""]
    for piece in pieces(pattern):
        if piece.startswith("["):
            first, *inner_parts = piece[1:-1].split("/")
            segments[-1] += f"[{first}]"
            segments += [f"[{part}]" for part in inner_parts]
        elif piece == "/":
            segments.append("")
        else:
            segments[-1] += piece
    return tuple(segment for segment in segments if segment not in ("", "[]"))


def _is_whole(period: Period, pattern: str, locale: Locale) -> bool:
    """Return whether a part of a format names a period of this length without the parts before
    it."""
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


def path_segments(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
