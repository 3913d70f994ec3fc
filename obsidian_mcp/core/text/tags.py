"""Tags: how they are written, and how they compare (semantics 3, specs/tags.md).

Where in a note a tag may stand is `inline`'s part, tags in properties are `frontmatter`'s.
"""

from __future__ import annotations

import re

WHITE_SPACE = " \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
"""What JavaScript's `\\s` matches, for a character class."""

match = re.compile(rf"#([^{WHITE_SPACE}\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{{|}}~\[\]\\]+)").match
"""`#` and the characters that may follow it in a tag; `name` says whether they make one (TAG-01)."""

MAX_LEVELS = 100
"""Levels of a nested tag that are told apart; what is deeper is one level."""

_digits = re.compile("[0-9]*").fullmatch


def name(written: str) -> str:
    """The tag in the characters after a `#`: no slash at its end; empty where they are only digits (TAG-02, TAG-03)."""
    tag = written.rstrip("/")
    return "" if _digits(tag) else tag


def key(tag: str) -> str:
    """What two spellings of one tag share; a leading `#` does not count (TAG-20)."""
    return tag.removeprefix("#").lower()


def covers(tag: str, other: str) -> bool:
    """Whether `other` is `tag` or nested below it (TAG-21)."""
    wanted, found = key(tag), key(other)
    return found == wanted or found.startswith(wanted + "/")


def ancestry(tag: str) -> list[str]:
    """The tag's parents from the top, then itself: `a/b/c` gives `a`, `a/b`, `a/b/c` (TAG-22)."""
    parts = tag.removeprefix("#").split("/", MAX_LEVELS)
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]
