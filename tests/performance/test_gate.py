"""The gate against slow regressions: ratios to other programs measured in the same run, beside the kept ones.

The first half measures; the second shows that the gate can close.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import calling, lasting, starting, vaults
from benchmarks.figures import BARE, OURS, SCAN, Figure, Figures, Samples
from benchmarks.gate import GUARDS, Guard, judge, kept_results
from benchmarks.servers import Server, bare, ours
from tests.generate import generate
from tests.performance.conftest import FIGURES

NOTES = 1_000
TRIES = 3
"""A ratio that is bad because of what else the machine does is seldom bad three times."""


@pytest.fixture(scope="module")
def kept() -> Figures:
    return kept_results()[NOTES]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    vault = generate(tmp_path_factory.mktemp("gate") / "vault", NOTES)
    starting.build(ours(vault), NOTES, 1, Samples())
    return vault


def measured(server: Server, parts: set[str], rounds: int = 2) -> Figures:
    """The parts of `make bench` that the gate looks at, shorter."""
    pair = [server, bare(server.vault)]
    notes = vaults.paths(NOTES)
    samples = Samples()
    if "start" in parts:
        starting.start(pair, rounds, samples)
    if "memory" in parts:
        lasting.memory(pair, notes, samples)
    if {"read", "flight", "search"} & parts:
        with calling.session(pair, notes[:40], samples) as session:
            calling.reads(session, rounds)
            calling.flight(session, rounds)
            calling.searches(session, rounds)
    assert not samples.failed
    return samples.figures()


@pytest.mark.timing
def test_no_ratio_is_much_worse_than_it_was_and_misses_its_target(kept: Figures, vault: Path) -> None:
    doubtful: tuple[Guard, ...] = GUARDS
    complaints: dict[Guard, str] = {}
    for _ in range(TRIES):
        seen = measured(ours(vault), {guard.part for guard in doubtful})
        FIGURES.extend(f"{guard.what}: {guard.ratio(seen) or 0:.2f} of {guard.beside}'s" for guard in doubtful)
        complaints = judge(kept, seen, doubtful)
        doubtful = tuple(complaints)
        if not doubtful:
            break

    assert not complaints, list(complaints.values())


def figures(guard: Guard, ratio: float) -> Figures:
    def figure(median: float) -> Figure:
        return Figure.of([median])

    return {guard.what: {OURS: figure(ratio * 0.7), guard.beside: figure(0.7)}}


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.what)
def test_a_ratio_that_is_worse_than_kept_and_than_promised_is_refused(guard: Guard, kept: Figures) -> None:
    was = guard.ratio(kept)
    assert was is not None
    limit = guard.limit(was)
    worse, fine = (limit * 0.98, limit * 1.02) if guard.at_least else (limit * 1.02, limit * 0.98)

    assert guard in judge(kept, figures(guard, worse), (guard,))
    assert not judge(kept, figures(guard, fine), (guard,))
    assert not judge(kept, kept, (guard,))


def test_a_ratio_that_got_worse_within_what_is_promised_passes_and_so_does_one_that_missed_it_already() -> None:
    guard = Guard("start", "initialize", 2)

    assert guard.target == 0.25
    assert not judge(figures(guard, 0.04), figures(guard, 0.24), (guard,))
    assert judge(figures(guard, 0.04), figures(guard, 0.26), (guard,))
    assert not judge(figures(guard, 0.4), figures(guard, 0.7), (guard,))
    assert judge(figures(guard, 0.4), figures(guard, 0.9), (guard,))


def test_what_was_not_measured_is_refused() -> None:
    guard = Guard("search", calling.SEARCH, 2, SCAN)

    assert judge(figures(guard, 0.1), {}, (guard,))
    assert judge({}, figures(guard, 0.1), (guard,))
    assert judge(figures(guard, 0.1), {calling.SEARCH: {OURS: Figure.of([1.0]), BARE: Figure.of([1.0])}}, (guard,))


@pytest.mark.timing
def test_a_server_that_starts_late_is_refused(kept: Figures, vault: Path) -> None:
    late = "import runpy, time; time.sleep(2); runpy.run_module('obsidian_mcp', run_name='__main__', alter_sys=True)"
    real = ours(vault)
    spoilt = replace(real, command=[sys.executable, "-c", late, *real.command[3:]])

    complaints = judge(kept, measured(spoilt, {"start"}, rounds=1))

    assert {"initialize", "tools/list"} <= {guard.what for guard in complaints}
