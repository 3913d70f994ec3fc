"""Work in a thread, with the time limit, the cancellation and the progress of the request that asked for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio import from_thread, to_thread
from mcp.server.context import ServerRequestContext

from obsidian_mcp.core.text import deadline, progress
from obsidian_mcp.serve.throttle import paced

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


async def in_thread(seconds: float, work: Callable[[], T], context: Context | None = None) -> T:
    """Run `work` in a thread. Raises: what it raises; OperationTimeout when the time is up.

    When the time is up or the client cancels, the thread stops at its next checkpoint (`core.deadline`). A change whose
    commit has begun is waited for instead (SAFE-19). The client of `context` is told how far it is, if it has asked
    for that.
    """
    limit = deadline.Deadline(seconds)
    finished: Future[T] = Future()

    def run() -> None:
        try:
            finished.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised again below
            finished.set_exception(error)

    set_limit = deadline.current.set(limit)
    told = None if context is None else progress.current.set(_teller(context, limit))
    try:
        with anyio.fail_after(seconds):
            await to_thread.run_sync(run, abandon_on_cancel=True)
    except TimeoutError:
        if limit.cancel():
            raise limit.error() from None
        await to_thread.run_sync(finished.exception, abandon_on_cancel=True)
    finally:
        limit.cancel()
        deadline.current.reset(set_limit)
        if told is not None:
            progress.current.reset(told)
    return finished.result()


def _teller(context: Context, limit: deadline.Deadline) -> progress.Report | None:
    """Sends progress from the working thread, which waits until it is sent: none comes after the answer."""
    if context.meta is None or context.meta.get("progress_token") is None:
        return None

    def tell(done: int, total: int, what: str) -> None:
        with suppress(RuntimeError):  # the event loop is gone
            from_thread.run(partial(context.session.report_progress, done, total or None, what))

    return paced(tell, limit)
