"""Tags: syntax and comparison (semantics 3, specs/tags.md).

Where in a note a tag may stand is the matter of core/note/inline; tags in properties are the matter
of core/frontmatter.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .text import to_printable

WHITE_SPACE = (
    " \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
)
"""What JavaScript's `\\s` matches, for a character class."""

match = re.compile(
    rf"#([^{WHITE_SPACE}\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{{|}}~\[\]\\]+)"
).match
"""`#` and the characters that may follow it in a tag; `name` says whether they make one
(TAG-01)."""

MAX_LEVELS = 100
"""Maximum number of levels of a nested tag; deeper levels are joined into the last one."""

_digits = re.compile("[0-9]*").fullmatch


def name(characters: str) -> str:
    """Return the tag in the characters after a `#`, without trailing slashes.

    Return "" if they are only digits (TAG-02, TAG-03).
    """
    tag = characters.rstrip("/")
    return "" if _digits(tag) else tag


@lru_cache(maxsize=4096)
def key(tag: str) -> str:
    """Return the form in which tags compare: lower case, without `#` (TAG-20)."""
    return to_printable(tag).removeprefix("#").lower()


def covers(tag: str, candidate: str) -> bool:
    """Return whether `candidate` is `tag` or nested below it (TAG-21)."""
    tag_key, candidate_key = key(tag), key(candidate)
    return candidate_key == tag_key or candidate_key.startswith(tag_key + "/")


def part(tag: str, nested: str) -> str:
    """Return the part of `nested` that `tag`, which covers it, stands for; without `#`.

    The two agree but for case, and in another case a text can have another length.
    """
    return "/".join(nested.removeprefix("#").split("/")[: tag.removeprefix("#").count("/") + 1])


def ancestry(tag: str) -> list[str]:
    """Return the tag's parents from the top, then the tag: `a/b/c` gives `a`, `a/b`, `a/b/c`.

    See TAG-22.
    """
    parts = tag.removeprefix("#").split("/", MAX_LEVELS)
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]
