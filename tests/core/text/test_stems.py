"""Stems of the languages of a vault (specs/search.md, SEARCH-52)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from obsidian_mcp.core.text import stems
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


@pytest.mark.parametrize("language", FORMS)
def test_forms_of_a_word_are_of_one_family(language: str) -> None:
    one, other = (word.casefold() for word in FORMS[language])
    family = Family(one, (language,))

    assert plain(one).startswith(family.beginning)
    assert family.has(other, plain(other))
    assert not family.has("xylophone", "xylophone")


@pytest.mark.parametrize("language", sorted({*TELLING, *OF_SCRIPT.values()}))
def test_every_language_that_a_vault_can_have_has_a_stemmer(language: str) -> None:
    assert stems._stem(language, "heron")


def test_a_language_is_known_by_its_commonest_words() -> None:
    def known(text: str) -> tuple[str, ...]:
        return languages(lambda asked: len(set(asked) & set(text.split())))

    assert known("heron") == ("english",)
    assert known("der die das und nicht für") == ("english", "german")
    assert known("Los Angeles, Las Vegas, una, con") == ("english",)


def test_only_the_languages_that_are_asked_for_are_loaded() -> None:
    code = (
        "import sys; from obsidian_mcp.core.text.stems import Family; "
        "assert Family('boilers', ('english',)).has('boiler', 'boiler'); "
        "sys.exit(sum(name.endswith('_stemmer') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1
