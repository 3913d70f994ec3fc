"""How often a client is told how far a call is (specs/tools.md TOOL-10)."""

from __future__ import annotations

import time
from typing import Final

from obsidian_mcp.core.text.deadline import Deadline
from obsidian_mcp.core.text.progress import Report

PACE: Final = 0.2
"""Seconds between two notifications about one request."""


def paced(tell: Report, limit: Deadline) -> Report:
    """`tell`, but not too often, only of growth, and nothing once the time of the call is over."""
    before = 0.0
    highest = -1

    def thinned(done: int, total: int, what: str) -> None:
        nonlocal before, highest
        now = time.monotonic()
        if now - before < PACE or done <= highest or limit.passed:
            return
        before, highest = now, done
        tell(done, total, what)

    return thinned
