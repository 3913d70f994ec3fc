"""What is measured against: the official SDK's low-level server on its own stdio transport, with next to nothing in it.

`echo` answers with a text of as many characters as asked for; `read` with the text of a file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {"type": "object", "properties": {"length": {"type": "integer"}, "path": {"type": "string"}}}


async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=SCHEMA) for name in ("echo", "read")])


def file_text(path: str) -> str:
    return Path(path).read_text("utf-8")


async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    given = params.arguments or {}
    text = file_text(given["path"]) if params.name == "read" else "x" * given.get("length", 60)
    return types.CallToolResult(content=[types.TextContent(text=text)])


async def main() -> None:
    server: Server[Any] = Server("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    sys.exit(anyio.run(main))
