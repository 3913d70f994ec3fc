"""Tests in a time zone of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from zoneinfo import ZoneInfo

import pytest

from obsidian_mcp.core.calendar import clock
from tests.system import can


@contextmanager
def time_zone(name: str) -> Iterator[None]:
    """The local time zone: of the process, or of our calendar alone where the system has no `tzset`."""
    with pytest.MonkeyPatch.context() as patch:
        if not can("time zones of processes"):
            patch.setattr(clock, "local_zone", ZoneInfo(name))
            yield
            return
        patch.setenv("TZ", name)
        time.tzset()
        try:
            yield
        finally:
            patch.undo()
            time.tzset()
