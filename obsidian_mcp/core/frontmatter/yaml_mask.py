"""Characters that PyYAML refuses or misreads, hidden from it at equal length (semantics 4.1)."""

from __future__ import annotations

import re

_FOREIGN = re.compile(
    "[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|\r(?!\n)"
)
"""Characters that PyYAML refuses or misreads and the app takes as text.

They are controls, line separators of Unicode, a CR alone, and surrogates. A `Mask` replaces them at
equal length by unassigned code points, and puts them back in values.
"""
_ESCAPE = re.compile(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL)
_PLANES = range(13, 3, -1)
"""Planes without a single assigned character."""


def mask(text: str) -> Mask | None:
    """Return the mask that hides the text's foreign characters.

    Return None if it has none, as nearly always.
    """
    if _FOREIGN.search(text) or (
        "\\u" in text and any(len(escape) > 2 for escape in _ESCAPE.findall(text))
    ):
        return Mask(text)
    return None


class Mask:
    """The text without foreign characters, and the way back.

    `source` is the text for PyYAML, as long as the original; `restore` returns the original text of
    a value.
    """

    def __init__(self, text: str) -> None:
        self._base = next(
            (plane << 16 for plane in _PLANES if not _uses(text, plane)), _PLANES[0] << 16
        )
        hidden = f"[{chr(self._base)}-{chr(self._base + 0xFFFF)}]"
        self._hidden = re.compile(hidden)
        self._escape = re.compile(f"{self._hide(chr(92))}{self._hide('u')}({hidden}{{4}})")
        self.source = _ESCAPE.sub(
            self._hide_escape, _FOREIGN.sub(lambda match: self._hide(match.group()), text)
        )

    def restore(self, value: str, *, double_quoted: bool) -> str:
        if double_quoted and self._escape.search(value):
            value = self._escape.sub(lambda match: chr(int(self._show(match.group(1)), 16)), value)
            # Join surrogate pairs.
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return self._show(value)

    def _hide(self, text: str) -> str:
        return "".join(chr(self._base + ord(char)) for char in text)

    def _show(self, text: str) -> str:
        return self._hidden.sub(lambda match: chr(ord(match.group()) - self._base), text)

    def _hide_escape(self, match: re.Match[str]) -> str:
        escape = match.group()
        return escape if len(escape) == 2 else self._hide(escape)


def _uses(text: str, plane: int) -> bool:
    r"""Return whether a text has a character of a plane, as such or escaped (`\U000D0041`)."""
    first, last = chr(plane << 16), chr((plane << 16) + 0xFFFF)
    pattern = f"[{first}-{last}]|\\\\U000{plane:x}"
    return re.search(pattern, text, re.IGNORECASE) is not None
