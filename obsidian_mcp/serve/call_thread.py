"""A call in a thread beside an event loop, with its time limit, cancellation, progress and
client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio import to_thread

from obsidian_mcp.core.text.call import Client, Deadline, ProgressReport, set_call, throttle

T = TypeVar("T")


async def in_thread(
    seconds: float,
    work: Callable[[], T],
    client: Client | None = None,
    report: ProgressReport | None = None,
) -> T:
    """Run `work` in a thread, which stops at its next checkpoint when the time is up or the caller
    is cancelled, but for a change whose commit has begun (SAFE-19). `client`: whose call it is,
    where that is not known yet; `report` gets its progress. Raises: what it raises;
    OperationTimeout."""
    limit = Deadline(seconds)

    def expire() -> None:
        if limit.cancel():
            scope.cancel()

    def run() -> T:  # in a copy of this context, so that the settings end with the thread's work
        set_call(limit=limit)
        if client is not None:
            set_call(
                client=client, progress=throttle(report, limit) if report is not None else None
            )
        return work()

    with anyio.CancelScope() as scope:
        timer = asyncio.get_running_loop().call_later(seconds, expire)
        try:
            return await to_thread.run_sync(run, abandon_on_cancel=True)
        finally:
            timer.cancel()
            limit.cancel()
    raise limit.error()
