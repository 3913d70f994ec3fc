"""The tables: for people, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import calling, changing, lasting, search, starting
from .figures import BARE, OURS, PYTHON, RIPGREP, SCAN, Failure, Figure, Figures
from .targets import Verdict, verdicts

Results = Mapping[int, Figures]
"""Size of the vault -> what was measured."""

BEGIN, END = "<!-- performance -->\n", "<!-- /performance -->"
NOTES = {
    "first search": "first search (bare: first call)",
    calling.READ: f"{calling.READ} (bare: echo of as much)",
    calling.FLIGHT: f"{calling.FLIGHT} (bare: echo of as much)",
    starting.FIRST_BUILD: f"{starting.FIRST_BUILD}, notes a second",
}
"""What stands in the tables where the name of a row does not say enough."""


def document(facts: Mapping[str, str], results: Results, searches: Sequence[search.Row]) -> str:
    """The whole: targets, then everything side by side."""
    lines = ["# Measured side by side", "", f"{'. '.join(f'{what}: {fact}' for what, fact in facts.items())}.", ""]
    lines += [
        "Made by `make bench`. What stands in one row was measured in one run, in turns. Figures are medians, with the",
        "quartiles in brackets; × is a figure by the bare server's, a low-level server of the official SDK with one",
        "tool, on the SDK's own transport. Starts are counted from the spawn of the process. How a figure is taken is",
        "said in the modules beside this file. Figures in brackets in the first table are beyond what is promised. A",
        f"server that looks through all notes at each start has {calling.INDEX_PATIENCE:.0f} s for it before its",
        "calls are measured.",
        "",
        "## Targets",
        "",
        *target_table(results),
        *search_targets(searches, list(results)),
        "",
        "Of the searches the kind that is farthest from the target stands there; all are in [search.md](search.md).",
        "",
    ]
    for size, figures in results.items():
        lines += [f"## {_grouped(size)} notes", "", *ways_table(figures), *side_by_side(figures), ""]
    return "\n".join(lines)


def section(facts: Mapping[str, str], results: Results) -> str:
    """What the README says: at most ten rows."""
    size = 10_000 if 10_000 in results else max(results)
    chosen = [*starting.STARTS, calling.READ, calling.FLIGHT, calling.SEARCH, lasting.MEMORY]
    figures = {what: row for what, row in results[size].items() if what in chosen}
    lines = [
        f"Measured on {facts['date']}, {facts['machine']}, Python {facts['python']}, by `make bench`; all targets and",
        "quartiles are in [benchmarks/results.md](benchmarks/results.md).",
        "",
    ]
    lines += [f"Side by side on {_grouped(size)} notes, medians; × is the ratio to the bare server of the SDK:", ""]
    lines += [*side_by_side(figures, spread=False), ""]
    lines += ["![Cost against the size of the vault, both logarithmic](benchmarks/results.svg)", ""]
    return "\n".join(lines)


def ways_table(figures: Figures) -> list[str]:
    """A row for each way of starting, with how many times the plain start it takes; the bare server's is last."""
    ways = [
        what.partition(", started: ")[2] for what in figures if what.startswith(starting.row(starting.STARTS[0], ""))
    ]
    if not ways:
        return []
    lines = ["| start | " + " | ".join(starting.STARTS) + " |", "|---|--:|--:|--:|"]
    for way, server in [*((way, OURS) for way in ways), (starting.PLAIN, BARE)]:
        cells = []
        for column in starting.STARTS:
            figure = figures.get(starting.row(column, way), {}).get(server)
            plain = figures[starting.row(column, starting.PLAIN)][OURS]
            if isinstance(figure, Figure) and isinstance(plain, Figure):
                cells.append(f"{shown(column, figure.median)} ×{figure.median / plain.median:.2f}")
            else:
                cells.append("none")
        lines.append(f"| {way if server == OURS else BARE} | {' | '.join(cells)} |")
    return [*lines, ""]


def target_table(results: Results) -> list[str]:
    """Where a size is not promised, its figure stands in brackets."""
    sizes = list(results)
    lines = ["| | target | " + " | ".join(f"{_grouped(size)} notes" for size in sizes) + " | |"]
    lines.append("|---|---|" + "--:|" * len(sizes) + "---|")
    for verdict in verdicts(results):
        cells = [_reached(verdict, size) for size in sizes]
        met = {True: "met", False: "**missed**", None: ""}[verdict.is_met]
        what = NOTES.get(verdict.target.what, verdict.target.what)
        lines.append(f"| {what} | {verdict.target.said} | {' | '.join(cells)} | {met} |")
    return lines


def _reached(verdict: Verdict, size: int) -> str:
    if size not in verdict.values:
        return ""
    value = verdict.values[size]
    match verdict.target.unit:
        case "s":
            text = f"{value * 1e3:.0f} ms"
        case "/s":
            text = _grouped(value)
        case _:
            text = f"{value:.2f}"
    return text if size in verdict.target.sizes else f"({text})"


def side_by_side(figures: Figures, *, spread: bool = True) -> list[str]:
    """A row for each measurement, a column for each server; why a figure is missing stands below."""
    names = list(dict.fromkeys(name for row in figures.values() for name in row))
    first = [OURS, BARE, PYTHON, RIPGREP, SCAN]
    names.sort(key=lambda name: first.index(name) if name in first else len(first))
    lines = ["| | " + " | ".join(names) + " |", "|---" + "|--:" * len(names) + "|"]
    reasons: list[str] = []
    for what, row in figures.items():
        if ", started: " in what:  # in a table of their own
            continue
        cells = []
        for name in names:
            match row.get(name):
                case Figure() as figure:
                    cells.append(
                        _cell(what, figure, row.get(BARE, row.get(PYTHON)), spread=spread and figure.count > 1)
                    )
                case Failure(reason):
                    if (said := f"{name}: {reason}") not in reasons:
                        reasons.append(said)
                    cells.append(f"none [{reasons.index(said) + 1}]")
                case None:
                    cells.append("")
        lines.append(f"| {NOTES.get(what, what)} | {' | '.join(cells)} |")
    for number, said in enumerate(reasons, 1):
        lines += ["", f"[{number}] {said}"]
    return lines


def _cell(what: str, figure: Figure, base: Figure | Failure | None, *, spread: bool) -> str:
    text = shown(what, figure.median)
    if isinstance(base, Figure) and base is not figure:
        text += f" ×{figure.median / base.median:.2f}"
    if spread:
        low, high = shown(what, figure.low, unit=False), shown(what, figure.high, unit=False)
        text += f" ({low} to {high}"
        if figure.count >= 100:
            text += f", p99 {shown(what, figure.p99, unit=False)}"
        if what.startswith(WORST_COUNTS):
            text += f", worst {shown(what, figure.worst, unit=False)}"
        text += ")"
    return text


WORST_COUNTS = (starting.AFTER_LULL, changing.READS[:12], changing.SEARCHES[:15], changing.ONE)


def shown(what: str, figure: float, *, unit: bool = True) -> str:
    """A figure in the unit of its row."""
    if what.startswith("memory") and "by that" in what:
        return f"{figure:.3f}"
    if what.startswith("memory"):
        return f"{figure / 1e6:.0f}" + (" MB" if unit else "")
    if what in (calling.FLIGHT, starting.FIRST_BUILD):
        return _grouped(figure)
    text = f"{figure * 1e3:.2f}" if figure < 0.01 else f"{figure * 1e3:.1f}" if figure < 0.1 else _grouped(figure * 1e3)
    return text + (" ms" if unit else "")


def search_targets(found: Sequence[search.Row], sizes: Sequence[int]) -> list[str]:
    """Of each group of queries with one target, the kind that is farthest from it."""
    lines = []
    for target, seconds in dict.fromkeys((row.target, row.seconds_per_note) for row in found):
        rows = [row for row in found if (row.target, row.seconds_per_note) == (target, seconds)]
        kinds = " · ".join(dict.fromkeys(row.kind for row in rows))
        goal = f"≥ {target:g} times as fast" if target else f"≤ {seconds * SEARCHED * 1e3:g} ms"
        promised = {row.is_met for row in rows if row.notes == SEARCHED}
        met = "**missed**" if False in promised else "met" if promised == {True} else ""
        cells = [_farthest([row for row in rows if row.notes == size], size == SEARCHED) for size in sizes]
        beside = "searches beside ripgrep" if target else "searches that ripgrep has not"
        lines.append(f"| {beside}: {kinds} | {goal} | {' | '.join(cells)} | {met} |")
    return lines


SEARCHED = 10_000
"""The size of the vault for which the targets of searches are promised."""


def _farthest(rows: Sequence[search.Row], is_promised: bool) -> str:
    """The worst of some kinds, and how many miss the target."""
    if not rows:
        return ""
    if not is_promised:
        return f"({_farthest(rows, True)})"
    missed = sum(row.is_met is False for row in rows)
    of = f"; {missed} of {len(rows)} missed" if missed else ""
    if not rows[0].target:
        slowest = max(rows, key=lambda row: row.tool)
        return f"{slowest.tool * 1e3:.0f} ms ({slowest.kind}{of})"
    known = [(row.ratio, row.kind) for row in rows if row.ratio is not None]
    if not known:
        return "no ripgrep"
    ratio, kind = min(known)
    return f"{ratio:.1f} ({kind}{of})"


def into_readme(text: str, wanted: str) -> str:
    """The README with its section replaced. Raises: ValueError where the marks are missing."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError("the README has no place for the figures")
    return f"{head}{BEGIN}\n{wanted}\n{END}{tail}"


def _grouped(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")
