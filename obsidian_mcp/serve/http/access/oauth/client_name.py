"""What a program calls itself, as people and logs may see it (OAUTH-24)."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from obsidian_mcp.core.text.fit import cut_text_within

MOST_CHARACTERS: Final = 80
NAMELESS: Final = "An app without a name"


def readable_name(claimed: Any) -> str:
    """Return the name that a program claims, cut, and without characters that mislead a reader.

    Controls, characters without width and those that change the direction of writing go: with them
    a name could look like another one, or like two lines of a log.
    """
    text = claimed if isinstance(claimed, str) else ""
    plain = "".join(
        " " if unicodedata.category(character) in ("Cc", "Zl", "Zp", "Zs") else character
        for character in unicodedata.normalize("NFC", text[: 20 * MOST_CHARACTERS])
        if unicodedata.category(character) not in ("Cf", "Cs", "Co", "Cn")
    )
    return cut_text_within(" ".join(plain.split()), MOST_CHARACTERS) or NAMELESS
