"""How many files this process may have open (TOOL-19)."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

OPEN_FILES: Final = 1024
"""Open files that a server may have, where the system allows it. A vault in use takes 12; macOS begins with 256."""


def allow_open_files() -> None:
    """Raise the limit of this process to OPEN_FILES, or as far as the system allows it."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows, which has no such limit

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 < now < OPEN_FILES and (most < 0 or most > now):  # below 0: without a limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES if most < 0 else min(OPEN_FILES, most), most))
