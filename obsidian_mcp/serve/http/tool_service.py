"""How every dialect lists and calls tools (specs/http.md HTTP-01, HTTP-02)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

import anyio
from anyio import to_thread

from obsidian_mcp.app import App
from obsidian_mcp.core.text.collation import exact_key
from obsidian_mcp.errors import AppError, InternalError
from obsidian_mcp.serve.call_thread import in_thread
from obsidian_mcp.serve.dispatch import VaultDispatcher
from obsidian_mcp.tools.entries import RESEARCH
from obsidian_mcp.tools.registry import RESEARCH_TOOLS, TOOLS, Outcome, Tool, call, list_tools, select_tools

log = logging.getLogger(__name__)

READY_SECONDS: Final = 5.0

Entry = TypeVar("Entry", bound=Mapping[str, Any])
ToolSource = Callable[[], Mapping[str, Tool]]
"""Returns the present tools of another program, by name."""


def sort_by_name(tools: Iterable[Entry]) -> list[Entry]:
    """Return tools in the order of their names, `localeCompare` in English; equal ones keep theirs (HASH-04)."""
    return sorted(tools, key=lambda tool: exact_key(tool["name"]))


class ToolService:
    """The vault's tools, and those that contracts of other programs bring."""

    def __init__(self, app: App, *others: ToolSource) -> None:
        """`others` return further tools; of the same name, the first has it, and no one replaces the vault's."""
        self._app = app
        told = app.replace(config=app.config.replace(error_style="result"))
        self.dispatcher = VaultDispatcher(told.config, lambda: told, self.tools)
        """Answers clients that speak MCP; wire row 21: errors of tools are results."""
        self._others = others
        self.timeout = app.config.timeout
        """Seconds that a call may take, its wait for earlier calls included."""

    def tools(self) -> Mapping[str, Tool]:
        """Return the tools of the profile that can be called now."""
        if self._app.config.tools == RESEARCH:
            return RESEARCH_TOOLS
        tools = dict(TOOLS)
        for others in self._others:
            tools = {**tools, **others(), **tools}
        if self._app.config.read_only:
            tools = {name: tool for name, tool in tools.items() if tool.read_only}
        return select_tools(self._app, tools)

    def find(self, name: str) -> Tool | None:
        """Return the tool of a name; None where there is none."""
        return self.tools().get(name)

    async def list_tools(self) -> tuple[Tool, ...]:
        """Return the tools that are of use here and now."""
        return tuple((await to_thread.run_sync(list_tools, self._app, self.tools())).values())

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Raises: AppError and nothing else."""
        try:
            return await in_thread(self.timeout, partial(call, self._app, name, arguments, self.tools()))
        except AppError:
            raise
        except (Exception, SystemExit) as error:
            log.exception("%s failed", name)
            raise InternalError(f"The server failed while running {name}. Its log (stderr) has the details.") from error

    async def vaults(self) -> list[str]:
        """Return the names of the vaults; none where there is none."""
        try:
            return await to_thread.run_sync(self._app.vaults.names)
        except AppError:
            return []

    async def ready(self) -> bool:
        """Whether the vault can be used."""
        with suppress(AppError), anyio.move_on_after(READY_SECONDS):
            await to_thread.run_sync(self._app.vaults.get, abandon_on_cancel=True)
            return True
        return False
