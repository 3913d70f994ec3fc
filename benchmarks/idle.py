"""What an idle process costs: how often it wakes, and how much memory it had at most."""

from __future__ import annotations

import re
import time
from pathlib import Path

import psutil

_switches = re.compile(r"^(?:non)?voluntary_ctxt_switches:\s*(\d+)", re.MULTILINE)
_peak = re.compile(r"^VmHWM:\s*(\d+) kB", re.MULTILINE)


def wake_ups(pid: int, seconds: float) -> float | None:
    """Return how many times a minute the threads of a process wake, counted for so long; None where there is no /proc.

    A thread that wakes gives up its processor once, of its own will or not.
    """
    before = _count_switches(pid)
    time.sleep(seconds)
    after = _count_switches(pid)
    if not before or not after:
        return None
    switches = sum(count - before.get(thread, 0) for thread, count in after.items())
    return switches * 60 / seconds


def wakes_by_thread(pid: int, seconds: float) -> dict[str, int]:
    """Return how many times each thread of a process wakes in so many seconds, by the thread's number and name."""
    before = _count_switches(pid)
    time.sleep(seconds)
    after = _count_switches(pid)
    return {thread: count - before.get(thread, 0) for thread, count in after.items()}


def _count_switches(pid: int) -> dict[str, int]:
    counts = {}
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        status = (thread / "status").read_text(encoding="utf-8")
        name = (thread / "comm").read_text(encoding="utf-8").strip()
        counts[f"{thread.name} {name}"] = sum(map(int, _switches.findall(status)))
    return counts


def peak_memory(pid: int) -> int:
    """Return the most bytes of a process that were resident at once; those of now where the system keeps no record."""
    status = Path(f"/proc/{pid}/status")
    peak = _peak.search(status.read_text(encoding="utf-8")) if status.exists() else None
    return int(peak[1]) * 1024 if peak else int(psutil.Process(pid).memory_info().rss)
