"""MCP sessions over HTTP, served by the SDK (specs/http.md HTTP-04, tools.md TOOL-15)."""

from __future__ import annotations

import codecs
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final, cast

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.call_order import UNORDERED, CallOrder
from obsidian_mcp.serve.mcp.server import VaultServer

from .dialect import CORS, Reply, Request, json_reply
from .rpc import fault_of
from .tool_service import ToolService

log = logging.getLogger(__name__)

FAREWELL_SECONDS: Final = 1.0
"""What a subscription gets for its last message when the server stops."""
EXPOSED: Final = {"access-control-allow-origin": "*", "access-control-expose-headers": "Mcp-Session-Id"}


class Sessions:
    """MCP in full: sessions with event streams, and the revisions that need no session."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self.manager = manager
        self._subscriptions = cast(VaultServer, manager.app).subscriptions
        self._stopping = anyio.Event()
        self._orders: dict[str, CallOrder] = {}
        """By session, while it has calls in flight."""

    def stop(self) -> None:
        """End the streams that have no end of their own; calls in flight go on."""
        self._subscriptions.close()
        self._stopping.set()

    @asynccontextmanager
    async def turn(self, request: Request, scope: Scope, service: ToolService) -> AsyncIterator[None]:
        """Wait until the earlier calls of its session have taken effect. Raises: OperationTimeout."""
        session = request.headers.get("mcp-session-id", "")
        match request.message:
            case {"id": _, "method": str(method)} as call if session and method not in UNORDERED:
                order = self._orders.setdefault(session, CallOrder())
                scope[CallOrder.SCOPE_KEY] = order
                try:
                    async with order.turn(writes=service.dispatcher.writes(call), seconds=service.timeout):
                        yield
                finally:
                    if order.idle:
                        self._orders.pop(session, None)
            case _:
                yield

    async def serve(self, scope: Scope, receive: Receive, send: Send, *, standing: bool, farewell: float = 0.0) -> None:
        """Serve one request. A `standing` stream ends only with the server and gets `farewell` seconds then."""
        # No event has an id, so that there is nothing to resume; asked to, the SDK would give no answer at all.
        kept = [(name, value) for name, value in scope["headers"] if name != b"last-event-id"]
        scope = {**scope, "headers": kept}
        started = ended = False

        async def send_open(message: Message) -> None:
            nonlocal started, ended
            if message["type"] == "http.response.start":
                started = True
                if scope["method"] == "DELETE" and message["status"] == HTTPStatus.OK:
                    self._subscriptions.forget(Headers(scope=scope)["mcp-session-id"])  # RES-08
                extra = [(name.encode(), value.encode()) for name, value in EXPOSED.items()]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            elif not message.get("more_body", False):
                ended = True
            await send(message)

        async def receive_until_stop() -> Message:
            message: Message = {"type": "http.disconnect"}

            async def stop() -> None:
                await self._stopping.wait()
                await anyio.sleep(farewell)
                group.cancel_scope.cancel()

            async with anyio.create_task_group() as group:
                group.start_soon(stop)
                message = await receive()
                group.cancel_scope.cancel()
            return message

        try:
            await self.manager.handle_request(scope, receive_until_stop if standing else receive, send_open)
        except Exception:
            if not started:
                raise
            log.exception("an event stream failed")
        if started and not ended:  # end a stream that was cut short in order
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def belongs_to_session(request: Request) -> bool:
    """Whether the SDK serves a JSON-RPC request: one of a session, the first of one, or of a revision without sessions.

    Our own dialect answers malformed messages and batches, and says what is wrong with them.
    """
    version = request.headers.get("mcp-protocol-version")
    if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return True
    if fault_of(request.message):
        return False
    if "mcp-session-id" in request.headers:
        return True
    accepted = request.headers.get("accept", "").lower()
    is_first = request.message is not None and request.message.get("method") == "initialize"
    return is_first and "text/event-stream" in accepted and "application/json" in accepted


def refused(request: Request) -> Reply | None:
    """Return the answer to a message with a wrong id or wrong params (MSG-04): the SDK takes some for notifications."""
    if request.message is None:  # the SDK says so
        return None
    found = jsonrpc.checked(request.message)
    if not isinstance(found, jsonrpc.Refusal):
        return None
    answer = found.answer or jsonrpc.refusal(jsonrpc.INVALID_PARAMS, found.reason, None)
    return json_reply(answer, 400, CORS)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` for a request whose body was read already, without a byte order mark."""
    body = body.removeprefix(codecs.BOM_UTF8)
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay
