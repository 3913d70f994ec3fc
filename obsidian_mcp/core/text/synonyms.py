"""Words that say the same, for searches that find too little (SEARCH-87).

`synonyms/<language>.txt` has a group of words and short phrases a line; each may stand for any
other of its group. A word is in as many groups as it has senses. The lines are looked through as
they are: a look-up takes 0.15 ms, while taking them all apart beforehand would take 60 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from .analysis import SHORTEST_STEMMED, Family, to_basic_letters

LONGEST = 2
"""Maximum number of words of a group's member."""
LANGUAGES = ("english",)
"""Languages that have a list of synonyms."""

_FOLDER = Path(__file__).parent / "synonyms"
_BETWEEN = ", "

WordSequence = tuple[str, ...]
"""Folded words that follow each other."""


def find(words: WordSequence, languages: Sequence[str]) -> list[WordSequence]:
    """Return the synonyms of some folded words, in those languages that have a list.

    Groups with another form of the words count only if no group has the words themselves.
    """
    synonyms: dict[WordSequence, None] = {}
    for language in LANGUAGES:
        if language in languages:
            families = [Family(word, (language,)) for word in words]
            groups = list(_groups(_text(language), words, families))
            for group in [group for group in groups if words in group] or groups:
                synonyms |= dict.fromkeys(
                    member for member in group if not _is_form(member, words, families)
                )
    return list(synonyms)


def _groups(
    text: str, words: WordSequence, families: Sequence[Family]
) -> Iterator[list[WordSequence]]:
    """Yield each group of which a member is a form of the words."""
    beginning = _BETWEEN + (
        families[0].beginning if len(words[0]) >= SHORTEST_STEMMED else " ".join(words)
    )
    at = text.find(beginning)
    while at != -1:
        end = text.index("\n", at)
        if _is_form(_words(text[at:end].split(_BETWEEN, 2)[1]), words, families):
            line = text[text.rindex("\n", 0, at) + 1 : end]
            yield [_words(member) for member in line.split(_BETWEEN)[1:]]
            at = end
        at = text.find(beginning, at + 1)


def _words(member: str) -> WordSequence:
    return tuple(member.split())


def _is_form(member: WordSequence, words: WordSequence, families: Sequence[Family]) -> bool:
    """Return whether words of the list are the same as some others, or forms of them."""
    return len(member) == len(words) and all(
        its == word or family.has(its, to_basic_letters(its))
        for its, word, family in zip(member, words, families, strict=True)
    )


@lru_cache
def _text(language: str) -> str:
    """Return the lines of a list, with a comma before each member."""
    lines = (_FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    return "\n" + "".join([f"{_BETWEEN}{line}\n" for line in lines])
