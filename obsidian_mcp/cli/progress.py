"""Progress on a terminal: one line on stderr, for what takes longer than a moment."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from obsidian_mcp.core.text import progress

MOMENT: Final = 0.5
"""Seconds for which nothing is shown."""
PACE: Final = 0.1
WIDTH: Final = 30


@contextmanager
def shown(stream: TextIO | None = None) -> Iterator[None]:
    """Show the progress of what is done in this block, if `stream` (stderr) is a terminal."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield
        return
    line = _Line(stream)
    token = progress.current.set(line.tell)
    try:
        yield
    finally:
        progress.current.reset(token)
        line.clear()


class _Line:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = time.monotonic() + MOMENT
        self._length = 0

    def tell(self, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PACE
        full = WIDTH * done // total if total else 0
        text = f"{what} [{'#' * full}{'-' * (WIDTH - full)}] {done}/{total}" if total else what
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = max(self._length, len(text))

    def clear(self) -> None:
        if self._length:
            self._stream.write("\r" + " " * self._length + "\r")
            self._stream.flush()
