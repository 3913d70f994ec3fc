"""FROM: which notes, or which rows of a CSV file, a query reads (DV-46 to DV-49)."""

from __future__ import annotations

import csv
import io
import math
import posixpath
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import islice, pairwise

from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.dataview import literals, query_syntax
from obsidian_mcp.core.dataview.characters import canonical_name
from obsidian_mcp.core.dataview.pages import QueryRun, property_tags
from obsidian_mcp.core.dataview.records import IdentifiedRow
from obsidian_mcp.core.expressions.dates import Date, from_milliseconds
from obsidian_mcp.core.expressions.values import ExpressionError, Value
from obsidian_mcp.errors import QueryInvalid

_WEB = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_NUMBER = re.compile(r"\s*-?(?:\d+\.?|\.\d+|\d+\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)
_SAFE_INTEGERS = 2.0**53
"""Below it every whole number is exact; Papa Parse leaves larger ones as texts."""
_SAMPLE_RECORDS = 10
"""Records by which the delimiter is guessed."""
_BOOLEANS = {"true": True, "TRUE": True, "false": False, "FALSE": False}
_PLACES = ("link", "embed", "property")
MAX_CSV_CELLS = 1_000_000
"""Cells of one CSV file: they are all in memory while the query runs."""


def find_paths(source: query_syntax.QuerySource, run: QueryRun) -> dict[str, None]:
    """Return the paths of the notes and CSV files of a source, each once and in order (DV-48).

    They are in the order of their paths; those of `outgoing` as the links stand in the note; those
    of `and` as on its right side.
    Raises: QueryInvalid.
    """
    match source:
        case query_syntax.FromPath(path):
            return dict.fromkeys(_pages_at_path(path, run))
        case query_syntax.FromTag(tag):
            below = f"{tag.lower()}/"
            return dict.fromkeys(
                run.vault.tagged_paths(
                    tag,
                    lambda value: any(
                        f"{own.lower()}/".startswith(below) for own in property_tags(value)
                    ),
                )
            )
        case query_syntax.FromLink(path, outgoing):
            linked = _find_linked(path, run, outgoing=outgoing)
            return dict.fromkeys(path for path in linked if _is_source(path, run))
        case query_syntax.FromCsv(path):
            return {_csv_path(path, run): None}
        case query_syntax.ExceptFor(inner):
            excluded = find_paths(inner, run)
            return dict.fromkeys(path for path in run.page_paths if path not in excluded)
        case query_syntax.Combined("&", left, right):
            left_paths = find_paths(left, run)
            return dict.fromkeys(path for path in find_paths(right, run) if path in left_paths)
        case query_syntax.Combined(_, left, right):
            return find_paths(left, run) | find_paths(right, run)


def _pages_at_path(path: str, run: QueryRun) -> Iterable[str]:
    if path in ("", "/"):
        return run.page_paths
    below = run.vault.page_paths(path)
    if below or any(file.path.startswith(f"{path}/") for file in run.vault.files()):
        return below
    files = [candidate for candidate in (path, f"{path}.md") if run.vault.file(candidate)][:1]
    if not files:
        run.problems.note(
            f'FROM "{path}" finds nothing: no note and no folder with files has this path. Write '
            "it whole, in the same case and without a slash at the end."
        )
    return (path for path in files if _is_source(path, run))


def _is_source(path: str, run: QueryRun) -> bool:
    """Return whether a file has rows: a note, or a CSV file."""
    return path.endswith(".csv") or run.page(path) is not None


def _find_linked(path: str, run: QueryRun, *, outgoing: bool) -> dict[str, None]:
    target = run.vault.resolve(path, run.source) if path or run.source else None
    if target is None:
        notes = map(run.note, run.page_paths)
        return dict.fromkeys(
            note.path for note in notes if path in (link.path for link in note.file["outlinks"])
        )
    if not outgoing:
        return dict.fromkeys(run.vault.backlinks(target))
    # the app's link map has the links of the text first, then the embeds, then those of properties
    links = sorted(run.vault.links(target), key=lambda link: _PLACES.index(link.place))
    paths = (run.vault.resolve(link.path, target) for link in links)
    return dict.fromkeys(path for path in paths if path)


def _csv_path(path: str, run: QueryRun) -> str:
    if _WEB.match(path):
        raise QueryInvalid(
            f"csv({path!r}) is an address on the web, and queries read the vault alone."
        )
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(run.source), path))
    for candidate in (beside, path.removeprefix("/")):
        if run.vault.file(candidate) is not None:
            return candidate
    raise QueryInvalid(f"The CSV file {path} is not in the vault.", path=path)


def csv_rows(path: str, run: QueryRun) -> list[IdentifiedRow]:
    """Return the rows of a CSV file by raw and canonical column name (DV-49).

    Raises: QueryInvalid.
    """
    text = run.vault.text(path)
    if text is None:
        raise QueryInvalid(f"The CSV file {path} cannot be read as text.", path=path)
    try:
        return [
            IdentifiedRow(f"{path}#{number}", fields) for number, fields in enumerate(_rows(text))
        ]
    except csv.Error as error:
        raise QueryInvalid(f"The CSV file {path} cannot be read: {error}.", path=path) from None


def _rows(text: str) -> Iterable[dict[str, Value]]:
    header: list[str] = []
    cells = 0
    for record in _records(text, _delimiter(text)):
        if not header:
            header = record
            continue
        cells += len(record)
        if cells > MAX_CSV_CELLS:
            raise csv.Error(f"it has more than {MAX_CSV_CELLS:,} cells")
        row: dict[str, Value] = {}
        for name, written in zip(header, record, strict=False):
            row[name] = row[canonical_name(name)] = _csv_value(written)
        yield row


def _delimiter(text: str) -> str:
    """Return the sign that separates the columns most evenly in the first lines.

    Papa Parse 5.4, which the plugin uses, looks for it in this way: 1.99 columns are what a sign
    must exceed to count.
    """
    best, least_change, most_columns = ",", math.inf, 1.99
    for sign in ",\t|;\x1e\x1f":
        counts = [len(record) for record in islice(_records(text, sign), _SAMPLE_RECORDS)]
        change = sum(abs(after - before) for before, after in pairwise(counts))
        columns = sum(counts) / len(counts) if counts else 0
        if change <= least_change and columns > most_columns:
            best, least_change, most_columns = sign, change, columns
    return best


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    lines = (
        line
        for line in io.StringIO(text.removeprefix("\ufeff"), newline="")
        if not line.startswith("#")
    )
    records = csv.reader(lines, delimiter=delimiter, strict=False)
    return (record for record in records if record and (len(record) > 1 or record[0]))


def _csv_value(written: str) -> Value:
    if not written:
        return None
    if written in _BOOLEANS:
        return _BOOLEANS[written]
    if _NUMBER.fullmatch(written) and abs(float(written)) < _SAFE_INTEGERS:
        return float(written)
    moment = iso.read_iso(written)
    if moment and moment.mark == "T" and (moment.zone == "Z" or ":" in moment.zone.strip()):
        # a moment in a CSV file is read as the local date and time
        with suppress(ValueError, ExpressionError):  # no moment of the calendar: a text
            return from_milliseconds(Date(datetime.fromisoformat(written)).milliseconds)
    return literals.frontmatter_value(written)
