"""Whether a question is about the past (MEM-14), by its words and its dates."""

from __future__ import annotations

import re

from obsidian_mcp.core.calendar.iso import PERIOD

_WORDS = (
    # English
    r"before|previous(?:ly)?|former(?:ly)?|earlier|originally|used to|in the past|back then",
    r"at the time|as of|no longer|history",
    r"last (?:year|month|week|spring|summer|autumn|fall|winter)",
    # German; "vor" is a place, too, but not with a verb of the past before it
    r"früher|damals|vorher|zuvor|ehemals|bisher|einst|ursprünglich|vorige[rsn]?",
    r"(?:war|waren|galt|galten|hatten?|gab|nahm|nahmen)\b[^\n]{0,80}\b(?:vor|bis)",
    # French, Spanish and Portuguese, Italian, Dutch, Russian
    r"avant|auparavant|autrefois|jadis|précédemment|à l'époque",
    r"antes|anteriormente|antiguamente|antigamente|en el pasado|no passado",
    r"prima di|in precedenza|in passato|all'epoca",
    r"vroeger|voorheen|destijds|раньше|прежде|ранее|прошл(?:ый|ого|ом|ая|ой|ую)",
)
"""Words that say so, in lower case: compiling them without regard to case takes ten times as
long."""
_UNSPACED = (
    "以前|之前|曾经|曾經|从前|從前|过去|過去|当时|當時|当初|當初|原来|原來|かつて|これまで|もともと"
    "|[るたの]前|前(?:回|任)|이전|예전|과거|당시|전에"
)
"""The same of scripts that put no spaces between words, and of Korean, whose words have endings."""
_says_past = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b|{_UNSPACED}").search
_find_dates = re.compile(rf"(?<![a-z0-9])(?=19|20)(?:{PERIOD})(?![a-z0-9])").findall


def speaks_of_past(query: str, today: str) -> bool:
    """Return whether a question is about the past: it has a word that says so, or a date that has
    passed on a day (`YYYY-MM-DD`)."""
    lowered = query.lower()
    if _says_past(lowered):
        return True
    return any(date < today[: len(date)] for date in _find_dates(lowered))
