"""Paths and days of periodic notes, and dates as a person says them (PERIODIC-1 to PERIODIC-9)."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from obsidian_mcp.core.calendar.clock import shift
from obsidian_mcp.core.calendar.periods import PERIODS, Period
from obsidian_mcp.core.periodic.notes import find_elsewhere, format_segments, note_day, note_path
from obsidian_mcp.core.periodic.settings import PeriodicSettings, read_settings
from obsidian_mcp.core.periodic.spoken import read_date
from obsidian_mcp.errors import InvalidArguments

SUNDAY = date(2026, 11, 22)


def _settings(language: str = "", week_start: str = "", **files: Any) -> PeriodicSettings:
    """`daily_notes={…}` is `daily-notes.json`, `calendar={…}` the plugin's data, with the plugin switched on."""
    written = {f"{name.replace('_', '-')}.json": value for name, value in files.items()}
    plugins = [name for name in ("calendar", "periodic-notes") if f"{name}.json" in written]
    written |= {f"plugins/{name}/data.json": written.pop(f"{name}.json") for name in plugins}
    written.setdefault("community-plugins.json", plugins)
    return read_settings(
        {name: json.dumps(value) for name, value in written.items()}.get, language=language, week_start=week_start
    )


def _weekly(pattern: str = "", app: Any = None, **more: Any) -> PeriodicSettings:
    return _settings(app=app, calendar={"weeklyNoteFormat": pattern, **more})


def _plugin(period: Period, pattern: str, **more: Any) -> PeriodicSettings:
    key = {"day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly", "year": "yearly"}[period]
    return _settings(periodic_notes={key: {"enabled": True, "format": pattern}}, **more)


def _path(settings: PeriodicSettings, period: Period, day: date = SUNDAY) -> str:
    return note_path(settings.rules[period], day, settings.locale)


def test_a_vault_without_settings_has_daily_notes_in_its_root() -> None:
    """PERIODIC-5"""
    settings = _settings()

    assert _path(settings, "day") == "2026-11-22.md"
    assert [period for period in PERIODS if settings.rules[period].configured] == ["day"]
    assert _path(settings, "quarter") == "2026-Q4.md"


def test_folders_come_from_the_setting_and_from_the_format() -> None:
    """PERIODIC-6"""
    daily = {"folder": " Log/ ", "format": "YYYY/MM-MMMM/YYYY-MM-DD-dddd"}
    assert _path(_settings(daily_notes=daily), "day") == "Log/2026/11-November/2026-11-22-Sunday.md"
    assert _path(_settings(daily_notes={"folder": "./a//b", "format": "[x.md]"}), "day") == "a/b/x.md"


@pytest.mark.parametrize(
    ("settings", "day", "name"),
    [
        (_weekly(), SUNDAY, "2026-W48"),
        (_weekly(weekStart="monday"), SUNDAY, "2026-W47"),
        (_weekly("GGGG-[W]WW"), date(2027, 1, 1), "2026-W53"),
        (_weekly(weekStart="monday"), date(2027, 1, 1), "2027-W01"),
        (_weekly(localeOverride="en-gb"), date(2027, 1, 1), "2026-W53"),
        (_weekly("[Week] w [of] gggg"), SUNDAY, "Week 48 of 2026"),
        (_settings(app={"weekStart": "monday"}), SUNDAY, "2026-W47"),
        (_settings(week_start="monday"), SUNDAY, "2026-W47"),
        (_settings("de", app={"localeOverride": "en"}), date(2027, 1, 1), "2026-W53"),
        (_settings(app={"weekStart": "Monday", "localeOverride": "system-default"}), SUNDAY, "2026-W47"),
        (_weekly(weekStart="monday", app={"weekStart": "sunday"}), SUNDAY, "2026-W47"),
        (_plugin("week", "", calendar={"weekStart": "monday"}, app={"weekStart": "sunday"}), SUNDAY, "2026-W48"),
    ],
)
def test_weeks_are_counted_as_the_settings_say(settings: PeriodicSettings, day: date, name: str) -> None:
    """PERIODIC-1, PERIODIC-2: what the configuration says goes before the vault, and that before English."""
    assert _path(settings, "week", day) == f"{name}.md"


def test_the_active_calendar_set_of_periodic_notes_counts() -> None:
    """PERIODIC-5"""
    sets = [
        {"id": "Home", "day": {"enabled": True, "format": "[home] YYYY"}},
        {"id": "Work", "day": {"enabled": True, "format": "[work] YYYY", "folder": "W", "templatePath": "T"}},
    ]
    rule = _settings(periodic_notes={"activeCalendarSet": "Work", "calendarSets": sets}).rules["day"]
    assert (rule.folder, rule.format, rule.template, rule.source) == ("W", "[work] YYYY", "T", "periodic-notes")


def test_a_period_that_is_off_in_the_plugin_follows_the_core_settings() -> None:
    """PERIODIC-5"""
    off = {"daily": {"enabled": False, "format": "[plugin]"}}
    settings = _settings(periodic_notes=off, daily_notes={"format": "[core]"})
    assert _path(settings, "day") == "core.md"


def test_the_plugins_count_only_where_they_are_enabled() -> None:
    """PERIODIC-5"""
    weekly = {"community_plugins": [], "calendar": {"weeklyNoteFormat": "[x]"}}
    settings = read_settings(
        {"community-plugins.json": "[]", "plugins/calendar/data.json": json.dumps(weekly["calendar"])}.get
    )
    assert not settings.rules["week"].configured
    assert settings.rules["week"].format == "gggg-[W]ww"


def test_settings_that_cannot_be_read_are_the_default_and_said_so() -> None:
    """PERIODIC-1"""
    settings = read_settings({"daily-notes.json": "{", "templates.json": "[]"}.get)
    assert _path(settings, "day") == "2026-11-22.md"
    assert len(settings.warnings) == 1
    assert settings.warnings[0].startswith("daily-notes.json: ")
    for text, name in (("\ufeff", "2026-11-22"), (" \n", "2026-11-22"), ('\ufeff{"format": "[x]"}\r\n', "x")):
        settings = read_settings({"daily-notes.json": text}.get)
        assert (_path(settings, "day"), settings.warnings) == (f"{name}.md", ())


@pytest.mark.parametrize(
    ("plugins", "is_on"),
    [(["daily-notes"], True), ([], False), ({"daily-notes": True}, True), ({"daily-notes": False}, False), ({}, True)],
)
def test_the_core_plugin_of_daily_notes_may_be_off(plugins: Any, is_on: bool) -> None:
    """PERIODIC-5"""
    assert _settings(core_plugins=plugins).rules["day"].configured == is_on


@pytest.mark.parametrize(
    ("settings", "period", "path", "day"),
    [
        (_weekly("gggg-MM-ww"), "week", "2020-02-07.md", "2020-02-09"),
        (_weekly("GGGG-[W]WW MMM"), "week", "2028-W02 Jan.md", "2028-01-10"),
        (_weekly("gggg-MM-[W]ww"), "week", "2020-02-W07 Foo.md", None),
        (_settings(daily_notes={"format": "YYYY-M-D"}), "day", "2026-01-02.md", None),
        (_settings(daily_notes={"format": "[Journal]/YYYY/MM/DD"}), "day", "Journal/2026/11/22.md", "2026-11-22"),
        (_settings(daily_notes={"format": "[Journal]/YYYY/MM/DD"}), "day", "Other/2026/11/22.md", None),
        (_settings(daily_notes={"format": "YYYY/YYYY-MM-DD"}), "day", "moved/2026-11-22.md", "2026-11-22"),
        (_settings(daily_notes={"format": "[a/]YYYY-MM-DD"}), "day", "a/2026-11-22.md", "2026-11-22"),
    ],
)
def test_a_path_tells_its_day(settings: PeriodicSettings, period: Period, path: str, day: str | None) -> None:
    """PERIODIC-7"""
    found = note_day(settings.rules[period], path, settings.locale, SUNDAY)
    assert (found and found.isoformat()) == day


@pytest.mark.parametrize(
    ("period", "pattern", "name", "day"),
    [
        ("day", "YYYY/YYYY-DDDD", "2026-326", "2026-11-22"),
        ("day", "YYYY/GGGG-[W]WW-E", "2026-W47-7", "2026-11-22"),
        ("day", "YYYY/YYYY-MMMM-Do", "2026-November-22nd", "2026-11-22"),
        ("day", "YYYY/X", "1795305600", "2026-11-22"),
        ("day", "YYYY/MM-DD", "11-22", None),
        ("day", "YYYY/YYYY-MM", "2026-11", None),
        ("day", "YYYY/YYYY-DD", "2026-22", None),
        ("week", "YYYY/gggg-[W]ww", "2026-W48", "2026-11-22"),
        ("week", "YYYY/YYYY-MM-DD", "2026-11-22", "2026-11-22"),
        ("week", "gggg/[W]ww", "W48", None),
        ("month", "YYYY/YYYY-MM", "2026-11", "2026-11-01"),
        ("month", "YYYY/YYYY-DDDD", "2026-326", "2026-11-22"),
        ("month", "YYYY/MMMM", "November", None),
        ("month", "YYYY/YYYY-[Q]Q", "2026-Q4", None),
        ("quarter", "YYYY/YYYY-[Q]Q", "2026-Q4", "2026-10-01"),
        ("quarter", "YYYY/YYYY-MM", "2026-11", "2026-11-01"),
        ("quarter", "YYYY/YYYY-DDDD", "2026-326", "2026-11-22"),
        ("quarter", "YYYY/[Q]Q", "Q4", None),
        ("year", "[Years]/YYYY", "2026", "2026-01-01"),
    ],
)
def test_a_note_in_another_folder_tells_its_day_where_its_name_alone_says_the_period(
    period: Period, pattern: str, name: str, day: str | None
) -> None:
    """PERIODIC-7"""
    settings = _plugin(period, pattern)
    for path in (f"moved/{name}.md", f"{name}.md"):
        found = note_day(settings.rules[period], path, settings.locale, SUNDAY)
        assert (found and found.isoformat()) == day


def test_slashes_in_literal_text_part_folders_too() -> None:
    assert format_segments("[a/b]-YY/[x]/MM") == ("[a]", "[b]-YY", "[x]", "MM")


def test_a_note_of_a_plugin_is_found_where_it_was_moved() -> None:
    """PERIODIC-8"""
    settings = _weekly("gggg-[W]ww", weeklyNoteFolder="Weeks")
    paths = ["2026-W48.md", "Weeks/old/2026-W48.md", "Weeks/2026/2026-W48.md", "Weeks/2026-W47.md"]
    rule = settings.rules["week"]
    assert find_elsewhere(rule, SUNDAY, settings.locale, paths) == "Weeks/old/2026-W48.md"
    core = _settings(daily_notes={"folder": "D"})
    assert find_elsewhere(core.rules["day"], SUNDAY, core.locale, ["D/x/2026-11-22.md"]) is None


@pytest.mark.parametrize(
    ("text", "period", "day"),
    [
        ("today", "day", "2026-11-22"),
        ("Now", "day", "2026-11-22"),
        ("yesterday", "day", "2026-11-21"),
        ("tomorrow", "day", "2026-11-23"),
        ("last  Monday", "day", "2026-11-16"),
        ("next monday", "day", "2026-11-23"),
        ("monday", "day", "2026-11-23"),
        ("sunday", "day", "2026-11-22"),
        ("last sunday", "day", "2026-11-15"),
        ("next sunday", "day", "2026-11-29"),
        ("this monday", "day", "2026-11-23"),
        ("3 days ago", "day", "2026-11-19"),
        ("in 2 weeks", "day", "2026-12-06"),
        ("a week ago", "day", "2026-11-15"),
        ("-1m", "day", "2026-10-22"),
        ("-3d", "day", "2026-11-19"),
        ("+2w", "day", "2026-12-06"),
        ("+1y", "day", "2027-11-22"),
        ("2026/11/20", "day", "2026-11-20"),
        ("20261120", "day", "2026-11-20"),
        ("20.11.2026", "day", "2026-11-20"),
        ("20 November 2026", "day", "2026-11-20"),
        ("20th Nov", "day", "2026-11-20"),
        ("Nov 20, 2026", "day", "2026-11-20"),
        ("nov 20", "day", "2026-11-20"),
        ("Nov 20,2026", "day", "2026-11-20"),
        ("in two weeks", "day", "2026-12-06"),
        ("in 1 quarter", "day", "2027-02-22"),
        ("next mon", "day", "2026-11-23"),
        ("yesterday", "month", "2026-11-21"),
        ("last month", "month", "2026-10-01"),
        ("this week", "week", "2026-11-22"),
        ("2026-W47", "week", "2026-11-16"),
        ("week 47", "month", "2026-11-16"),
        ("Q1", "quarter", "2026-01-01"),
        ("2025-q3", "year", "2025-07-01"),
        ("last year", "year", "2025-01-01"),
        ("2024", "year", "2024-01-01"),
        ("November", "quarter", "2026-11-01"),
        ("2026-10", "month", "2026-10-01"),
    ],
)
def test_a_person_names_a_day_in_many_ways(text: str, period: Period, day: str) -> None:
    """PERIODIC-9"""
    settings = _settings()
    assert read_date(text, period, settings.rules, settings.locale, SUNDAY).isoformat() == day


def test_this_monday_and_week_numbers_follow_the_vault() -> None:
    """PERIODIC-9"""
    monday = _settings(week_start="monday")
    assert read_date("this monday", "day", monday.rules, monday.locale, SUNDAY) == date(2026, 11, 16)
    for pattern, first in (("gggg-[W]ww", 15), ("GGGG-[W]WW", 16), ("[Week] w", 15)):
        settings = _weekly(pattern)
        assert read_date("2026-W47", "week", settings.rules, settings.locale, SUNDAY) == date(2026, 11, first)


def test_a_name_in_the_form_of_the_notes_is_that_note() -> None:
    """PERIODIC-9"""
    settings = _settings(daily_notes={"format": "D_M_YY"})
    assert read_date("1_2_26", "day", settings.rules, settings.locale, SUNDAY) == date(2026, 2, 1)


@pytest.mark.parametrize(
    ("text", "period"),
    [("31.02.2026", "day"), ("mañana", "day"), ("2026-W47", "day"), ("Q1", "month"), ("2026-W54", "week"), ("", "day")],
)
def test_what_names_no_date_is_said_with_examples(text: str, period: Period) -> None:
    """PERIODIC-9"""
    settings = _settings()
    with pytest.raises(InvalidArguments, match="Try "):
        read_date(text, period, settings.rules, settings.locale, SUNDAY)


def test_months_clamp_to_their_last_day() -> None:
    """PERIODIC-4"""
    assert shift(date(2026, 1, 31), 1, "M") == date(2026, 2, 28)
    assert shift(date(2024, 2, 29), -1, "y") == date(2023, 2, 28)
    assert shift(date(2026, 11, 30), 1, "Q") == date(2027, 2, 28)
    with pytest.raises(OverflowError):
        shift(date(9999, 12, 1), 1, "M")
