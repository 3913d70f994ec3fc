"""MCP in full over HTTP: sessions, and the revisions that need none (HTTP-04, TOOL-15).

message ─▶ Dispatcher      as on stdin: JSON, or an event stream where the client asks for progress
      └──▶ SdkSessions     what only the SDK serves
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import anyio
from anyio import from_thread
from anyio.abc import TaskGroup
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from obsidian_mcp.core.text.call import Client
from obsidian_mcp.errors import OperationTimeout
from obsidian_mcp.serve import dispatch, jsonrpc
from obsidian_mcp.serve.call_order import UNORDERED, CallOrder
from obsidian_mcp.serve.call_queue import kind_of_message
from obsidian_mcp.serve.call_thread import run_in_thread
from obsidian_mcp.serve.dispatch import HANDSHAKE_VERSIONS, MODERN_VERSIONS, Dispatcher, Peer
from obsidian_mcp.serve.sdk_messages import rewrite_request

from .dialect import CORS, JSON, json_reply
from .exchange import (
    EVENTS,
    EXPOSED,
    SESSION,
    Caught,
    Events,
    Exchange,
    reply_accepted,
    reply_line,
    reply_without_session,
)
from .request import HttpRequest
from .revision_2026 import HEADER_MISMATCH, header_fault, status_of
from .sdk_sessions import FAREWELL_SECONDS, SdkSessions

MAX_SESSIONS: Final = 1000
"""Sessions that are kept; a new one ends the one that was used least recently."""


@dataclass(eq=False)
class Session:
    """What is known of one client between its `initialize` and its end."""

    key: str
    """The id that the client has of it."""
    peer: Peer
    order: CallOrder = field(default_factory=CallOrder)
    calls: dict[jsonrpc.RequestId, anyio.CancelScope] = field(default_factory=dict)
    """Those in flight that the dispatcher answers, by what equal ids have in common."""
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while the SDK gets to know the session or to forget it."""
    sdk_id: str = ""
    """The id of the SDK's own session; empty before it has one."""


class Sessions:
    """The clients of one key, each with its session or, from 2026 on, without one."""

    def __init__(self, dispatcher: Dispatcher, sdk: SdkSessions, tasks: TaskGroup) -> None:
        """`sdk` serves the messages that the dispatcher does not answer. `tasks`: of the server."""
        self._dispatcher = dispatcher
        self._sdk = sdk
        self._tasks = tasks
        self._sessions: dict[str, Session] = {}
        """By id, the least recently used first."""

    def stop(self) -> None:
        """End the streams that have no end of their own; calls in flight go on."""
        self._sdk.stop()

    def end(self) -> None:
        """End all sessions and the streams that have no end of their own; calls in flight go on."""
        self._sessions.clear()
        self._sdk.stop()

    def close(self) -> None:
        """End what is still in flight with the SDK."""
        self._sdk.close()

    async def stand(
        self, request: HttpRequest, scope: Scope, receive: Receive, send: Send
    ) -> Response | None:
        """Serve GET, a stream of what the server has to say, and DELETE, which ends a session."""
        session = self._find(request)
        if session is None:
            return reply_without_session()
        if request.method == "DELETE":
            del self._sessions[session.key]
            await self._forget(session)
            return Response(status_code=HTTPStatus.OK, headers=EXPOSED)
        return await self._pass_on(Exchange(scope, b"", receive, send), session, standing=True)

    async def answer_session(
        self, request: HttpRequest, scope: Scope, receive: Receive, send: Send
    ) -> Response | None:
        """Serve one message of a client for which `belongs_to_session`; return None where it was
        answered already."""
        version = request.headers.get("mcp-protocol-version", HANDSHAKE_VERSIONS[0])
        message = request.message
        if message is not None:  # else the SDK says what is wrong
            checked = jsonrpc.check(message)
            if isinstance(checked, jsonrpc.InvalidMessage):
                refused = checked.answer or jsonrpc.refusal(
                    jsonrpc.INVALID_PARAMS, checked.reason, None
                )
                return json_reply(refused, 400, CORS)
            message = checked
        exchange = Exchange(scope, request.body, receive, send)
        if version not in HANDSHAKE_VERSIONS:
            return await self._answer_modern(request, message, exchange)
        if message is not None and SESSION not in request.headers:
            return await self._begin(message)
        session = self._find(request)
        if session is None:
            return reply_without_session()
        if message is None:
            return await self._answer_batch(request.array or [], scope, session)
        return await self._take(message, exchange, session)

    async def _take(
        self, message: jsonrpc.Message, exchange: Exchange, session: Session
    ) -> Response | None:
        if "method" in message and "id" in message:
            return await self._answer_request(message, exchange, session)
        cancelled = (
            jsonrpc.read_id((message.get("params") or {}).get("requestId"))
            if "method" in message
            else None
        )
        running = (
            None if cancelled is None else session.calls.get(jsonrpc.correlation_key(cancelled))
        )
        if message.get("method") == "notifications/cancelled" and running is not None:
            running.cancel()
        elif session.sdk_id:
            return await self._pass_on(exchange, session)
        return reply_accepted()

    async def _answer_batch(self, values: list[Any], scope: Scope, session: Session) -> Response:
        """Serve the messages of an array, and answer with one (MSG-09)."""
        messages = jsonrpc.check_batch(values)
        if isinstance(messages, jsonrpc.InvalidMessage):
            return json_reply(messages.answer, 400, CORS)
        batch = jsonrpc.BatchAnswer(messages)

        async def serve(message: jsonrpc.Message) -> None:
            caught = Caught()
            exchange = Exchange(
                scope, json.dumps(message).encode(), anyio.sleep_forever, caught, asks=False
            )
            reply = await self._take(message, exchange, session)
            if "id" in message:
                batch.take(
                    message["id"], caught.last_answer() if reply is None else bytes(reply.body)
                )

        async with anyio.create_task_group() as group:
            for message in messages:
                if not isinstance(message, jsonrpc.InvalidMessage):
                    group.start_soon(serve, message)
        line = batch.encode()
        return reply_line(line) if line else reply_accepted()

    async def _begin(self, message: jsonrpc.Message) -> Response:
        line = self._dispatcher.answer_message(message, Peer(HANDSHAKE_VERSIONS[-1]))
        key = secrets.token_hex(16)
        self._sessions[key] = Session(key, dispatch.read_peer(message))
        while len(self._sessions) > MAX_SESSIONS:
            self._tasks.start_soon(self._forget, self._sessions.pop(next(iter(self._sessions))))
        return reply_line(line or b"", headers={SESSION: key})

    async def _answer_request(
        self, message: jsonrpc.Message, exchange: Exchange, session: Session
    ) -> Response | None:
        dispatcher, order = self._dispatcher, session.order
        peer = dispatcher.peer(message, session.peer)
        if not isinstance(peer, Peer):
            return reply_line(jsonrpc.encode(peer))
        if not exchange.asks:
            peer = Peer(peer.version, peer.name, {**peer.capabilities, "elicitation": None})
        if message["method"] == "initialize":
            await self._forget(session)
            session.peer = dispatch.read_peer(message)
        if message["method"] in UNORDERED:
            return await self._serve(message, peer, exchange, session)
        try:
            async with order.turn(writes=dispatcher.writes(message), seconds=dispatcher.timeout):
                return await self._serve(message, peer, exchange, session)
        except OperationTimeout as late:  # before its turn
            return reply_line(jsonrpc.encode(dispatcher.failure(message, peer, late)))

    async def _serve(
        self,
        message: jsonrpc.Message,
        peer: Peer,
        exchange: Exchange,
        session: Session | None = None,
    ) -> Response | None:
        """Have a request answered by the dispatcher, or by the SDK."""
        events = Events(exchange.send)
        if self._dispatcher.serves(message):
            key, calls = (session.key, session.calls) if session is not None else ("", {})
            call_id = jsonrpc.correlation_key(message["id"])
            with anyio.CancelScope() as work:
                calls[call_id] = work
                try:
                    line = await self._call(message, peer, Client(peer.name, key), events)
                finally:
                    if calls.get(call_id) is work:  # a client may use one id twice
                        del calls[call_id]
            if work.cancelled_caught:  # the client has asked for it, and does not want an answer
                return None if await events.end() else reply_accepted()
            if line is not None:
                if await events.end(line):
                    return None
                return reply_line(line, status_of(line) if peer.is_modern else HTTPStatus.OK)
        exchange = exchange._replace(body=json.dumps(rewrite_request(peer, message)).encode())
        if session is not None and not peer.is_modern:
            scope = {**exchange.scope, CallOrder.SCOPE_KEY: session.order}
            return await self._pass_on(exchange._replace(scope=scope), session)
        standing = message["method"] == "subscriptions/listen"
        await self._sdk.forward(exchange, standing=standing, farewell=FAREWELL_SECONDS)
        return None

    async def _call(
        self, message: jsonrpc.Message, peer: Peer, client: Client, events: Events
    ) -> bytes | None:
        """Return the line that answers a request; None where the SDK has to."""
        token = dispatch.progress_token(message)

        def report(done: int, total: int, activity: str) -> None:
            from_thread.run(events.put, jsonrpc.progress(token, done, total, activity))

        work = partial(self._dispatcher.answer_message, message, peer)
        try:
            return await run_in_thread(
                self._dispatcher.timeout,
                work,
                client,
                None if token is None else report,
                kind=kind_of_message(message),
            )
        except OperationTimeout as error:
            return jsonrpc.encode(self._dispatcher.failure(message, peer, error))

    # --- 2026

    async def _answer_modern(
        self, request: HttpRequest, message: jsonrpc.Message | None, exchange: Exchange
    ) -> Response | None:
        """Serve a message that needs no session. The SDK refuses what has the wrong form."""
        accepted = request.headers.get("accept", "")
        if (
            message is None
            or not {"method", "id"} <= message.keys()
            or JSON not in accepted
            or EVENTS not in accepted
        ):
            await self._sdk.forward(exchange)
            return None
        if (fault := header_fault(request, exchange.scope, message)) is not None:
            return reply_line(
                jsonrpc.encode(jsonrpc.error(message["id"], HEADER_MISMATCH, fault)), 400
            )
        version = request.headers["mcp-protocol-version"]
        if version not in MODERN_VERSIONS and not dispatch.envelope(message):
            refused = dispatch.unsupported_version_answer(
                message, version, (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS)
            )
            return reply_line(jsonrpc.encode(refused), HTTPStatus.BAD_REQUEST)
        peer = self._dispatcher.modern_peer(message)  # its header says that it is of this era
        if not isinstance(peer, Peer):
            line = jsonrpc.encode(peer)
            return reply_line(line, status_of(line))
        if not self._dispatcher.serves(message):
            return await self._serve(message, peer, exchange)
        reply: Response | None = None
        async with anyio.create_task_group() as group:

            async def watch() -> None:  # a client that leaves has given its call up
                while (await exchange.receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(watch)
            reply = await self._serve(message, peer, exchange)
            group.cancel_scope.cancel()
        return reply

    # --- the SDK

    async def _pass_on(
        self, exchange: Exchange, session: Session, *, standing: bool = False
    ) -> Response | None:
        """Have the SDK serve a request of a session, which it gets to know before."""
        async with session.lock:
            if self._sessions.get(session.key) is not session:  # ended while it waited
                return reply_without_session()
            if not session.sdk_id:
                session.sdk_id = await self._sdk.begin(session.peer)
        headers = [
            (name, value) for name, value in exchange.scope["headers"] if name != SESSION.encode()
        ]
        headers.append((SESSION.encode(), session.sdk_id.encode()))
        scope = {**exchange.scope, "headers": headers, dispatch.SESSION_KEY: session.key}
        await self._sdk.forward(exchange._replace(scope=scope), standing=standing)
        return None

    async def _forget(self, session: Session) -> None:
        """End the SDK's side of a session, and its subscriptions."""
        async with session.lock:
            if session.sdk_id:
                sdk_id, session.sdk_id = session.sdk_id, ""
                await self._sdk.end(sdk_id, session.key)

    def _find(self, request: HttpRequest) -> Session | None:
        session = self._sessions.pop(request.headers[SESSION], None)
        if session is not None:
            self._sessions[session.key] = session
        return session
