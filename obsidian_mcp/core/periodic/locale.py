"""How a language counts weeks and names days, as moment 2.30 does (specs/periodic.md, PERIODIC-2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

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

_ENGLISH = (
    "January|February|March|April|May|June|July|August|September|October|November|December",
    "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec",
    "Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday",
    "Sun|Mon|Tue|Wed|Thu|Fri|Sat",
    "Su|Mo|Tu|We|Th|Fr|Sa",
)

_LONG_DATES = {  # time, short date, long date, long date with weekday
    "en": ("h:mm A", "MM/DD/YYYY", "MMMM D, YYYY", "dddd, MMMM D, YYYY"),
    "en-ca": ("h:mm A", "YYYY-MM-DD", "MMMM D, YYYY", "dddd, MMMM D, YYYY"),
    "en-gb": ("HH:mm", "DD/MM/YYYY", "D MMMM YYYY", "dddd, D MMMM YYYY"),
    "en-au": ("h:mm A", "DD/MM/YYYY", "D MMMM YYYY", "dddd, D MMMM YYYY"),
    "de": ("HH:mm", "DD.MM.YYYY", "D. MMMM YYYY", "dddd, D. MMMM YYYY"),
    "es": ("H:mm", "DD/MM/YYYY", "D [de] MMMM [de] YYYY", "dddd, D [de] MMMM [de] YYYY"),
    "nl": ("HH:mm", "DD-MM-YYYY", "D MMMM YYYY", "dddd D MMMM YYYY"),
    "pl": ("HH:mm", "DD.MM.YYYY", "D MMMM YYYY", "dddd, D MMMM YYYY"),
    "pt": ("HH:mm", "DD/MM/YYYY", "D [de] MMMM [de] YYYY", "dddd, D [de] MMMM [de] YYYY"),
    "pt-br": ("HH:mm", "DD/MM/YYYY", "D [de] MMMM [de] YYYY", "dddd, D [de] MMMM [de] YYYY"),
    "ru": ("H:mm", "DD.MM.YYYY", "D MMMM YYYY г.", "dddd, D MMMM YYYY г.,"),
    "sv": ("HH:mm", "YYYY-MM-DD", "D MMMM YYYY", "dddd D MMMM YYYY [kl.]"),
    "ja": ("HH:mm", "YYYY/MM/DD", "YYYY年M月D日", "YYYY年M月D日 dddd"),
    "ko": ("A h:mm", "YYYY.MM.DD.", "YYYY년 MMMM D일", "YYYY년 MMMM D일 dddd"),
    "zh-cn": ("HH:mm", "YYYY/MM/DD", "YYYY年M月D日", "YYYY年M月D日dddd"),
    "zh-tw": ("HH:mm", "YYYY/MM/DD", "YYYY年M月D日", "YYYY年M月D日dddd"),
    "cs": ("H:mm", "DD.MM.YYYY", "D. MMMM YYYY", "dddd D. MMMM YYYY"),
    "tr": ("HH:mm", "DD.MM.YYYY", "D MMMM YYYY", "dddd, D MMMM YYYY"),
}
_OTHER_DATES = ("HH:mm", "DD/MM/YYYY", "D MMMM YYYY", "dddd D MMMM YYYY")

_COUNTERS = {  # endings of a counted day, month and week
    **dict.fromkeys(["de", "da", "nb", "nn", "fi", "cs", "hu", "sk", "pl"], (".", ".", ".")),
    **dict.fromkeys(["es", "it", "pt", "pt-br"], ("º", "º", "º")),
    "ja": ("日", "", ""),
    "zh-cn": ("日", "月", "周"),
    "zh-tw": ("日", "月", "週"),
    "ko": ("일", "월", "주"),
}

_HALVES = {"ja": ("午前", "午後"), "ko": ("오전", "오후")}
_CHINESE_HOURS = ((600, "凌晨"), (900, "早上"), (1130, "上午"), (1230, "中午"), (1800, "下午"), (2400, "晚上"))
"""The parts of a day in Chinese, and when they end (hours and minutes as one number)."""


@dataclass(frozen=True, slots=True)
class Locale:
    """A language: its weeks, and its names of months and days.

    `first_day` is the first day of the week, 0 = Sunday. Week 1 of a year is the week that holds
    January (7 + `first_day` - `doy`). `months_alone` are the months without a day before them.
    """

    tag: str
    first_day: int
    doy: int
    months: tuple[str, ...]
    months_short: tuple[str, ...]
    weekdays: tuple[str, ...]
    weekdays_short: tuple[str, ...]
    weekdays_min: tuple[str, ...]
    months_alone: tuple[str, ...]
    time: str
    date: str
    long_date: str
    full_date: str

    def ordinal(self, number: int, unit: str = "D") -> str:
        """Return a number as the language counts a unit (`D`, `M`, `w`): `22nd`, `22.`, `1er`."""
        if self.tag.startswith("en"):
            ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
            return f"{number}{'th' if 10 < number % 100 < 20 else ending}"
        if self.tag == "fr":
            if number == 1:
                return "1re" if unit in "wW" else "1er"
            return str(number) if unit == "D" else f"{number}e"
        kind = 0 if unit[0] in "dD" else {"M": 1, "w": 2, "W": 2}.get(unit, 3)
        endings = _COUNTERS.get(self.tag, ("", "", ""))
        return f"{number}{(*endings, endings[0] if endings[0] == endings[1] else '')[kind]}"

    def ordinal_pattern(self) -> str:
        """Return a regular expression for the ordinal of a day; English takes any of its endings."""
        if self.tag.startswith("en"):
            return "[0-9]{1,2}(?:th|st|nd|rd)"
        ending = "(?:er)?" if self.tag == "fr" else re.escape(_COUNTERS.get(self.tag, ("",))[0])
        return "[0-9]{1,2}" + ending

    def meridiem(self, hour: int, minute: int, *, lower: bool = False) -> str:
        """Return the half of the day, or in Chinese the part of the day."""
        if self.tag in ("zh-cn", "zh-tw"):
            return next(name for end, name in _CHINESE_HOURS if hour * 100 + minute < end)
        name = _HALVES.get(self.tag, ("AM", "PM"))[hour >= 12]
        return name.lower() if lower else name

    def meridiem_pattern(self) -> str:
        """Return a regular expression for `meridiem`; a part of the afternoon is in its first group."""
        if self.tag in ("zh-cn", "zh-tw"):
            return "(中午|下午|晚上)|凌晨|早上|上午"
        if self.tag in _HALVES:
            return "({1})|{0}".format(*_HALVES[self.tag])
        return r"([Pp]\.?[Mm]?\.?)|[Aa]\.?[Mm]?\.?"

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
    first_day, doy = _WEEK_RULES[tag]
    names: tuple[str, ...] = _ENGLISH
    if not tag.startswith("en"):
        from .locale_names import NAMES

        names = NAMES.get(tag) or NAMES[tag.partition("-")[0]]
    months, months_short, weekdays, weekdays_short, weekdays_min = (tuple(row.split("|")) for row in names[:5])
    months_alone = tuple(names[5].split("|")) if len(names) > 5 else months
    return Locale(
        tag,
        first_day,
        doy,
        months,
        months_short,
        weekdays,
        weekdays_short,
        weekdays_min,
        months_alone,
        *_LONG_DATES.get(tag, _OTHER_DATES),
    )


ENGLISH = locale("en")
"""The app's language where nothing says otherwise (PERIODIC-2)."""
