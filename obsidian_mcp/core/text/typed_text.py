"""The form in which a text compares with what a person or a model types of it (NAME-18).

An app, a keyboard or a web page writes characters that look like others or cannot be seen: spaces
that do not break, letters with their accent apart, soft hyphens, curly quotes. Who reads such a
text types the usual ones. What names one thing is therefore compared in this form; what is written
keeps its bytes.
"""

from __future__ import annotations

import re
import unicodedata

from .fit import name_first

INVISIBLE = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
)
"""For a set of a regular expression: soft hyphens, joiners, marks of direction, and what chooses
between two pictures of a character."""
APOSTROPHES, QUOTES, HYPHENS = "'’‘‚‛′`´", '"“”„‟«»″', "-‐‑‒–—−"
"""Characters that are typed for each other, the usual one first."""
_REMOVED = re.compile(f"[{INVISIBLE}]+")
_USUAL = str.maketrans(
    {char: alike[0] for alike in (APOSTROPHES, QUOTES, HYPHENS) for char in alike[1:]}
    | {"…": "..."}
)
DIFFERENCES_SHOWN = 3


def typed_form(text: str) -> str:
    """Return a text as it is typed: composed letters, plain spaces, quotes and hyphens, one space
    for several, and nothing that cannot be seen."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _REMOVED.sub("", text)).translate(_USUAL)
    return " ".join(text.split())


def typed_key(text: str) -> str:
    """Return `typed_form` in lower case."""
    return typed_form(text).lower()


def describe_difference(typed: str, present: str) -> str:
    """Return which characters of a text differ from what was typed, where both look alike; "" where
    they do not, or are the same.

    It says what is there and what was given, in words that a model can write: `U+00A0 where U+0020
    was given`.
    """
    if typed == present or typed_key(typed) != typed_key(present):
        return ""
    pairs: dict[str, None] = {}
    for removed, added in _changed_runs(typed, present):
        if added and removed:
            pairs[f"{_codes(added)} where {_codes(removed)} was given"] = None
        elif added:
            pairs[f"{_codes(added)}, which cannot be seen"] = None
        else:
            pairs[f"not {_codes(removed)}"] = None
    return name_first(list(pairs), DIFFERENCES_SHOWN)


def _changed_runs(typed: str, present: str) -> list[tuple[str, str]]:
    import difflib  # only errors and suggestions need it

    matcher = difflib.SequenceMatcher(None, typed, present, autojunk=False)
    return [
        (typed[start:end], present[new_start:new_end])
        for kind, start, end, new_start, new_end in matcher.get_opcodes()
        if kind != "equal"
    ]


def _codes(text: str) -> str:
    return " ".join(f"U+{ord(char):04X}" for char in text)
