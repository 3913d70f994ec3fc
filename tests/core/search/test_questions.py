"""Questions: when a search is silent, and marks that people type (SEARCH-59, SEARCH-100, SEARCH-101)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.search.hits import Hits, Request
from obsidian_mcp.errors import QueryInvalid

from .test_retrieve import FILLER, hits_of
from .test_search import indexed, search_of

TRIP = {
    "Trip.md": "Nora crossed the fjord by kayak with her cousin and camped below the glacier.",
    "Diary.md": "Nora was tired and read the whole day.",
    "Garden.md": "The beans need a trellis, and the pond a pump.",
} | FILLER
QUESTION = "Where did Nora camp with her cousin after the kayak"
MARKS = (
    "…)", ":)", ")", "(", '"', "[", " OR", " -?", "tag: ", "line:(", "…", "!", "*", "`", "{", "=>", "[[", "|", "/",
)  # fmt: skip


def first(hits: Hits) -> str | None:
    return hits.hits[0].path if hits.hits else None


def test_a_question_that_no_note_answers_gets_no_hits_and_says_what_to_search_for() -> None:
    """SEARCH-100"""
    answer = hits_of(TRIP, "Which violin sonata did Nora rehearse for the audition in Vienna?")

    assert (answer.total, answer.hits) == (0, [])
    assert answer.widened is not None
    assert "No note says enough of this" in answer.widened
    assert "search for fewer words (nora)" in answer.widened
    assert "No note has violin, sonata, rehearse, audition, Vienna." in answer.widened


def test_a_question_that_a_note_answers_in_part_finds_it() -> None:
    """SEARCH-100"""
    assert first(hits_of(TRIP, "How did Nora and her cousin cross the fjord last summer?")) == "Trip.md"


def test_a_short_query_finds_what_has_one_of_its_words() -> None:
    """SEARCH-100"""
    assert first(hits_of(TRIP, "glacier helicopter")) == "Trip.md"


def test_all_notes_that_may_answer_a_long_query_are_listed_first_ones_first() -> None:
    """SEARCH-86: several notes answer one question together."""
    answer = hits_of(TRIP, "Nora kayak cousin fjord glacier tired")

    assert [hit.path for hit in answer.hits] == ["Trip.md", "Diary.md"]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("place", ["before", "after", "between", "behind a word", "before a word"])
def test_a_mark_in_a_question_is_no_error_and_never_empties_the_answer(mark: str, place: str) -> None:
    """SEARCH-101"""
    begin, end = QUESTION[:14], QUESTION[15:]
    query = {
        "before": f"{mark} {QUESTION}",
        "after": f"{QUESTION} {mark}",
        "between": f"{begin} {mark} {end}",
        "behind a word": f"{begin}{mark} {end}",
        "before a word": f"{begin} {mark}{end}",
    }[place]

    assert first(hits_of(TRIP, query)) == "Trip.md"


def test_an_answer_says_that_the_words_of_a_question_alone_were_searched_for() -> None:
    """SEARCH-101"""
    answer = hits_of(TRIP, f"{QUESTION} :)")

    assert answer.note is not None
    assert answer.note.startswith("The query cannot be read at column")
    assert answer.note.endswith("its words alone were searched for.")


@pytest.mark.parametrize("query", ["kayak (", "tag:", "a OR", "[rating:>=5]"])
def test_a_short_query_with_a_mistake_is_an_error_that_says_where(query: str) -> None:
    """SEARCH-101, QUERY-08"""
    with pytest.raises(QueryInvalid, match="column"):
        hits_of(TRIP, query)


def test_what_is_meant_as_syntax_stays_so_where_it_finds_nothing() -> None:
    """SEARCH-57, SEARCH-101"""
    assert hits_of(TRIP, 'Nora kayak cousin "glacier below the"').total == 0
    assert hits_of(TRIP, "Nora kayak cousin fjord tag:#trip").total == 0


@pytest.mark.parametrize("written", ["2023-05-09", "May 9, 2023", "9 May, 2023", "9 May 2023"])
def test_a_day_in_a_question_finds_what_was_written_the_day_after(written: str) -> None:
    """SEARCH-59"""
    notes = {f"Day {n}.md": f"# {n} May, 2023\n\nWe did the usual things.\n" for n in range(1, 20)}
    notes["Day 10.md"] += "\nYesterday the boiler broke.\n"

    answer = hits_of(notes, f"What happened to the boiler on {written}?")

    assert first(answer) == "Day 10.md"
    assert "Day 9.md" in [hit.path for hit in answer.hits]


def test_a_search_for_a_day_alone_finds_that_day_alone() -> None:
    """SEARCH-59"""
    notes = {f"2023-05-{n:02}.md": "The usual things." for n in range(1, 20)}

    answer = hits_of(notes, "2023-05-09")

    assert [hit.path for hit in answer.hits] == ["2023-05-09.md"]


def test_an_exact_search_reads_every_mark_as_syntax() -> None:
    """SEARCH-101"""
    with indexed(TRIP) as vault, pytest.raises(QueryInvalid):
        search_of(vault).find(Request(f"{QUESTION} :)", "exact"))
