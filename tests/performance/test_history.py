"""Facts that change are found as they are now, and as they were (benchmarks/history.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.find import read_notes
from benchmarks.history import SESSIONS, HistoryHit, ask_ours, make_history, score_history
from benchmarks.ways import plain_fts5
from benchmarks.wordings import JAPANESE, OWN, SHARED, Wording


@pytest.mark.parametrize(("wording", "least"), [(OWN, 0.95), (SHARED, 0.95), (JAPANESE, 0.9)])
def test_the_fact_that_holds_is_among_the_first_three_and_never_behind_an_outdated_one(
    tmp_path: Path, wording: Wording, least: float
) -> None:
    """MEM-10, MEM-12, MEM-14, SEARCH-86"""
    questions = make_history(tmp_path, wording)
    assert len(questions) == 120
    assert len(list((tmp_path / "Sessions").glob("*.md"))) == SESSIONS
    with ask_ours(tmp_path) as ask:
        ours = score_history(questions, ask)

    for score in ours.values():
        assert score.first_three >= least * score.questions
        assert score.reversed_pairs == 0


def test_the_questions_about_facts_that_change_are_not_too_easy(tmp_path: Path) -> None:
    questions = make_history(tmp_path, OWN)
    with plain_fts5(read_notes(tmp_path)) as way:
        plain = score_history(
            questions, lambda query: [HistoryHit(*hit) for hit in zip(way(query).paths, way(query).shown, strict=True)]
        )
    assert plain[False].first_three < 0.8 * plain[False].questions
    assert plain[False].reversed_pairs > 20
