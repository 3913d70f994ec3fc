"""Case folding and stems (specs/query.md, QUERY-20 to QUERY-22; specs/search.md, SEARCH-52)."""

from __future__ import annotations

import unicodedata

import pytest
import regex

from obsidian_mcp.core.text.analysis import (
    LANGUAGE_OF_SCRIPT,
    LANGUAGE_WORDS,
    Family,
    fold,
    is_caseless,
    languages,
    phrase,
    substring,
    to_basic_letters,
)

LETTERS = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in {"Cn", "Co", "Cs", "Lo"}]


def test_folding_keeps_the_length_of_every_text() -> None:
    """QUERY-21"""
    everything = "".join(LETTERS)
    assert len(fold(everything)) == len(everything)
    assert all(len(fold(char)) == 1 for char in LETTERS)


def test_folding_does_not_depend_on_what_stands_around() -> None:
    everything = "".join(LETTERS)
    assert fold(everything) == "".join(map(fold, LETTERS))
    assert fold("ΟΔΟΣ") == fold("οδος") == fold("οδοσ")
    long = "Plain ASCII " * 200
    for char in LETTERS[:: len(LETTERS) // 500]:
        assert fold(f"{char} {long}{char}") == f"{fold(char)} {long.lower()}{fold(char)}"


def test_the_search_for_every_letter_finds_what_folds_like_it() -> None:
    # A pattern finds exactly the letters that fold alike, so that what an index narrows by folding loses nothing.
    cased = [char for char in LETTERS if not is_caseless(char)]
    text = "".join(cased)
    alike: dict[str, set[str]] = {}
    for char in cased:
        alike.setdefault(fold(char), set()).add(char)
    for char in cased:
        assert set(substring(char, match_case=False).findall(text)) == alike[fold(char)], (char, hex(ord(char)))


def test_letters_of_one_case_are_found_as_they_are() -> None:
    for char in "日ー١_-.☃😀\u0301ªﾊ":
        assert substring(char, match_case=False).findall(f"x{char}y") == [char]


def test_a_phrase_is_bounded_by_letters_digits_and_marks_only() -> None:
    """QUERY-22"""
    found = phrase("ab", match_case=False)
    for before, after in [
        ("", ""),
        (" ", "\n"),
        ("_", "_"),
        ("東", "京"),
        ("ｶ", "ー"),
        ("ไ", "ท"),
        ("가", "나"),
        ("*", "."),
    ]:
        assert found.search(f"{before}AB{after}"), (before, after)
    for before, after in [("x", ""), ("", "x"), ("1", ""), ("", "٢"), ("", "\u0301"), ("é", ""), ("", "Я"), ("ㅤʰ", "")]:
        assert not found.search(f"{before}ab{after}"), (before, after)


def test_a_bounded_phrase_is_found_though_an_unbounded_one_overlaps_it() -> None:
    assert [m.span() for m in phrase("ab ab", match_case=False).finditer("xab ab ab")] == [(4, 9)]


def test_special_characters_mean_themselves() -> None:
    for text in ["a.b", "(", "[x]", "\\d", "^$", "a*", "{e<=1}", "x|y", "#", " ", "a-b", "\n", "\0"]:
        for match_case in (True, False):
            found = substring(text, match_case=match_case).search(f"q{text}q")
            assert found is not None
            assert found.group() == text
    assert isinstance(substring("a", match_case=True), regex.Pattern)


FORMS = {
    "english": ("boilers", "boiler"),
    "german": ("Häuser", "Haus"),
    "french": ("résiliation", "résilier"),
    "spanish": ("canciones", "canción"),
    "italian": ("ricette", "ricetta"),
    "portuguese": ("receitas", "receita"),
    "dutch": ("boeken", "boek"),
    "swedish": ("bilar", "bilen"),
    "danish": ("husene", "huset"),
    "norwegian": ("husene", "huset"),
    "finnish": ("talossa", "talosta"),
    "hungarian": ("házak", "házat"),
    "romanian": ("cartea", "carte"),
    "turkish": ("kitaplar", "kitap"),
    "russian": ("упражнения", "упражнение"),
    "greek": ("δρόμου", "δρόμος"),
}


OTHERS = {"arabic": "كتاب", "hindi": "किताब", "armenian": "գիրքը", "tamil": "புத்தகம்"}


@pytest.mark.parametrize("language", FORMS)
def test_forms_of_a_word_are_of_one_family(language: str) -> None:
    one, other = (word.casefold() for word in FORMS[language])
    family = Family(one, (language,))

    assert to_basic_letters(one).startswith(family.beginning)
    assert family.has(other, to_basic_letters(other))
    assert not family.has("xylophone", "xylophone")


@pytest.mark.parametrize("language", sorted({*LANGUAGE_WORDS, *LANGUAGE_OF_SCRIPT.values()}))
def test_every_language_that_a_vault_can_have_has_a_stemmer(language: str) -> None:
    word = FORMS[language][0] if language in FORMS else OTHERS.get(language, "herons")
    assert to_basic_letters(word.casefold()).startswith(Family(word.casefold(), (language,)).beginning)


def test_a_language_is_known_by_its_commonest_words() -> None:
    def known(text: str) -> tuple[str, ...]:
        return languages(lambda words: len(set(words) & set(text.split())))

    assert known("heron") == ("english",)
    assert known("der die das und nicht für") == ("english", "german")
    assert known("Los Angeles, Las Vegas, una, con") == ("english",)


@pytest.mark.parametrize(("word", "other"), [("be", "being"), ("mp3s", "mp3"), ("no1s", "no1")])
def test_short_words_and_words_with_digits_have_no_family(word: str, other: str) -> None:
    """SEARCH-52"""
    family = Family(word, ("english",))
    assert not family.has(other, other)
    assert family.beginning == word


def test_a_family_has_the_words_of_its_stem_but_not_the_word_itself() -> None:
    """SEARCH-52"""
    family = Family("reading", ("english",))
    assert [word for word in ("read", "reads", "reading", "ready") if family.has(word, word)] == ["read", "reads"]
