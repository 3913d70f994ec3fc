"""Measure how the code looks from near, and print a table with the targets.

    python -m tests.house                      the table
    python -m tests.house --list vague-names   the places of a row, as FILE:LINE NAME
    python -m tests.house --of PATH            the same of another package, to compare

A target says "-" where a number would not tell whether the code is clear. The program ends with 1
if a target is not met.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import names, sizes
from .source import Place, Source, read_sources

PACKAGE = Path(__file__).parents[2] / "obsidian_mcp"
PARAGRAPHS_WANTED = 300
"""Fewer docstrings with a paragraph mean that the reasons are missing; 450 had one on a7e03980."""
VAGUE_SHARE = 0.015
NAMED_TUPLES = 160
"""Records that are used as tuples, or that a first answer waits for; CONTRIBUTING.md has the rule. Lower it when you
make some dataclasses."""
NO_TARGET = "-"


@dataclass(frozen=True)
class Count:
    """A row whose state is a number of places."""

    key: str
    title: str
    find_places: Callable[[list[Source]], Iterable[Place]]
    most: int | None = None
    """How many there may be; None if the number alone says nothing."""


COUNTS = [
    Count("wide-lines", f"lines over {sizes.LINE_COLUMNS} columns", sizes.wide_lines, 0),
    Count("walruses", "assignments by `:=`", sizes.walruses),
    Count("function-imports", "imports inside functions", sizes.function_imports),
    Count("named-tuples", "NamedTuples", sizes.named_tuples, NAMED_TUPLES),
    *(
        Count(f"called-{name}", f"functions called `{name}`", partial(names.functions_called, name), 1)
        for name in names.SEARCHLESS
    ),
    Count("long-functions", f"functions over {sizes.FUNCTION_LINES} lines", sizes.long_functions, 0),
    Count("long-files", f"files over {sizes.FILE_LINES} lines", sizes.long_files, 0),
    Count(
        "long-signatures",
        f"signatures with over {sizes.POSITIONAL_PARAMETERS} positional parameters",
        sizes.long_signatures,
        0,
    ),
    Count("sliced-records", "slices of records by number", sizes.sliced_records, 0),
    Count(
        "shared-type-names",
        "classes and aliases whose name another has",
        names.shared_type_names,
        0,
    ),
    Count("no-verbs", "functions whose name begins with no verb", names.functions_that_are_no_verbs),
    Count(
        "unclear-functions",
        "functions whose name says neither what they do nor what they return",
        names.unclear_functions,
        0,
    ),
    Count("participles", "of these, participles alone", names.functions_that_are_participles, 0),
]


@dataclass(frozen=True)
class Row:
    """A row of the table; `--list` takes its key."""

    key: str
    title: str
    places: list[Place]
    state: str
    target: str
    is_met: bool


def measure(sources: list[Source]) -> list[Row]:
    """Return the rows of the table."""
    return [
        _paragraph_row(list(sizes.docstring_paragraphs(sources))),
        _vague_row(names.local_names(sources)),
        *(_count_row(count, list(count.find_places(sources))) for count in COUNTS),
    ]


def _paragraph_row(places: list[Place]) -> Row:
    count = len(places)
    title, target = "docstrings with a paragraph after the summary", f"{PARAGRAPHS_WANTED} or more"
    return Row("paragraphs", title, places, str(count), target, count >= PARAGRAPHS_WANTED)


def _vague_row(local: names.LocalNames) -> Row:
    state, target = f"{local.share:.1%} ({len(local.vague)})", f"{VAGUE_SHARE:.1%} or less"
    title = f"vague local names, of {local.count}"
    return Row("vague-names", title, local.vague, state, target, local.share <= VAGUE_SHARE)


def _count_row(count: Count, places: list[Place]) -> Row:
    target = NO_TARGET if count.most is None else str(count.most)
    is_met = count.most is None or len(places) <= count.most
    return Row(count.key, count.title, places, str(len(places)), target, is_met)


def render_table(rows: Sequence[Row]) -> str:
    """Return the table in Markdown; its last column says whether the target is met."""
    cells: list[tuple[str, ...]] = [("key", "what", "state", "target", "met")]
    cells += [(row.key, row.title, row.state, row.target, _word(row)) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    cells.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    )


def _word(row: Row) -> str:
    if row.target == NO_TARGET:
        return ""
    return "yes" if row.is_met else "no"


def render_lines(counts: sizes.LineCounts) -> str:
    return (
        f"{counts.total} lines: {counts.code} of code, {counts.docstring} of docstrings,"
        f" {counts.blank} blank, {counts.comment} of comments"
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.house",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--list", metavar="KEY", help="print the places of a row")
    parser.add_argument("--of", type=Path, default=PACKAGE, metavar="PATH", help="another package")
    options = parser.parse_args(arguments)
    sources = read_sources(options.of.resolve())
    rows = {row.key: row for row in measure(sources)}
    if options.list is None:
        print(render_table(list(rows.values())))
        print(render_lines(sizes.count_lines(sources)))
        return not all(row.is_met for row in rows.values())
    if options.list not in rows:
        parser.error(f"there is no row {options.list!r}; the rows are {', '.join(rows)}")
    for place in rows[options.list].places:
        print(place)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
