"""MCP in full over HTTP: sessions, event streams, and the revisions that need no session (HTTP-04, TOOL-15).

message ─▶ Dispatcher      as on stdin: JSON, or an event stream where the client wants to be told of progress
      └──▶ SDK             what only it serves; it gets to know a session with its first such message
"""

from __future__ import annotations

import codecs
import json
import logging
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import anyio
from anyio import from_thread, to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from obsidian_mcp.core.text.call import Client
from obsidian_mcp.errors import OperationTimeout
from obsidian_mcp.serve import dispatch, jsonrpc
from obsidian_mcp.serve.call_order import UNORDERED, CallOrder
from obsidian_mcp.serve.call_thread import in_thread
from obsidian_mcp.serve.dispatch import HANDSHAKE_VERSIONS, MODERN_VERSIONS, Dispatcher, Peer

from .dialect import CORS, JSON, HttpRequest, json_reply
from .rpc import fault_of

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from obsidian_mcp.serve.mcp.server import VaultServer

log = logging.getLogger(__name__)

FAREWELL_SECONDS: Final = 1.0
"""What a subscription gets for its last message when the server stops."""
MAX_SESSIONS: Final = 1000
"""Sessions that are kept; a new one ends the one that was used least recently."""
HEADER_MISMATCH: Final = -32020
SESSION: Final = "mcp-session-id"
EVENTS: Final = "text/event-stream"
EXPOSED: Final = {"access-control-allow-origin": "*", "access-control-expose-headers": "Mcp-Session-Id"}
_NAMING: Final = ("mcp-protocol-version", "mcp-method", "mcp-name")
"""Headers that repeat what a message of 2026 says."""
_STATUS: Final = {
    jsonrpc.PARSE_ERROR: HTTPStatus.BAD_REQUEST,
    jsonrpc.INVALID_REQUEST: HTTPStatus.BAD_REQUEST,
    jsonrpc.INVALID_PARAMS: HTTPStatus.BAD_REQUEST,
    HEADER_MISMATCH: HTTPStatus.BAD_REQUEST,
    dispatch.UNSUPPORTED_VERSION: HTTPStatus.BAD_REQUEST,
    jsonrpc.METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND,
}
"""The status with which 2026 answers an error."""
_ERROR_CODE: Final = re.compile(
    rb'\{"jsonrpc":"2\.0","id":(?:"(?:[^"\\]|\\.)*"|[-0-9]+|null),"error":\{"code":(-?[0-9]+)'
)


class Exchange(NamedTuple):
    """One HTTP request and its answer, as ASGI has them."""

    scope: Scope
    body: bytes
    receive: Callable[[], Any]
    """What comes behind the body."""
    send: Send
    asks: bool = True
    """Whether a question for a person can be sent before the answer."""


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

    def __init__(self, dispatcher: Dispatcher, load: Callable[[], StreamableHTTPSessionManager]) -> None:
        """`load` makes what serves the messages that the dispatcher does not answer; called in a thread, once."""
        self._dispatcher = dispatcher
        self._load = load
        self._manager: StreamableHTTPSessionManager | None = None
        self._loading = anyio.Lock()
        self.tasks: TaskGroup
        """Of the server, from its start on."""
        self._stopping = anyio.Event()
        self._sessions: dict[str, Session] = {}
        """By id, the least recently used first."""

    def stop(self) -> None:
        """End the streams that have no end of their own; calls in flight go on."""
        if self._manager is not None:
            cast("VaultServer", self._manager.app).subscriptions.close()
        self._stopping.set()

    async def stand(self, request: HttpRequest, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """Serve GET, a stream of what the server has to say, and DELETE, which ends a session."""
        session = self._find(request)
        if session is None:
            return _no_session()
        if request.method == "DELETE":
            del self._sessions[session.key]
            await self._forget(session)
            return Response(status_code=HTTPStatus.OK, headers=EXPOSED)
        return await self._pass_on(Exchange(scope, b"", receive, send), session, standing=True)

    async def answer(self, request: HttpRequest, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """Serve one message of a client for which `belongs_to_session`; return None where it was answered already.
        Raises: OperationTimeout for a call whose turn has not come in time."""
        version = request.headers.get("mcp-protocol-version", HANDSHAKE_VERSIONS[0])
        message = request.message
        if message is not None:  # else the SDK says what is wrong
            checked = jsonrpc.check(message)
            if isinstance(checked, jsonrpc.InvalidMessage):
                refused = checked.answer or jsonrpc.refusal(jsonrpc.INVALID_PARAMS, checked.reason, None)
                return json_reply(refused, 400, CORS)
            message = checked
        exchange = Exchange(scope, request.body, receive, send)
        if version not in HANDSHAKE_VERSIONS:
            return await self._answer_modern(request, message, exchange)
        if message is not None and SESSION not in request.headers:
            return await self._begin(message)
        session = self._find(request)
        if session is None:
            return _no_session()
        if message is None:
            return await self._answer_batch(request.array or [], scope, session)
        return await self._take(message, exchange, session)

    async def _take(self, message: jsonrpc.Message, exchange: Exchange, session: Session) -> Response | None:
        if "method" in message and "id" in message:
            return await self._answer_request(message, exchange, session)
        cancelled = jsonrpc.read_id((message.get("params") or {}).get("requestId")) if "method" in message else None
        running = None if cancelled is None else session.calls.get(jsonrpc.correlated(cancelled))
        if message.get("method") == "notifications/cancelled" and running is not None:
            running.cancel()
        elif session.sdk_id:
            return await self._pass_on(exchange, session)
        return Response(status_code=HTTPStatus.ACCEPTED, headers=EXPOSED)

    async def _answer_batch(self, values: list[Any], scope: Scope, session: Session) -> Response:
        """Serve the messages of an array, and answer with one (MSG-09)."""
        messages = jsonrpc.check_batch(values)
        if isinstance(messages, jsonrpc.InvalidMessage):
            return json_reply(messages.answer, 400, CORS)
        batch = jsonrpc.BatchAnswer(messages)

        async def serve(message: jsonrpc.Message) -> None:
            caught = Caught()
            exchange = Exchange(scope, json.dumps(message).encode(), anyio.sleep_forever, caught, asks=False)
            try:
                reply = await self._take(message, exchange, session)
                line = caught.answer() if reply is None else bytes(reply.body)
            except OperationTimeout as late:  # before its turn
                line = jsonrpc.encode(self._dispatcher.failure(message, session.peer, late))
            if "id" in message:
                batch.take(message["id"], line)

        async with anyio.create_task_group() as group:
            for message in messages:
                if not isinstance(message, jsonrpc.InvalidMessage):
                    group.start_soon(serve, message)
        line = batch.encode()
        return _reply(line) if line else Response(status_code=HTTPStatus.ACCEPTED, headers=EXPOSED)

    async def _begin(self, message: jsonrpc.Message) -> Response:
        line = self._dispatcher.answer(message, Peer(HANDSHAKE_VERSIONS[-1]))
        key = secrets.token_hex(16)
        self._sessions[key] = Session(key, dispatch.introduced(message))
        while len(self._sessions) > MAX_SESSIONS:
            self.tasks.start_soon(self._forget, self._sessions.pop(next(iter(self._sessions))))
        return _reply(line or b"", headers={SESSION: key})

    async def _answer_request(self, message: jsonrpc.Message, exchange: Exchange, session: Session) -> Response | None:
        dispatcher, order = self._dispatcher, session.order
        peer = dispatcher.peer(message, session.peer)
        if not isinstance(peer, Peer):
            return _reply(jsonrpc.encode(peer))
        if not exchange.asks:
            peer = Peer(peer.version, peer.name, {**peer.capabilities, "elicitation": None})
        if message["method"] == "initialize":
            await self._forget(session)
            session.peer = dispatch.introduced(message)
        if message["method"] in UNORDERED:
            return await self._serve(message, peer, exchange, session)
        async with order.turn(writes=dispatcher.writes(message), seconds=dispatcher.timeout):
            return await self._serve(message, peer, exchange, session)

    async def _serve(
        self, message: jsonrpc.Message, peer: Peer, exchange: Exchange, session: Session | None = None
    ) -> Response | None:
        """Have a request answered by the dispatcher, or by the SDK."""
        events = Events(exchange.send)
        if self._dispatcher.serves(message):
            key, calls = (session.key, session.calls) if session is not None else ("", {})
            call_id = jsonrpc.correlated(message["id"])
            with anyio.CancelScope() as work:
                calls[call_id] = work
                try:
                    line = await self._call(message, peer, Client(peer.name, key), events)
                finally:
                    if calls.get(call_id) is work:  # a client may use one id twice
                        del calls[call_id]
            if work.cancelled_caught:  # the client has asked for it, and does not want an answer
                return None if await events.end() else Response(status_code=HTTPStatus.ACCEPTED, headers=EXPOSED)
            if line is not None:
                if await events.end(line):
                    return None
                return _reply(line, _status(line) if peer.is_modern else HTTPStatus.OK)
        exchange = exchange._replace(body=json.dumps(peer.for_sdk(message)).encode())
        if session is not None and not peer.is_modern:
            scope = {**exchange.scope, CallOrder.SCOPE_KEY: session.order}
            return await self._pass_on(exchange._replace(scope=scope), session)
        standing = message["method"] == "subscriptions/listen"
        await self._forward(exchange, standing=standing, farewell=FAREWELL_SECONDS)
        return None

    async def _call(self, message: jsonrpc.Message, peer: Peer, client: Client, events: Events) -> bytes | None:
        """Return the line that answers a request; None where the SDK has to."""
        token = dispatch.progress_token(message)

        def report(done: int, total: int, activity: str) -> None:
            from_thread.run(events.put, jsonrpc.progress(token, done, total, activity))

        work = partial(self._dispatcher.answer, message, peer)
        try:
            return await in_thread(self._dispatcher.timeout, work, client, None if token is None else report)
        except OperationTimeout as error:
            return jsonrpc.encode(self._dispatcher.failure(message, peer, error))

    # --- 2026

    async def _answer_modern(
        self, request: HttpRequest, message: jsonrpc.Message | None, exchange: Exchange
    ) -> Response | None:
        """Serve a message that needs no session. The SDK refuses what has the wrong form."""
        accepted = request.headers.get("accept", "")
        if message is None or not {"method", "id"} <= message.keys() or JSON not in accepted or EVENTS not in accepted:
            await self._forward(exchange)
            return None
        if (fault := _header_fault(request, exchange.scope, message)) is not None:
            return _reply(jsonrpc.encode(jsonrpc.error(message["id"], HEADER_MISMATCH, fault)), 400)
        version = request.headers["mcp-protocol-version"]
        if version not in MODERN_VERSIONS and not dispatch.envelope(message):
            refused = dispatch.unsupported(message, version, (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS))
            return _reply(jsonrpc.encode(refused), HTTPStatus.BAD_REQUEST)
        peer = self._dispatcher.modern_peer(message)  # its header says that it is of this era
        if not isinstance(peer, Peer):
            line = jsonrpc.encode(peer)
            return _reply(line, _status(line))
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

    async def _pass_on(self, exchange: Exchange, session: Session, *, standing: bool = False) -> Response | None:
        """Have the SDK serve a request of a session, which it gets to know before."""
        async with session.lock:
            if self._sessions.get(session.key) is not session:  # ended while it waited
                return _no_session()
            if not session.sdk_id:
                session.sdk_id = await self._introduce(session.peer)
        headers = [(name, value) for name, value in exchange.scope["headers"] if name != SESSION.encode()]
        headers.append((SESSION.encode(), session.sdk_id.encode()))
        scope = {**exchange.scope, "headers": headers, dispatch.SESSION_KEY: session.key}
        await self._forward(exchange._replace(scope=scope), standing=standing)
        return None

    async def _introduce(self, peer: Peer) -> str:
        """Let the SDK begin a session of its own. Returns its id."""
        key = await self._post(peer.introduction("introduction"))
        await self._post(jsonrpc.notification("notifications/initialized"), key)
        return key

    async def _post(self, message: Mapping[str, Any], key: str = "", method: str = "POST") -> str:
        """Send the SDK a message of our own. Returns the id of the session that it begins, if any."""
        begun = ""
        headers = [(b"content-type", JSON.encode()), (b"accept", f"{JSON}, {EVENTS}".encode())]
        if key:
            headers.append((SESSION.encode(), key.encode()))

        async def send(sent: Message) -> None:
            nonlocal begun
            if sent["type"] == "http.response.start":
                begun = dict(sent["headers"]).get(SESSION.encode(), b"").decode()

        scope = {"type": "http", "method": method, "path": "/mcp", "query_string": b"", "headers": headers}
        manager = await self._load_once()
        with anyio.CancelScope():
            await manager.handle_request(scope, _replay(json.dumps(message).encode(), anyio.sleep_forever), send)
        return begun

    async def _forget(self, session: Session) -> None:
        """End the SDK's side of a session, and its subscriptions (RES-08)."""
        async with session.lock:
            if session.sdk_id and self._manager is not None:
                cast("VaultServer", self._manager.app).subscriptions.forget(session.key)
                sdk_id, session.sdk_id = session.sdk_id, ""
                await self._post({}, sdk_id, "DELETE")

    async def _load_once(self) -> StreamableHTTPSessionManager:
        async with self._loading:
            if self._manager is None:
                manager = await to_thread.run_sync(self._load)
                await self.tasks.start(self._run, manager)
                self._manager = manager
            return self._manager

    async def _run(self, manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None]) -> None:
        async with manager.run():
            task_status.started()
            await anyio.sleep_forever()

    async def _forward(self, exchange: Exchange, *, standing: bool = False, farewell: float = 0.0) -> None:
        """Have the SDK serve a request. A `standing` stream ends only with the server, `farewell` seconds later."""
        # No event has an id, so that there is nothing to resume; asked to, the SDK would give no answer at all.
        scope, send, receive = exchange.scope, exchange.send, _replay(exchange.body, exchange.receive)
        scope = {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"last-event-id"]}
        started = ended = False

        async def send_open(message: Message) -> None:
            nonlocal started, ended
            if message["type"] == "http.response.start":
                started = True
                extra = [(name.encode(), value.encode()) for name, value in EXPOSED.items()]
                own = [(name, value) for name, value in message.get("headers", []) if name != SESSION.encode()]
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
            log.exception("an event stream failed")
        if started and not ended:  # end a stream that was cut short in order
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _find(self, request: HttpRequest) -> Session | None:
        session = self._sessions.pop(request.headers[SESSION], None)
        if session is not None:
            self._sessions[session.key] = session
        return session


class Caught:
    """What is sent for one message of a batch."""

    def __init__(self) -> None:
        self._body = b""

    async def __call__(self, message: Message) -> None:
        self._body += message.get("body", b"")

    def answer(self) -> bytes:
        """Return the answer, which is the last event where it came as a stream."""
        events = [line[5:].strip() for line in self._body.splitlines() if line.startswith(b"data:")]
        return events[-1] if events else self._body


class Events:
    """An event stream, which begins with its first event."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def put(self, line: bytes) -> None:
        if not self._begun:
            self._begun = True
            headers = {"content-type": EVENTS, "cache-control": "no-cache, no-transform", **EXPOSED}
            encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
            await self._send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": encoded})
        event = b"event: message\r\ndata: " + line.rstrip() + b"\r\n\r\n"
        await self._send({"type": "http.response.body", "body": event, "more_body": True})

    async def end(self, line: bytes = b"") -> bool:
        """End the stream, with a last event; False where it has not begun."""
        if self._begun:
            if line:
                await self.put(line)
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        return self._begun


def belongs_to_session(request: HttpRequest) -> bool:
    """Whether a JSON-RPC request is of a session, the first of one, or of a revision without; our own dialect answers
    malformed messages and batches without one, and says what is wrong."""
    version = request.headers.get("mcp-protocol-version")
    if version is not None and version not in HANDSHAKE_VERSIONS:
        return True
    if SESSION in request.headers and (request.array is not None or not fault_of(request.message)):
        return True
    accepted = request.headers.get("accept", "").lower()
    is_first = request.message is not None and request.message.get("method") == "initialize"
    return is_first and not fault_of(request.message) and EVENTS in accepted and JSON in accepted


def _header_fault(request: HttpRequest, scope: Scope, message: jsonrpc.Message) -> str | None:
    """Return how the headers of a request of 2026 contradict its message."""
    names = [name.decode("latin-1") for name, _ in scope["headers"]]
    if twice := next((name for name in _NAMING if names.count(name) > 1), None):
        return f"{twice} header appears more than once"
    version, params = dispatch.envelope(message).get(dispatch.VERSION_KEY), message.get("params") or {}
    if not isinstance(version, str):
        return None
    if request.headers.get("mcp-protocol-version") != version:
        return "mcp-protocol-version header does not match the request envelope's protocol version"
    if request.headers.get("mcp-method") != message["method"]:
        return "mcp-method header does not match the request body's method"
    named = params.get("name") if message["method"] == "tools/call" else None
    if named is not None and request.headers.get("mcp-name") != named:
        return "mcp-name header does not match the request body's 'name' parameter"
    return None


def _status(line: bytes) -> int:
    """Return the status for an answer of 2026."""
    failed = _ERROR_CODE.match(line)
    return HTTPStatus.OK if failed is None else _STATUS.get(int(failed[1]), HTTPStatus.OK)


def _no_session() -> Response:
    return json_reply(jsonrpc.refusal(jsonrpc.INVALID_REQUEST, "Session not found", None), 404, EXPOSED)


def _reply(line: bytes, status: int = HTTPStatus.OK, headers: Mapping[str, str] = {}) -> Response:
    return Response(line, status, {"content-type": JSON, **EXPOSED, **headers})


def _replay(body: bytes, receive: Callable[[], Any]) -> Receive:
    """Return a `receive` for a request whose body was read already, without a byte order mark."""
    first: list[Message] = [{"type": "http.request", "body": body.removeprefix(codecs.BOM_UTF8), "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay
