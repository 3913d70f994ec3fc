"""The engine of date formats.

What the symbols mean is a table of each format: `moment` (PERIODIC-3), `luxon` (DV-76, DV-77).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from obsidian_mcp.core.text.table_file import read_rows

from . import clock
from .locale import Locale

FormatPart = tuple[str, bool]
"""A part of a format, and whether it is a symbol; otherwise it is literal."""
SymbolWriter = Callable[[datetime, Locale, str], str]
"""Writes one symbol of a time; the text is the whole format, which decides about cases in some
languages."""
Number = Callable[[datetime, Locale], int]


def write_parts(
    when: datetime,
    parts: Iterable[FormatPart],
    writers: Mapping[str, SymbolWriter],
    locale: Locale,
    pattern: str,
) -> str:
    """Return a time as the parts of a format write it."""
    return "".join(
        writers[text](when, locale, pattern) if is_symbol else text for text, is_symbol in parts
    )


def numbers(letters: str, widths: Sequence[int], value: Number) -> dict[str, SymbolWriter]:
    """Return writers of a number by each letter, as often as it has digits at least."""
    return {letter * width: number(width, value) for letter in letters for width in widths}


def number(width: int, value: Number) -> SymbolWriter:
    """Return a writer of a number with a least number of digits."""

    def write_number(at: datetime, locale: Locale, _: str) -> str:
        amount = value(at, locale)
        return f"-{-amount:0{width}}" if amount < 0 else f"{amount:0{width}}"

    return write_number


def text(value: Callable[[datetime, Locale], str]) -> SymbolWriter:
    """Return a writer that does not look at the whole format."""
    return lambda at, locale, _: value(at, locale)


def read_symbols(name: str) -> dict[str, tuple[str, str]]:
    """Return what each symbol of a table is read as: a field, and the expression for its text."""
    rows = read_rows(__file__, f"symbols/{name}")
    return {
        symbol: (field, expression)
        for symbols, field, expression in rows
        for symbol in symbols.split()
    }


def compile_format(
    parts: Iterable[FormatPart],
    find_pattern: Callable[[str], str | None],
    *,
    atomic: bool = False,
    flags: int = 0,
) -> tuple[re.Pattern[str] | None, tuple[str, ...]]:
    """Return the expression that a text of this format matches, and the symbol of each group.

    None instead of an expression: no text can be read by this format. With `atomic`, no symbol
    gives back what it has read, as in moment, which reads symbol by symbol.
    """
    expression = ""
    symbols: list[str] = []
    for part, is_symbol in parts:
        if not is_symbol:
            expression += re.escape(part)
            continue
        pattern = find_pattern(part)
        if pattern is None:
            return None, ()
        expression += f"((?>{pattern}))" if atomic else f"({pattern})"
        symbols.append(part)
    return re.compile(expression, flags), tuple(symbols)


NUMBERS: Mapping[str, Number] = {
    "year": lambda at, _: at.year,
    "year of century": lambda at, _: at.year % 100,
    "quarter": lambda at, _: (at.month + 2) // 3,
    "month": lambda at, _: at.month,
    "day": lambda at, _: at.day,
    "day of year": lambda at, _: at.timetuple().tm_yday,
    "iso weekday": lambda at, _: at.isoweekday(),
}
"""Those that both tables write by symbols of their own."""


def offset(separator: str) -> SymbolWriter:
    """Return a writer of how far a time is ahead of UTC."""
    return lambda at, _, __: write_offset(at, separator)


def write_offset(at: datetime, separator: str = ":") -> str:
    """Return how far a time is ahead of UTC: `+02:00`."""
    ahead = offset_minutes(at)
    return f"{'-' if ahead < 0 else '+'}{abs(ahead) // 60:02}{separator}{abs(ahead) % 60:02}"


def offset_minutes(at: datetime) -> int:
    """Return how many minutes a time is ahead of UTC."""
    return round(clock.offset(at).total_seconds() / 60)


COMMON: Mapping[str, SymbolWriter] = {
    **numbers("H", (1, 2), lambda at, _: at.hour),
    **numbers("h", (1, 2), lambda at, _: at.hour % 12 or 12),
    **numbers("m", (1, 2), lambda at, _: at.minute),
    **numbers("s", (1, 2), lambda at, _: at.second),
    **numbers("M", (1, 2), NUMBERS["month"]),
    **numbers("W", (1, 2), lambda at, _: at.isocalendar().week),
    "X": number(1, lambda at, _: clock.instant(at) // 1_000_000),
    "x": number(1, lambda at, _: clock.instant(at) // 1000),
}
"""What `H`, `m`, `W` and the like mean in either table."""
