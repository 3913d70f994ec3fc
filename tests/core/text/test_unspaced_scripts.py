"""Words in scripts without spaces between them (specs/search.md SEARCH-54)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.text.unspaced_scripts import SHORTEST_SPLIT, pairs, runs, spellings, without_josa


def parts(text: str) -> list[str]:
    return ["".join(run) for run in runs(tuple(text))]


@pytest.mark.parametrize(
    ("letters", "kind"),
    [
        ("ぁゟ", "hiragana"),
        ("゠ヺーヿ", "katakana"),
        ("･ｦﾝ", "katakana"),
        ("가힣", "hangul"),
        ("々〆一龥", "han"),
    ],
)
def test_letters_of_one_kind_are_one_run_up_to_the_first_and_the_last_of_it(letters: str, kind: str) -> None:
    """SEARCH-54"""
    others = {"hiragana": "漢字", "katakana": "漢字", "hangul": "カナ", "han": "カナ"}[kind]

    assert parts(letters + others) == [letters, others]


def test_a_run_ends_where_another_kind_of_letters_begins() -> None:
    """SEARCH-54"""
    assert parts("東京タワー") == ["東京", "タワー"]
    assert parts("東京ﾀﾜｰ") == ["東京", "ﾀﾜｰ"]
    assert parts("人々ラーメン") == ["人々", "ラーメン"]


def test_a_word_with_spaces_is_a_run_by_itself() -> None:
    """SEARCH-54"""
    assert runs(("東", "京", "node", "js", "塔")) == [("東", "京"), ("node",), ("js",), ("塔",)]
    assert runs(("東", "京", "x", "2", "塔")) == [("東", "京"), ("x",), ("2",), ("塔",)]


def test_hiragana_between_words_loses_its_particles_and_a_single_letter_is_none() -> None:
    """SEARCH-54"""
    assert parts("東京の天気") == ["東京", "天気"]
    assert parts("猫がさくらを見る") == ["猫", "さくら", "見"]


def test_hiragana_alone_is_taken_as_it_stands() -> None:
    """SEARCH-54"""
    assert parts("の") == ["の"]
    assert parts("のねこ") == ["のねこ"]


def test_questions_are_left_out_unless_they_are_all() -> None:
    """SEARCH-54"""
    assert parts("どこ") == ["どこ"]
    assert parts("猫はどこ") == ["猫"]


def test_a_long_run_of_han_falls_into_words_at_letters_that_only_join() -> None:
    """SEARCH-54"""
    assert len("我的猫粮") == SHORTEST_SPLIT
    assert parts("我的猫粮") == ["猫粮"]
    assert parts("的猫粮") == ["的猫粮"]
    assert parts("猫粮的价格") == ["猫粮", "价格"]
    assert parts("猫粮的价格カ") == ["猫粮的价格", "カ"]  # Japanese uses these letters in words


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("학교에서", "학교"),
        ("학교는", "학교"),
        ("학교", "학교"),
        ("나는", "나는"),
        ("日本는", "日本"),
        ("학교a", "학교a"),
    ],
)
def test_a_korean_word_loses_its_ending_if_two_letters_remain(word: str, bare: str) -> None:
    """SEARCH-54"""
    assert without_josa(word) == bare


def test_runs_of_hangul_have_no_endings() -> None:
    """SEARCH-54"""
    assert parts("서울에서東京") == ["서울", "東京"]


def test_pairs_overlap_and_a_single_letter_is_a_pair_by_itself() -> None:
    """SEARCH-54"""
    assert pairs(tuple("東京塔")) == [("東", "京"), ("京", "塔")]
    assert pairs(("東",)) == [("東",)]


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("ねこ", ["ネコ"]),
        ("ァヶ", ["ぁゖ", "ｧヶ"]),
        ("カメラ", ["かめら", "ｶﾒﾗ"]),
        ("ガ", ["が", "ｶﾞ"]),
        ("ねコ", ["ネコ", "ねこ", "ねｺ"]),
        ("학교는", ["학교"]),
        ("東京", []),
        ("abc", []),
    ],
)
def test_kana_has_another_kind_and_another_width(text: str, others: list[str]) -> None:
    """SEARCH-54"""
    assert list(spellings(text)) == others
