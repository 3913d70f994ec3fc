"""The gate against slow regressions: ratios to a bare SDK server measured in the same run, never seconds.

The bounds are two to three times what `make bench` shows (benchmarks/results.md), so that a noisy machine passes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import measure
from benchmarks.measure import Figures
from benchmarks.servers import bare, ours
from tests.generate import generate

NOTES = 1_000
BARE, OURS = "bare SDK", "obsidian-mcp (this)"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    vault = generate(tmp_path_factory.mktemp("ratios") / "vault", NOTES)
    measure.build(ours(vault))
    return vault


@pytest.fixture(scope="module")
def figures(vault: Path) -> Figures:
    servers = [bare(vault), ours(vault)]
    notes = measure.paths(NOTES, 50)
    return measure.start(servers, notes[0], 3) | measure.calls(servers, notes, 3)


@pytest.fixture(scope="module")
def ratio(figures: Figures) -> Callable[[str], float]:
    def of(what: str) -> float:
        found = figures[what][OURS] / figures[what][BARE]
        print(f"\n{what}: {found:.2f} times the bare server's")
        return found

    return of


@pytest.mark.parametrize(
    ("what", "most"),
    [("initialize", 0.25), ("tools/list", 0.5), ("first search", 2.5), ("read", 3.0), ("memory", 2.0)],
)
def test_a_cost_stays_in_proportion_to_a_bare_server(ratio: Callable[[str], float], what: str, most: float) -> None:
    assert ratio(what) < most


def test_many_calls_at_once_are_served_at_no_less_than_half_the_rate(ratio: Callable[[str], float]) -> None:
    assert ratio("reads a second, 32 in flight") > 0.5
