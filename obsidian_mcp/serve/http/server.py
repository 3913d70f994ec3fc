"""One HTTP server for MCP, the contracts of other programs, and pages (specs/http.md).

request ─▶ Endpoint ─▶ AccessControl ─▶ Services.of(principal) ─▶ Dialect.answer ─▶ ToolService
             └ /mcp, by the body: MCP in full (`Sessions`), JSON-RPC, or a contract that shares it
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Mount, Route

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments

from . import listener
from .access.access_control import AccessControl
from .access.principal import Principal
from .access.this_machine import is_loopback
from .dialect import Contract, Dialect, NotFound
from .endpoint import Endpoint, routes
from .mcp_endpoint import McpEndpoint
from .pages import Challenge, HomePage, OpenApi
from .services import Services


def application(
    app: App,
    access: AccessControl,
    open_app: Callable[[Principal, App | None], App],
    *,
    contracts: Sequence[Contract],
    pages: Sequence[Dialect] = (),
) -> Starlette:
    """Return the server as an ASGI application.

    `open_app` returns the App of a principal with a name, given that of another one with equal
    limits; its vaults are closed when nobody who shares them may come in, and at the end.
    `contracts` are served beside MCP; one of them answers JSON-RPC without a session at `/mcp`,
    another one perhaps what is no JSON-RPC there. `pages` are served beside the server's own:
    forms, documents below `/.well-known`.
    """
    http = app.config.http
    services = Services(app, open_app, access, contracts)
    mounted = [*contracts, HomePage(), Challenge(http.challenge), OpenApi(contracts), *pages]
    other = next((contract for contract in contracts if contract.shares_mcp), None)
    rpc = next(contract.rpc for contract in contracts if contract.rpc is not None)
    mcp = McpEndpoint(dialect=rpc, access=access, services=services, path=("mcp",), other=other)
    not_found = Endpoint(dialect=NotFound(), access=access, services=services)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with services.run_services():
            yield

    starlette = Starlette(
        routes=[
            *(route for dialect in mounted for route in routes(dialect, access, services)),
            *(Route(path, mcp) for path in ("/mcp", "/mcp/")),
            Mount("/", not_found),
        ],
        lifespan=lifespan,
    )
    starlette.router.default = (
        not_found  # a path with a line break matches no route, not even the last
    )
    starlette.state.services = services
    starlette.state.access = access
    return starlette


def run_http_server(
    starlette: Starlette,
    *,
    host: str = "127.0.0.1",
    ports: Sequence[int] = (3000,),
    drain: float,
    announce: Callable[[str], None],
) -> int:
    """Serve an `application` until SIGTERM or SIGINT; return the exit status 0.

    `drain`: seconds that calls in flight get at the end. `announce` gets the URL of each port.
    Raises: InvalidArguments for another host than loopback without a key, AppError for a taken
    port.
    """
    services: Services = starlette.state.services
    access: AccessControl = starlette.state.access
    if not is_loopback(host) and not access.is_locked:
        raise InvalidArguments(
            f"Without a key the server listens only on this machine, not on {host}. Make one with "
            "`obsidian-mcp keys add NAME`, set OBSIDIAN_MCP_API_KEY, or leave --host out."
        )
    sockets = listener.listen(host, ports)
    server = listener.Listener(starlette, drain=drain, on_stop=services.stop)
    for listening in sockets:
        announce(listener.address(listening))
    try:
        server.run(sockets)
    finally:
        services.close()
    listener.end_process_after(listener.GRACE_SECONDS)
    return 0
