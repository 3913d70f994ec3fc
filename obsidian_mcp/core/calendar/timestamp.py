"""Times of files as answers write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MICROSECOND = -30_000_000_000_000_000
_LAST_MICROSECOND = 253_402_000_000_000_000
"""From 1970 to the years 1019 and 9999: disks know years that calendars do not."""


def timestamp(nanoseconds: int) -> str:
    """Return a time (nanoseconds since the epoch) in ISO 8601: UTC, to the second."""
    microseconds = min(max(nanoseconds // 1000, _FIRST_MICROSECOND), _LAST_MICROSECOND)
    time = _EPOCH + timedelta(microseconds=microseconds)
    return time.isoformat()[: len("2024-05-01T12:00:00")] + "Z"
