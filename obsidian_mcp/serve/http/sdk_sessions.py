"""The SDK's side of MCP over HTTP: it is loaded for the first message that only it serves
(specs/stdio.md DISPATCH-04), and gets to know a session with the first such message of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.types import Message

from obsidian_mcp import TYPE_CHECKING, logger
from obsidian_mcp.app import App
from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.dispatch import Peer
from obsidian_mcp.serve.sdk_messages import write_introduction
from obsidian_mcp.tools.offer import Offer

from .dialect import JSON
from .exchange import EVENTS, EXPOSED, SESSION, Exchange, replay_body

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from obsidian_mcp.serve.mcp.server import VaultServer

FAREWELL_SECONDS: Final = 1.0
"""What a subscription gets for its last message when the server stops."""


def build_manager(app: App, offer: Offer) -> StreamableHTTPSessionManager:
    """Return what serves the messages that only the SDK does, with this program's server."""
    from mcp.server.streamable_http_manager import (
        StreamableHTTPSessionManager,
    )  # takes half a second

    from obsidian_mcp.serve.mcp.server import build_server

    return StreamableHTTPSessionManager(
        build_server(app, offer),
        max_request_body_size=app.config.http.max_body,
        max_sessions=None,  # `Sessions` keeps them
        session_idle_timeout=None,
    )


class SdkSessions:
    """The SDK's own sessions, by ids that clients never see."""

    def __init__(self, load: Callable[[], StreamableHTTPSessionManager], tasks: TaskGroup) -> None:
        """`load` makes what serves the messages; called in a thread, once.

        `tasks`: of the server.
        """
        self._load = load
        self._tasks = tasks
        self._manager: StreamableHTTPSessionManager | None = None
        self._loading = anyio.Lock()
        self._stopping = anyio.Event()
        self._running = anyio.CancelScope()

    def stop(self) -> None:
        """End the streams that have no end of their own; calls in flight go on."""
        if self._manager is not None:
            cast("VaultServer", self._manager.app).subscriptions.close()
        self._stopping.set()

    def close(self) -> None:
        """End all sessions, and what is in flight with them."""
        self.stop()
        self._running.cancel()

    async def begin(self, peer: Peer) -> str:
        """Begin a session for a client. Returns its id."""
        sdk_id = await self._post(write_introduction(peer, "introduction"))
        await self._post(jsonrpc.notification("notifications/initialized"), sdk_id)
        return sdk_id

    async def end(self, sdk_id: str, session: str) -> None:
        """End a session, and the subscriptions that were made under the id that the client has of
        it (RES-08)."""
        if self._manager is not None:
            cast("VaultServer", self._manager.app).subscriptions.forget(session)
            await self._post({}, sdk_id, "DELETE")

    async def forward(
        self, exchange: Exchange, *, standing: bool = False, farewell: float = 0.0
    ) -> None:
        """Serve a request.

        A `standing` stream ends only with the server, `farewell` seconds later.
        """
        # No event has an id, so that nothing can be resumed; asked to, the SDK would not answer.
        scope, send, receive = (
            exchange.scope,
            exchange.send,
            replay_body(exchange.body, exchange.receive),
        )
        scope = {
            **scope,
            "headers": [
                (name, value) for name, value in scope["headers"] if name != b"last-event-id"
            ],
        }
        started = ended = False

        async def send_open(message: Message) -> None:
            nonlocal started, ended
            if message["type"] == "http.response.start":
                started = True
                extra = [(name.encode(), value.encode()) for name, value in EXPOSED.items()]
                own = [
                    (name, value)
                    for name, value in message.get("headers", [])
                    if name != SESSION.encode()
                ]
                message = {**message, "headers": [*own, *extra]}
            elif not message.get("more_body", False):
                ended = True
            await send(message)

        async def stop() -> None:
            await self._stopping.wait()
            await anyio.sleep(farewell)
            group.cancel_scope.cancel()

        manager = await self._load_once()
        try:
            async with anyio.create_task_group() as group:
                if standing:
                    group.start_soon(stop)
                await manager.handle_request(scope, receive, send_open)
                group.cancel_scope.cancel()
        except Exception:
            if not started:
                raise
            logger(__name__).exception("an event stream failed")
        if started and not ended:  # end a stream that was cut short in order
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _post(
        self, message: Mapping[str, Any], sdk_id: str = "", method: str = "POST"
    ) -> str:
        """Send a message of our own. Returns the id of the session that it begins, if any."""
        begun = ""
        headers = [(b"content-type", JSON.encode()), (b"accept", f"{JSON}, {EVENTS}".encode())]
        if sdk_id:
            headers.append((SESSION.encode(), sdk_id.encode()))

        async def send(sent: Message) -> None:
            nonlocal begun
            if sent["type"] == "http.response.start":
                begun = dict(sent["headers"]).get(SESSION.encode(), b"").decode()

        scope = {
            "type": "http",
            "method": method,
            "path": "/mcp",
            "query_string": b"",
            "headers": headers,
        }
        manager = await self._load_once()
        with anyio.CancelScope():
            await manager.handle_request(
                scope, replay_body(json.dumps(message).encode(), anyio.sleep_forever), send
            )
        return begun

    async def _load_once(self) -> StreamableHTTPSessionManager:
        async with self._loading:
            if self._manager is None:
                manager = await to_thread.run_sync(self._load)
                await self._tasks.start(self._run, manager)
                self._manager = manager
            return self._manager

    async def _run(
        self, manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None]
    ) -> None:
        with self._running:
            async with manager.run():
                task_status.started()
                await anyio.sleep_forever()
