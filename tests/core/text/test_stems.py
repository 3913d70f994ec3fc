"""Stems of the languages of a vault (specs/search.md, SEARCH-52)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.text.stems import OF_SCRIPT, TELLING, Family, languages
from obsidian_mcp.core.text.tokenizer import plain

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

    assert plain(one).startswith(family.beginning)
    assert family.has(other, plain(other))
    assert not family.has("xylophone", "xylophone")


@pytest.mark.parametrize("language", sorted({*TELLING, *OF_SCRIPT.values()}))
def test_every_language_that_a_vault_can_have_has_a_stemmer(language: str) -> None:
    word = FORMS[language][0] if language in FORMS else OTHERS.get(language, "herons")
    assert plain(word.casefold()).startswith(Family(word.casefold(), (language,)).beginning)


def test_a_language_is_known_by_its_commonest_words() -> None:
    def known(text: str) -> tuple[str, ...]:
        return languages(lambda words: len(set(words) & set(text.split())))

    assert known("heron") == ("english",)
    assert known("der die das und nicht für") == ("english", "german")
    assert known("Los Angeles, Las Vegas, una, con") == ("english",)
