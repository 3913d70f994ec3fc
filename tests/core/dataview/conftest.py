"""Tests of Dataview run in UTC, as the measured cases did."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.expressions.time_zones import time_zone


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    with time_zone("UTC"):
        yield
