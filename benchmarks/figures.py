"""What measurements give: samples, and what is kept of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

OURS = "obsidian-mcp (this)"
BARE = "bare SDK"
RIPGREP = "ripgrep"
PYTHON = "python -c pass"
"""A process that does nothing."""
SCAN = "Python scan"
"""All files read one after the other, and the word looked for in each."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Of one thing measured several times: seconds, bytes, or whatever the row is in."""

    median: float
    low: float
    """The first quartile."""
    high: float
    """The third quartile."""
    p99: float
    worst: float
    """The largest."""
    count: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> Self:
        """Raises: ValueError without samples."""
        if not samples:
            raise ValueError("nothing was measured")
        ordered = sorted(samples)
        low, _, high = statistics.quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else ordered * 3
        p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
        return cls(statistics.median(ordered), low, high, p99, ordered[-1], len(ordered))


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no figure."""

    reason: str


Row = Mapping[str, Figure | Failure]
"""Server -> what it took."""

Figures = Mapping[str, Row]
"""What was measured -> server -> figure."""


@dataclass(slots=True)
class Samples:
    """What has been seen so far, in the order in which it was first seen."""

    seen: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    failed: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, what: str, who: str, *samples: float) -> None:
        self.seen.setdefault(what, {}).setdefault(who, []).extend(samples)

    def fail(self, whats: Iterable[str], who: str, reason: str) -> None:
        for what in whats:
            self.failed.setdefault(what, {})[who] = reason

    def figures(self) -> dict[str, dict[str, Figure | Failure]]:
        """A server that failed before it gave one sample has its reason instead."""
        found: dict[str, dict[str, Figure | Failure]] = {}
        for what in dict.fromkeys([*self.seen, *self.failed]):
            row: dict[str, Figure | Failure] = {
                who: Failure(reason) for who, reason in self.failed.get(what, {}).items()
            }
            row |= {who: Figure.of(samples) for who, samples in self.seen.get(what, {}).items()}
            found[what] = row
        return found


def plain(figures: Figures) -> dict[str, dict[str, dict[str, Any]]]:
    """For a JSON file; `read` gives it back, but for digits nobody needs."""
    return {what: {who: _rounded(asdict(figure)) for who, figure in row.items()} for what, row in figures.items()}


def read(kept: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Figure | Failure]]:
    return {
        what: {who: Failure(**figure) if "reason" in figure else Figure(**figure) for who, figure in row.items()}
        for what, row in kept.items()
    }


def _rounded(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: float(f"{value:.5g}") if isinstance(value, float) else value for name, value in fields.items()}
