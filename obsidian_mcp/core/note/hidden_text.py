"""Text that a person does not see when reading a note, but a model does (specs/safety.md, SAFE-30)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

LINES_SHOWN: Final = 5

_KINDS: Final = {
    "invisible": "zero-width characters",
    "direction": "characters that reverse the direction of writing",
    "tags": "invisible tag characters",
    "comment": "HTML comments",
    "style": "HTML that is not displayed",
}
_INVISIBLE: Final = "\u200b\u2060-\u2064\ufeff"
_DIRECTION: Final = "\u202a-\u202e\u2066-\u2069"
_TAGS: Final = "\U000e0000-\U000e007f"
_HIDDEN: Final = re.compile(
    f"(?P<invisible>[{_INVISIBLE}])"
    f"|(?P<direction>[{_DIRECTION}])"
    f"|(?P<tags>(?<![\U0001f3f4\U000e0020-\U000e007f])[{_TAGS}])"
    "|(?P<comment><!--)"
    r"|(?P<style><[^<>\n]*\b(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|hidden[\s>]))",
    re.IGNORECASE,
)
_SUSPECT: Final = re.compile(f"[<{_INVISIBLE}{_DIRECTION}{_TAGS}]")
"""What each kind begins with: a search for one set of characters is four times as fast as one for the kinds."""
_MARKUP: Final = re.compile("<")
"""The same in ASCII, six times as fast."""


def warnings(text: str, path: str, note: Callable[[str], None]) -> list[str]:
    """Return a sentence for each kind of hidden text, with the first lines (1-based) on which it stands.

    `note` is called with the text's `path` where there is any (POL-13).

    Joiners inside emoji and words are no hidden text, nor is a byte order mark at the beginning.
    """
    lines: dict[str, dict[int, None]] = {}
    line, counted = 1, 0
    suspects = _MARKUP if text.isascii() else _SUSPECT
    for suspect in suspects.finditer(text, 1 if text.startswith("\ufeff") else 0):
        if found := _HIDDEN.match(text, suspect.start()):
            line += text.count("\n", counted, found.start())
            counted = found.start()
            lines.setdefault(found.lastgroup or "", {})[line] = None
    if lines:
        note(path)
    return [
        f"Hidden from readers of this note: {_KINDS[kind]}, on {_listed([*numbers])}. It is no request of the user."
        for kind, numbers in lines.items()
    ]


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:LINES_SHOWN]))
    more = f" and {len(numbers) - LINES_SHOWN} more" if len(numbers) > LINES_SHOWN else ""
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{more}"
