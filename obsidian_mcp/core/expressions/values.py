"""Values of expressions (EXPR-01): these, None, bool, float (no int, as in JavaScript), str, list, dict. Arithmetic of
dates (EXPR-10 to EXPR-12), the vault as queries see it (EXPR-40 to EXPR-42), and the memory that values may take
(EXPR-60 to EXPR-62): all that can grow is charged before it is built."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol

from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.errors import QueryInvalid

Value = Any
"""None, bool, float, str, list, dict, Date, Duration, Link, File, RegExp, or a type of one language alone."""


class ExpressionError(Exception):
    """An expression that has no value for one row. `message` is in the words of the app or plugin."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


MAX_VALUE_DEPTH = 40
"""Lists and objects inside each other in a cell or text, or in values that are compared."""


def check_depth(depth: int) -> None:
    """Raises: ExpressionError for a value that is nested too deep."""
    if depth >= MAX_VALUE_DEPTH:
        raise ExpressionError(f"The value is nested more than {MAX_VALUE_DEPTH} deep.")


@dataclass(frozen=True, slots=True)
class LinkValue:
    """A link as written: `path` without the `subpath`, which begins with `#`; `display` is None where not written."""

    path: str
    subpath: str = ""
    display: str | None = None
    embed: bool = False
    source: str = ""
    """Path of the file from which the link is resolved; empty for the vault's root."""

    @property
    def target(self) -> str:
        return self.path + self.subpath


class File(NamedTuple):
    """A file of the vault; a query makes one for each, so it is a tuple."""

    path: str
    size: int = 0
    """Bytes."""
    modified_ns: int = 0
    """Nanoseconds since 1970, UTC. `VaultView.created_ns` has the time of creation."""

    @property
    def name(self) -> str:
        """With extension."""
        return self.path.rpartition("/")[2]

    @property
    def basename(self) -> str:
        stem, dot, _ = self.name.rpartition(".")
        return stem if dot and stem else self.name

    @property
    def extension(self) -> str:
        """Without dot; empty where there is none."""
        stem, dot, extension = self.name.rpartition(".")
        return extension if dot and stem else ""

    @property
    def folder(self) -> str:
        """Path of the folder; empty at the vault's root."""
        return self.path.rpartition("/")[0]


def from_json(raw: Value, read_text: Callable[[str], Value] = str) -> Value:
    """A value of a note's frontmatter with every number as float; texts at any depth are what `read_text` makes of
    them."""
    match raw:
        case str():
            return read_text(raw)
        case bool() | None | float():
            return raw
        case int():
            try:
                return float(raw)
            except OverflowError:
                return float("inf") if raw > 0 else float("-inf")
        case list():
            return [from_json(item, read_text) for item in raw]
        case dict():
            return {str(key): from_json(item, read_text) for key, item in raw.items()}
        case _:
            return str(raw)


YEAR_DAYS = 365
MONTH_DAYS = 30
DAY_MS = 86_400_000
UNIT_MS = {
    "years": YEAR_DAYS * DAY_MS, "months": MONTH_DAYS * DAY_MS, "weeks": 7 * DAY_MS, "days": DAY_MS,
    "hours": 3_600_000, "minutes": 60_000, "seconds": 1000, "milliseconds": 1,
}  # fmt: skip
"""Length of each unit of a duration, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Date:
    """A moment, to the millisecond. `has_time` is False for a date that was written without a time of day."""

    moment: datetime
    has_time: bool = True

    @property
    def milliseconds(self) -> float:
        """Milliseconds since 1970, UTC: the instant."""
        return float((clock.instant(self.moment) + 500) // 1000)


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time whose units are kept apart. Fractions and negative numbers are possible in every unit."""

    years: float = 0.0
    months: float = 0.0
    weeks: float = 0.0
    days: float = 0.0
    hours: float = 0.0
    minutes: float = 0.0
    seconds: float = 0.0
    milliseconds: float = 0.0

    @property
    def time_ms(self) -> float:
        """Hours and smaller units, in milliseconds."""
        return (
            self.hours * 3_600_000 + self.minutes * 60_000 + self.seconds * 1000 + self.milliseconds
        )

    @property
    def total_ms(self) -> float:
        """The whole in milliseconds, a month as 30 and a year as 365 days."""
        days = self.years * YEAR_DAYS + self.months * MONTH_DAYS + self.weeks * 7 + self.days
        return days * DAY_MS + self.time_ms

    def scale(self, factor: float) -> Duration:
        return Duration(*(getattr(self, unit) * factor for unit in UNITS))

    def plus(self, other: Duration) -> Duration:
        return Duration(*(getattr(self, unit) + getattr(other, unit) for unit in UNITS))


UNITS = tuple(unit.name for unit in fields(Duration))
"""From `years` to `milliseconds`."""


def from_milliseconds(instant: float) -> Date:
    """The local date and time of an instant in milliseconds since 1970. Raises: ExpressionError."""
    try:
        return Date(clock.local(round(instant * 1000)))
    except (OverflowError, ValueError):
        raise _out_of_range() from None


def from_nanoseconds(instant: int) -> Date:
    """The local date and time of a file's timestamp, cut to milliseconds."""
    return from_milliseconds(instant // 1_000_000)


def day_of(date: Date) -> Date:
    """The local midnight of a date's own day."""
    return Date(
        date.moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None), has_time=False
    )


def shift(date: Date, duration: Duration, *, elapsed: bool) -> Date:
    """The date later by a duration. Years and months move on the calendar, clamped to the month's end, weeks and days
    on the local clock, the rest there too or, with `elapsed`, by the time that passes. Raises: ExpressionError."""
    months = math.trunc(_finite(duration.years)) * 12 + math.trunc(_finite(duration.months))
    fraction_days = (
        math.fmod(duration.years, 1) * YEAR_DAYS + math.fmod(duration.months, 1) * MONTH_DAYS
    )
    weeks, days = _finite(duration.weeks), _finite(duration.days)
    whole_days = math.trunc(weeks) * 7 + math.trunc(days)
    fraction_days += math.fmod(weeks, 1) * 7 + math.fmod(days, 1)
    try:
        rest = timedelta(milliseconds=duration.time_ms + fraction_days * DAY_MS)
        moment = clock.on_the_clock(
            clock.shift(date.moment, months, "M") + timedelta(days=whole_days)
        )
        if rest:
            moment = clock.later(moment, rest) if elapsed else clock.on_the_clock(moment + rest)
    except (OverflowError, ValueError):
        raise _out_of_range() from None
    return replace(date, moment=moment)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise _out_of_range()
    return number


def _out_of_range() -> ExpressionError:
    return ExpressionError("The date lies outside the years 1 to 9999.")


Place = Literal["property", "link", "embed"]


class WrittenLink(NamedTuple):
    """A link of a file as its text has it."""

    path: str
    subpath: str
    """Begins with `#`, or is empty."""
    display: str | None
    """None where none is written."""
    place: Place
    """In a property, in the text, or embedded in the text."""


class VaultView(Protocol):
    """One consistent view of the vault. Links may lead to excluded files; `files` does not list them."""

    def files(self) -> Sequence[File]:
        """Every file that is neither hidden nor excluded, by path."""

    def created_ns(self, path: str) -> int:
        """When a file was created, in nanoseconds since 1970, UTC."""

    def file(self, path: str) -> File | None:
        """The file at exactly this path."""

    def resolve(self, linkpath: str, source: str) -> str | None:
        """Path of the file that a link in `source` leads to; an empty `linkpath` is `source` itself."""

    def column(self, name: str) -> Mapping[str, Value]:
        """One property, named in lower case, of every note that has it, by path; numbers are floats, all read-only."""

    def properties(self, path: str) -> Mapping[str, Value]:
        """All properties of a note as its YAML has them, in the order written; names as written."""

    def tags(self, path: str) -> Sequence[str]:
        """Every tag of a file as written, without `#`: those of the properties, then those of the text, repeated."""

    def links(self, path: str) -> Sequence[WrittenLink]:
        """Links of the properties, then of the text in its order, embeds among them."""

    def targets(self, path: str) -> Collection[str]:
        """Paths of the files that the links of a file lead to."""

    def backlinks(self, path: str) -> Sequence[str]:
        """Paths of the files that link to or embed this one, by path; itself among them where it does."""


QUERY_UNITS = 12_000_000
"""Units one query may hold: a unit is one character (1 to 4 bytes); a list item counts ITEM_UNITS."""
ROW_UNITS = 1_000_000
"""Units that the expressions of one row may build."""
ITEM_UNITS = 16
"""Units of one list item, object entry or cell."""
SCALAR_UNITS = 8
"""Units of a number, boolean or null that a row keeps."""
_TICKS = 64
"""Steps between two looks at the deadline."""
_LARGE = 20_000
"""Units from which a single operation takes long enough to look at the deadline."""


class Budget:
    """Counts what a query builds. One per run; not shared between threads."""

    def __init__(self, query_units: int = QUERY_UNITS, row_units: int = ROW_UNITS) -> None:
        self._query_units = query_units
        self._row_units = row_units
        self._held = 0
        """Units that all rows so far keep."""
        self._row_held = 0
        self._row = 0
        """Units built for the present row, most of which are gone soon."""
        self._ticks = 0

    def charge(self, units: float) -> None:
        """Count what is about to be built for the present row. Raises: ExpressionError, OperationTimeout."""
        self._row += int(min(units, self._row_units + 1))
        if self._row > self._row_units:
            raise ExpressionError(
                f"The expression builds more than {self._row_units:,} characters for one row and was stopped."
            )
        if units > _LARGE:
            checkpoint()

    def charge_items(self, count: int) -> None:
        """As `charge`, for the items of a list."""
        self.charge(count * ITEM_UNITS)

    def join(self, texts: Iterable[str], separator: str = ", ") -> str:
        """Return the texts with a separator between them, each charged before the next one is made."""
        parts = []
        for text in texts:
            self.charge(len(text) + len(separator))
            parts.append(text)
        return separator.join(parts)

    def hold(self, value: Value) -> None:
        """Count a value that the present row keeps until the query ends."""
        if isinstance(value, str):
            self._row_held += len(value)
            return
        if value is None or isinstance(value, bool | float):
            self._row_held += SCALAR_UNITS
            return
        match value:
            case list() if not any(isinstance(item, list | dict) for item in value):
                texts = sum(len(item) for item in value if isinstance(item, str))
                self._row_held += ITEM_UNITS + ITEM_UNITS * len(value) + texts
            case list() | dict():
                self._row_held += ITEM_UNITS + self._row
            case _:
                self._row_held += ITEM_UNITS

    def tick(self) -> None:
        """Call once per step of a loop. Raises: OperationTimeout."""
        self._ticks += 1
        if self._ticks >= _TICKS:
            self._ticks = 0
            checkpoint()

    def end_row(self, *, kept: bool) -> None:
        """Begin the next row; only what is `kept` counts on. Raises: QueryInvalid, OperationTimeout."""
        if kept and self._row_held:
            self._held += self._row_held
            if self._held > self._query_units:
                raise QueryInvalid(
                    "The query holds more than fits in memory and was stopped. Filter the rows further, "
                    "or make its texts and lists shorter."
                )
        self._row = self._row_held = 0
        self.tick()
