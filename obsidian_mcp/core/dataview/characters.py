"""Classes of characters as the plugin's patterns have them, and names made of them (DV-12, DV-36).

They are sources for the package `regex`: JavaScript's `\\s`, `\\w` and `\\d` are not Python's.
"""

from __future__ import annotations

from functools import lru_cache

import regex

SPACE = r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
"""JavaScript's `\\s`."""

LINK_TEXT = r"[^\[\]]*"
"""What stands between the brackets of a link: less than in the app's links, `[[]]` among them."""
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
"""A number, in expressions and in values."""

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


@lru_cache(maxsize=4096)
def canonical_name(name: str) -> str:
    """Return the name under which a field with this raw key is found too (DV-12).

    Lower case; white space becomes a hyphen; letters, digits, `_`, `-` and emoji stay, and other
    characters are dropped.
    """
    if name.isascii() and name.isalnum():
        return name.lower()
    parts = _CANONICAL.findall(name)
    return "".join(emoji or word.lower() or ("-" if space else "") for emoji, word, space in parts)


def linkable_heading(heading: str) -> str:
    """Return a heading as it stands in a link (DV-36).

    Characters other than letters, digits, `_`, `-` and emoji become spaces, which are collapsed.
    """
    at, parts = 0, []
    for word in _HEADING.finditer(heading):
        if word.start() > at:
            parts.append(" ")
        parts.append(word[0])
        at = word.end()
    return "".join(parts).strip()
