"""A plugin's tools on stdio, alone or beside the vault's (contract 002; specs/bridge.md, BRIDGE-10 to BRIDGE-19).

PluginClient.poll ──every 5 s──▶ Plugin.tools      a new hash replaces the tools and notifies the client
client ─▶ SDK ─▶ PluginClient.call ─▶ Plugin.call  in a thread, with a limit; the result is sent unchanged
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server

from obsidian_mcp import __version__
from obsidian_mcp.config import Config
from obsidian_mcp.errors import AppError, InvalidArguments, OperationTimeout, UnknownTool
from obsidian_mcp.serve import results
from obsidian_mcp.serve.dispatch import changes_vault
from obsidian_mcp.serve.mcp.context import Context
from obsidian_mcp.serve.mcp.error_middleware import handle_errors
from obsidian_mcp.serve.mcp.subscriptions import ToolListSubscribers
from obsidian_mcp.serve.stdio import server as stdio
from obsidian_mcp.serve.stdio.sdk import SdkServer
from obsidian_mcp.tools import TOOLS

from .offered import Pause, PluginTool, PluginTools, pause_after

if TYPE_CHECKING:
    from obsidian_mcp.app import App

log = logging.getLogger(__name__)

INSTRUCTIONS = "Tools of a plugin in the user's running Obsidian app. They come and go with the app and the plugin."
PREFIX = "plugin_"
"""Begins the name of a plugin's tool that has the name of one of ours."""
MAX_CALLS = 100
"""Calls that wait for the plugin at the same time."""
MAX_POLLS = 10
"""Polls that were given up and have not ended."""
GRACE_SECONDS = 1.0
"""Time from the end of serving to the end of the process: a poll of a slow plugin may be cut off."""
EXTRA_SECONDS = 0.5
"""What a call gets beyond the plugin's limit, so that the plugin's own error arrives."""


class PluginSource(Protocol):
    """A source of tools; both methods block and raise AppError."""

    def tools(self) -> PluginTools: ...
    def call(self, name: str, arguments: Mapping[str, Any], seconds: float | None = None) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the plugin is polled. In seconds."""

    poll: float = 5.0
    first: float = 2.0
    """How long `tools/list` waits for a plugin that has not answered yet."""
    limit: float = 20.0
    """How long a list may take in all its parts."""
    pause: Callable[[int], Pause] = pause_after
    """By the number of failures in a row."""


class PluginClient:
    """The plugin's present tools, and calls to it. For the event loop's thread."""

    def __init__(self, plugin: PluginSource, seconds: float, schedule: Schedule = Schedule()) -> None:
        """`seconds`: the limit of one call."""
        self._plugin = plugin
        self._seconds = seconds
        self._schedule = schedule
        self.latest: tuple[PluginTool, ...] = ()
        """The tools of the latest good answer."""
        self._hash = ""
        self._is_up = False
        self._retry = anyio.Event()
        self._polled = anyio.Event()
        self._polls = anyio.CapacityLimiter(MAX_POLLS)
        self._calls = anyio.CapacityLimiter(MAX_CALLS)

    async def poll(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Keep the tools up to date for ever; `changed` is awaited when they are different (BRIDGE-11)."""
        failures = 0
        while True:
            problem = ""
            try:
                with anyio.fail_after(self._schedule.limit):
                    found = await to_thread.run_sync(self._plugin.tools, abandon_on_cancel=True, limiter=self._polls)
            except AppError as error:
                problem = error.message
            except TimeoutError:  # the head of an answer in drips
                problem = "The plugin's list of tools did not arrive in time."
            except Exception:  # a fault of ours in reading an answer: the next one may be readable
                log.exception("the plugin's list of tools could not be read")
                problem = "The plugin's list of tools could not be read."
            self._is_up = not problem
            if problem:
                failures += 1
                pause = self._schedule.pause(failures)
                wait = pause.seconds
                if not pause.is_quiet:
                    log.warning("%s The next try is in %g s.", problem, wait)
            else:
                if failures:
                    log.warning("the plugin answers again")
                failures, wait = 0, self._schedule.poll
                if found.hash != self._hash:
                    self.latest, self._hash = found.tools, found.hash
                    log.info("the plugin offers %d tools", len(found.tools))
                    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the client has gone
                        await changed()
            polled, self._polled = self._polled, anyio.Event()
            polled.set()
            with anyio.move_on_after(wait):
                await self._retry.wait()
            self._retry = anyio.Event()

    async def tools(self) -> tuple[PluginTool, ...]:
        """Return the tools of the latest good answer. A plugin that does not answer is polled at once, for a moment:
        not every client handles list_changed."""
        if not self._is_up:
            polled = self._polled
            self._retry.set()
            with anyio.move_on_after(self._schedule.first):
                await polled.wait()
        return self.latest

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the plugin's result unchanged. Raises: AppError; OperationTimeout at the limit."""
        work = partial(self._plugin.call, name, arguments, self._seconds)
        try:
            with anyio.fail_after(self._seconds + EXTRA_SECONDS):
                called = await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._calls)
        except TimeoutError:
            raise OperationTimeout(
                f"The plugin did not answer within {self._seconds:g} seconds. If this was a change, look whether it "
                "was made before trying again.",
                seconds=self._seconds,
            ) from None
        except InvalidArguments:
            raise
        except AppError:
            self._retry.set()  # it is gone, or has other tools now
            raise
        if not self._is_up:
            self._retry.set()
        return called


def run(plugin: PluginSource, settings: Config, app: App | None) -> int:
    """Serve the plugin's tools on stdio, with `app` the vault's as well; returns the exit status."""
    served = build(PluginClient(plugin, settings.timeout), settings, app)
    if app is not None:
        app.vaults.warm()
    try:
        return stdio.run(lambda: served, writes=writes_vault, grace=GRACE_SECONDS)
    finally:
        if app is not None:
            app.vaults.close()


def build(plugin: PluginClient, settings: Config, app: App | None = None) -> SdkServer:
    """Return the server that offers the plugin's tools, with `app` the vault's as well."""
    server, subscribers = _for_the_plugin() if app is None else _for_the_vault(app)
    own_list = server.get_request_handler("tools/list")
    own_call = server.get_request_handler("tools/call")
    completions: dict[types.RequestId | None, Callable[[dict[str, Any]], dict[str, Any]]] = {}
    """By request in flight: what adds the plugin's own members, which the SDK's schemas do not know, to its answer."""
    own_names = frozenset() if app is None else frozenset(TOOLS)

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> Any:
        own = types.ListToolsResult(tools=[]) if own_list is None else await own_list.handler(context, params)
        found = name_tools(await plugin.tools(), own_names, read_only=settings.read_only)
        entries = [{**tool.definition, "name": name} for name, tool in found.items()]
        completions[context.request_id] = lambda shaped: {**shaped, "tools": [*shaped["tools"], *entries]}
        return own

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Any:
        if own_call is not None and params.name in own_names:
            return await own_call.handler(context, params)
        found = name_tools(plugin.latest, own_names, read_only=settings.read_only)
        if settings.read_only and params.name not in found:
            raise UnknownTool(
                f"There is no tool {params.name!r} that only reads, and this server is open for reading only.",
                tool=params.name,
            )
        # A tool that is not on the list may be new.
        name = found[params.name].name if params.name in found else params.name
        try:
            result = await plugin.call(name, params.arguments or {})
        except AppError as error:
            if (failed := results.failure(error, settings.error_style)) is None:
                raise
            return types.CallToolResult.model_validate(failed, by_name=False)
        completions[context.request_id] = partial(_complete_result, result)
        return types.CallToolResult(content=[])

    async def complete_answers(ctx: Context, call_next: CallNext) -> HandlerResult:
        try:
            shaped = await call_next(ctx)
            complete = completions.get(ctx.request_id)
            return shaped if complete is None or not isinstance(shaped, dict) else complete(shaped)
        finally:
            completions.pop(ctx.request_id, None)

    @asynccontextmanager
    async def polling(_: Server[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
        async with anyio.create_task_group() as group:
            group.start_soon(plugin.poll, subscribers.tools_changed)
            yield {}
            group.cancel_scope.cancel()

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.middleware.insert(1, complete_answers)
    server.lifespan = polling
    options = NotificationOptions(tools_changed=True, resources_changed=app is not None)
    return SdkServer(server, server.create_initialization_options(options), subscribers.close)


def _for_the_plugin() -> tuple[Server[dict[str, Any]], ToolListSubscribers]:
    subscribers = ToolListSubscribers()
    server: Server[dict[str, Any]] = Server(
        "obsidian-mcp",
        version=__version__,
        title="Obsidian plugin",
        instructions=INSTRUCTIONS,
        on_subscriptions_listen=subscribers.listen,
    )
    server.middleware.insert(0, handle_errors)
    server.add_notification_handler("notifications/initialized", types.NotificationParams, subscribers.joined)
    return server, subscribers


def _for_the_vault(app: App) -> tuple[Server[dict[str, Any]], ToolListSubscribers]:
    from obsidian_mcp.serve.mcp.server import build_server  # takes 50 ms

    server = build_server(app)
    return server, server.subscriptions


def writes_vault(message: Mapping[str, Any]) -> bool:
    """Whether a request calls one of the vault's own tools to change a vault; a plugin's tools have no such order."""
    return changes_vault(message, {})


def name_tools(tools: tuple[PluginTool, ...], taken: frozenset[str], *, read_only: bool) -> dict[str, PluginTool]:
    """Return the plugin's tools by the names under which they are offered (BRIDGE-16); with `read_only` those with a
    `readOnlyHint`."""
    found: dict[str, PluginTool] = {}
    for tool in tools:
        hints = tool.definition.get("annotations")
        if read_only and not (isinstance(hints, Mapping) and hints.get("readOnlyHint") is True):
            continue
        name = tool.name
        while name in taken or name in found:
            name = PREFIX + name
        found[name] = tool
    return found


def _complete_result(result: Mapping[str, Any], shaped: dict[str, Any]) -> dict[str, Any]:
    """Return the plugin's result with the members that the protocol demands."""
    meta = result.get("_meta")
    both = {**shaped.get("_meta", {}), **meta} if isinstance(meta, Mapping) else shaped.get("_meta")
    return {**shaped, **result, **({"_meta": both} if both else {})}
