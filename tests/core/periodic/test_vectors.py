"""Cases of periodic notes restated from the tests of obsidian-daily-notes-interface (PERIODIC-5 to PERIODIC-10)."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from obsidian_mcp.core.calendar.locale import ENGLISH, WEEKDAYS
from obsidian_mcp.core.calendar.periods import start_of
from obsidian_mcp.core.periodic.notes import note_day, note_path
from obsidian_mcp.core.periodic.settings import PeriodicSettings, read_settings
from obsidian_mcp.core.periodic.template import Variables, fill_periodic

VECTORS = Path(__file__).parents[4] / "shared/data/periodic/vectors.json"
if not VECTORS.exists():
    pytest.skip("../shared/data/periodic is not here", allow_module_level=True)
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]


def _settings(case: dict[str, Any]) -> PeriodicSettings:
    files = {name: json.dumps(value) for name, value in case["settings"].items()}
    return read_settings(files.get)


def _of(kind: str) -> pytest.MarkDecorator:
    cases = [case for case in CASES if case["kind"] == kind]
    return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])


@_of("settings")
def test_the_settings_in_force(case: dict[str, Any]) -> None:
    rule = _settings(case).rules[case["period"]]
    assert {"folder": rule.folder, "format": rule.format, "template": rule.template} == case["expect"]


@_of("available")
def test_which_periods_are_set_up(case: dict[str, Any]) -> None:
    assert _settings(case).rules[case["period"]].configured == case["expect"]


@_of("path")
def test_the_path_of_a_day(case: dict[str, Any]) -> None:
    settings = _settings(case)
    day = date.fromisoformat(case["date"])
    assert note_path(settings.rules[case["period"]], day, settings.locale) == case["expect"]


@_of("date")
def test_the_day_of_a_path(case: dict[str, Any]) -> None:
    settings = _settings(case)
    day = note_day(settings.rules[case["period"]], case["path"], settings.locale, date(2026, 11, 22))
    read = day and {
        "date": day.isoformat(),
        "start": start_of(case["period"], day, settings.locale).isoformat(),
    }
    assert read == case["expect"]


@_of("start")
def test_the_first_day_of_a_period(case: dict[str, Any]) -> None:
    start = start_of(case["period"], date.fromisoformat(case["date"]), _settings(case).locale)
    assert start.isoformat() == case["expect"]


@_of("weekday")
def test_the_number_of_a_day_in_its_week(case: dict[str, Any]) -> None:
    week = ENGLISH.with_first_day(WEEKDAYS.index(case["week_start"]))
    assert (WEEKDAYS.index(case["weekday"]) - week.first_day) % 7 == case["expect"]


@_of("template")
def test_the_note_made_from_a_template(case: dict[str, Any]) -> None:
    settings = _settings(case)
    rule = settings.rules[case["period"]]
    day = date.fromisoformat(case["date"])
    path = note_path(rule, day, settings.locale)
    assert path == case["path"]
    variables = Variables(
        PurePosixPath(path).stem, datetime.fromisoformat(case["now"]), settings.templates, settings.locale
    )
    assert fill_periodic(case["template"] or "", variables, rule, day) == case["expect"]
