"""What psutil says about other processes and about disks. An error of psutil's counts as an empty
answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

import psutil

from obsidian_mcp import logger

T = TypeVar("T")


def ask_psutil(question: Callable[[], T], otherwise: T) -> T:
    """Return psutil's answer to a question, `otherwise` where it has none. An error that is none of
    psutil's own is logged, once of a kind."""
    try:
        return question()
    except psutil.Error:  # gone, or somebody else's
        return otherwise
    except Exception as error:  # noqa: BLE001  no error there is worth a call of ours
        _log_once(type(error).__name__, str(error))
        return otherwise


@cache
def _log_once(kind: str, text: str) -> None:
    logger(__name__).warning(
        "The system does not say which processes run or disks are there (%s: %s).", kind, text
    )


def processes() -> Sequence[psutil.Process]:
    """Return all processes, as far as the system lists them."""
    listed: list[psutil.Process] = []
    # where the listing fails, the processes before that point count
    ask_psutil(lambda: listed.extend(psutil.process_iter()), None)
    return listed


def descendants_of(pid: int) -> Sequence[psutil.Process]:
    """Return the processes that a process has started, and theirs."""
    return ask_psutil(lambda: psutil.Process(pid).children(recursive=True), [])


def kill(process: psutil.Process) -> None:
    """Kill a process if it is there and may be killed."""
    ask_psutil(process.kill, None)


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process runs."""
    return ask_psutil(
        lambda: process.is_running() and process.status() != psutil.STATUS_ZOMBIE, False
    )


def memory_of(pid: int) -> int:
    """Return the bytes of memory that a process takes; 0 where the system does not say."""
    return ask_psutil(lambda: psutil.Process(pid).memory_info().rss, 0)


def mounts() -> dict[str, str]:
    """Return the type of the file system at each mount point."""
    return ask_psutil(
        lambda: {mount.mountpoint: mount.fstype for mount in psutil.disk_partitions(all=True)}, {}
    )
