"""How every dialect lists and calls tools (specs/http.md HTTP-01, HTTP-02)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import anyio
from anyio import to_thread

from obsidian_mcp import logger
from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, InternalError
from obsidian_mcp.serve.call_queue import kind_of_call
from obsidian_mcp.serve.call_thread import run_in_thread
from obsidian_mcp.serve.vault_dispatcher import VaultDispatcher
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.outcome import Outcome
from obsidian_mcp.tools.registry import OUR_TOOLS, Tool, call

READY_SECONDS: Final = 5.0

ToolSource = Callable[[], Mapping[str, Tool]]
"""Returns the present tools of another program, by name."""


class ToolService:
    """The vault's tools, and those that contracts of other programs bring, as one principal is
    offered them."""

    def __init__(self, app: App, *sources: ToolSource) -> None:
        """`sources`: tools of other programs; of the same name, the first has it, and no one
        replaces the vault's."""
        self._app = app
        self._sources = sources
        self.offer = Offer(app.config, self._other_tools)
        told = app.replace(config=app.config.replace(error_style="result"))
        self.dispatcher = VaultDispatcher(told.config, lambda: told, self.offer)
        """Answers clients that speak MCP; wire row 21: errors of tools are results."""
        self.timeout = app.config.timeout
        """Seconds that a call may take, its wait for earlier calls included."""

    def _other_tools(self) -> Mapping[str, Tool]:
        tools: dict[str, Tool] = {}
        for source in self._sources:
            tools = {**source(), **tools}
        return tools

    def find(self, name: str) -> Tool | None:
        """Return the tool of a name that may be called; None where there is none.

        Views have none here: the hosts that show them speak MCP.
        """
        entry = self.offer.find(name, with_views=False)
        return None if entry is None else entry.other or OUR_TOOLS[entry.name]

    async def list_tools(self) -> tuple[Tool, ...]:
        """Return the tools that are of use here and now."""
        return await to_thread.run_sync(self._listed_tools)

    def _listed_tools(self) -> tuple[Tool, ...]:
        listed = self.offer.list_entries(
            has_app=not self.offer.has_app_tools or self._app.vaults.has_app()
        )
        return tuple(entry.other or OUR_TOOLS[entry.name] for entry in listed.values())

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Run a tool in a thread. Raises: AppError and nothing else."""
        kind = kind_of_call(name, arguments)
        return await run_in_thread(self.timeout, partial(self.run_tool, name, arguments), kind=kind)

    def run_tool(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Run a tool. Raises: AppError and nothing else."""
        try:
            return call(self._app, name, arguments, self.offer)
        except AppError:
            raise
        except (Exception, SystemExit) as error:
            logger(__name__).exception("%s failed", name)
            raise InternalError(
                f"The server failed while running {name}. Its log (stderr) has the details."
            ) from error

    async def vaults(self) -> list[str]:
        """Return the names of the vaults; none where there is none."""
        try:
            return await to_thread.run_sync(self._app.vaults.names)
        except AppError:
            return []

    async def is_ready(self) -> bool:
        """Whether the vault can be used."""
        with suppress(AppError), anyio.move_on_after(READY_SECONDS):
            await to_thread.run_sync(self._app.vaults.get, abandon_on_cancel=True)
            return True
        return False
