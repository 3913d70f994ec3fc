"""FROM: which notes, or which rows of a CSV file, a query reads (specs/dataview.md, DV-46 to DV-49)."""

from __future__ import annotations

import csv
import io
import math
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice, pairwise

from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.dataview import literals, query_parser
from obsidian_mcp.core.dataview.literals import canonical_name
from obsidian_mcp.core.dataview.note_data import DataviewVault
from obsidian_mcp.core.dataview.pages import PageStore, exact_tags
from obsidian_mcp.core.dataview.records import Identified
from obsidian_mcp.core.expressions.evaluate import Problems
from obsidian_mcp.core.expressions.values import Date, ExpressionError, Value, from_milliseconds
from obsidian_mcp.errors import QueryInvalid

_WEB = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_NUMBER = re.compile(r"\s*-?(?:\d+\.?|\.\d+|\d+\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)
_SAFE_INTEGERS = 2.0**53
_SAMPLE_RECORDS = 10
_BOOLEANS = {"true": True, "TRUE": True, "false": False, "FALSE": False}
_PLACES = ("link", "embed", "property")
MAX_CSV_CELLS = 1_000_000


class Sources:
    """Resolves the sources of one query. `origin` is the path of the note in which it stands, maybe empty."""

    def __init__(self, pages: PageStore, origin: str, problems: Problems) -> None:
        self._problems = problems
        self._pages = pages
        self._vault: DataviewVault = pages.vault
        self._origin = origin
        self._paths: Sequence[str] | None = None

    def paths(self, source: query_parser.Source) -> dict[str, None]:
        """Paths of the notes and CSV files of a source, each once and in order (DV-48). Raises: QueryInvalid."""
        match source:
            case query_parser.FromPath(path):
                return dict.fromkeys(self._at_path(path))
            case query_parser.FromTag(tag):
                below = f"{tag.lower()}/"
                return dict.fromkeys(
                    path
                    for path in self._all()
                    if any(f"{own.lower()}/".startswith(below) for own in exact_tags(self._pages, path))
                )
            case query_parser.FromLink(path, outgoing):
                linked = self._find_linked(path, outgoing=outgoing)
                return dict.fromkeys(path for path in linked if self._is_source(path))
            case query_parser.FromCsv(path):
                return {self._csv_path(path): None}
            case query_parser.ExceptFor(inner):
                left_out = self.paths(inner)
                return dict.fromkeys(path for path in self._all() if path not in left_out)
            case query_parser.Combined("&", left, right):
                both = self.paths(left)
                return dict.fromkeys(path for path in self.paths(right) if path in both)
            case query_parser.Combined(_, left, right):
                return self.paths(left) | self.paths(right)

    def _all(self) -> Sequence[str]:
        if self._paths is None:
            self._paths = self._vault.page_paths()
        return self._paths

    def _at_path(self, path: str) -> Iterable[str]:
        if path in ("", "/"):
            return self._all()
        below = self._vault.page_paths(path)
        if below or any(file.path.startswith(f"{path}/") for file in self._vault.files()):
            return below
        found = [candidate for candidate in (path, f"{path}.md") if self._vault.file(candidate)][:1]
        if not found:
            self._problems.note(
                f'FROM "{path}" finds nothing: no note and no folder with files has this path. Write it whole, in the '
                "same case and without a slash at the end."
            )
        return filter(self._is_source, found)

    def _is_source(self, path: str) -> bool:
        """Whether a file has rows: a note, or a CSV file."""
        return path.endswith(".csv") or self._pages.page(path) is not None

    def _find_linked(self, path: str, *, outgoing: bool) -> dict[str, None]:
        target = self._vault.resolve(path, self._origin) if path or self._origin else None
        if target is None:
            notes = map(self._pages.existing, self._all())
            return dict.fromkeys(note.path for note in notes if path in (link.path for link in note.file["outlinks"]))
        if not outgoing:
            return dict.fromkeys(self._vault.backlinks(target))
        # The app's link map has the links of the text first, then the embeds, then those of the properties.
        links = sorted(self._vault.links(target), key=lambda link: _PLACES.index(link.place))
        found = (self._vault.resolve(link.path, target) for link in links)
        return dict.fromkeys(path for path in found if path)

    # CSV

    def _csv_path(self, path: str) -> str:
        if _WEB.match(path):
            raise QueryInvalid(f"csv({path!r}) is an address on the web, and queries read the vault alone.")
        folder = posixpath.dirname(self._origin)
        beside = posixpath.normpath(posixpath.join(folder, path))
        for candidate in (beside, path.removeprefix("/")):
            if self._vault.file(candidate) is not None:
                return candidate
        raise QueryInvalid(f"The CSV file {path} is not in the vault.", path=path)

    def csv_rows(self, path: str) -> list[Identified]:
        """The rows of a CSV file by raw and canonical column name (DV-49). Raises: QueryInvalid."""
        text = self._vault.text(path)
        if text is None:
            raise QueryInvalid(f"The CSV file {path} cannot be read as text.", path=path)
        try:
            return [Identified(f"{path}#{number}", fields) for number, fields in enumerate(_rows(text))]
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
    """The sign that separates the columns most evenly in the first lines, as Papa Parse 5.4 looks for it."""
    best, least_change, most_columns = ",", math.inf, 1.99
    for sign in ",\t|;\x1e\x1f":
        counts = [len(record) for record in islice(_records(text, sign), _SAMPLE_RECORDS)]
        change = sum(abs(after - before) for before, after in pairwise(counts))
        columns = sum(counts) / len(counts) if counts else 0
        if change <= least_change and columns > most_columns:
            best, least_change, most_columns = sign, change, columns
    return best


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    lines = (line for line in io.StringIO(text.removeprefix("\ufeff"), newline="") if not line.startswith("#"))
    records = csv.reader(lines, delimiter=delimiter, strict=False)
    return (record for record in records if record and (len(record) > 1 or record[0]))


def _csv_value(written: str) -> Value:
    if not written:
        return None
    if written in _BOOLEANS:
        return _BOOLEANS[written]
    if _NUMBER.fullmatch(written) and abs(float(written)) < _SAFE_INTEGERS:
        return float(written)
    moment = iso.read(written)
    if moment and moment.mark == "T" and (moment.zone == "Z" or ":" in moment.zone.strip()):  # shown as the local time
        with suppress(ValueError, ExpressionError):  # no moment of the calendar: a text
            return from_milliseconds(Date(datetime.fromisoformat(written)).milliseconds)
    return literals.frontmatter_value(written)
