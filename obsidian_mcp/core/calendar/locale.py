"""How a language counts weeks and names days, as moment 2.30 does (specs/periodic.md, PERIODIC-2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import lru_cache

from .locale_forms import FORMS, Forms

_WEEKS = {
    (0, 6): "en en-ca pt-br ja ko zh-tw he hi id th",
    (1, 4): "en-gb de fr es it nl pl pt ru sv da nb nn fi cs hu zh-cn vi ca el sk",
    (0, 4): "en-au",
    (1, 7): "tr uk ro",
    (6, 12): "ar fa",
}
_WEEK_RULES = {tag: rule for rule, tags in _WEEKS.items() for tag in tags.split()}
_SAME = {"zh": "zh-cn", "zh-hans": "zh-cn", "zh-hant": "zh-tw", "zh-hk": "zh-tw", "no": "nb"}

WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
"""English names of the days, in lower case, from Sunday: the values of `weekStart` in settings."""

_SHORTENED = re.compile(r"\[[^\[]*\]|MMMM|MM|DD|dddd")
_ENDINGS = {  # that are read behind the day of a month, where it is not the one that is written
    "en": "th|st|nd|rd",
    "fr": "er|",
    "ca": "r|n|t|è|a",
    "nl": "ste|de",
    "sv": ":e|:a",
    "ko": "일|월|주",
    "zh-cn": "日|月|周",
    "zh-tw": "日|月|週",
    "ru": "-й|-го|-я",
    "uk": "-й|-го",
}
_TURKISH = {
    **dict.fromkeys((1, 5, 8, 70, 80), "'inci"),
    **dict.fromkeys((2, 7, 20, 50), "'nci"),
    **dict.fromkeys((3, 4, 100), "'üncü"),
    **dict.fromkeys((9, 10, 30), "'uncu"),
    **dict.fromkeys((0, 60, 90), "'ıncı"),
    6: "'ncı",
}


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


_COMMON = (Era(date.min, 1, "Anno Domini", "AD", "AD"),)
_JAPANESE = (
    Era(date(2019, 5, 1), 1, "令和", "㋿", "R"),
    Era(date(1989, 1, 8), 1, "平成", "㍻", "H"),
    Era(date(1926, 12, 25), 1, "昭和", "㍼", "S"),
    Era(date(1912, 7, 30), 1, "大正", "㍽", "T"),
    Era(date(1873, 1, 1), 6, "明治", "㍾", "M"),
    Era(date.min, 1, "西暦", "AD", "AD"),
)


@dataclass(frozen=True, slots=True)
class Locale:
    """A language: its weeks, and its forms (`locale_forms`) with the lists split.

    `first_day` is the first day of the week, 0 = Sunday. Week 1 of a year is the week that holds
    January (7 + `first_day` - `doy`). `months_alone` are the months without a day before them.
    """

    tag: str
    first_day: int
    doy: int = field(compare=False)
    months: tuple[str, ...] = field(compare=False)
    months_short: tuple[str, ...] = field(compare=False)
    weekdays: tuple[str, ...] = field(compare=False)
    weekdays_short: tuple[str, ...] = field(compare=False)
    weekdays_min: tuple[str, ...] = field(compare=False)
    months_alone: tuple[str, ...] = field(compare=False)
    months_short_alone: tuple[str, ...] = field(compare=False)
    forms: Forms = field(compare=False)
    dates: Mapping[str, str] = field(compare=False)
    """What `LT`, `LTS`, `L` to `LLLL` and `l` to `llll` stand for."""
    halves: tuple[tuple[int, str, str], ...] = field(compare=False)
    """Parts of the day: end (hours and minutes as one number), name, name in lower case."""

    @property
    def language(self) -> str:
        return "en" if self.tag.startswith("en") else self.tag

    @property
    def eras(self) -> tuple[Era, ...]:
        """The latest first."""
        return _JAPANESE if self.tag == "ja" else _COMMON

    def era(self, when: datetime) -> Era:
        """Return the era of a time."""
        return next(era for era in self.eras if when.date() >= era.first)

    def month_names(self, pattern: str, *, short: bool) -> tuple[str, ...]:
        """Return the months for `MMMM`, or `MMM`, in a format that `moment.expanded` gave."""
        declined = re.search(self.forms.declines, pattern, re.DOTALL) is not None
        if not short:
            return self.months if declined else self.months_alone
        if self.tag in ("es", "nl") and "-MMM-" in pattern:
            return tuple(name.rstrip(".") for name in self.months_short)
        return self.months_short if declined else self.months_short_alone

    def weekday_names(self, pattern: str) -> tuple[str, ...]:
        """Return the weekdays for `dddd` in a format that `moment.expanded` gave."""
        for form, names in self.forms.cases:
            if re.search(form, pattern):
                return tuple(names.split("|"))
        return self.weekdays

    def ordinal(self, number: int, unit: str = "D") -> str:
        """Return a number as the language counts a unit (`D`, `M`, `w`…): `22nd`, `22.`, `1er`."""
        is_week, is_day = unit in ("w", "W"), unit in ("D", "d", "DDD")
        match self.language:
            case "en":
                ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
                return f"{number}{'th' if 10 < number % 100 < 20 else ending}"
            case "fr":
                ending = ("re" if is_week else "er") if number == 1 else "" if unit == "D" else "e"
            case "ca":
                ending = "a" if is_week else {1: "r", 2: "n", 3: "r", 4: "t"}.get(number, "è")
            case "nl":
                ending = "ste" if number in (1, 8) or number >= 20 else "de"
            case "sv":
                ending = ":a" if number % 10 in (1, 2) and number % 100 // 10 != 1 else ":e"
            case "tr":
                tens = number % 100 - number % 10
                last = number % 10 if number % 10 or not number else tens or 100
                ending = "" if unit in ("D", "d") else _TURKISH[last]
            case "ja" if unit == "y":
                return "元年" if number == 1 else f"{number}年"
            case _:
                endings = self.forms.ordinal.split("|")
                place = 0 if unit == "D" else 1 if is_day else 2 if unit == "M" else 3 if is_week else 4
                ending = endings[0] if len(endings) == 1 else [*endings, ""][place]
        return f"{number}{ending}"

    def ordinal_pattern(self) -> str:
        """Return a regular expression for the ordinal of a day, with any ending that moment takes."""
        endings = _ENDINGS.get(self.language) or re.escape(self.forms.ordinal.partition("|")[0])
        return f"[0-9]{{1,2}}(?:{endings})"

    def meridiem(self, hour: int, minute: int, *, lower: bool = False) -> str:
        """Return the half or part of the day."""
        return next(names[lower] for end, *names in self.halves if hour * 100 + minute < end)

    def meridiem_pattern(self) -> str:
        """Return a regular expression for `meridiem` in a text."""
        if self.halves[0][1] == "AM":
            return r"[AaPp]\.?[Mm]?\.?"
        names = {name for _, *both in self.halves for name in both}
        found = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        return found if self.tag in ("id", "tr", "uk") else f"(?i:{found})"

    def hour_of(self, hour: int, minute: int, part: str) -> int:
        """Return which hour of the day is meant by an hour of at most twelve in a part of the day."""
        part = part.lower()
        if self.halves[0][1] == "AM":
            part = "pm" if part.startswith("p") else "am"
        candidates = (hour % 12, hour % 12 + 12)
        named = [found for found in candidates if self.meridiem(found, minute).lower() == part]
        named += [found for found in candidates if self.meridiem(found, minute, lower=True).lower() == part]
        ends = [end for end, *names in self.halves if part in (name.lower() for name in names)]
        return named[0] if named else candidates[bool(ends) and max(ends) > 1200]

    def starting(self, first_day: int | None) -> Locale:
        """This locale with weeks from another day (0 = Sunday); None changes nothing."""
        return self if first_day is None else replace(self, first_day=first_day)


@lru_cache(maxsize=64)
def locale(tag: str = "en") -> Locale:
    """Return the locale of a language tag such as `en-gb`, `de_AT` or `zh-TW`; English where it is unknown."""
    tag = tag.strip().lower().replace("_", "-")
    while tag and tag not in _WEEK_RULES:
        tag = _SAME.get(tag) or tag.rpartition("-")[0]
    tag = tag or "en"
    forms = FORMS[tag]
    months, short = tuple(forms.months.split("|")), tuple(forms.months_short.split("|"))
    return Locale(
        tag,
        *_WEEK_RULES[tag],
        months,
        short,
        tuple(forms.weekdays.split("|")),
        tuple(forms.weekdays_short.split("|")),
        tuple(forms.weekdays_min.split("|")),
        tuple(forms.months_alone.split("|")) if forms.months_alone else months,
        tuple(forms.months_short_alone.split("|")) if forms.months_short_alone else short,
        forms,
        _dates(forms),
        tuple(map(_half, forms.halves.split("|"))),
    )


def _dates(forms: Forms) -> Mapping[str, str]:
    long = dict(zip(("LT", "L", "LL", "LLL", "LLLL"), forms.dates.split("|"), strict=True))
    seconds = re.sub("(?<=m)(?= |$)", ":ss", long["LT"], count=1)
    short = {
        key.lower(): _SHORTENED.sub(lambda found: found[0] if found[0].startswith("[") else found[0][1:], value)
        for key, value in long.items()
        if key != "LT"
    }
    return {"LTS": seconds, **long, **short, **forms.other_dates}


def _half(text: str) -> tuple[int, str, str]:
    end, _, names = text.partition(" ")
    name, _, lower = names.partition("/")
    return int(end), name, lower or name.lower()


ENGLISH = locale("en")
"""The app's language where nothing says otherwise (PERIODIC-2)."""
