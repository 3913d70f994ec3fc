"""Where a new note named by the minute goes (PERIODIC-19)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from obsidian_mcp.core.calendar.clock import shift
from obsidian_mcp.core.calendar.locale import (
    ENGLISH,
    Locale,
)
from obsidian_mcp.core.calendar.moment import (
    format_moment,
)

from .notes import path_segments
from .settings import UniqueNotes

TRIES = 60
"""Minutes that are tried for the name of a unique note."""


def unique_path(
    settings: UniqueNotes,
    now: datetime,
    is_taken: Callable[[str], bool],
    name: str = "",
    locale: Locale = ENGLISH,
) -> str | None:
    """Return the path, with `.md`, of a new note named by the first free minute.

    `name` follows the stamp behind a space. Return None where the names of TRIES minutes are taken.
    """
    folder = "/".join(path_segments(settings.folder))
    for minutes in range(TRIES):
        stamp = format_moment(shift(now, minutes, "m"), settings.format, locale)
        path = "/".join(filter(None, [folder, f"{stamp} {name}".strip()])) + ".md"
        if not is_taken(path):
            return path
    return None
