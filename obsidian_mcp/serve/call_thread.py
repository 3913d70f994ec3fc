"""A call in a thread beside an event loop, with its time limit, cancellation, progress and
client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio import to_thread

from obsidian_mcp.core.text.call import Client, Deadline, ProgressReport, set_call, throttle

from .call_queue import QueuedCall, current_queue

T = TypeVar("T")


async def run_in_thread(
    seconds: float,
    work: Callable[[], T],
    client: Client | None = None,
    report: ProgressReport | None = None,
    *,
    kind: int | None = None,
) -> T:
    """Run `work` in a thread, which stops at its next checkpoint when the time is up or the caller
    is cancelled, but for a change whose commit has begun (SAFE-19).

    `client` is whose call it is, where that is not known yet; `report` gets its progress. A call of
    a tool has a `kind`, by which short calls pass long ones (HTTP-13); its wait for a turn counts
    as time of the call.

    Raises: what `work` raises; OperationTimeout.
    """
    limit = Deadline(seconds)

    def expire() -> None:
        if limit.cancel():
            scope.cancel()

    # in a copy of this context, so that the settings end with the thread's work
    def run_limited() -> T:
        set_call(limit=limit)
        if client is not None:
            set_call(
                client=client, progress=throttle(report, limit) if report is not None else None
            )
        return work()

    async def take_turn() -> T:
        if kind is None:
            return await to_thread.run_sync(run_limited, abandon_on_cancel=True)
        async with current_queue().turn(kind) as turn:
            return await to_thread.run_sync(_measure, run_limited, turn, abandon_on_cancel=True)

    with anyio.CancelScope() as scope:
        timer = asyncio.get_running_loop().call_later(seconds, expire)
        try:
            return await take_turn()
        finally:
            timer.cancel()
            limit.cancel()
    raise limit.error()


def _measure(work: Callable[[], T], turn: QueuedCall) -> T:
    """Do `work`, and note how much processor time it takes."""
    begun = time.thread_time()
    try:
        return work()
    finally:
        turn.took = time.thread_time() - begun
