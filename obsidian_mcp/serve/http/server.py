"""One HTTP server for MCP, the contracts of other programs, and pages (specs/http.md).

request ─▶ Endpoint ─▶ AccessControl ─▶ Services.of(principal) ─▶ Dialect.answer ─▶ ToolService
             └ /mcp, by the body: MCP in full (`Sessions`), JSON-RPC, or a contract that shares it
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, Protocol

import anyio
from anyio import to_thread
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from obsidian_mcp import logger
from obsidian_mcp.app import App
from obsidian_mcp.config import DEFAULT_PORT, HttpConfig
from obsidian_mcp.errors import AppError, InvalidArguments

from . import listener
from .access.access_control import AccessControl
from .access.principal import Principal
from .access.public_url import MCP_PATH
from .access.this_machine import is_loopback
from .dialect import Contract, Dialect, NotFound
from .endpoint import Endpoint, routes
from .mcp_endpoint import McpEndpoint
from .pages import Challenge, HomePage, OpenApi
from .services import Services

TIDY_SECONDS: Final = 60.0
"""How often what is over is forgotten."""


class Upkeep(Protocol):
    """What has to be done while a server runs, whether requests come or not."""

    def tidy(self) -> None:
        """Forget what is over; called every minute, in a thread. Raises: AppError."""

    def close(self) -> None:
        """Close what is open; called at the end."""


def application(
    app: App,
    access: AccessControl,
    open_app: Callable[[Principal, App | None], App],
    *,
    contracts: Sequence[Contract],
    pages: Sequence[Dialect] = (),
    upkeep: Upkeep | None = None,
) -> Starlette:
    """Return the server as an ASGI application.

    `open_app` returns the App of a principal with a name, given that of another one with equal
    limits; its vaults are closed when nobody who shares them may come in, and at the end.
    `contracts` are served beside MCP; one of them answers JSON-RPC without a session at `/mcp`,
    another one perhaps what is no JSON-RPC there. `pages` are served beside the server's own:
    forms, documents below `/.well-known`. `upkeep`: what has to be done while it runs.
    """
    http = app.config.http
    services = Services(app, open_app, access, contracts)
    mounted = [
        *contracts,
        HomePage(_mcp_address(access, http)),
        Challenge(http.challenge),
        OpenApi(contracts),
        *pages,
    ]
    other = next((contract for contract in contracts if contract.shares_mcp), None)
    rpc = next(contract.rpc for contract in contracts if contract.rpc is not None)
    mcp = McpEndpoint(dialect=rpc, access=access, services=services, path=("mcp",), other=other)
    endpoints = [Route(path, mcp) for path in ("/mcp", "/mcp/")]
    return _mount(mounted, endpoints, services, access, upkeep)


def pages_application(app: App, access: AccessControl, pages: Sequence[Dialect]) -> Starlette:
    """Return a server of pages alone, without MCP and contracts, as an ASGI application.

    The pages ask themselves who comes.
    """
    services = Services(app, lambda _principal, _peer: app, access, ())
    return _mount(pages, (), services, access)


def _mount(
    dialects: Sequence[Dialect],
    endpoints: Sequence[Route],
    services: Services,
    access: AccessControl,
    upkeep: Upkeep | None = None,
) -> Starlette:
    """Return an application with dialects and further endpoints; nothing else is found."""
    not_found = Endpoint(dialect=NotFound(), access=access, services=services)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with services.run_services(), anyio.create_task_group() as tasks:
            if upkeep is not None:
                tasks.start_soon(_tidy_often, upkeep)
            yield
            tasks.cancel_scope.cancel()
        if upkeep is not None:
            upkeep.close()

    starlette = Starlette(
        routes=[
            *(route for dialect in dialects for route in routes(dialect, access, services)),
            *endpoints,
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


def _mcp_address(access: AccessControl, http: HttpConfig) -> str:
    return http.public_url + MCP_PATH if access.has_sign_in else ""


async def _tidy_often(upkeep: Upkeep) -> None:
    while True:
        await anyio.sleep(TIDY_SECONDS)
        try:
            await to_thread.run_sync(upkeep.tidy)
        except AppError as error:  # the next time it may work
            logger(__name__).warning("%s", error.message)


def run_beside(starlette: Starlette, drain: float) -> str:
    """Serve an `application` on a free port of this computer, in a thread that ends with the
    process; return its URL. Raises: AppError without a free port."""
    services: Services = starlette.state.services
    sockets = listener.listen("127.0.0.1", [0])
    server = listener.Listener(starlette, drain=drain, on_stop=services.stop)
    threading.Thread(target=server.run, args=(sockets,), name="console", daemon=True).start()
    return listener.address(sockets[0])


def run_http_server(
    starlette: Starlette,
    *,
    host: str = "127.0.0.1",
    ports: Sequence[int] = (DEFAULT_PORT,),
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
