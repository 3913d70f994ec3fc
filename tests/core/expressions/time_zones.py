"""Tests in a time zone of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest

from obsidian_mcp.core.calendar import clock


@contextmanager
def time_zone(name: str) -> Iterator[None]:
    """The local time zone: of the process, or of our calendar alone where the system has no `tzset`."""
    with pytest.MonkeyPatch.context() as patch:
        if not hasattr(time, "tzset"):
            try:
                patch.setattr(clock, "local_zone", ZoneInfo(name))
            except ZoneInfoNotFoundError:
                pytest.skip(f"only a process that can change its time zone knows {name}")
            yield
            return
        patch.setenv("TZ", name)
        time.tzset()
        try:
            yield
        finally:
            patch.undo()
            time.tzset()
