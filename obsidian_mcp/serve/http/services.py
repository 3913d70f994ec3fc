"""What each principal is served with, made when it first comes and ended when it may no longer come
in (DOOR-13)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from obsidian_mcp import logger
from obsidian_mcp.app import App

from .access.access_control import AccessControl
from .access.principal import OWNER, Principal
from .dialect import Contract, Dialect
from .sdk_sessions import SdkSessions, build_manager
from .sessions import Sessions
from .tool_service import ToolService, ToolSource

REVOCATION_SECONDS: Final = 1.0
"""How long an open stream may outlive the key with which it was opened.

Requests are checked as they come.
"""
IDLE_SECONDS: Final = 60.0
"""How often it is found out who may still come in while no request and no stream is open."""


class PrincipalService:
    """The tools that one principal may use, in each dialect, and its MCP sessions."""

    def __init__(self, app: App, brought: Sequence[ToolSource], tasks: TaskGroup) -> None:
        """`brought`: the tools of other programs that all dialects offer."""
        self.app = app
        self._brought = brought
        tools = ToolService(app, *brought)
        sdk = SdkSessions(partial(build_manager, tools.dispatcher.app, tools.offer), tasks)
        self.sessions = Sessions(tools.dispatcher, sdk, tasks)
        self._by_dialect: dict[Dialect, ToolService] = {}
        self.requests = 0
        """Requests in flight."""
        self._is_idle = anyio.Event()

    def tools(self, dialect: Dialect) -> ToolService:
        """Return the tools that a dialect offers."""
        if dialect not in self._by_dialect:
            self._by_dialect[dialect] = ToolService(self.app, dialect.own_tools, *self._brought)
        return self._by_dialect[dialect]

    @contextmanager
    def count_use(self) -> Iterator[None]:
        """Count a request while it is served."""
        self.requests += 1
        try:
            yield
        finally:
            self.requests -= 1
            if not self.requests:
                self._is_idle.set()

    async def end(self) -> None:
        """End the sessions and the streams without an end of their own; wait until calls in flight
        have been answered, which takes no longer than a call may."""
        self.sessions.end()
        self._is_idle = anyio.Event()
        if self.requests:
            with anyio.move_on_after(self.app.config.timeout):
                await self._is_idle.wait()
        self.sessions.close()


class Services:
    """The services of all principals. For the event loop's thread."""

    def __init__(
        self,
        owner: App,
        open_app: Callable[[Principal, App | None], App],
        access: AccessControl,
        contracts: Sequence[Contract],
    ) -> None:
        """`open_app` returns the App of a principal, which may share the vaults of the owner's, and
        shares those of the App of a principal with equal limits.

        Raises: AppError for a principal whose limits cannot be kept.
        """
        self._owner = owner
        self._open_app = open_app
        self._access = access
        self._brought = [contract.tools for contract in contracts]
        self._by_principal: dict[Principal, PrincipalService] = {}
        self._ending: list[PrincipalService] = []
        """Of principals that may no longer come in, while calls of theirs are in flight."""
        self._has_come = anyio.Event()
        """Set by a request."""
        self._tasks: TaskGroup

    @asynccontextmanager
    async def run_services(self) -> AsyncIterator[None]:
        """Serve inside the block."""
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._end_revoked)
            yield
            self._tasks.cancel_scope.cancel()
        await to_thread.run_sync(self.close)

    def service_of(self, principal: Principal) -> PrincipalService:
        """Return what serves a principal, which may come in now."""
        self._has_come.set()
        if principal not in self._by_principal:
            app = (
                self._owner
                if principal == OWNER
                else self._open_app(principal, self._peer(principal))
            )
            self._by_principal[principal] = PrincipalService(app, self._brought, self._tasks)
        return self._by_principal[principal]

    def _peer(self, principal: Principal) -> App | None:
        """Return the App of another principal with equal limits, whose vaults can be shared: their
        index and list of files are the same (LIMIT-03)."""
        peers = (
            service.app
            for holder, service in self._by_principal.items()
            if holder != OWNER and holder.limits == principal.limits
        )
        return next(peers, None)

    def stop(self) -> None:
        """End the streams that have no end of their own; calls in flight go on."""
        for service in self._by_principal.values():
            service.sessions.stop()

    def close(self) -> None:
        """Close the vaults that were opened for principals with a name."""
        services = [*self._by_principal.values(), *self._ending]
        self._by_principal.clear()
        self._ending.clear()
        for vaults in {id(service.app.vaults): service.app.vaults for service in services}.values():
            if vaults is not self._owner.vaults:
                vaults.close()

    async def _end_revoked(self) -> None:
        while True:
            if any(service.requests for service in self._by_principal.values()):
                await anyio.sleep(REVOCATION_SECONDS)
            else:
                self._has_come = anyio.Event()
                with anyio.move_on_after(IDLE_SECONDS) as waiting:
                    await self._has_come.wait()
                if not waiting.cancelled_caught:
                    await anyio.sleep(REVOCATION_SECONDS)
            try:
                self._begin_ending()
            except Exception:  # noqa: BLE001  one look at the keys must not end the server
                logger(__name__).exception("who may still come in could not be found out")

    def _begin_ending(self) -> None:
        """Begin to end the services of those who may no longer come in."""
        for principal in list(self._by_principal):
            if not self._access.is_still_admitted(principal):
                logger(__name__).info(
                    "%s may no longer come in", principal.name or "a client without a key"
                )
                service = self._by_principal.pop(principal)
                self._ending.append(service)
                self._tasks.start_soon(self._end, service)

    async def _end(self, service: PrincipalService) -> None:
        try:
            await service.end()
            self._ending.remove(service)
            if not self._has_shared_vaults(service):
                await to_thread.run_sync(service.app.vaults.close)
        except Exception:  # noqa: BLE001  it is logged, and the next one is ended
            logger(__name__).exception("what was open for a principal could not be ended in order")

    def _has_shared_vaults(self, service: PrincipalService) -> bool:
        """Whether somebody else uses the vaults of a service."""
        services = (*self._by_principal.values(), *self._ending)
        apps = [self._owner, *(running.app for running in services)]
        return any(app.vaults is service.app.vaults for app in apps)
