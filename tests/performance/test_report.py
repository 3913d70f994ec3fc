"""The figures that are kept, and the documents that quote them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import report, search, targets
from benchmarks.figures import BARE, OURS, Failure, Figure, Row, Samples, plain, read
from benchmarks.gate import kept_document, kept_results, kept_searches

ROOT = Path(__file__).parent.parent.parent


def test_the_readme_and_the_table_say_what_was_measured() -> None:
    document = kept_document()
    facts, searches, results = document["facts"], kept_searches(), kept_results()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8")

    assert report.into_readme(readme, report.section(facts, results)) == readme
    assert report.document(facts, results, searches) == table
    assert facts["date"] in readme
    assert facts["machine"] in readme


def test_figures_are_read_back_as_they_were_kept() -> None:
    samples = Samples()
    samples.add("read", OURS, 1.0, 2.0, 3.0, 4.0, 10.0)
    samples.fail(["read", "search"], "other", "no answer in 30 s")
    figures = samples.figures()

    assert figures["read"][OURS] == Figure(3.0, 2.0, 4.0, 10.0, 10.0, 5)
    assert figures["search"] == {"other": Failure("no answer in 30 s")}
    assert read(json.loads(json.dumps(plain(figures)))) == figures


@pytest.mark.parametrize(("ours", "bare", "met"), [(0.2, 1.0, True), (0.3, 1.0, False)])
def test_a_target_is_met_or_missed(ours: float, bare: float, met: bool) -> None:
    figures = {"initialize": {OURS: Figure.of([ours]), BARE: Figure.of([bare])}}

    (verdict,) = targets.verdicts({10_000: figures})

    assert verdict.is_met is met
    assert ("missed" in "\n".join(report.target_table({10_000: figures}))) is not met


def test_a_target_is_neither_met_nor_missed_where_nothing_is_promised() -> None:
    figures = {"initialize": {OURS: Figure.of([0.3]), BARE: Figure.of([1.0])}}

    (verdict,) = targets.verdicts({1_000: figures})

    assert verdict.is_met is None


def test_of_the_searches_the_kind_that_is_farthest_from_its_target_is_shown() -> None:
    def row(kind: str, seconds: float) -> search.Row:
        return search.Row(10_000, kind, "exact", "word", 1, seconds, seconds, 1.0, 20.0)

    (met,) = report.search_targets([row("rare word", 0.01), row("absent word", 0.02)], [10_000, 50_000])
    (missed,) = report.search_targets([row("rare word", 0.01), row("absent word", 0.2)], [10_000, 50_000])

    assert met.endswith("| ≥ 20 times as fast | 50.0 (absent word) |  | met |")
    assert missed.endswith("| 5.0 (absent word; 1 of 2 missed) |  | **missed** |")


def test_a_server_without_a_figure_is_shown_with_the_reason() -> None:
    row: Row = {OURS: Figure.of([0.1]), "other": Failure("no answer in 30 s")}

    text = "\n".join(report.side_by_side({"search": row}))

    assert "none [1]" in text
    assert "[1] other: no answer in 30 s" in text
