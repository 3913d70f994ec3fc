"""Tells clients that resources have changed: `resources/subscribe` of 2025, `subscriptions/listen` of 2026 (RES-08).

    watcher thread ─▶ vaults.wait ─▶ compare the files with what they were ─▶ event loop ─▶ sessions, listen streams

One thread, begun with the first client that wants to know.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import mcp_types as types
from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, InvalidArguments

from . import resource_changes

Context = ServerRequestContext[Any, Any]

log = logging.getLogger(__name__)

EVERY: Final = 2.0
"""Seconds after which files are looked at without a report: some file systems report nothing."""
SETTLE: Final = 0.1
"""Seconds that a burst of reports gets: saving a note makes several."""
MOST: Final = 10_000
"""Resources that clients may follow."""
SESSIONS: Final = 1_000


class News:
    """Subscribers of one server. Its methods run on the event loop, but for `_watch`."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._followed = resource_changes.Followed()
        self._sessions: dict[str, tuple[ServerSession, set[str]]] = {}
        self._joined: dict[str, ServerSession] = {}
        self._thread: threading.Thread | None = None

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """The request handler of `subscriptions/listen`."""
        await self._follow(params.notifications.resource_subscriptions or ())
        return await self._listen(context, params)

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        await self._follow([params.uri])
        key = _session_key(context)
        _, addresses = self._sessions.pop(key, (None, set()))
        self._sessions[key] = context.session, addresses | {params.uri}
        _keep_newest(self._sessions)
        return types.EmptyResult()

    async def unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        _, addresses = self._sessions.get(_session_key(context), (None, set()))
        addresses.discard(params.uri)
        return types.EmptyResult()

    async def joined(self, context: Context, _: types.NotificationParams) -> None:
        """A client of 2025 is there: it is told when the list of resources changes."""
        self._joined[_session_key(context)] = context.session
        _keep_newest(self._joined)
        with suppress(AppError):  # without a vault there is no list; calls say so
            await self._follow(())

    async def tools_changed(self) -> None:
        """Tell that the list of tools is another one."""
        await self._bus.publish(ToolsListChanged())
        for session in list(self._joined.values()):
            await session.send_tool_list_changed()

    def close(self) -> None:
        """End the listen streams with their last message."""
        self._listen.close()

    async def _follow(self, addresses: Iterable[str]) -> None:
        wanted = list(addresses)
        if len(self._followed) + len(wanted) > MOST:
            raise InvalidArguments(f"No more than {MOST} resources can be subscribed to. Subscribe to fewer.")
        await to_thread.run_sync(partial(self._followed.add, self._app, wanted))
        if self._thread is None:
            arguments = (asyncio.get_running_loop(),)
            self._thread = threading.Thread(target=self._watch, args=arguments, name="news", daemon=True)
            self._thread.start()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._app.vaults.wait(EVERY):
            time.sleep(SETTLE)
            try:
                found = self._followed.changes(self._app)
            except AppError as error:  # the folder is away for now
                log.info("%s", error.message)
                continue
            if found.addresses or found.listed:
                try:
                    asyncio.run_coroutine_threadsafe(self._tell(found), loop)
                except RuntimeError:  # the event loop is closed
                    return

    async def _tell(self, found: resource_changes.Changes) -> None:
        events: list[ServerEvent] = [ResourceUpdated(uri=address) for address in found.addresses]
        if found.listed:
            events.append(ResourcesListChanged())
        for event in events:
            await self._bus.publish(event)
        for session, addresses in list(self._sessions.values()):
            for address in found.addresses:
                if address in addresses:
                    await session.send_resource_updated(address)
        if found.listed:
            for session in list(self._joined.values()):
                await session.send_resource_list_changed()


def _session_key(context: Context) -> str:
    """Names the client's connection; the SDK makes a session object for each request."""
    return context.request.headers.get("mcp-session-id", "") if context.request is not None else ""


def _keep_newest(sessions: dict[str, Any]) -> None:
    """The SDK does not tell when a session over HTTP has ended."""
    while len(sessions) > SESSIONS:
        del sessions[next(iter(sessions))]
