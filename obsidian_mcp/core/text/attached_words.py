"""Words of Arabic and Hebrew with what is written onto their beginning (SEARCH-94).

The article, a conjunction or a preposition of one or two letters is no word of its own in these
scripts: "and in the book" is one word. Who looks for "book" expects it.
"""

from __future__ import annotations

import re

TATWEEL = "\u0640"
"""Lengthens a word of Arabic, and has no sound."""
_ARABIC_ARTICLE = r"[وف]?(?:[بك]?ال|لل)"
_ARABIC = re.compile(rf"(?:{_ARABIC_ARTICLE}|[وف]?[بكل]|[وف])\Z")
_HEBREW_ARTICLE = r"ו?(?:כש|מש|לכש|ש)?[בכלמ]?ה"
_HEBREW = re.compile(rf"(?:{_HEBREW_ARTICLE}|ו?(?:כש|מש|לכש|ש)?[בכלמ]?)\Z")
_WITH_ARTICLE = re.compile(rf"(?:{_ARABIC_ARTICLE}|{_HEBREW_ARTICLE})(?=\w{{3}})")
_LETTER = re.compile("[\u0590-\u05ff]|([\u0600-\u06ff])")
SHORTEST_WORD = 3
"""Letters of a word that is looked for with something attached: shorter ones begin or end in most
others."""


def attaches_words(word: str) -> bool:
    """Return whether a word is of a script in which others are written onto its beginning."""
    return _LETTER.match(word) is not None


def without_article(word: str) -> str:
    """Return a word without an article at its beginning, and what stands before that."""
    article = _WITH_ARTICLE.match(word)
    return word[article.end() :] if article is not None else word


def is_attached(beginning: str) -> bool:
    """Return whether the letters before a word are an article, conjunction or preposition."""
    arabic = _LETTER.match(beginning)
    if arabic is None:
        return False
    return (_ARABIC if arabic[1] else _HEBREW).match(beginning) is not None
