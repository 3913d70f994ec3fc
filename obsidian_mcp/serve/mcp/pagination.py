"""Lists in pages: a cursor names the last thing seen, so that what comes and goes in between moves no page."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from obsidian_mcp.errors import InvalidArguments

MARK: Final = "after:"
"""Tells a cursor of ours from any other text that can be decoded."""


def cursor_after(place: str) -> str:
    return base64.urlsafe_b64encode((MARK + place).encode("utf-8", "surrogateescape")).decode()


def place_of(cursor: str) -> str:
    """Raises: InvalidArguments for a cursor that this program has not made."""
    try:
        place = base64.b64decode(cursor.encode(), b"-_", validate=True).decode("utf-8", "surrogateescape")
    except (binascii.Error, ValueError) as error:
        raise bad_cursor(cursor) from error
    if not place.startswith(MARK) or cursor_after(place[len(MARK) :]) != cursor:
        raise bad_cursor(cursor)
    return place[len(MARK) :]


def bad_cursor(cursor: str) -> InvalidArguments:
    return InvalidArguments(
        f"Invalid cursor: {cursor[:60]!r}. Send the nextCursor of the page before, or none for the first page.",
        argument="cursor",
    )
