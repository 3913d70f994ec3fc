"""What is promised, and whether measured figures keep it: ratios to another program in the same run, or times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from . import calling, changing, commands, lasting, querying, starting
from .figures import BARE, OURS, Figure, Figures

Measure = Literal["ratio", "median", "worst", "p99 by p50"]
"""Of our figure: its median by the reference's, its median, its largest, its 99th percentile by its median."""


@dataclass(frozen=True, slots=True)
class Target:
    what: str
    measure: Measure
    bound: float
    sizes: tuple[int, ...]
    """Vaults for which it is promised."""
    unit: Literal["", "s", "/s"] = ""
    at_least: bool = False

    @property
    def said(self) -> str:
        bound = f"{self.bound * 1e3:g} ms" if self.unit == "s" and self.bound < 1 else f"{self.bound:g} {self.unit}"
        if self.unit == "/s":
            bound = f"{self.bound:,.0f} a second".replace(",", " ")
        of = {"ratio": " of the bare server's", "p99 by p50": " (p99 by p50)", "worst": " (the worst)", "median": ""}
        return f"{'≥' if self.at_least else '≤'} {bound.strip()}{of[self.measure]}"

    def value(self, figures: Figures) -> float | None:
        """What was measured of it; None where it was not."""
        row = figures.get(self.what, {})
        mine, other = row.get(OURS), row.get(BARE)
        if not isinstance(mine, Figure):
            return None
        if self.measure == "ratio":
            return mine.median / other.median if isinstance(other, Figure) else None
        if self.measure == "p99 by p50":
            return mine.p99 / mine.median
        return mine.worst if self.measure == "worst" else mine.median

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound


MANY = f"{changing.MANY:,}".replace(",", " ")
LARGE, ALL = (10_000, 50_000), (1_000, 10_000, 50_000)
TARGETS = (
    Target("initialize", "ratio", 0.25, (10_000,)),
    Target("tools/list", "ratio", 0.5, (10_000,)),
    Target("first search", "ratio", 1.25, (10_000,)),
    Target("first search", "median", 1.5, (50_000,), "s"),
    Target(calling.READ, "ratio", 1.0, (10_000,)),
    Target(calling.FLIGHT, "ratio", 2.0, (10_000,), at_least=True),
    Target(calling.LARGE, "p99 by p50", 10, (10_000,)),
    Target(calling.LARGE_NOTE, "p99 by p50", 10, (10_000,)),
    Target(commands.READ, "median", 0.150, (10_000,), "s"),
    Target(commands.SEARCH, "median", 0.250, (10_000,), "s"),
    Target(querying.TABLE, "median", 0.100, (10_000,), "s"),
    Target(querying.DQL_TABLE, "median", 0.100, (10_000,), "s"),
    Target(querying.DQL_FOLDER, "median", 0.030, (10_000,), "s"),
    Target(starting.FIRST_BUILD, "median", 1_000, LARGE, "/s", at_least=True),
    Target(changing.ONE, "median", 0.050, LARGE, "s"),
    Target(changing.READS.format(count=MANY), "worst", 0.100, LARGE, "s"),
    Target(changing.SEARCHES.format(count=MANY), "worst", 0.250, LARGE, "s"),
    Target(lasting.MEMORY, "ratio", 1.2, (10_000,)),
    Target(lasting.GROWTH.format(count="100 000"), "median", 1.05, (10_000,)),
)
"""In the order of a session: start, calls, changes, memory. The searches beside ripgrep have theirs in `search`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    target: Target
    values: Mapping[int, float]
    """Size of the vault -> what was measured, also where nothing is promised."""

    @property
    def is_met(self) -> bool | None:
        """None where nothing of what is promised was measured."""
        promised = [value for size, value in self.values.items() if size in self.target.sizes]
        return all(map(self.target.is_met, promised)) if promised else None


def verdicts(results: Mapping[int, Figures]) -> list[Verdict]:
    """One for each target of which something was measured."""
    found = []
    for target in TARGETS:
        values = {size: target.value(figures) for size, figures in results.items()}
        known = {size: value for size, value in values.items() if value is not None}
        if known:
            found.append(Verdict(target, known))
    return found
