"""Parse dates in a query, in several languages, and list the spellings that notes use
(SEARCH-59)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from obsidian_mcp.core.text import analysis
from obsidian_mcp.core.text.text import Span

_NAMES = (
    "january jan januar jänner janvier enero gennaio janeiro januari января январь",
    "february feb februar février febrero febbraio fevereiro februari февраля февраль",
    "march mar märz mars marzo março maart марта март",
    "april apr avril abril aprile апреля апрель",
    "may mai mayo maggio maio mei мая май",
    "june jun juni juin junio giugno junho июня июнь",
    "july jul juli juillet julio luglio julho июля июль",
    "august aug août agosto augustus августа август",
    "september sep sept septembre septiembre settembre setembro сентября сентябрь",
    "october oct oktober okt octobre octubre ottobre outubro октября октябрь",
    "november nov novembre noviembre novembro ноября ноябрь",
    "december dec dezember dez décembre diciembre dicembre dezembro декабря декабрь",
)
NAMES = tuple(tuple(names.split()) for names in _NAMES)
"""Names of each month, from January on."""
MONTH_OF = {name: number for number, names in enumerate(NAMES, 1) for name in names}
"""Numbers of the months by their names."""
_WORDS_TOO = {"may", "mar", "mars", "mai", "jan", "sep", "dec", "mei", "nov", "aug"}
"""Names of months that usually mean something else without a day or year beside them."""

# Compiled when first used: most searches have no date.
_DAY = r"(\d{1,2})(?:st|nd|rd|th|er|º|ª)?\.?"
_YEAR = r"(?:19|20)\d\d"
_BIG_FIRST = r"((?:19|20)\d\d)([-/.])(\d{1,2})(?:\2(\d{1,2}))?"
_SMALL_FIRST = r"(\d{1,2})([-/.])(\d{1,2})\2((?:19|20)\d\d)"
_CJK = r"(?:((?:19|20)\d\d)[年년])?(\d{1,2})[月월](?:(\d{1,2})[日号號일])?"
LONGEST = 3
"""Most words of one date in a query: `5th March 2024`."""


class DatePattern(NamedTuple):
    """A day, a day of any year, a month, or a month of any year."""

    month: int
    day: int | None = None
    year: int | None = None

    @property
    def is_month_alone(self) -> bool:
        return self.day is None and self.year is None

    def find_next_day(self) -> DatePattern | None:
        """Return the day after; None unless this is a day of a known year that exists."""
        if self.day is None or self.year is None:
            return None
        try:
            day_after = dt.date(self.year, self.month, self.day) + dt.timedelta(days=1)
        except (ValueError, OverflowError):
            return None
        return DatePattern(day_after.month, day_after.day, day_after.year)

    def find_month(self) -> DatePattern | None:
        """Return the month of a day of a known year; None for everything else."""
        if self.day is None or self.year is None:
            return None
        return DatePattern(self.month, None, self.year)

    @property
    def text(self) -> str:
        """As ISO 8601 has it, as far as it is known."""
        parts = (self.year and f"{self.year}", f"{self.month:02}", self.day and f"{self.day:02}")
        return "-".join([part for part in parts if part])

    def phrases(self, is_known: Callable[[str], bool]) -> dict[tuple[str, ...], None]:
        """Return the spellings of the date as words that follow each other; `is_known` says which
        names the vault has."""
        if self.is_month_alone:
            return {(analysis.GAP, f"{self.month:02}", analysis.GAP): None}
        return dict.fromkeys(
            analysis.parse_sought_words(spelling).words for spelling in self._spellings(is_known)
        )

    def _spellings(self, is_known: Callable[[str], bool]) -> Iterator[str]:
        year, month, day = (
            self.year,
            f"{self.month:02}",
            "" if self.day is None else f"{self.day:02}",
        )
        names = [name for name in NAMES[self.month - 1] if is_known(name)]
        if not day:
            yield from (f"{year}-{month}", f"{year}年{self.month}月", f"{month}/{year}")
            yield from (f"{name}{mark} {year}" for name in names for mark in ("", ","))
        else:
            yield from self._spell_day(year, month, day, names)

    def _spell_day(
        self, year: int | None, month: str, day: str, names: Sequence[str]
    ) -> Iterator[str]:
        yield (
            f"{self.month}月{self.day}日" if year is None else f"{year}年{self.month}月{self.day}日"
        )
        yield f"{month}-{day}" if year is None else f"{year}-{month}-{day}"
        if year is not None:
            yield from (
                f"{year}{month}{day}",
                f"{day}.{month}.{year}",
                f"{self.day}.{self.month}.{year}",
            )
        for name in names:
            for written in dict.fromkeys((str(self.day), day)):
                before, after = ("", "") if year is None else (f" {year}", f", {year}")
                yield from (
                    f"{name} {written}{before}",
                    f"{written} {name}{before}",
                    f"{written}. {name}{before}",
                )
                if after:
                    yield f"{name} {written}{after}"
                    yield f"{written} {name}{after}"


def read_date(words: Sequence[str]) -> tuple[DatePattern, int] | None:
    """Return the date at the beginning of some folded words, without `of`, and how many words it
    has."""
    alone = _read_numeric_date(words[0]) if words else None
    return _read_named_date(words[:LONGEST]) if alone is None else (alone, 1)


def find_date_inside(word: str) -> tuple[DatePattern, Span] | None:
    """Return a date like `3月5日` in a folded word, and where it is."""
    if word.isascii():
        return None
    match = re.search(_CJK, word)
    if match is None or (match.start() and analysis.is_spaced(word[match.start() - 1])):
        return None
    date = _date(match[2], match[3], match[1])
    return (date, Span(*match.span())) if date else None


def _read_numeric_date(word: str) -> DatePattern | None:
    if match := re.fullmatch(_BIG_FIRST, word):
        return _date(match[3], match[4], match[1])
    if match := re.fullmatch(_SMALL_FIRST, word):
        first, second = match[1], match[3]
        european = match[2] != "/" or int(first) > 12
        return _date(second, first, match[4]) if european else _date(first, second, match[4])
    return None


def _read_named_date(words: Sequence[str]) -> tuple[DatePattern, int] | None:
    month = day = year = None
    end = 0
    for end_of_word, word in enumerate(words, 1):
        bare = word.rstrip(".,")
        if month is None and bare in MONTH_OF:
            month = bare
        elif day is None and year is None and (day_match := re.fullmatch(_DAY, word.rstrip(","))):
            day = day_match[1]
        elif month is not None and year is None and re.fullmatch(_YEAR, bare):
            year = bare
        else:
            break
        end = end_of_word
    if month is None or (day is None and year is None and month in _WORDS_TOO):
        return None
    date = _date(str(MONTH_OF[month]), day, year)
    return (date, end) if date else None


def _date(month: str, day: str | None, year: str | None) -> DatePattern | None:
    month_number, day_number = int(month), int(day) if day else None
    if not 1 <= month_number <= 12 or not (day_number is None or 1 <= day_number <= 31):
        return None
    return DatePattern(month_number, day_number, int(year) if year else None)
