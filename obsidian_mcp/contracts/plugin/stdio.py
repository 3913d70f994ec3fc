"""A plugin's tools on stdio, alone or beside the vault's (contract 002; specs/bridge.md, BRIDGE-10
to BRIDGE-19).

- PluginClient, in a thread, asks BridgeClient for the tools every 5 s; a new hash replaces the
  tools, and the client is told.
- A call goes from the client through PluginDispatcher and PluginClient to BridgeClient; the result
  is sent unchanged.

The plugin comes and goes with the app, so the bridge outlives both: it serves the tools of the last
good answer, and a call that finds nobody says what to start.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from obsidian_mcp import TYPE_CHECKING, logger
from obsidian_mcp.config import Config
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.errors import AppError, InvalidArguments, OperationTimeout, UnknownTool
from obsidian_mcp.serve import stdio
from obsidian_mcp.serve.dispatch import Dispatcher, Peer
from obsidian_mcp.serve.jsonrpc import Message
from obsidian_mcp.serve.vault_dispatcher import VaultDispatcher
from obsidian_mcp.tools.offer import Offer, table
from obsidian_mcp.worker import Worker

from .client import BridgeClient
from .plugin_tool import PluginTool

if TYPE_CHECKING:
    from obsidian_mcp.app import App
    from obsidian_mcp.serve.stdio.conversation import Conversation
    from obsidian_mcp.serve.stdio.sdk import SdkServer

LONGEST_PAUSE = 30.0
"""Seconds between two tries while the plugin does not answer."""
QUIET_FROM = 30
"""Failures in a row from which the log says nothing more."""
LEAST_SECONDS = 0.01
"""Limit of a call whose time is nearly over: none at all would mean no limit."""
INSTRUCTIONS = (
    "Tools of a plugin in the user's running Obsidian app. They come and go with the app and the "
    "plugin."
)
PREFIX = "plugin_"
"""Begins the name of a plugin's tool that has the name of one of ours."""


@dataclass(frozen=True, slots=True)
class Pause:
    """How long to wait for a plugin that did not answer."""

    seconds: float
    is_quiet: bool
    """The failure is not worth a line in the log any more."""


def pause_after(failures: int) -> Pause:
    """Return the pause after so many failed tries in a row (1 or more): 1, 2, 4, 8, 16, then 30 s
    for ever (BRIDGE-06)."""
    # the exponent is bounded, because a float is not: 2.0 ** 1024 overflows
    doubled = 2.0 ** min(failures - 1, 5)
    return Pause(min(doubled, LONGEST_PAUSE), is_quiet=failures >= QUIET_FROM)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the plugin is polled. In seconds."""

    poll: float = 5.0
    first: float = 2.0
    """How long `tools/list` waits for a plugin that has not answered yet."""
    pause: Callable[[int], Pause] = pause_after
    """By the number of failures in a row."""


SCHEDULE = Schedule()


class PluginClient:
    """The plugin's present tools, and calls to it. Safe to share between threads."""

    def __init__(self, plugin: BridgeClient, schedule: Schedule = SCHEDULE) -> None:
        self._plugin = plugin
        self._schedule = schedule
        self.latest: tuple[PluginTool, ...] = ()
        """The tools of the latest good answer."""
        self.is_up = False
        """The plugin has answered the latest poll."""
        self._hash = ""
        self._failures = 0
        """How often it has not answered since it last did."""
        self._worker = Worker("plugin", self._poll)
        self._polled = threading.Event()
        """Set, and replaced, at the end of each poll."""

    def start(self, changed: Callable[[], None]) -> None:
        """Keep the tools up to date from now on; `changed` is called when they are different
        (BRIDGE-11)."""
        self._changed = changed
        self._worker.start()
        self._worker.wake()

    def _poll(self, _: bool) -> float:
        """Ask the plugin for its tools; return the seconds until the next poll."""
        problem = ""
        try:
            found = self._plugin.tools()
        except AppError as error:
            problem = error.message
        # a fault of ours in reading an answer: the next one may be readable
        except Exception:  # noqa: BLE001
            logger(__name__).exception("the plugin's list of tools could not be read")
            problem = "The plugin's list of tools could not be read."
        is_back = self._failures > 0 and not problem
        self._failures = self._failures + 1 if problem else 0
        if not problem and found.hash != self._hash:
            self.latest, self._hash = found.tools, found.hash
            logger(__name__).info("the plugin offers %d tools", len(found.tools))
            self._changed()
        self.is_up = not problem
        polled, self._polled = self._polled, threading.Event()
        polled.set()
        pause = (
            self._schedule.pause(self._failures)
            if problem
            else Pause(self._schedule.poll, is_quiet=True)
        )
        if is_back:
            logger(__name__).warning("the plugin answers again")
        elif not pause.is_quiet:
            logger(__name__).warning("%s The next try is in %g s.", problem, pause.seconds)
        return pause.seconds

    def tools(self) -> tuple[PluginTool, ...]:
        """Return the tools of the latest good answer. A plugin that does not answer is polled at
        once, for a moment: not every client handles list_changed."""
        if not self.is_up:
            polled = self._polled
            self._worker.wake()
            polled.wait(self._schedule.first)
        return self.latest

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the plugin's result unchanged, within the limit of the current call. Raises:
        AppError."""
        limit = current_call.get().limit
        try:
            result = self._plugin.call(
                name, arguments, None if limit is None else max(limit.remaining, LEAST_SECONDS)
            )
        except InvalidArguments:
            raise
        except AppError:
            self._worker.wake()  # it is gone, or has other tools now
            raise
        if not self.is_up:
            self._worker.wake()
        return result


class PluginDispatcher(Dispatcher):
    """Offers the plugin's tools, with a `vault` its tools as well."""

    def __init__(self, plugin: PluginClient, config: Config, vault: VaultDispatcher | None) -> None:
        super().__init__(config)
        self._plugin = plugin
        self._vault = vault
        self._offer = Offer(config)
        self._own = table().names if vault is not None else frozenset()
        if vault is None:
            self.server = {**self.server, "title": "Obsidian plugin"}
            self.handshake_methods = frozenset(("initialize", "ping", "tools/list", "tools/call"))
            self.modern_methods = frozenset(
                ("server/discover", "tools/list", "tools/call", "subscriptions/listen")
            )

    @property
    def app(self) -> App | None:
        return None if self._vault is None else self._vault.app

    def serves(self, message: Message) -> bool:
        return super().serves(message) or (
            message["method"] == "tools/call" and self._called_tool(message) not in self._own
        )

    def waits(self, message: Message) -> bool:
        return super().waits(message) or (
            message["method"] == "tools/list" and not self._plugin.is_up
        )

    def tools(self, peer: Peer) -> list[Mapping[str, Any]]:
        found = self._tools_by_name(self._plugin.tools())
        own = self._vault.tools(peer) if self._vault is not None else []
        return [*own, *({**tool.definition, "name": name} for name, tool in found.items())]

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._vault is not None and name in self._own:
            return self._vault.call(name, arguments)
        tool = self._tools_by_name(self._plugin.latest).get(name)
        if tool is not None:
            return self._plugin.call(tool.name, tool.clean_arguments(arguments))
        if not self._offer.admits(read_only=False):
            raise UnknownTool(
                f"There is no tool {name!r} that only reads, and this server is open for reading "
                "only.",
                tool=name,
            )
        return self._plugin.call(name, arguments)  # it may be new

    def failure(self, message: Message, peer: Peer, error: AppError) -> Message:
        if isinstance(error, OperationTimeout) and self._called_tool(message) not in self._own:
            error = OperationTimeout(
                f"The plugin did not answer within {self.timeout:g} seconds. If this was a change, "
                "look whether it was made before trying again.",
                seconds=self.timeout,
            )
        return super().failure(message, peer, error)

    def instructions(self) -> str:
        return INSTRUCTIONS if self._vault is None else self._vault.instructions()

    def capabilities(self, *, is_modern: bool) -> dict[str, Any]:
        own = {} if self._vault is None else self._vault.capabilities(is_modern=is_modern)
        return {**own, "tools": {"listChanged": True}}

    def list_can_change(self) -> bool:
        return True

    def writes(self, message: object) -> bool:
        return self._vault is not None and self._vault.writes(message)

    def _tools_by_name(self, tools: tuple[PluginTool, ...]) -> dict[str, PluginTool]:
        """Return the plugin's tools by the names under which they are offered (BRIDGE-16)."""
        found: dict[str, PluginTool] = {}
        for tool in tools:
            if self._offer.admits(read_only=tool.is_read_only):
                name = tool.name
                while name in self._own or name in found:
                    name = PREFIX + name
                found[name] = tool
        return found

    @staticmethod
    def _called_tool(message: Message) -> object:
        return (message.get("params") or {}).get("name")


def serve_bridge(
    plugin: BridgeClient,
    config: Config,
    open_app: Callable[[], App],
    start_log: Callable[[], None] = lambda: None,
    schedule: Schedule = SCHEDULE,
) -> int:
    """Serve the plugin's tools on stdio, and those of the vaults that are named; return the exit
    status. `start_log` is called when the first messages are answered."""
    client = PluginClient(plugin, schedule)

    def prepare(conversation: Conversation) -> None:
        start_log()
        client.start(conversation.notify_tools_changed)

    vault = VaultDispatcher(config, open_app) if config.named_vaults else None

    # for what the dispatcher does not answer: beside a vault its own, else subscriptions
    def load() -> SdkServer:
        from obsidian_mcp.serve.mcp import server as mcp

        return mcp.make_listen_server() if vault is None else mcp.build_sdk_server(vault.app)

    return stdio.serve_stdio(load, PluginDispatcher(client, config, vault), prepare=prepare)
