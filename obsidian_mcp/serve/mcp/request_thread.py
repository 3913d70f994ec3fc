"""Work of a request in a thread, with its time limit, cancellation, progress and client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio import from_thread, to_thread
from mcp.server.context import ServerRequestContext

from obsidian_mcp.core.text.call import Client, ProgressReport, set_call
from obsidian_mcp.core.text.deadline import Deadline
from obsidian_mcp.serve.dispatch import Peer
from obsidian_mcp.serve.throttle import throttled

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


async def in_thread(seconds: float, work: Callable[[], T], context: Context | None = None) -> T:
    """Run `work` in a thread. Raises: what it raises; OperationTimeout when the time is up.

    When the time is up or the client cancels, the thread stops at its next checkpoint (`core.text.call`). A change
    whose commit has begun is waited for instead (SAFE-19). The client of `context` gets progress if it asks for it.
    """
    limit = Deadline(seconds)

    def expire() -> None:
        if limit.cancel():
            scope.cancel()

    def run() -> T:  # in a copy of this context, so that the settings end with the thread's work
        set_call(limit=limit)
        if context is not None:
            set_call(client=client_of(context), progress=_progress_report(context, limit))
        return work()

    with anyio.CancelScope() as scope:
        timer = asyncio.get_running_loop().call_later(seconds, expire)
        try:
            return await to_thread.run_sync(run, abandon_on_cancel=True)
        finally:
            timer.cancel()
            limit.cancel()
    raise limit.error()


def session_of(context: Context) -> str:
    """Return what names the client's connection: the SDK makes a session object for each request."""
    return context.request.headers.get("mcp-session-id", "") if context.request is not None else ""


def peer_of(context: Context) -> Peer:
    """Return who sent the request."""
    introduced = context.session.client_params
    capabilities = context.session.client_capabilities
    return Peer(
        context.protocol_version,
        introduced.client_info.name if introduced is not None else "",
        capabilities.model_dump(by_alias=True, exclude_none=True) if capabilities is not None else {},
    )


def client_of(context: Context) -> Client:
    """Return whose request it is, for the journal (SAFE-20)."""
    return Client(peer_of(context).name, session_of(context))


def _progress_report(context: Context, limit: Deadline) -> ProgressReport | None:
    """Return what sends progress from the thread, which waits until it is sent: none comes after the answer."""
    if context.meta is None or context.meta.get("progress_token") is None:
        return None

    def report(done: int, total: int, activity: str) -> None:
        with suppress(RuntimeError):  # the event loop is gone
            from_thread.run(partial(context.session.report_progress, done, total or None, activity))

    return throttled(report, limit)
