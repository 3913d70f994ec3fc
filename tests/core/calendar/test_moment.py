"""Dates in moment's format language (PERIODIC-2, PERIODIC-3; specs/periodic.md)."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.calendar.locale import ENGLISH, WEEKDAYS, Locale, locale
from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.core.calendar.moment_parse import parse_moment
from obsidian_mcp.core.calendar.weeks import week_of, week_start

NOW = datetime.fromisoformat("2026-11-22T09:05:03.120")
VECTORS = Path(__file__).parents[4] / "shared/data/periodic/moment.json"
MEASURED: dict[str, list[dict[str, Any]]] = (
    json.loads(VECTORS.read_text(encoding="utf-8")) if VECTORS.exists() else {"format": [], "parse": []}
)
needs_vectors = pytest.mark.skipif(not MEASURED["format"], reason="../shared/data/periodic is not here")

TAGS = sorted(json.loads((files("obsidian_mcp.core.calendar") / "locales.json").read_text(encoding="utf-8")))

OWN = json.loads((Path(__file__).parents[3] / "specs/vectors/moment.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize(("pattern", "day", "written"), OWN)
def test_a_date_is_written_as_the_app_writes_it(pattern: str, day: str, written: str) -> None:
    """PERIODIC-3"""
    assert format_moment(date.fromisoformat(day), pattern) == written


def _locale(case: dict[str, Any]) -> Locale:
    first_day = WEEKDAYS.index(case["week_start"]) if "week_start" in case else None
    return locale(case.get("locale", "en")).with_first_day(first_day)


@needs_vectors
def test_dates_are_written_as_moment_wrote_them() -> None:
    wrong = {
        json.dumps(case): written
        for case in MEASURED["format"]
        if (written := format_moment(datetime.fromisoformat(case["date"]), case["format"], _locale(case)))
        != case["text"]
    }
    assert not wrong


@needs_vectors
def test_names_are_read_as_strictly_as_moment_reads_them() -> None:
    wrong = {
        json.dumps(case): read
        for case in MEASURED["parse"]
        if (read := parse_moment(case["text"], case["format"])) != (case["date"] and read)
        or (read and read.date().isoformat()) != case["date"]
    }
    assert not wrong


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("DDDo [day,] Qo [quarter]", "326th day, 4th quarter"),
        ("Hmm hmmss", "905 90503"),
        ("\\YYYY[ ]YYYY", "YYYY 2026"),
        ("[[YYYY] MM[", "[YYYY 11["),
        ("SSS SSSSSS", "120 120000"),
        ("y NNNN", "2026 Anno Domini"),
        ("lll, llll", "Nov 22, 2026 9:05 AM, Sun, Nov 22, 2026 9:05 AM"),
        ("YYYYYY", "+002026"),
        ("", ""),
    ],
)
def test_the_rarer_tokens_are_written_too(pattern: str, written: str) -> None:
    """PERIODIC-3"""
    assert format_moment(NOW, pattern) == written


@pytest.mark.parametrize(
    ("tag", "pattern", "written"),
    [
        ("ru", "D MMMM YYYY", "22 ноября 2026"),
        ("ru", "MMMM YYYY", "ноябрь 2026"),
        ("fr", "Do MMMM, wo", "22 novembre, 47e"),
        ("zh-CN", "A h:mm, Mo", "上午 9:05, 11月"),
        ("ja", "LL a", "2026年11月22日 午前"),
        ("ja", "NNNNyo M月, N NNNNN", "令和8年 11月, R ㋿"),
        ("ja", "llll", "2026年11月22日(日) 09:05"),
        ("zh-cn", "LLL", "2026年11月22日上午9点05分"),
        ("de-AT", "dd dddd, Do", "So Sonntag, 22."),
        ("es", "D-MMM-YYYY", "22-nov-2026"),
        ("es", "D MMM", "22 nov."),
        ("nl", "Do DDDo", "22ste 326ste"),
        ("sv", "Do wo", "22:a 47:e"),
        ("pt-br", "LLL", "22 de novembro de 2026 às 09:05"),
        ("ca", "D MMMM, Do, wo", "22 de novembre, 22è, 47a"),
        ("cs", "l, D. MMMM, D MMMM", "22. 11. 2026, 22. listopadu, 22 listopadu"),
        ("pl", "D MMMM", "22 listopada"),
        ("pl", "DD MMMM", "22 listopada"),
        ("pl", "Do MMMM", "22. listopad"),
        ("el", "D/MM, MMMM A", "22/11, Νοεμβρίου ΠΜ"),
        ("uk", "[у] dddd, Do A", "у неділю, 22-го ранку"),
        ("ru", "[в] dddd D MMM, MMM", "в воскресенье 22 нояб., нояб."),
        ("tr", "Mo wo Qo, a", "11'inci 47'nci 4'üncü, öö"),
        ("fi", "LL", "22. marraskuuta 2026"),
        ("he", "A a, LL", "בבוקר בבוקר, 22 בנובמבר 2026"),
        ("hi", "D MMMM YYYY, A", "२२ नवम्बर २०२६, सुबह"),
        ("ar", "D, M", "٢٢، ١١"),
        ("fa", "Do MMMM", "۲۲م نوامبر"),
        ("id", "LTS", "09.05.03"),
        ("xx", "MMMM", "November"),
    ],
)
def test_other_languages_have_names_of_their_own(tag: str, pattern: str, written: str) -> None:
    """PERIODIC-2"""
    assert format_moment(NOW, pattern, locale(tag)) == written


@pytest.mark.parametrize("tag", TAGS)
def test_every_number_can_be_counted_in_every_language(tag: str) -> None:
    """PERIODIC-2: the fortieth week of Turkish was an error."""
    counted = {(number, unit): locale(tag).ordinal(number, unit) for number in range(367) for unit in ("D", "DDD", "w")}

    assert not [pair for pair, text in counted.items() if str(pair[0]) not in text]
    assert locale("tr").ordinal(40, "w") == "40'ıncı"


@pytest.mark.parametrize(
    ("text", "pattern", "read"),
    [
        ("2026-326", "YYYY-DDDD", "2026-11-22T00:00:00"),
        ("2026-366", "YYYY-DDDD", None),
        ("12:30 am", "h:mm a", "2026-11-22T00:30:00"),
        ("13:30 pm", "h:mm a", None),
        ("22 pm", "DD a", "2026-11-22T00:00:00"),
        ("pm 2026-W47", "a GGGG-[W]WW", None),
        ("11th 2026", "Mo YYYY", None),
        ("22ND 11 2026", "Do MM YYYY", None),
        ("02-29", "MM-DD", None),
        ("04-05", "MM-DD", "2026-04-05T00:00:00"),
        ("Sunday 2026-11-23", "dddd YYYY-MM-DD", None),
        ("2020-12-30", "gggg-MM-DD", "2019-12-30T00:00:00"),
        ("2021-12-30", "gggg-MM-DD", "2020-12-30T00:00:00"),
        ("2026-W54", "GGGG-[W]WW", None),
        ("26-11-22", "YY-MM-DD", "2026-11-22T00:00:00"),
        ("", "YYYY", None),
    ],
)
def test_reading_fits_the_calendar(text: str, pattern: str, read: str | None) -> None:
    """PERIODIC-3"""
    found = parse_moment(text, pattern, today=date(2026, 11, 22))
    assert (found and found.isoformat()) == read


@pytest.mark.parametrize(
    ("tag", "text", "pattern", "read"),
    [
        ("ja", "令和8年11月22日", "NNNNy年M月D日", "2026-11-22T00:00:00"),
        ("ja", "昭和64年1月7日", "NNNNy年M月D日", "1989-01-07T00:00:00"),
        ("zh-tw", "2026-11-22 下午 3:05", "YYYY-MM-DD A h:mm", "2026-11-22T15:05:00"),
        ("zh-cn", "2026-11-22 中午 12:05", "YYYY-MM-DD A h:mm", "2026-11-22T12:05:00"),
        ("hi", "२२ नवम्बर २०२६, रात १:०५", "D MMMM YYYY, A h:mm", "2026-11-22T01:05:00"),
        ("hi", "२२ नवम्बर २०२६, रात ९:०५", "D MMMM YYYY, A h:mm", "2026-11-22T21:05:00"),
        ("ru", "22 ноября 2026", "D MMMM YYYY", "2026-11-22T00:00:00"),
        ("fr", "1er déc 2026", "Do MMM YYYY", "2026-12-01T00:00:00"),
        ("tr", "22 KASIM 2026", "D MMMM YYYY", None),
        ("nl", "22-nov-2026", "D-MMM-YYYY", "2026-11-22T00:00:00"),
    ],
)
def test_names_in_other_languages_are_read(tag: str, text: str, pattern: str, read: str | None) -> None:
    """PERIODIC-2, PERIODIC-3"""
    found = parse_moment(text, pattern, locale(tag))
    assert (found and found.isoformat()) == read


@given(st.dates(date(1000, 1, 1), date(9998, 12, 31)), st.sampled_from(TAGS))
def test_what_every_language_writes_it_reads(day: date, tag: str) -> None:
    """PERIODIC-2: names, long dates and ordinals."""
    language = locale(tag)
    for pattern in ("LL", "L", "dddd, D MMMM YYYY", "ddd D MMM YYYY", "Do MMMM YYYY", "LLLL"):
        found = parse_moment(format_moment(day, pattern, language), pattern, language)
        assert found is not None, (tag, pattern)
        assert found.date() == day


def test_a_name_without_a_year_says_nothing_without_a_present_day() -> None:
    assert parse_moment("04-05", "MM-DD") is None


FORMATS = ["YYYY-MM-DD", "D.M.YYYY", "dddd, Do MMMM YYYY", "YYYY/MMM/DD", "GGGG-[W]WW-E", "gggg-[W]ww e", "YYYY DDD"]
LOCALES = [ENGLISH, locale("en-gb"), locale("de"), locale("ar"), locale("fi"), ENGLISH.with_first_day(6)]


@given(st.dates(date(1000, 1, 1), date(9998, 12, 31)), st.sampled_from(FORMATS), st.sampled_from(LOCALES))
def test_every_date_is_read_back_from_its_name(day: date, pattern: str, language: Locale) -> None:
    """PERIODIC-3"""
    found = parse_moment(format_moment(day, pattern, language), pattern, language)
    assert found is not None
    assert found.date() == day


@given(st.dates(), st.integers(0, 6), st.sampled_from([4, 6, 7, 12]))
def test_the_weeks_of_every_rule_follow_each_other(day: date, first_day: int, doy: int) -> None:
    """PERIODIC-2"""
    year, week = week_of(day, first_day, doy)

    assert 1 <= week <= 53
    assert abs(year - day.year) <= 1
    start = week_start(year, week, first_day, doy)
    if start is not None:  # None: the week began before the year 1
        assert 0 <= (day - start).days <= 6
        assert start.isoweekday() % 7 == first_day
    assert (first_day, doy) != (1, 4) or (year, week) == day.isocalendar()[:2]


@given(st.text(), st.text())
def test_no_text_and_no_format_break_anything(text: str, pattern: str) -> None:
    written = format_moment(NOW, pattern)
    assert written or not re.sub(r"\[\]|z|\\", "", pattern)  # z is the name of a zone, and this time has none
    assert format_moment(NOW, f"[{text}]") == text or "[" in text or "]" in text
    found = parse_moment(text, pattern, today=date(2026, 11, 22))
    assert found is None or found.tzinfo is None
