"""Stop words of questions (specs/search.md, SEARCH-56); `stopwords.json` holds them."""

from __future__ import annotations

import json
from pathlib import Path

_WORDS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def _words(lines: list[str]) -> tuple[str, ...]:
    return tuple(" ".join(lines).split())


STOP_WORDS = {
    language: frozenset(_words(lines)) for language, lines in _WORDS["stop_words"].items()
}
"""Words of a language that are not searched for unless the query contains no other words."""
ASKING = frozenset(_words(_WORDS["asking"]))
"""Optional words: notes that contain them are ranked first."""
ASKING_UNSPACED = _words(_WORDS["asking_unspaced"])
"""Words of scripts without spaces between words; a longer word precedes the words it contains."""
PARTICLES = _words(_WORDS["particles"])
"""Hiragana that stands between words of Japanese, and at their ends."""
JOSA = _words(_WORDS["josa"])
"""Korean word endings; a longer ending precedes the endings it contains."""
SPLITTING = "的了吗呢吧嗎么麼我你您"
"""Chinese letters at which a long run of letters falls into words."""
