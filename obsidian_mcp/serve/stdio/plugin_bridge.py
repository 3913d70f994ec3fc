"""A plugin's tools on stdio, alone or beside the vault's (contract 002; specs/bridge.md, BRIDGE-10 to BRIDGE-19).

Desk.keep ──every 5 s──▶ Plugin.tools      on a new hash: tools replaced, clients told
client ─▶ SDK ─▶ Desk.call ─▶ Plugin.call  in a thread, with a limit; the answer goes out as it came
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from obsidian_mcp import __version__
from obsidian_mcp.config import Config
from obsidian_mcp.core.files.plugin import Pause, PluginResult, PluginTool, PluginTools, pause_after
from obsidian_mcp.errors import AppError, InvalidArguments, OperationTimeout, UnknownTool
from obsidian_mcp.serve.mcp.error_middleware import guard

if TYPE_CHECKING:
    from obsidian_mcp.app import App

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]

INSTRUCTIONS = "Tools of a plugin in the user's running Obsidian app. They come and go with the app and the plugin."
PREFIX = "plugin_"
"""Before the name of a plugin's tool that one of ours has, too."""
MOST_CALLS = 100
"""Calls that wait for the plugin at the same time; more wait for their turn."""
GRACE = 1.0
"""Seconds between the end of serving and the end of the process: a look at a slow plugin need not be waited for."""
EXTRA_SECONDS = 0.5
"""What a call gets beyond the plugin's limit, so that the plugin's own word on it comes through."""


class Plugin(Protocol):
    """Tools of other people's making; both methods raise AppError and take their time."""

    def tools(self) -> PluginTools: ...
    def call(self, name: str, arguments: Mapping[str, Any], seconds: float | None = None) -> PluginResult: ...


@dataclass(frozen=True, slots=True)
class Pace:
    """When the plugin is looked at. In seconds."""

    poll: float = 5.0
    first: float = 2.0
    """How long a list of tools waits for a plugin that has not answered yet."""
    pause: Callable[[int], Pause] = pause_after
    """After so many failures in a row."""


class Desk:
    """What the plugin offers now, and calls to it. For the event loop's thread."""

    def __init__(self, plugin: Plugin, seconds: float, pace: Pace = Pace()) -> None:
        """`seconds`: the limit of one call."""
        self._plugin = plugin
        self._seconds = seconds
        self._pace = pace
        self._tools: tuple[PluginTool, ...] = ()
        self._hash = ""
        self._answers = False
        self._wanted = anyio.Event()
        self._tried = anyio.Event()
        self._looks = anyio.CapacityLimiter(1)
        self._calls = anyio.CapacityLimiter(MOST_CALLS)

    async def keep(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Keep the tools as the plugin has them, for ever; `changed` is awaited when they are others (BRIDGE-11)."""
        failures = 0
        while True:
            try:
                found = await to_thread.run_sync(self._plugin.tools, abandon_on_cancel=True, limiter=self._looks)
            except AppError as error:
                failures += 1
                wait = self._failed(failures, error.message)
            except Exception:  # a mistake of ours in reading an answer: the next one may be better
                log.exception("the plugin's list of tools could not be read")
                failures += 1
                wait = self._failed(failures, "The plugin's list of tools could not be read.")
            else:
                if failures:
                    log.warning("the plugin answers again")
                failures, wait = 0, self._pace.poll
                self._answers = True
                if found.hash != self._hash:
                    self._tools, self._hash = found.tools, found.hash
                    log.info("the plugin offers %d tools", len(found.tools))
                    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # nobody is there any more
                        await changed()
            tried, self._tried = self._tried, anyio.Event()
            tried.set()
            with anyio.move_on_after(wait):
                await self._wanted.wait()
            self._wanted = anyio.Event()

    def _failed(self, failures: int, problem: str) -> float:
        """Note a failed try; seconds until the next."""
        self._answers = False
        pause = self._pace.pause(failures)
        if not pause.is_quiet:
            log.warning("%s The next try is in %g s.", problem, pause.seconds)
        return pause.seconds

    async def tools(self) -> tuple[PluginTool, ...]:
        """The tools, those of the last good answer while the plugin does not answer.

        A plugin that does not answer yet is tried at once, and waited for a moment: not every client listens for a
        change.
        """
        if not self._answers:
            tried = self._tried
            self._wanted.set()
            with anyio.move_on_after(self._pace.first):
                await tried.wait()
        return self._tools

    def known(self) -> tuple[PluginTool, ...]:
        return self._tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The plugin's result as it came. Raises: AppError, UnknownTool among them; OperationTimeout at the limit."""
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
            self._wanted.set()  # it is gone, or has other tools now
            raise
        if not self._answers:
            self._wanted.set()
        return called.result


_rest: ContextVar[Callable[[dict[str, Any]], dict[str, Any]] | None] = ContextVar("rest", default=None)
"""What the answer to this request gets beside what the SDK has made of it."""


async def _untouched(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Middleware that puts the plugin's own words into an answer: the SDK leaves out what its schemas do not know."""
    token = _rest.set(None)
    try:
        shaped = await call_next(ctx)
        complete = _rest.get()
        return shaped if complete is None or not isinstance(shaped, dict) else complete(shaped)
    finally:
        _rest.reset(token)


@dataclass(frozen=True, slots=True)
class Front:
    """A server, how it presents itself, and what to call when serving ends."""

    server: Server[dict[str, Any]]
    options: InitializationOptions
    close: Callable[[], None]


def build(desk: Desk, settings: Config, app: App | None = None) -> Front:
    """The server that offers the plugin's tools, with `app` the vault's as well."""
    server, changed, close = _for_the_plugin() if app is None else _for_the_vault(app)
    own_list = server.get_request_handler("tools/list")
    own_call = server.get_request_handler("tools/call")
    own_names = frozenset() if app is None else _names()

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> Any:
        own = types.ListToolsResult(tools=[]) if own_list is None else await own_list.handler(context, params)
        found = named(await desk.tools(), own_names, read_only=settings.read_only)
        entries = [{**tool.definition, "name": name} for name, tool in found.items()]
        _rest.set(lambda shaped: {**shaped, "tools": [*shaped["tools"], *entries]})
        return own

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Any:
        if own_call is not None and params.name in own_names:
            return await own_call.handler(context, params)
        found = named(desk.known(), own_names, read_only=settings.read_only)
        if settings.read_only and params.name not in found:
            raise UnknownTool(
                f"There is no tool {params.name!r} that only reads, and this server is open for reading only.",
                tool=params.name,
            )
        # A tool that is not on the list may be new: the plugin knows.
        name = found[params.name].name if params.name in found else params.name
        try:
            result = await desk.call(name, params.arguments or {})
        except AppError as error:
            if settings.error_style == "result" and error.application:
                from obsidian_mcp.serve.mcp.server import failure

                return failure(error)
            raise
        _rest.set(partial(_completed, result))
        return types.CallToolResult(content=[])

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.middleware.insert(1, _untouched)
    server.lifespan = _keeping(desk, changed)
    told = NotificationOptions(tools_changed=True, resources_changed=app is not None)
    return Front(server, server.create_initialization_options(told), close)


Parts = tuple[Server[dict[str, Any]], Callable[[], Awaitable[None]], Callable[[], None]]
"""A server, what tells its clients that the tools are others, and what to call when serving ends."""


def _for_the_plugin() -> Parts:
    audience = Audience()
    server: Server[dict[str, Any]] = Server(
        "obsidian-mcp", version=__version__, title="Obsidian plugin", instructions=INSTRUCTIONS
    )
    server.middleware.insert(0, guard)
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, audience.listen)
    server.add_notification_handler("notifications/initialized", types.NotificationParams, audience.joined)
    return server, audience.tools_changed, audience.listen.close


def _for_the_vault(app: App) -> Parts:
    from obsidian_mcp.serve.mcp.server import build_server  # 0.3 s that nobody shall wait for who has no vault

    server = build_server(app)
    return server, server.news.tools_changed, server.news.close


def _names() -> frozenset[str]:
    from obsidian_mcp.tools import TOOLS

    return frozenset(TOOLS)


def named(tools: tuple[PluginTool, ...], taken: frozenset[str], *, read_only: bool) -> dict[str, PluginTool]:
    """The plugin's tools by the names under which they are offered (BRIDGE-16).

    `read_only`: only those that say of themselves that they change nothing.
    """
    found: dict[str, PluginTool] = {}
    for tool in tools:
        if read_only and not _only_reads(tool):
            continue
        name = tool.name
        while name in taken or name in found:
            name = PREFIX + name
        found[name] = tool
    return found


def _only_reads(tool: PluginTool) -> bool:
    hints = tool.definition.get("annotations")
    return isinstance(hints, Mapping) and hints.get("readOnlyHint") is True


def _completed(result: Mapping[str, Any], shaped: dict[str, Any]) -> dict[str, Any]:
    """The plugin's result, with what the protocol demands beside it."""
    meta = result.get("_meta")
    both = {**shaped.get("_meta", {}), **meta} if isinstance(meta, Mapping) else shaped.get("_meta")
    return {**shaped, **result, **({"_meta": both} if both else {})}


class Audience:
    """Who is told that the tools have changed, where there is no vault to have news of."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)
        self._session: ServerSession | None = None

    async def joined(self, context: Context, _: types.NotificationParams) -> None:
        self._session = context.session

    async def tools_changed(self) -> None:
        await self._bus.publish(ToolsListChanged())
        if self._session is not None:
            await self._session.send_tool_list_changed()


def _keeping(
    desk: Desk, changed: Callable[[], Awaitable[None]]
) -> Callable[[Server[dict[str, Any]]], AbstractAsyncContextManager[dict[str, Any]]]:
    @asynccontextmanager
    async def lifespan(_: Server[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
        async with anyio.create_task_group() as group:
            group.start_soon(desk.keep, changed)
            yield {}
            group.cancel_scope.cancel()

    return lifespan
