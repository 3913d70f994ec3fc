"""What an address or a form says: names and texts."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode


class RequestFields:
    """The fields of a query or of a form. Of a field that comes twice, the last one counts."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._texts = dict(pairs)

    def text(self, name: str) -> str:
        """Return a field; "" where it is not there."""
        return self._texts.get(name, "")

    def number(self, name: str, default: int = 0) -> int:
        """Return a field as a number from 0; `default` where it is none."""
        text = self.text(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else default


def write_query(**fields: str | int | None) -> str:
    """Return a query with a `?` before it, without empty fields; "" where none is left.

    `from_` is the field of this name.
    """
    named = {name.rstrip("_"): value for name, value in fields.items() if value not in (None, "")}
    query = urlencode(named, errors="surrogateescape")
    return f"?{query}" if query else ""
