"""MCP over the official SDK: the registry's tools, its errors, and the contract's codes (specs/errors.md)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server

from obsidian_mcp import __version__
from obsidian_mcp.app import App
from obsidian_mcp.core import deadline
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools import TOOLS, Outcome, Tool, call

from .guard import guard

log = logging.getLogger(__name__)

INSTRUCTIONS = (
    "Tools for the user's Obsidian vault. Name notes as a person would (bare name or path, .md optional). "
    "Search first, then read what you need: a section or some lines of a long note. Change notes with "
    "obsidian_edit_note instead of rewriting them; move them with obsidian_move_note so that links follow."
)


def build_server(app: App, tools: Callable[[], Mapping[str, Tool]] = lambda: TOOLS) -> Server[dict[str, Any]]:
    """The SDK's low-level server with this program's tools, or those that `tools` names at the time of a request."""

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        offered = [tool for tool in tools().values() if tool.read_only or tool.mixed or not app.config.read_only]
        return types.ListToolsResult(tools=[tool_entry(tool) for tool in offered])

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            outcome = await run(app, params.name, params.arguments or {}, tools())
        except AppError as error:
            if app.config.error_style == "result" and error.application:
                return failure(error)
            raise  # the guard gives it its code
        return success(outcome)

    server: Server[dict[str, Any]] = Server(
        "obsidian-mcp",
        version=__version__,
        title="Obsidian vault",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.insert(0, guard)
    return server


async def run(app: App, name: str, arguments: Mapping[str, Any], tools: Mapping[str, Tool] = TOOLS) -> Outcome:
    """Call one of the tools in a thread. Raises: AppError; OperationTimeout when the configured time is up."""
    limit = deadline.Deadline(app.config.timeout)
    token = deadline.current.set(limit)
    try:
        with anyio.fail_after(app.config.timeout):
            return await to_thread.run_sync(partial(call, app, name, arguments, tools), abandon_on_cancel=True)
    except TimeoutError:
        raise limit.error() from None
    finally:
        limit.cancel()  # whether it timed out or the client gave up: the thread stops at its next checkpoint
        deadline.current.reset(token)


@cache
def tool_entry(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def success(outcome: Outcome) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=text) for text in outcome.contents()]
    data = {"success": True, "data": outcome.data} if outcome.enveloped else outcome.data
    structured = None if outcome.document else data
    return types.CallToolResult(content=content, structured_content=structured)


def failure(error: AppError) -> types.CallToolResult:
    """An application error as a result, for hosts that hide JSON-RPC errors from the model."""
    data = {"success": False, "error": {"code": error.code, "message": error.message, "data": error.payload()}}
    text = types.TextContent(text=error.told())
    return types.CallToolResult(content=[text], structured_content=data, is_error=True)
