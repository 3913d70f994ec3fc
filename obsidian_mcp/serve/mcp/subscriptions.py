"""Notifies clients of changed resources: `resources/subscribe` of 2025, `subscriptions/listen` of
2026 (RES-08).

    watcher thread ─▶ vaults.wait ─▶ compare the files with the snapshot
                   ─▶ event loop ─▶ sessions, listen streams

One thread, started by the first subscription.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import mcp_types as types
from anyio import to_thread
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from obsidian_mcp import logger
from obsidian_mcp.app import App
from obsidian_mcp.core.files import uri
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, InvalidArguments, PermissionDenied
from obsidian_mcp.worker import Worker

from . import resources
from .context import RequestContext, session_of

POLL_SECONDS: Final = 2.0
"""Interval at which files are compared where the file system reports no events."""
SETTLE_SECONDS: Final = 0.1
"""Time for a burst of events: saving a note makes several."""
MAX_RESOURCES: Final = 10_000
"""Resources that clients may subscribe to."""
MAX_SESSIONS: Final = 1_000


class WatchedResources:
    """The resources that clients have subscribed to. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribed: dict[str, frozenset[tuple[str, str]]] = {}
        """By URI the vault and the compared forms of the path; none for a page about a vault."""
        self._folders: dict[str, Path] = {}
        """The vaults' folders by the names that subscribers wrote; "" is the default vault, and the
        first."""
        self._snapshots: dict[Path, tuple[int, dict[str, FileEntry]]] = {}
        """By folder the catalog's revision and its files by path, when they were last compared."""

    def __len__(self) -> int:
        return len(self._subscribed)

    def add(self, app: App, addresses: Iterable[str]) -> None:
        """Watch these resources, and the default vault's list. Raises: InvalidArguments,
        VaultNotFound."""
        static = {resource.uri for resource in resources.STATIC}
        vaults = [""]
        for address in addresses:
            files = frozenset[tuple[str, str]]()
            if (named := uri.parse(address)) is not None:
                files = frozenset((name_key(named.vault), key) for key in named.keys)
                vaults.append(named.vault)
            elif address not in static:
                raise InvalidArguments(
                    f"Unknown resource: {address!r}. See resources/templates/list.", uri=address
                )
            with self._lock:
                self._subscribed[address] = files
        for vault in vaults:
            if vault not in self._folders:
                opened = app.vaults.get(vault)
                snapshot = _take_snapshot(opened)
                with self._lock:
                    self._folders[vault] = opened.files.root
                    self._snapshots.setdefault(opened.files.root, snapshot)

    def keep(self, addresses: set[str]) -> None:
        """Watch no other resources any more."""
        with self._lock:
            self._subscribed = {
                address: files
                for address, files in self._subscribed.items()
                if address in addresses
            }

    def changes(self, app: App) -> list[ServerEvent]:
        """Return what has changed since the last call, with URIs as subscribers wrote them. Raises:
        VaultNotFound."""
        addresses: set[str] = set()
        is_list_changed = False
        for folder, vault in self._first_names().items():
            opened, is_default = app.vaults.get(vault), not vault
            with self._lock:
                revision, before = self._snapshots[folder]
                if opened.catalog.revision == revision:
                    continue
                self._snapshots[folder] = _take_snapshot(opened)
                _, now = self._snapshots[folder]
                is_list_changed |= is_default and before.keys() != now.keys()
                if not self._subscribed:  # most clients only list
                    continue
                files = {**before, **now}
                changed = [path for path in files if before.get(path) != now.get(path)]
                addresses |= self._addresses_of(opened, changed, files)
                if is_default and changed:
                    addresses |= self._changed_pages(opened, changed)
        updated: list[ServerEvent] = [ResourceUpdated(uri=address) for address in sorted(addresses)]
        return [*updated, ResourcesListChanged()] if is_list_changed else updated

    def _first_names(self) -> dict[Path, str]:
        """Return each vault's folder with the name that a subscriber wrote first.

        A vault with several names is compared once: a change between two comparisons would be
        reported twice.
        """
        return {folder: vault for vault, folder in reversed(list(self._folders.items()))}

    def _addresses_of(
        self, vault: Vault, changed: Collection[str], files: Collection[str]
    ) -> set[str]:
        """Return the subscribed URIs of changed files. `files` are all paths, now and before."""
        vault_keys = {name_key(vault.name), name_key(str(vault.files.root))}
        changed_keys = {(key, name_key(path)) for path in changed for key in vault_keys}
        return {
            address
            for address, keys in self._subscribed.items()
            if not keys.isdisjoint(changed_keys) and _has_changed(address, changed, files)
        }

    def _changed_pages(self, vault: Vault, changed: Collection[str]) -> set[str]:
        """Return the subscribed pages about the default vault that changed files change."""
        pages = self._subscribed.keys() & {resources.OVERVIEW, resources.RECENT_NOTES}
        if resources.TODAY in self._subscribed:
            with suppress(PermissionDenied):  # the policy hides where daily notes are (POL-18)
                if vault.periodic.locate("day").path in changed:
                    pages.add(resources.TODAY)
        return pages


def _has_changed(address: str, changed: Collection[str], files: Collection[str]) -> bool:
    """Return whether a URI, which one of the changed paths has in its compared form, means that
    file.

    Of two files whose names differ in their normal form only, it means the one that it spells
    (NAME-06).
    """
    named = uri.parse(address)
    spelled = [path for path in named.paths if path in files] if named is not None else []
    return not spelled or spelled[0] in changed


def _take_snapshot(vault: Vault) -> tuple[int, dict[str, FileEntry]]:
    """Return the catalog's revision, and its files by path.

    The revision is read first, so that a change between the two is compared again.
    """
    revision = vault.catalog.revision
    return revision, vault.catalog.entries_by_path()


class ToolListSubscribers:
    """The clients of 2026 that listen to one server. All methods are for the event loop's
    thread."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._notifying: set[asyncio.Task[None]] = set()

    async def listen(
        self, context: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve `subscriptions/listen`: the stream stays open until the client or `close` ends
        it."""
        return await self._listen(context, params)

    def notify_tools_changed(self) -> None:
        """Notify the clients that the list of tools has changed."""
        self._begin_notifying([ToolsListChanged()])

    def close(self) -> None:
        """End the listen streams with their last message."""
        self._listen.close()

    def _begin_notifying(self, events: list[ServerEvent]) -> None:
        task = asyncio.get_running_loop().create_task(self._notify(events))
        self._notifying.add(task)
        task.add_done_callback(self._end_notifying)

    def _end_notifying(self, task: asyncio.Task[None]) -> None:
        self._notifying.discard(task)
        # a client has gone meanwhile
        if not task.cancelled() and (error := task.exception()) is not None:
            logger(__name__).info("a client was not notified of a change: %s", error)

    async def _notify(self, events: list[ServerEvent]) -> None:
        for event in events:
            await self._bus.publish(event)


class Subscriptions(ToolListSubscribers):
    """The subscribers of a vault's server. All methods but `_look` are for the event loop's
    thread."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app
        self._watched = WatchedResources()
        self._sessions: dict[str, tuple[ServerSession, set[str]]] = {}
        """Of the clients of 2025, with the addresses that each has subscribed to."""
        self._listened: Counter[str] = Counter()
        """Addresses of the listen streams that are open."""
        self._worker = Worker("subscriptions", self._look)
        self._loop: asyncio.AbstractEventLoop | None = None
        """The one that notifies; None before the first subscription."""
        self._had_app = False

    def close(self) -> None:
        super().close()
        self._worker.stop()

    async def listen(
        self, context: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        addresses = params.notifications.resource_subscriptions or ()
        self._listened.update(addresses)
        try:
            await self._add(addresses)
            return await super().listen(context, params)
        finally:
            self._listened -= Counter(addresses)

    async def subscribe(
        self, context: RequestContext, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        addresses = self._remember(context)
        if params.uri not in addresses:
            addresses.add(params.uri)
            try:
                await self._add([params.uri])
            except AppError:
                addresses.discard(params.uri)
                raise
        return types.EmptyResult()

    async def unsubscribe(
        self, context: RequestContext, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        _, addresses = self._sessions.get(session_of(context), (None, set()))
        addresses.discard(params.uri)
        return types.EmptyResult()

    async def join(self, context: RequestContext, _: types.NotificationParams) -> None:
        """Notify a client of 2025 from now on when the list of resources changes."""
        self._remember(context)
        with suppress(AppError):  # without a vault there is no list; calls say so
            await self._add(())

    def forget(self, session: str) -> None:
        """Notify an ended session of nothing any more."""
        self._sessions.pop(session, None)

    def _remember(self, context: RequestContext) -> set[str]:
        """Return the addresses of a session, which is the newest now. The oldest are forgotten: the
        SDK does not report those that end over HTTP because nobody uses them."""
        key = session_of(context)
        _, addresses = self._sessions.pop(key, (None, set()))
        self._sessions[key] = context.session, addresses
        while len(self._sessions) > MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return addresses

    async def _add(self, addresses: Iterable[str]) -> None:
        """Watch resources that count as subscribed to already. Raises: InvalidArguments,
        VaultNotFound."""
        new_addresses = list(addresses)
        if len(self._watched) + len(new_addresses) > MAX_RESOURCES:
            current = set(self._listened).union(
                *(subscribed for _, subscribed in self._sessions.values())
            )
            if len(current) > MAX_RESOURCES:
                raise InvalidArguments(
                    f"No more than {MAX_RESOURCES} resources can be subscribed to at a time. "
                    "Subscribe to fewer."
                )
            self._watched.keep(current)
        await to_thread.run_sync(partial(self._watched.add, self._app, new_addresses))
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._had_app = await to_thread.run_sync(self._app.vaults.has_app)
            self._worker.start()
            self._worker.wake()

    def _look(self, _: bool) -> float:
        """Wait for changes in the vaults, and notify of them; return 0, to wait again at once."""
        goes_on = self._app.vaults.wait(POLL_SECONDS)
        if not goes_on or self._worker.wait_or_stop(SETTLE_SECONDS):
            self._worker.stop()
            return 0
        try:
            events = self._watched.changes(self._app)
            # Tools of the app come and go with it (RES-10), which writes into the vault when it
            # opens.
            if (has_app := self._app.vaults.has_app()) is not self._had_app:
                self._had_app = has_app
                events.append(ToolsListChanged())
        except AppError as error:  # the folder is away for now
            logger(__name__).info("%s", error.message)
            return 0
        if events and self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._begin_notifying, events)
            except RuntimeError:  # the event loop is closed
                self._worker.stop()
        return 0

    async def _notify(self, events: list[ServerEvent]) -> None:
        await super()._notify(events)
        for event in events:
            if isinstance(event, ResourceUpdated):
                for session, addresses in list(self._sessions.values()):
                    if event.uri in addresses:
                        await session.send_resource_updated(event.uri)
            elif isinstance(event, ResourcesListChanged):
                for session, _ in list(self._sessions.values()):
                    await session.send_resource_list_changed()
