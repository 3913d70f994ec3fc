"""Which words are forms of one another: Snowball's stemmers, for the languages that a vault is written in.

Words are stemmed when somebody asks, and only those that begin alike: a vault has too many to stem them all beforehand.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from .vocabulary import Vocabulary
from .words import plain

TELLING = {
    "english": "the and with this that from have which would about",
    "german": "der die das und nicht ist mit für eine auch",
    "french": "les des est une dans pour que avec sur pas",
    "spanish": "los las una por con para como más pero está",
    "italian": "gli della che una per con sono più nel anche",
    "portuguese": "não uma com para mais dos como está pelo são",
    "dutch": "het een van niet met voor zijn ook maar deze",
    "swedish": "och att som för med inte den till ett är",
    "danish": "og det ikke til med som jeg har der også",
    "norwegian": "og det ikke til med som jeg har også være",
    "finnish": "ja on ei että mutta kun niin myös tämä ovat",
    "hungarian": "és hogy nem egy van ez meg csak mint vagy",
    "romanian": "și este nu pentru care din mai sau sunt această",
    "turkish": "bir ve bu için ile çok daha ama gibi olarak",
    "polish": "nie jest się na że jak ale dla przez oraz",
    "russian": "и не на что это как для так его она",
}
"""Words by which a language is known."""
ENOUGH = 6
"""Of the ten, so many must be there."""
ALWAYS = ("english",)

OF_SCRIPT = {
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "ARMENIAN": "armenian",
    "TAMIL": "tamil",
}
"""Scripts, as the names of their letters begin, whose words are stemmed in one language whatever the vault."""
LATIN = frozenset(TELLING.keys() - OF_SCRIPT.values())

SHORTEST = 3
"""Letters of a word that has other forms."""
LONGEST_ENDING = 7


def languages(count: Callable[[Sequence[str]], int]) -> tuple[str, ...]:
    """The languages of a vault. `count` says how many of some words are in it."""
    found = dict.fromkeys(ALWAYS)
    found |= {language: None for language, telling in TELLING.items() if count(telling.split()) >= ENOUGH}
    return tuple(found)


def forms(word: str, vocabulary: Vocabulary, known: Sequence[str]) -> list[str]:
    """Words of the vocabulary that share a stem with this one in one of the languages, itself not among them."""
    asked = plain(word)
    if len(asked) < SHORTEST or not asked.isalpha():
        return []
    wanted = {language: _stem(language, word) for language in _of_script(word, known)}
    if not wanted:
        return []
    shortest = min(len(plain(stem)) for stem in wanted.values())
    beginning = asked[: max(2, min(shortest, len(asked) - 1) - 1)]
    alike = (each for each in vocabulary.plainly(beginning, to_end=False) if _alike(asked, plain(each)))
    return [
        other
        for other in alike
        if other != word and any(_same(stem, _stem(language, other)) for language, stem in wanted.items())
    ]


def _of_script(word: str, known: Sequence[str]) -> Sequence[str]:
    """The languages in which a word can be one."""
    script = unicodedata.name(word[0], "").partition(" ")[0]
    if script == "LATIN":
        return [language for language in known if language in LATIN]
    return [OF_SCRIPT[script]] if script in OF_SCRIPT else []


def _alike(one: str, other: str) -> bool:
    """Whether two words have so much in common that their stems are worth to be compared."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= max(2, min(len(one), len(other)) - 4) and max(len(one), len(other)) - shared <= LONGEST_ENDING


def _same(stem: str, other: str) -> bool:
    return stem == other or plain(stem) == plain(other)


@lru_cache(maxsize=20_000)
def _stem(language: str, word: str) -> str:
    return str(_stemmer(language).stemWord(word))


@lru_cache
def _stemmer(language: str) -> Any:
    import snowballstemmer  # type: ignore[import-untyped]  # 20 ms, and only smart searches need it

    known = snowballstemmer.algorithms()  # Polish came with version 3
    return snowballstemmer.stemmer(language if language in known else ALWAYS[0])
