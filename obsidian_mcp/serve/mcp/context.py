"""What the SDK knows of a request, in the terms of the rest of the program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from anyio import from_thread
from mcp.server.context import ServerRequestContext

from obsidian_mcp.core.text.call import Client, ProgressReport
from obsidian_mcp.serve.call_thread import in_thread
from obsidian_mcp.serve.dispatch import SESSION_KEY, Peer

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


async def in_thread_for(context: Context, seconds: float, work: Callable[[], T]) -> T:
    """Run `work` in a thread for the client of a request, which the journal names (SAFE-20). Raises: what it raises;
    OperationTimeout."""
    client = Client(peer_of(context).name, session_of(context))
    return await in_thread(seconds, work, client, _progress_report(context))


def session_of(context: Context) -> str:
    """Return what names the client's connection: the SDK makes a session object for each request."""
    return context.request.scope.get(SESSION_KEY, "") if context.request is not None else ""


def peer_of(context: Context) -> Peer:
    """Return who sent the request."""
    introduced = context.session.client_params
    capabilities = context.session.client_capabilities
    return Peer(
        context.protocol_version,
        introduced.client_info.name if introduced is not None else "",
        capabilities.model_dump(by_alias=True, exclude_none=True) if capabilities is not None else {},
    )


def _progress_report(context: Context) -> ProgressReport | None:
    """Return what sends progress from the thread, which waits until it is sent: none comes after the answer."""
    if context.meta is None or context.meta.get("progress_token") is None:
        return None

    def report(done: int, total: int, activity: str) -> None:
        with suppress(RuntimeError):  # the event loop is gone
            from_thread.run(partial(context.session.report_progress, done, total or None, activity))

    return report
