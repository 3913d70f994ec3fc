"""Limits how often a client gets progress notifications (specs/tools.md TOOL-10)."""

from __future__ import annotations

import time
from typing import Final

from obsidian_mcp.core.text.call import Deadline, ProgressReport

INTERVAL_SECONDS: Final = 0.2
"""Shortest time between two notifications about one request."""


def throttle(report: ProgressReport, deadline: Deadline) -> ProgressReport:
    """Return `report` limited to growing values, one each `INTERVAL_SECONDS`, and none after the deadline."""
    latest = 0.0
    highest = -1

    def limit(done: int, total: int, activity: str) -> None:
        nonlocal latest, highest
        now = time.monotonic()
        if now - latest < INTERVAL_SECONDS or done <= highest or deadline.passed:
            return
        latest, highest = now, done
        report(done, total, activity)

    return limit
