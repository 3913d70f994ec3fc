r"""Classes of characters of the plugin's patterns, for `regex` (DV-12): JavaScript's `\s` and `\w` are not Python's."""

from __future__ import annotations

import regex

SPACE = r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
"""JavaScript's `\\s`."""
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
TAG = (
    r"""#[^\u2000-\u206F\u2E00-\u2E7F'!"#$%&()*+,.:;<=>?@^`{|}~\[\]\\"""
    r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*"
)
"""A tag as the plugin reads it in values, list items and queries."""
_PICTURE = r"(?!\p{ASCII})\p{Emoji}(?:\ufe0f|\p{Emoji_Modifier})?"
EMOJI = (
    r"(?:[0-9#*]\ufe0f?\u20e3|\p{Regional_Indicator}{2}"
    rf"|{_PICTURE}(?:[\U000e0020-\U000e007e]+\U000e007f|(?:\u200d{_PICTURE})*))"
)
"""One emoji: a keycap, a flag, or a picture with its modifiers and joined pictures."""

_CANONICAL = regex.compile(rf"({EMOJI})|([0-9\p{{L}}_-]+)|({SPACE}+)|.", regex.DOTALL)
_HEADING = regex.compile(rf"{EMOJI}|[0-9\p{{L}}_-]+")


def canonical_name(name: str) -> str:
    """The key under which a field is also found: lower case, hyphens for white space, no sign but emoji (DV-12)."""
    if name.isascii() and name.isalnum():
        return name.lower()
    parts: list[str] = []
    for found in _CANONICAL.finditer(name):
        emoji, word, space = found.groups()
        parts.append(emoji or (word.lower() if word else "-" if space else ""))
    return "".join(parts)


def linkable_heading(heading: str) -> str:
    """A heading as it stands in a link: characters other than letters, digits, `_`, `-` and emoji are spaces, which
    are collapsed (DV-36)."""
    at, out = 0, []
    for found in _HEADING.finditer(heading):
        if found.start() > at:
            out.append(" ")
        out.append(found[0])
        at = found.end()
    return "".join(out).strip()
