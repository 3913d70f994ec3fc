"""Tests in a time zone of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def time_zone(name: str) -> Iterator[None]:
    """The local time zone of the process; only systems with `tzset` can change theirs."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system cannot change the time zone of a running program")
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()
