"""Words that say the same, for searches that find too little (SEARCH-87). A line of `synonyms/<language>.txt` is a
group of one sense; lines are looked through as they are, in 0.15 ms, where to take them all apart takes 60."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from .analysis import SHORTEST_STEMMED, Family, plain

LONGEST = 2
"""Words of a member of a group."""
LANGUAGES = ("english",)
"""Those that have a list."""

_FOLDER = Path(__file__).parent / "synonyms"
_BETWEEN = ", "

Member = tuple[str, ...]
"""Folded words that follow each other."""


def find(words: Member, languages: Sequence[str]) -> list[Member]:
    """What says the same as some folded words, in languages with a list; other forms count if no group has them."""
    found: dict[Member, None] = {}
    for language in LANGUAGES:
        if language in languages:
            families = [Family(word, (language,)) for word in words]
            groups = list(_groups(_text(language), words, families))
            for group in [group for group in groups if words in group] or groups:
                found |= dict.fromkeys(member for member in group if not _is_form(member, words, families))
    return list(found)


def _groups(text: str, words: Member, families: Sequence[Family]) -> Iterator[list[Member]]:
    """Each group of which a member is a form of the words."""
    beginning = _BETWEEN + (families[0].beginning if len(words[0]) >= SHORTEST_STEMMED else " ".join(words))
    at = text.find(beginning)
    while at >= 0:
        end = text.index("\n", at)
        if _is_form(_words(text[at:end].split(_BETWEEN, 2)[1]), words, families):
            line = text[text.rindex("\n", 0, at) + 1 : end]
            yield [_words(member) for member in line.split(_BETWEEN)[1:]]
            at = end
        at = text.find(beginning, at + 1)


def _words(member: str) -> Member:
    return tuple(member.split())


def _is_form(member: Member, words: Member, families: Sequence[Family]) -> bool:
    """Whether words of the list are the same as some others, or forms of them."""
    return len(member) == len(words) and all(
        its == word or family.has(its, plain(its)) for its, word, family in zip(member, words, families, strict=True)
    )


@lru_cache
def _text(language: str) -> str:
    """The lines of a list, with a comma before each member."""
    lines = (_FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    return "\n" + "".join([f"{_BETWEEN}{line}\n" for line in lines])
