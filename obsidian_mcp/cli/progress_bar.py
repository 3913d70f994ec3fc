"""How far a command is, on a terminal (CLI-16)."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from obsidian_mcp.core.text.call import call_with

SHOWN_AFTER_SECONDS: Final = 0.5
"""Work that is quicker shows no progress."""
BAR_COLUMNS: Final = 12


@contextmanager
def show_progress() -> Iterator[None]:
    """Show on a terminal how far the work of this block is, once it takes longer than a moment."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    import shutil  # loads three libraries of compression

    begun, room = time.monotonic(), shutil.get_terminal_size().columns - 1
    last_line = ""

    def show(count: int, total: int, label: str) -> None:
        nonlocal last_line
        if not total or (not last_line and time.monotonic() - begun < SHOWN_AFTER_SECONDS):
            return
        full = min(count, total) * BAR_COLUMNS // total
        line = (
            f"{label[: room - BAR_COLUMNS - 8]}  [{'#' * full:-<{BAR_COLUMNS}}] "
            f"{min(count, total) * 100 // total:>3}%"
        )
        if line != last_line:
            last_line = line
            stream.write(f"\r{line:<{room}}")
            stream.flush()

    try:
        with call_with(progress=show):
            yield
    finally:
        if last_line:
            stream.write("\r" + " " * room + "\r")
            stream.flush()
