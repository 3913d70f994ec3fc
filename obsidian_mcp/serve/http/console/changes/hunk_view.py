"""The changed lines of a file as HTML: prose as text with its words struck or added, cells of
tables, lines of code one below the other (UI-31)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from obsidian_mcp.core.review.hunk_review import ReviewedHunk, ReviewedLine
from obsidian_mcp.core.review.words import Fate, WordRun, runs_after, runs_before
from obsidian_mcp.core.text.fit import count_fitting
from obsidian_mcp.serve.http.console.markup import Markup, element, join

_SIGNS: Final = {"same": "", "changed": "~", "removed": "−", "added": "+"}
_SAID: Final = {"same": "", "changed": "changed: ", "removed": "removed: ", "added": "added: "}
_ELEMENTS: Final[dict[Fate, str]] = {"removed": "del", "added": "ins"}


def take_hunks(hunks: Sequence[ReviewedHunk], lines: int) -> Sequence[ReviewedHunk]:
    """Return the first hunks that together have at most so many lines, but at least one."""
    sizes = (len(hunk.lines) for hunk in hunks)
    return hunks[: count_fitting(sizes, lines, least=1)]


def write_hunk(hunk: ReviewedHunk, *actions: Markup) -> Markup:
    """Return one hunk with its place above it, and what can be done with it."""
    numbers = [line.after or line.before for line in hunk.lines]
    place = f"Line {numbers[0]}" if numbers else ""
    title = f"{hunk.heading}, {place[0].lower()}{place[1:]}" if hunk.heading and place else place
    head = element("div", element("p", title, class_="place"), *actions, class_="row hunk-head")
    return element("section", head, _write_lines(hunk.lines), class_="hunk")


def _write_lines(lines: Iterable[ReviewedLine]) -> Markup:
    rows = (row for line in lines for row in _write_line(line))
    return element("div", *rows, class_="lines")


def _write_line(line: ReviewedLine) -> list[Markup]:
    """Return the rows of a line: of code that changes, the line before and the line after."""
    if line.kind == "code" and line.fate == "changed":
        return [
            _write_row("removed", line.kind, runs_before(line.runs)),
            _write_row("added", line.kind, runs_after(line.runs)),
        ]
    if line.cells:
        cells = (element("span", _write_runs(cell), class_="cell") for cell in line.cells)
        return [_write_row(line.fate, line.kind, cells=join(*cells))]
    return [_write_row(line.fate, line.kind, line.runs)]


def _write_row(
    fate: str, kind: str, runs: Iterable[WordRun] = (), cells: Markup | None = None
) -> Markup:
    label = _SAID[fate]
    return element(
        "div",
        element("span", _SIGNS[fate], class_="sign", aria_hidden="true"),
        element("span", label, class_="hidden-text") if label else None,
        element("span", _write_runs(runs) if cells is None else cells, class_="words"),
        class_=f"line {fate} {kind}",
    )


def _write_runs(runs: Iterable[WordRun]) -> Markup:
    written = []
    for run in runs:
        text = run.text.removesuffix("\n").removesuffix("\r")
        if not text and run.fate != "same":
            text = "↵"
        if name := _ELEMENTS.get(run.fate):
            written.append(element(name, text))
        elif text:
            written.append(join(text))
    return join(*written)
