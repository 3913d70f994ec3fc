"""The words of a vault, and which of them stand for a word of a query (specs/search.md)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.query.regexp import translate
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.search.lexicon import MAX_VARIANTS, Lexicon, is_one_mistake
from obsidian_mcp.core.search.vocabulary import Vocabulary
from obsidian_mcp.core.text import analysis

from .test_search import indexed, search_of

WORDS = st.lists(st.text("abcé", min_size=1, max_size=5), max_size=20, unique=True)


def vocabulary_of(words: list[str]) -> Vocabulary:
    accented = "".join(f"{analysis.to_basic_letters(word)}\t{word}\n" for word in words if not word.isascii())
    return Vocabulary(len(words), "\n".join(["", *words, ""]).encode(), f"\n{accented}".encode())


@given(WORDS, st.text("abcé", min_size=1, max_size=3))
def test_words_are_found_by_their_beginning_end_or_any_letters(words: list[str], part: str) -> None:
    """SEARCH-30, SEARCH-31, SEARCH-32"""
    vocabulary = vocabulary_of(words)
    assert vocabulary.words_containing(part) == [word for word in words if part in word]
    assert vocabulary.words_containing(part, from_start=True) == [word for word in words if word.startswith(part)]
    assert vocabulary.words_containing(part, to_end=True) == [word for word in words if word.endswith(part)]
    assert vocabulary.has(part) == (part in words)
    bare = analysis.to_basic_letters(part)
    assert set(vocabulary.plainly_containing(bare)) == {
        word for word in words if analysis.to_basic_letters(word) == bare
    }


def test_an_expression_finds_the_words_that_it_matches_in_part() -> None:
    """SEARCH-33"""
    vocabulary = vocabulary_of(["tower", "clocktower", "town", "owl"])
    assert vocabulary.words_matching(translate("to\\w+r")) == ["tower", "clocktower"]


def test_a_word_that_no_note_has_any_more_finds_nothing() -> None:
    """SEARCH-34"""
    with indexed({"A.md": "okapi", "B.md": "zebra"}) as vault:
        search = search_of(vault)
        assert search.find(Request("okapi")).total == 1
        vault.write("A.md", "quagga")
        vault.look()
        assert search.find(Request("okapi")).total == 0
        assert search.find(Request("okap", "exact")).total == 0
        assert search.find(Request("quagga")).total == 1


def test_a_mistake_is_forgiven_although_a_note_once_had_it() -> None:
    """SEARCH-53"""
    with indexed({"A.md": "the lighthouse", "B.md": "a lighthuose", "C.md": "sailings"}) as vault:
        search = search_of(vault)
        assert search.find(Request("lighthuose")).total == 1
        vault.write("B.md", "a lighthouse, a ship")
        vault.look()
        assert {hit.path for hit in search.find(Request("lighthuose")).hits} == {"A.md", "B.md"}


def test_at_most_three_hundred_words_stand_for_one() -> None:
    """SEARCH-58"""
    lexicon = Lexicon(vocabulary_of([f"tower{number}" for number in range(1_000)]), ("english",), list)
    assert len(lexicon.find_near_words("tower")) == MAX_VARIANTS == 300


@given(st.text("ab", min_size=1, max_size=5), st.text("ab", min_size=1, max_size=5))
def test_one_mistake_is_a_letter_more_less_or_other_or_two_exchanged(one: str, other: str) -> None:
    """SEARCH-53"""
    edits = {one[:n] + letter + one[n:] for n in range(len(one) + 1) for letter in "ab"}
    edits |= {one[:n] + one[n + 1 :] for n in range(len(one))}
    edits |= {one[:n] + letter + one[n + 1 :] for n in range(len(one)) for letter in "ab"}
    edits |= {one[:n] + one[n + 1] + one[n] + one[n + 2 :] for n in range(len(one) - 1)}
    assert is_one_mistake(one, other) == (other in edits - {one})


def test_a_text_is_the_words_in_it() -> None:
    """SEARCH-21 to 25, SEARCH-22, SEARCH-24, SEARCH-25: words are folded, gaps are words, and
    the ends of a searched text may lie inside of words."""
    assert analysis.parse_sought_words("node.js").words == ("node", analysis.GAP, "js")
    assert analysis.parse_sought_words("tower clock").words == ("tower", "clock")
    assert analysis.parse_sought_words("東京 tower").words == ("東", "京", analysis.GAP, "tower")
    assert analysis.words(analysis.spread("ÉCOLE Straße")) == ["école".encode(), "straße".encode()]
    wanted, bounded = analysis.parse_sought_words("wer clo"), analysis.parse_sought_words("wer clo", bounded=True)
    assert (wanted.open_start, wanted.open_end) == (True, True)
    assert (bounded.open_start, bounded.open_end) == (False, False)
    assert [analysis.to_basic_letters(word) for word in ("é", "ß", "ａｂ")] == ["e", "ss", "ab"]


def test_a_text_without_gaps_is_found_where_its_words_follow_each_other() -> None:
    """SEARCH-23, SEARCH-42"""
    notes: dict[str, str | bytes] = {"A.md": "the clocktower clock", "B.md": "tower, clock", "C.md": "clock tower"}
    with indexed(notes) as vault:
        found = search_of(vault).find(Request('content:"tower clock" OR content:"clocktower clock"', "exact"))
        assert [hit.path for hit in found.hits] == ["A.md"]
        assert search_of(vault).find(Request("content:wer", "exact")).total == 3


def test_aliases_headings_and_tags_are_searched_one_by_one() -> None:
    """SEARCH-26"""
    note = "---\naliases: [tower, clock]\ntags: [brass, wheel]\n---\n# One\n# Two\n"
    with indexed({"A.md": note}) as vault:
        search = search_of(vault)
        for query in ("tower", "wheel brass", "two"):
            assert search.find(Request(query)).total == 1, query
