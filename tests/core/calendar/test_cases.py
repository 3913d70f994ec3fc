"""Cases of our own about dates (specs/periodic.md); the results were checked as tests/core/cases.py says."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

from obsidian_mcp.core.calendar import clock, luxon
from obsidian_mcp.core.calendar.days import read_moment
from obsidian_mcp.core.calendar.locale import locale
from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.core.calendar.moment_parse import parse_moment
from obsidian_mcp.core.calendar.periods import Period, start_of
from obsidian_mcp.core.calendar.weeks import week_of, week_start
from obsidian_mcp.core.dataview.literals import parse_date_as
from obsidian_mcp.core.expressions.values import ExpressionError
from obsidian_mcp.core.periodic.notes import note_day, note_path
from obsidian_mcp.core.periodic.settings import read_settings
from obsidian_mcp.core.periodic.spoken import read_date
from tests.core.cases import check_cases
from tests.core.expressions.time_zones import time_zone

NOW = datetime.fromisoformat("2026-11-25T09:05:03.120")


def evaluate(kind: str, given: str) -> Any:
    """An input has parts with ` | ` between; of a weekly note the settings are those of the plugin Calendar."""
    with time_zone("Europe/Berlin"):
        return _evaluate(kind, given.split(" | "))


def _evaluate(kind: str, parts: list[str]) -> Any:
    match kind, parts:
        case "write", [tag, form, when]:
            return format_moment(datetime.fromisoformat(when), form, locale(tag))
        case "read", [tag, form, text]:
            return _iso(parse_moment(text, form, locale(tag), today=NOW.date()))
        case "luxon", [form, when]:
            return luxon.write_luxon(datetime.fromisoformat(when), form)
        case "luxon read", [form, text]:
            try:
                return _iso(parse_date_as(text, form, NOW).moment)
            except ExpressionError as error:
                return str(error)
        case "start", [tag, period, day]:
            return str(start_of(cast(Period, period), date.fromisoformat(day), locale(tag)))
        case "week", [tag, day]:
            return week_of(date.fromisoformat(day), locale(tag).first_day, locale(tag).doy)
        case "week start", [tag, year, week]:
            return _iso(week_start(int(year), int(week), locale(tag).first_day, locale(tag).doy))
        case "moved", [when, count, unit]:
            return clock.shift(datetime.fromisoformat(when), int(count), unit).isoformat()
        case "since", [text]:
            return _iso(read_moment(text, NOW))
    period, given, form = cast("list[str]", [*parts, "YYYY-MM-DD"])[:3]
    rule_of = {"calendarSets": [{"id": "a", period: {"enabled": True, "format": form}}]}
    files = {"community-plugins.json": ["periodic-notes"], "plugins/periodic-notes/data.json": rule_of}
    settings = read_settings({name: json.dumps(value) for name, value in files.items()}.get)
    rule = settings.rules[cast(Period, period)]
    if kind == "note":
        return note_path(rule, date.fromisoformat(given), settings.locale)
    if kind == "day of note":
        return _iso(note_day(rule, given, settings.locale, NOW.date()))
    return str(read_date(given, cast(Period, period), settings.rules, settings.locale, NOW.date()))


def _iso(when: date | None) -> str | None:
    return None if when is None else when.isoformat()


def test_dates_have_the_results_of_the_table(update: bool) -> None:
    """PERIODIC-2 to PERIODIC-9, SEARCH-12"""
    check_cases(Path(__file__).with_name("cases.tsv"), evaluate, update=update)
