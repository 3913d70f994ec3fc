"""Notes named by the minute they are made in (PERIODIC-19)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from obsidian_mcp.core.text.clock import shift

from .locale import ENGLISH, Locale
from .moment import format_moment
from .settings import UniqueNotes

TRIES = 60
"""Minutes that are tried."""


def unique_path(
    settings: UniqueNotes, now: datetime, is_taken: Callable[[str], bool], name: str = "", locale: Locale = ENGLISH
) -> str | None:
    """Return the path, with `.md`, of a new note named by the first free minute, or None where `TRIES` are taken.

    `name` follows the stamp behind a space.
    """
    folder = "/".join(part for part in settings.folder.split("/") if part not in ("", "."))
    for minutes in range(TRIES):
        stamp = format_moment(shift(now, minutes, "m"), settings.format, locale)
        path = "/".join(filter(None, [folder, f"{stamp} {name}".strip()])) + ".md"
        if not is_taken(path):
            return path
    return None
