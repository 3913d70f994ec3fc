"""What an address or a form says: names and texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlencode


class RequestFields:
    """The fields of a query or of a form. Of a field that comes twice, the last one counts."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = tuple(pairs)

    def text(self, name: str, default: str = "") -> str:
        """Return a field; `default` where it is not there."""
        return dict(self._pairs).get(name, default)

    def texts(self, name: str) -> Sequence[str]:
        """Return all fields of a name, such as the boxes that are ticked."""
        return [text for key, text in self._pairs if key == name]

    def number(self, name: str, default: int = 0) -> int:
        """Return a field as a number from 0; `default` where it is none."""
        text = self.text(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else default


NO_FIELDS: Final = RequestFields()


def write_query(**fields: str | int | Sequence[str] | None) -> str:
    """Return a query with a `?` before it, without empty fields; "" where none is left."""
    named = {name.rstrip("_"): value for name, value in fields.items() if value not in (None, "")}
    query = urlencode(named, doseq=True, errors="surrogateescape")
    return f"?{query}" if query else ""
