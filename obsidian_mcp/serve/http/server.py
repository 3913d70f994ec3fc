"""One HTTP server for MCP and the contracts of other programs (specs/http.md).

request ─▶ Endpoint ─▶ AccessControl: admit, meter, unlock ─▶ Dialect.answer ─▶ ToolService.call ─▶ tools.call
              └ /mcp, by the body: a contract that shares the path, JSON-RPC, or MCP in full (`Sessions`)
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Client, set_call
from obsidian_mcp.errors import InvalidArguments, OperationTimeout
from obsidian_mcp.tools.registry import Tool

from . import listener
from .auth import AccessControl, check_size, is_loopback, is_too_large, read_body
from .dialect import CORS, Contract, Dialect, HttpRequest, NotFound, Reason, Refusal, json_reply
from .pages import Challenge, HomePage, OpenApi
from .rpc import PREFLIGHT, JsonRpc, failure, speaks
from .sessions import Sessions, belongs_to_session
from .tool_service import ToolService

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

log = logging.getLogger(__name__)

PEEKED_BYTES = 65_536
"""How much of a body that is too large is read to find its dialect."""

Bearer = bytes | None
"""Whose request it is: the digest of an API key with a name (DOOR-10), or None."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One dialect on its paths: those below a mount of two segments, or a single one."""

    dialect: Dialect
    access: AccessControl
    services: Mapping[Bearer, ToolService]
    path: tuple[str, ...] = ()
    """The dialect's name for a single path."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = self._request(scope)
        set_call(client=Client(request.headers.get("user-agent", "").partition(" ")[0], request.client))
        try:
            reply = await self.serve(request, scope, receive, send)
        except Refusal as refusal:
            reply = self.dialect.refuse(request, refusal)
        except ClientDisconnect:
            return
        except Exception:
            log.exception("%s %s failed", request.method, "/".join(request.segments))
            failure = Refusal(Reason.FAILED, "The server failed. Its log has the details.")
            reply = self.dialect.refuse(request, failure)
        if reply is not None:
            reply.headers.setdefault("x-content-type-options", "nosniff")
            await reply(scope, receive, send)

    async def serve(self, request: HttpRequest, scope: Scope, receive: Receive, send: Send) -> Response | None:  # noqa: ARG002
        """Return the answer; None where it was sent already. Raises: Refusal, ClientDisconnect."""
        dialect = self.dialect
        self.access.admit(request)
        methods = dialect.methods(request.segments)
        if not methods:
            raise Refusal(Reason.NOT_FOUND, "Not found")
        if request.method not in methods:
            raise Refusal(Reason.METHOD, "Method not allowed", headers={"allow": ", ".join(methods)})
        bearer: Bearer = None
        if request.method != "OPTIONS":
            self.access.meter(request)
            if request.segments not in dialect.open_paths:
                bearer = self.access.unlock(request, dialect)
            check_size(request, dialect.max_body)
            if request.method == "POST":
                request = replace(request, body=await read_body(receive, dialect.max_body))
                check_size(request, dialect.max_body)
        return await dialect.answer(request, self.services[bearer])

    def _request(self, scope: Scope) -> HttpRequest:
        connection = HTTPConnection(scope)
        # The undecoded path: a slash in the name of a tool does not separate segments.
        segments = self.path or tuple(scope["raw_path"].decode("latin-1").split("/")[3:])
        return HttpRequest(
            method=scope["method"],
            segments=segments,
            headers=dict(connection.headers),
            query=dict(connection.query_params) if self.dialect.takes_key_from_query else {},
            client=connection.client.host if connection.client else "",
        )


@dataclass(frozen=True, kw_only=True)
class McpEndpoint(Endpoint):
    """`/mcp`, where the request decides between JSON-RPC, a session, and a contract that shares the path."""

    other: Contract | None
    sessions: Mapping[Bearer, Sessions]

    async def serve(self, request: HttpRequest, scope: Scope, receive: Receive, send: Send) -> Response | None:
        self.access.admit(request)
        if request.method == "OPTIONS":
            status = 204 if "access-control-request-method" in request.headers else 200
            return Response(status_code=status, headers=PREFLIGHT)
        if request.method in ("GET", "DELETE") and "mcp-session-id" in request.headers:
            return await self.sessions[self.access.unlock(request, self.dialect)].stand(request, scope, receive, send)
        if request.method != "POST":
            raise Refusal(Reason.METHOD, "Method not allowed", headers={"allow": "POST, OPTIONS"})
        limit = max(self.dialect.max_body, self.other.max_body if self.other else 0)
        most = PEEKED_BYTES if is_too_large(request, limit) else limit
        request = replace(request, body=await read_body(receive, most))
        dialect = self.dialect if self.other is None or speaks(request, self.other) else self.other
        try:
            self.access.meter(request)
            bearer = self.access.unlock(request, dialect)
            service, sessions = self.services[bearer], self.sessions[bearer]
            check_size(request, dialect.max_body)
            if dialect is not self.dialect or not belongs_to_session(request):
                return await dialect.answer(request, service)
            return await sessions.answer(request, scope, receive, send)
        except Refusal as refusal:
            return dialect.refuse(request, refusal)
        except OperationTimeout as error:  # before its turn
            return json_reply(failure(request.json["id"], error), headers=CORS)


def application(
    app: App, *, keyed: Mapping[bytes, App] = MappingProxyType({}), contracts: Sequence[Contract] = ()
) -> Starlette:
    """Return the server as an ASGI application. `keyed` has the App for the bearer of each API key with a name, by its
    digest; `contracts` are served beside MCP, one of them perhaps at `/mcp`."""
    http = app.config.http
    access = AccessControl(http, named=keyed)
    apps = dict[Bearer, App]([(None, app), *keyed.items()])
    brought = [contract.tools for contract in contracts]
    services = {bearer: ToolService(one, *brought) for bearer, one in apps.items()}
    sessions = {
        bearer: Sessions(service.dispatcher, partial(session_manager, service.dispatcher.app, service.tools))
        for bearer, service in services.items()
    }

    def at(dialect: Dialect, *path: str) -> Endpoint:
        return Endpoint(dialect=dialect, access=access, services=services, path=path)

    def mount(contract: Contract) -> Iterator[Route | Mount]:
        own = {bearer: ToolService(one, contract.own_tools, *brought) for bearer, one in apps.items()}
        if contract.below:
            below = Endpoint(dialect=contract, access=access, services=own)
            yield from (Route(contract.below, below), Mount(contract.below, below))
        for path, segment in contract.pages.items():
            page = Endpoint(dialect=contract, access=access, services=own, path=(segment,))
            yield from (Route(path, page), Route(f"{path}/", page))

    dialect, other = JsonRpc(http.max_body), next((contract for contract in contracts if contract.shares_mcp), None)
    mcp = McpEndpoint(dialect=dialect, access=access, services=services, path=("mcp",), other=other, sessions=sessions)
    not_found = at(NotFound())

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            for several in sessions.values():
                several.tasks = tasks
            yield
            tasks.cancel_scope.cancel()

    def stop() -> None:
        for several in sessions.values():
            several.stop()

    starlette = Starlette(
        routes=[
            *(route for contract in contracts for route in mount(contract)),
            *(Route(path, mcp) for path in ("/mcp", "/mcp/")),
            Route("/", at(HomePage(), "page")),
            Route("/.well-known/openai-apps-challenge", at(Challenge(http.challenge), "challenge")),
            Route("/openapi.json", at(OpenApi(contracts), "openapi.json")),
            Mount("/", not_found),
        ],
        lifespan=lifespan,
    )
    starlette.router.default = not_found  # a path with a line break matches no route, not even the last
    starlette.state.stop = stop
    return starlette


def session_manager(app: App, tools: Callable[[], Mapping[str, Tool]]) -> StreamableHTTPSessionManager:
    """Return what serves the messages that only the SDK does, with this program's server."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # takes half a second

    from obsidian_mcp.serve.mcp.server import build_server

    return StreamableHTTPSessionManager(
        build_server(app, tools),
        max_request_body_size=app.config.http.max_body,
        max_sessions=None,  # `Sessions` keeps them
        session_idle_timeout=None,
    )


def run(
    app: App,
    *,
    host: str = "127.0.0.1",
    ports: Sequence[int] = (3000,),
    keyed: Mapping[bytes, App] = MappingProxyType({}),
    contracts: Sequence[Contract] = (),
    announce: Callable[[str], None] = log.info,
) -> int:
    """Serve until SIGTERM or SIGINT; return the exit status 0. `announce` gets the URL of each port, the rest is as for
    `application`. Raises: InvalidArguments for another host than loopback without a key, AppError for a taken port."""
    if not is_loopback(host) and not (app.config.http.keys or keyed):
        raise InvalidArguments(
            f"Without a key the server listens only on this machine, not on {host}. Make one with `obsidian-mcp keys "
            "add NAME`, set OBSIDIAN_MCP_API_KEY, or leave --host out."
        )
    sockets = listener.listen(host, ports)
    starlette = application(app, keyed=keyed, contracts=contracts)
    server = listener.Listener(starlette, drain=app.config.timeout + 5, on_stop=starlette.state.stop)
    for listening in sockets:
        announce(listener.address(listening))
    server.run(sockets)
    listener.end_process_after(listener.GRACE_SECONDS)
    return 0
