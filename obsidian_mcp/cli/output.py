"""Answers for people: labelled columns, sizes in units, local times (specs/cli.md, CLI-11)."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import click

from obsidian_mcp.core.calendar import iso, zones
from obsidian_mcp.core.text.call import call_with

from .render import safe, width
from .stdout import write_bytes

SHOWN_AFTER_SECONDS: Final = 0.5
"""Work that is quicker shows no progress."""
_SIZES: Final = frozenset({"size", "bytes"})


def write(text: str) -> None:
    """Write UTF-8 to stdout with line ends as they are, whatever the system's habits."""
    write_bytes(text.encode("utf-8", "replace"))


def write_json(data: object) -> None:
    """Write data as JSON that people can read."""
    write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def readable(data: Mapping[str, Any], indent: str = "") -> str:
    """Return data as lines: `key: value`, lists of objects as tables with a line of titles, other lists a line each."""
    lines = []
    for key, value in data.items():
        label = f"{indent}{key.replace('_', ' ')}:"
        if isinstance(value, Mapping):
            lines.append(f"{label}\n{readable(value, indent + '  ')}")
        elif isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
            lines.append(f"{label}\n" + "".join(f"{indent}  {row}\n" for row in table(value)))
        elif isinstance(value, list):
            lines.append(f"{label}\n" + "".join(f"{indent}  {_cell(item)}\n" for item in value))
        elif isinstance(value, str) and "\n" in value:
            lines.append(f"{label}\n" + "".join(f"{indent}  {line}\n" for line in value.splitlines()))
        else:
            lines.append(f"{label} {_cell(value, key)}\n")
    return "".join(lines)


def table(rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Return the lines of a table: titles, then the rows; columns are as wide as their widest cell."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[key.replace("_", " ").upper() for key in keys]]
    cells += [[_cell(row.get(key, ""), key) for key in keys] for row in rows]
    return aligned(cells, [all(isinstance(row.get(key, 0), int | float) for row in rows) for key in keys])


def aligned(cells: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """Return a line for each row of cells, columns as wide as their widest cell; those of `right` end at the right."""
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(
            " " * (room - columns(cell)) + cell if to_right else cell + " " * (room - columns(cell))
            for cell, room, to_right in zip(line, widths, right, strict=True)
        ).rstrip()


def _cell(value: Any, key: str = "") -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    if isinstance(value, int) and key in _SIZES:
        return _size(value)
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_cell(member)}" for name, member in value.items())
    text = safe(str(value))
    return _local(text) if text.endswith("Z") and iso.read(text) else text


def _size(count: int) -> str:
    """A number of bytes with the unit in which it has at most three digits before the point."""
    if count < 1000:
        return f"{count} bytes"
    amount, units = float(count), iter(("kB", "MB", "GB", "TB"))
    unit = ""
    while amount >= 1000 and (unit_next := next(units, "")):
        amount, unit = amount / 1000, unit_next
    return f"{amount:.1f} {unit}"


def _local(time: str) -> str:
    return zones.local(zones.instant(datetime.fromisoformat(time))).isoformat(" ", "minutes")


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(map(width, text))


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show on a terminal how far the work of this block is, once it takes longer than a moment."""
    stream = sys.stderr
    if not stream.isatty():
        yield
        return
    begun = time.monotonic()
    bar: Any = None

    def show(done: int, total: int, label: str) -> None:
        nonlocal bar
        if bar is None and (time.monotonic() - begun < SHOWN_AFTER_SECONDS or not total):
            return
        if bar is None or bar.label != label:
            bar = click.progressbar(length=total, label=label, width=0, show_eta=False, file=stream)
        bar.length = total
        bar.update(done - bar.pos)

    try:
        with call_with(progress=show):
            yield
    finally:
        if bar is not None:
            stream.write("\r" + " " * shutil.get_terminal_size().columns + "\r")
            stream.flush()
