"""Inflected forms of words: Snowball's stemmers, for the languages that a vault is written in.

Words are stemmed when somebody asks, and only those that begin alike: a vault has too many to stem them all beforehand.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import Any

from .tokenizer import plain

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
"""Frequent words that identify a language."""
ENOUGH = 6
"""Minimum number of the ten words that a vault must contain."""
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
"""Minimum length of a word that is stemmed, in letters."""
LEAST = 2
"""Letters with which all forms of a word begin: the stem, without its last letter, which may change."""
LONGEST_ENDING = 8
"""Letters after those."""


def languages(count: Callable[[Sequence[str]], int]) -> tuple[str, ...]:
    """Return the languages of a vault. `count` returns how many of the given words occur in it."""
    found = dict.fromkeys(ALWAYS)
    found |= {language: None for language, telling in TELLING.items() if count(telling.split()) >= ENOUGH}
    return tuple(found)


def stems(word: str, known: Sequence[str]) -> list[str]:
    """Return the stems of a word, without accents, in those of some languages that its script may belong to."""
    return [plain(_stem(language, word)) for language in _of_script(word, known)]


class Family:
    """The words that share a stem with a word in one of the languages."""

    def __init__(self, word: str, known: Sequence[str]) -> None:
        self._word = word
        plain_word = plain(word)
        self.beginning = plain_word
        """Common prefix, without accents, of the word and of all its forms."""
        self._stems: list[tuple[str, str, str]] = []
        if len(plain_word) < SHORTEST or not plain_word.isalpha():
            return
        for language in _of_script(word, known):
            stem = plain(_stem(language, word))
            start = commonprefix((plain_word, stem[: max(SHORTEST, len(stem) - 1)]))  # noqa: RUF071 - of letters
            if len(start) >= LEAST:
                self._stems.append((language, start, stem))
        self.beginning = min((start for _, start, _ in self._stems), key=len, default=plain_word)

    def has(self, other: str, plainly: str) -> bool:
        """Return whether another word belongs to the family. `plainly` is that word without accents."""
        if other == self._word:
            return False
        return any(
            plainly.startswith(start)
            and len(plainly) - len(start) <= LONGEST_ENDING
            and plain(_stem(language, other)) == stem
            for language, start, stem in self._stems
        )


def _of_script(word: str, known: Sequence[str]) -> Sequence[str]:
    """Return the languages whose script a word is written in."""
    script = unicodedata.name(word[0], "").partition(" ")[0]
    if script == "LATIN":
        return [language for language in known if language in LATIN]
    return [OF_SCRIPT[script]] if script in OF_SCRIPT else []


_STEMMING = threading.Lock()
"""A stemmer of the library is for one thread at a time."""


@lru_cache(maxsize=20_000)
def _stem(language: str, word: str) -> str:
    with _STEMMING:
        return str(_stemmer(language).stemWord(word))


@lru_cache
def _stemmer(language: str) -> Any:
    import Stemmer  # here: only ranked searches need it

    known = language if language in Stemmer.algorithms() else ALWAYS[0]  # Polish came with version 3
    return Stemmer.Stemmer(known, 0)  # `_stem` remembers, so no cache of its own
