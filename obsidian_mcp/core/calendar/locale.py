"""How a language counts weeks and writes days, as moment 2.30 does (PERIODIC-2).

The app names daily notes with that library, so a note is found only by the very names, endings and
weeks that it has; Python's own locales differ, and depend on the system. The forms of each language
are an entry in `locales.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

_NOON = 1200
"""Hours and minutes as one number, as in `Locale.halves`."""
_FILE = Path(__file__).with_name("locales.json")
_SYNONYMS = {"zh": "zh-cn", "zh-hans": "zh-cn", "zh-hant": "zh-tw", "zh-hk": "zh-tw", "no": "nb"}

WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
"""English names of the days, in lower case, from Sunday: the values of `weekStart` in settings."""


@dataclass(frozen=True, slots=True)
class Era:
    """An era of a calendar, from its first day on; `offset` is the number of its first year."""

    first: date
    offset: int
    name: str
    narrow: str
    short: str

    def year(self, day: date) -> int:
        """Return the year of the era."""
        return day.year - self.first.year + self.offset


@dataclass(frozen=True, slots=True)
class Locale:
    """A language: its weeks and its forms.

    Names of weekdays begin with Sunday.
    """

    tag: str
    first_day: int
    """The day that begins the week, 0 = Sunday."""
    doy: int = field(compare=False)
    """Week 1 of a year holds January (7 + `first_day` - `doy`)."""
    months: Sequence[str] = field(compare=False)
    """As they are written behind a day, where a language declines them."""
    months_short: Sequence[str] = field(compare=False)
    weekdays: Sequence[str] = field(compare=False)
    weekdays_short: Sequence[str] = field(compare=False)
    weekdays_min: Sequence[str] = field(compare=False)
    dates: Mapping[str, str] = field(compare=False)
    """What `LT`, `LTS`, `L` to `LLLL` and `l` to `llll` stand for in a format."""
    ordinals: Sequence[tuple[str, str, str]] = field(compare=False)
    """Units (`*` is all), an expression for the number, and how such a number is counted.

    The first row that fits holds.
    """
    ordinal_endings: str = field(compare=False)
    """An expression for the endings that are read behind the day of a month."""
    months_alone: Sequence[str] = field(compare=False, default=())
    """As they are written without a day before them; empty: the same."""
    months_short_alone: Sequence[str] = field(compare=False, default=())
    months_short_read: Sequence[str] = field(compare=False, default=())
    """Short names that are read beside those that are written."""
    dotless_between_hyphens: bool = field(compare=False, default=False)
    """Whether `-MMM-` is written without full stops."""
    declines: str = field(compare=False, default=r"D[oD]?(?:\[[^\[\]]*\]|\s)+MMMM?")
    """A format in which the months are written as behind a day."""
    cases: Sequence[tuple[str, Sequence[str]]] = field(compare=False, default=())
    """Formats in which the weekdays are written otherwise, and how."""
    halves: Sequence[tuple[int, str, str]] = field(
        compare=False, default=((1200, "AM", "am"), (2400, "PM", "pm"))
    )
    """Parts of the day: end (hours and minutes as one number), name, name in lower case."""
    halves_keep_case: bool = field(compare=False, default=False)
    """Whether names of parts of the day are read only as they are written."""
    digits: str = field(compare=False, default="")
    """The ten digits, and the comma where it differs."""
    eras: Sequence[Era] = field(
        compare=False, default=(Era(date.min, 1, "Anno Domini", "AD", "AD"),)
    )
    """The latest first."""

    def era(self, when: datetime) -> Era:
        """Return the era of a time."""
        return next(era for era in self.eras if when.date() >= era.first)

    def month_names(self, pattern: str, *, short: bool) -> Sequence[str]:
        """Return the months for `MMMM`, or `MMM`, in a format that `moment.expand_format` gave."""
        declined = re.search(self.declines, pattern, re.DOTALL) is not None
        if not short:
            return self.months if declined else self.months_alone or self.months
        if self.dotless_between_hyphens and "-MMM-" in pattern:
            return self.months_short_read
        return self.months_short if declined else self.months_short_alone or self.months_short

    def weekday_names(self, pattern: str) -> Sequence[str]:
        """Return the weekdays for `dddd` in a format that `moment.expand_format` gave."""
        return next(
            (names for form, names in self.cases if re.search(form, pattern)), self.weekdays
        )

    def ordinal(self, number: int, unit: str = "D") -> str:
        """Return a number as the language counts a unit (`D`, `M`, `w`…): `22nd`, `22.`, `1er`."""
        forms = (row for row in self.ordinals if row[0] == "*" or unit in row[0].split())
        return next(
            (form for _, numbers, form in forms if re.search(numbers, str(number))), "{}"
        ).format(number)

    def meridiem(self, hour: int, minute: int, *, lower: bool = False) -> str:
        """Return the half or part of the day."""
        return next(names[lower] for end, *names in self.halves if hour * 100 + minute < end)

    def meridiem_pattern(self) -> str:
        """Return a regular expression for `meridiem` in a text."""
        if self.halves[0][1] == "AM":
            return r"[AaPp]\.?[Mm]?\.?"
        names = {name for _, *spellings in self.halves for name in spellings}
        pattern = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        return pattern if self.halves_keep_case else f"(?i:{pattern})"

    def hour_of(self, hour: int, minute: int, part: str) -> int:
        """Return the hour of the day for an hour of a clock of twelve and a part of the day: 15 for
        `3 pm`.

        A part that is at neither of the two hours, as `noon` at 5, is in the afternoon if it ends
        after noon.
        """
        part = part.lower()
        if self.halves[0][1] == "AM":
            part = "pm" if part.startswith("p") else "am"
        candidates = (hour % 12, hour % 12 + 12)
        for lower in (False, True):
            for candidate in candidates:
                if self.meridiem(candidate, minute, lower=lower).lower() == part:
                    return candidate
        ends = [end for end, *names in self.halves if part in (name.lower() for name in names)]
        is_afternoon = bool(ends) and max(ends) > _NOON
        return candidates[is_afternoon]

    def with_first_day(self, first_day: int | None) -> Locale:
        """Return this locale with weeks from another day (0 = Sunday); None changes nothing."""
        return self if first_day is None else replace(self, first_day=first_day)


@lru_cache(maxsize=64)
def locale(tag: str = "en") -> Locale:
    """Return the locale of a language tag such as `en-gb`, `de_AT` or `zh-TW`.

    It is English where the tag is unknown.
    """
    tag = tag.strip().lower().replace("_", "-")
    while tag and tag not in _languages():
        tag = _SYNONYMS.get(tag) or tag.rpartition("-")[0]
    tag = tag or "en"
    forms = dict(_languages()[tag])
    first_day, doy = forms.pop("week")
    if "eras" in forms:
        forms["eras"] = [Era(date.fromisoformat(first), *names) for first, *names in forms["eras"]]
    return Locale(tag, first_day, doy, **forms)


@cache
def _languages() -> dict[str, dict[str, Any]]:
    languages: dict[str, dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return languages


ENGLISH = locale("en")
"""The app's language where nothing says otherwise (PERIODIC-2)."""
