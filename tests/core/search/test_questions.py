"""Questions: when a search is silent, and marks that people type (SEARCH-59, SEARCH-100, SEARCH-101)."""

from __future__ import annotations

import string
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.core.search.hits import Hits, Request
from obsidian_mcp.core.search.search import Search
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


@pytest.fixture(scope="module")
def asked() -> Iterator[Search]:
    with indexed(TRIP) as vault:
        yield search_of(vault)


def first(hits: Hits) -> str | None:
    return hits.hits[0].path if hits.hits else None


NOISE = {
    f"Day {n}.md": f"- The order desk was busy.\n- Read how to choose a scanner.\n- Walk {n}.\n" for n in range(12)
}
NEAR = {
    "Order form.md": "Rye & Sons print the order form.",
    "Desk lamps.md": "The lamp of the desk is broken.",
    "Library scanner.md": "The scanner of the library is slow.",
}
JAPANESE_NOISE = {
    f"Day {n}.md": f"- 製粉所は忙しく、何も決まらなかった。\n- 業者の選び方を読んだ。\n- {n}\n" for n in range(12)
}


@pytest.mark.parametrize(
    ("notes", "answer", "question"),
    [
        (
            NOISE | NEAR,
            "- Lunch.\n- Decided: Brandt makes the scanner of the order desk.\n",
            "what is the scanner of the order desk",
        ),
        (
            NOISE | NEAR,
            "Lunch.\n\nThe scanner of the order desk is a Brandt.\n",
            "which scanner does the order desk use",
        ),
        (
            NOISE | NEAR,
            "# Day\n\n> The order desk bought a scanner from Brandt.\n",
            "what scanner did the order desk buy",
        ),
        (JAPANESE_NOISE, "- 昼食。\n- 製粉所の業者は渡辺です。\n- 散歩。\n", "製粉所の業者は何ですか"),
        (JAPANESE_NOISE, "- 昼食。\n- 製粉所の業者は渡辺です。\n- 散歩。\n", "製粉所の業者は誰ですか"),
    ],
)
def test_the_sentence_with_all_of_a_question_comes_before_items_and_names_with_parts_of_it(
    notes: dict[str, str], answer: str, question: str
) -> None:
    """SEARCH-86: where many notes have the words, in items about different things"""
    more = "\n- Compared prices of paper, without a result; then dinner with the neighbours.\n" * 6
    assert first(hits_of(notes | {"Answer.md": answer + more} | FILLER, question)) == "Answer.md"


def test_a_question_that_no_note_answers_gets_few_hits_and_says_what_to_search_for() -> None:
    """SEARCH-100"""
    more = {f"Walk {n}.md": f"Nora went for walk {n}." for n in range(5)}
    answer = hits_of(TRIP | more, "Which sonata did Nora rehearse?")

    assert answer.total == len(answer.hits) == 3
    assert answer.next_offset is None
    assert answer.is_weak
    assert answer.widened is not None
    assert "No note says enough of this to answer it. These are the nearest; 4 others have" in answer.widened
    assert "search for fewer words (nora)" in answer.widened
    assert "No note has sonata, rehearse." in answer.widened


def test_a_question_of_which_notes_say_next_to_nothing_gets_no_hits() -> None:
    """SEARCH-100"""
    walks = {f"Walk {n}.md": f"Nora went for walk {n}, as every day." for n in range(40)}
    answer = hits_of(
        walks, "Which violin sonata did Nora rehearse for the audition in Vienna with Professor Lindqvist?"
    )

    assert (answer.total, answer.hits) == (0, [])
    assert answer.widened is not None
    assert "No note says enough of this to answer it. 40 have a word or two of it and are left out." in answer.widened


@pytest.mark.parametrize("show", [True, False], ids=["passages", "lines"])
def test_few_hits_are_the_same_in_every_form_of_the_answer(show: bool) -> None:
    """SEARCH-16, SEARCH-100"""
    walks = {f"Walk {n}.md": f"Nora went for walk {n}." for n in range(9)}
    with indexed(TRIP | walks) as vault:
        search = search_of(vault)
        request = Request("Which sonata did Nora rehearse?", passages=show)
        whole = [hit.path for hit in search.find(request).hits]
        pages = [search.find(request._replace(limit=1, offset=n)).hits for n in range(4)]

    assert [hit.path for page in pages for hit in page] == whole


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


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(QUESTION)), st.sampled_from((*MARKS, *string.punctuation, "OR", "...", " - ")))
def test_a_mark_at_any_place_of_a_question_leaves_it_an_answer(asked: Search, place: int, mark: str) -> None:
    """SEARCH-101"""
    query = QUESTION[:place] + mark + QUESTION[place:]

    assert asked.find(Request(query)).total > 0, query


@pytest.mark.parametrize(
    "query",
    [
        'Where did N"or"a camp with her cousin',
        "Where did Nora ca[mp] with her cousin",
        "Where did No/ra camp with her cous/in",
        '"W"here did Nora camp with her cousin',
        'Where did Nora camp" with "her cousin',
        "Where did Nora camp -- with her cousin",
    ],
)
def test_marks_inside_words_are_no_syntax(asked: Search, query: str) -> None:
    """SEARCH-101"""
    assert asked.find(Request(query)).total > 0


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
