"""Whether something became slower: ratios measured now beside the kept ones (results.json), never seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import calling, lasting, search, starting
from .figures import BARE, OURS, SCAN, Figure, Figures, read
from .targets import TARGETS

KEPT = Path(__file__).with_name("results.json")


@dataclass(frozen=True, slots=True)
class Guard:
    """A ratio of ours to another program's, and how much worse than kept it may be: more than noise can do."""

    part: str
    """Of the measurements, to be taken again when in doubt."""
    what: str
    factor: float
    beside: str = BARE

    @property
    def target(self) -> float | None:
        """What is promised, where something is."""
        found = [target for target in TARGETS if target.what == self.what and target.measure == "ratio"]
        return found[0].bound if found and self.beside == BARE else None

    @property
    def at_least(self) -> bool:
        return any(target.at_least for target in TARGETS if target.what == self.what)

    def ratio(self, figures: Figures) -> float | None:
        row = figures.get(self.what, {})
        mine, other = row.get(OURS), row.get(self.beside)
        return mine.median / other.median if isinstance(mine, Figure) and isinstance(other, Figure) else None

    def limit(self, kept: float) -> float:
        """What is refused is worse than kept by the factor and misses the target too."""
        worse = kept / self.factor if self.at_least else kept * self.factor
        if self.target is None:
            return worse
        return min(worse, self.target) if self.at_least else max(worse, self.target)

    def complaint(self, kept: Figures, seen: Figures) -> str | None:
        """What is wrong, if anything. What was not measured is wrong."""
        before, now = self.ratio(kept), self.ratio(seen)
        if before is None or now is None:
            return f"{self.what}: there is no figure {'kept' if before is None else 'now'}"
        limit = self.limit(before)
        if now >= limit if self.at_least else now <= limit:
            return None
        return f"{self.what}: {now:.2f} of {self.beside}'s, was {before:.2f}, allowed {limit:.2f}"


GUARDS = (
    Guard("start", "initialize", 2),
    Guard("start", "tools/list", 2),
    Guard("start", starting.STARTS[2], 1.75),
    Guard("read", calling.READ, 1.75),
    Guard("flight", calling.FLIGHT, 2.5),
    Guard("search", calling.SEARCH, 2, SCAN),
    Guard("memory", lasting.MEMORY, 1.25),
)


def judge(kept: Figures, seen: Figures, guards: tuple[Guard, ...] = GUARDS) -> dict[Guard, str]:
    """Complaints, by the guard that has them."""
    found = {guard: guard.complaint(kept, seen) for guard in guards}
    return {guard: complaint for guard, complaint in found.items() if complaint}


def kept_document() -> Mapping[str, Any]:
    """results.json as it was written."""
    return json.loads(KEPT.read_text(encoding="utf-8"))  # type: ignore[no-any-return]  # ours


def kept_searches() -> list[search.Row]:
    return [search.Row(**row) for row in kept_document()["searches"]]


def kept_results() -> dict[int, Figures]:
    """Size of the vault -> figures of the last whole run."""
    return {int(size): read(figures) for size, figures in kept_document()["results"].items()}
