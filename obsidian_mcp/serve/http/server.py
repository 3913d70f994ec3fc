"""One HTTP server for four contracts and MCP (specs/http.md).

request ─▶ Endpoint ─▶ doors: admit, meter, unlock ─▶ dialect.answer ─▶ FrontDesk.call ─▶ tools.call
              └ /mcp: by its body the envelope of contract 001, JSON-RPC, or MCP with sessions (the SDK's)
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
from anyio import to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import Message, Receive, Scope, Send

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, InternalError, InvalidArguments
from obsidian_mcp.serve.http.dialects.bridge import Bridge
from obsidian_mcp.serve.http.dialects.burly import Burly
from obsidian_mcp.serve.http.dialects.jsonrpc import PREFLIGHT, JsonRpc, Malformed, check, speaks
from obsidian_mcp.serve.http.dialects.not_found import Nowhere
from obsidian_mcp.serve.http.dialects.openapi import OpenApi
from obsidian_mcp.serve.http.dialects.page import Page
from obsidian_mcp.serve.http.dialects.rad import Rad
from obsidian_mcp.serve.http.dialects.types import Asked, Dialect, Reason, Refusal, Reply
from obsidian_mcp.serve.mcp.server import VaultServer, build_server
from obsidian_mcp.serve.mcp.server import run as run_tool
from obsidian_mcp.tools import PLUGIN_TOOLS, TOOLS, Outcome, Tool, listed
from obsidian_mcp.tools.rad import Bridge as Registry

from . import listener
from .auth import Doors, Patience, declared_length, is_loopback, read_body, too_large

log = logging.getLogger(__name__)

READY_SECONDS = 5.0
PEEKED = 65_536
"""Bytes of a body that is too large which are looked at to tell its dialect."""
MAX_SESSIONS = 1000
FAREWELL = 1.0
"""Seconds that a client's subscription gets for its last message when the server stops."""
OPEN = ("openapi.json",)
EXPOSED = {"access-control-allow-origin": "*", "access-control-expose-headers": "Mcp-Session-Id"}


class FrontDesk:
    """Where all dialects have their calls done: the vault's tools, the plugin's, and those that were registered."""

    def __init__(self, app: App, *registries: Registry) -> None:
        self._app = app
        self._registries = registries

    def tools(self) -> Mapping[str, Tool]:
        """The vault's first; a registered tool cannot take the place of one of them."""
        tools = {**TOOLS, **PLUGIN_TOOLS}
        for registry in self._registries:
            tools = {**tools, **registry.served, **tools}
        if self._app.config.read_only:
            tools = {name: tool for name, tool in tools.items() if tool.read_only}
        return tools

    async def listed(self) -> Mapping[str, Tool]:
        return await to_thread.run_sync(listed, self._app, self.tools())

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        try:
            return await run_tool(self._app, name, arguments, self.tools())
        except AppError:
            raise
        except (Exception, SystemExit) as error:
            log.exception("%s failed", name)
            raise InternalError(f"The server failed while running {name}. Its log (stderr) has the details.") from error

    async def vaults(self) -> list[str]:
        try:
            return await to_thread.run_sync(self._app.vaults.names)
        except AppError:
            return []

    async def ready(self) -> bool:
        with anyio.move_on_after(READY_SECONDS):
            try:
                await to_thread.run_sync(self._app.vaults.get, abandon_on_cancel=True)
            except AppError:
                return False
            return True
        return False


class Endpoint:
    """One dialect on its paths: those below a mount, or a single one."""

    def __init__(
        self,
        dialect: Dialect,
        doors: Doors,
        desk: FrontDesk,
        *,
        path: tuple[str, ...] = (),
        below: int = 0,
        patience: Patience,
        keyless: tuple[tuple[str, ...], ...] = (),
        key_in_query: bool = False,
    ) -> None:
        """`path`: what a single path is called in the dialect. `below`: how many segments the mount has."""
        self.dialect = dialect
        self.doors = doors
        self.desk = desk
        self._path = path
        self._below = below
        self._patience = patience
        self._keyless = keyless
        self._key_in_query = key_in_query

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = self._asked(scope)
        try:
            reply = await self.serve(asked, scope, receive, send)
        except Refusal as refusal:
            reply = self.dialect.refuse(asked, refusal)
        except ClientDisconnect:
            return
        except Exception:
            log.exception("%s %s failed", asked.method, "/".join(asked.segments))
            reply = self.dialect.refuse(asked, Refusal(Reason.FAILED, "The server failed. Its log has the details."))
        if reply is not None:
            response = Response(reply.body, reply.status, {"x-content-type-options": "nosniff", **reply.headers})
            await response(scope, receive, send)

    async def serve(self, asked: Asked, scope: Scope, receive: Receive, send: Send) -> Reply | None:  # noqa: ARG002
        """The answer; None where it was sent already. Raises: Refusal, ClientDisconnect."""
        self.doors.admit(asked)
        methods = self.dialect.methods(asked.segments)
        if not methods:
            raise Refusal(Reason.NOT_FOUND, "Not found")
        if asked.method not in methods:
            raise Refusal(Reason.METHOD, "Method not allowed", headers={"allow": ", ".join(methods)})
        if asked.method != "OPTIONS":
            self.doors.meter(asked)
            if asked.segments not in self._keyless:
                self.doors.unlock(asked)
            asked = replace(asked, body=await self._body(asked, receive))
        return await self.dialect.answer(asked, self.desk)

    async def _body(self, asked: Asked, receive: Receive) -> bytes:
        limit = self.dialect.max_body
        if declared_length(asked) > limit:
            raise too_large(limit)
        body = await read_body(receive, limit, self._patience.body) if asked.method == "POST" else b""
        if len(body) > limit:
            raise too_large(limit)
        return body

    def _asked(self, scope: Scope) -> Asked:
        request = Request(scope)
        # The undecoded path: a slash in the name of a tool is not one between segments.
        segments = self._path or tuple(scope["raw_path"].decode("latin-1").split("/")[self._below + 1 :])
        return Asked(
            method=scope["method"],
            segments=segments,
            headers=dict(request.headers),
            query=dict(request.query_params) if self._key_in_query else {},
            client=request.client.host if request.client else "",
        )


class McpEndpoint(Endpoint):
    """`/mcp`, where three dialects are told apart by what is asked (wire rows 1 to 6)."""

    def __init__(
        self, rpc: JsonRpc, burly: Burly, doors: Doors, desk: FrontDesk, sessions: Sessions, patience: Patience
    ) -> None:
        super().__init__(rpc, doors, desk, path=("mcp",), patience=patience)
        self._burly = burly
        self._sessions = sessions

    async def serve(self, asked: Asked, scope: Scope, receive: Receive, send: Send) -> Reply | None:
        self.doors.admit(asked)
        if asked.method == "OPTIONS":
            return Reply(204 if "access-control-request-method" in asked.headers else 200, headers=PREFLIGHT)
        if asked.method in ("GET", "DELETE") and "mcp-session-id" in asked.headers:
            self.doors.unlock(asked)
            await self._sessions.serve(scope, receive, send, standing=asked.method == "GET")
            return None
        if asked.method != "POST":
            raise Refusal(Reason.METHOD, "Method not allowed", headers={"allow": "POST, OPTIONS"})
        limit = max(self.dialect.max_body, self._burly.max_body)
        over = declared_length(asked) > limit
        asked = replace(asked, body=await read_body(receive, PEEKED if over else limit, self._patience.body))
        dialect = self.dialect if speaks(asked) else self._burly
        try:
            self.doors.meter(asked)
            self.doors.unlock(asked)
            if over or len(asked.body) > dialect.max_body:
                raise too_large(dialect.max_body)
            if dialect is self.dialect and _is_for_sessions(asked):
                body = _replayed(asked.body, receive)
                listening = _method(asked) == "subscriptions/listen"
                await self._sessions.serve(scope, body, send, standing=listening, farewell=FAREWELL)
                return None
            return await dialect.answer(asked, self.desk)
        except Refusal as refusal:
            return dialect.refuse(asked, refusal)


def _is_for_sessions(asked: Asked) -> bool:
    """Whether the SDK serves a JSON-RPC request: it belongs to a session or begins one, or is of a revision without.

    Malformed messages and batches are answered by our own dialect, whose answers say what is wrong with them.
    """
    version = asked.headers.get("mcp-protocol-version")
    if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return True
    try:
        check(asked.json)
    except (ValueError, Malformed):
        return False
    if "mcp-session-id" in asked.headers:
        return True
    accepted = asked.headers.get("accept", "").lower()
    return _method(asked) == "initialize" and "text/event-stream" in accepted and "application/json" in accepted


def _method(asked: Asked) -> Any:
    """The method of a JSON-RPC message, None of anything else."""
    try:
        return asked.json.get("method")
    except (ValueError, AttributeError):
        return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """`receive` for a request whose body was read already."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay


class Sessions:
    """MCP in full, by the SDK: sessions with event streams, and the revisions that need no session."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self.manager = manager
        self._stopping = anyio.Event()

    def stop(self) -> None:
        """End the streams that would stand for ever; calls in flight go on."""
        if isinstance(self.manager.app, VaultServer):
            self.manager.app.news.close()
        self._stopping.set()

    async def serve(self, scope: Scope, receive: Receive, send: Send, *, standing: bool, farewell: float = 0.0) -> None:
        """`standing`: the stream ends with the server and not before; it gets `farewell` seconds for a last word."""
        started = ended = False

        async def send_open(message: Message) -> None:
            nonlocal started, ended
            if message["type"] == "http.response.start":
                started = True
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
        if started and not ended:  # a stream that was told to end says so
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def application(
    app: App,
    *,
    registered: Registry | None = None,
    built_in: Registry | None = None,
    patience: Patience = Patience(),  # noqa: B008  a frozen value
    full: Callable[[App, Callable[[], Mapping[str, Tool]]], StreamableHTTPSessionManager] | None = None,
) -> Starlette:
    """The server as an ASGI application.

    `registered` are tools of another program, which all dialects offer; `built_in` those that only contract 004 has.
    `full` makes what serves MCP in full, where that is to have more than tools.
    """
    http = app.config.http
    doors = Doors(http)
    mine = [registered] if registered is not None else []
    desk = FrontDesk(app, *mine)
    rad_desk = FrontDesk(app, *([built_in] if built_in is not None else []), *mine)
    burly = Burly(http.max_envelope)
    told = replace(app, config=replace(app.config, error_style="result"))  # wire row 21
    manager = (full or session_manager)(told, desk.tools)
    sessions = Sessions(manager)
    mcp = McpEndpoint(JsonRpc(http.max_body), burly, doors, desk, sessions, patience)
    envelope = Endpoint(burly, doors, desk, path=("mcp",), patience=patience)
    health = Endpoint(burly, doors, desk, path=("health",), patience=patience)
    bridge = Endpoint(Bridge(http.max_body, keyed=bool(http.keys)), doors, desk, below=2, patience=patience)
    rad = Endpoint(
        Rad(http.max_body), doors, rad_desk, below=2, patience=patience, keyless=(("health",),), key_in_query=True
    )

    nowhere = Endpoint(Nowhere(), doors, desk, patience=patience)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    starlette = Starlette(
        routes=[
            *(kind(path, site) for path, site in (("/bridge/v1", bridge), ("/mcp/v1", rad)) for kind in (Route, Mount)),
            *(Route(path, mcp) for path in ("/mcp", "/mcp/")),
            *(Route(path, envelope) for path in ("/v1/mcp", "/v1/mcp/")),
            *(Route(path, health) for path in ("/health", "/health/", "/v1/health", "/v1/health/")),
            Route("/", Endpoint(Page(), doors, desk, path=("page",), patience=patience, key_in_query=True)),
            Route("/openapi.json", Endpoint(OpenApi(), doors, desk, path=OPEN, patience=patience, keyless=(OPEN,))),
            Mount("/", nowhere),
        ],
        lifespan=lifespan,
    )
    starlette.router.default = nowhere  # a path with a line break matches no route, not even the last
    starlette.state.stop = sessions.stop
    return starlette


def session_manager(app: App, tools: Callable[[], Mapping[str, Tool]]) -> StreamableHTTPSessionManager:
    server = build_server(app, tools)
    return StreamableHTTPSessionManager(
        server, max_request_body_size=app.config.http.max_body, max_sessions=MAX_SESSIONS
    )


def run(
    app: App,
    *,
    host: str = "127.0.0.1",
    ports: Sequence[int] = (3000,),
    registered: Registry | None = None,
    built_in: Registry | None = None,
    announce: Callable[[str], None] = log.info,
) -> int:
    """Serve until SIGTERM or SIGINT. Returns the exit status of the process: 0.

    `announce` is told the URL of each port. Raises: InvalidArguments for an open door, AppError for a taken port.
    """
    if not is_loopback(host) and not app.config.http.keys:
        raise InvalidArguments(
            f"Without a key the server listens only on this machine, not on {host}. Set OBSIDIAN_MCP_API_KEY, or leave "
            "--host out."
        )
    sockets = listener.listen(host, ports)
    starlette = application(app, registered=registered, built_in=built_in)
    server = listener.Listener(
        starlette, drain=app.config.timeout + 5, patience=Patience(), on_stop=starlette.state.stop
    )
    for listening in sockets:
        announce(listener.address(listening))
    server.run(sockets)
    listener.end_process_after(listener.GRACE)
    return 0
