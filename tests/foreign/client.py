"""The Python SDK's client of the 1.x line against a server: python client.py URL [KEY]. Prints what it saw as JSON."""
# It is written for another major version of the SDK than the one that the types are of.
# mypy: ignore-errors

import asyncio
import json
import sys

from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamablehttp_client


async def main(url: str, key: str = "") -> None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        streamablehttp_client(url, headers=headers) as (read_stream, write_stream, session_id),
        ClientSession(read_stream, write_stream) as session,
    ):
        began = await session.initialize()
        tools = (await session.list_tools()).tools
        read = await session.call_tool("read_note", {"path": "Home"})
        failed = await session.call_tool("read_note", {"path": "No such note"})
        refused = 0
        try:
            await session.call_tool("no_such_tool", {})
        except McpError as error:
            refused = error.error.code
        await session.send_ping()
        seen = {
            "server": began.serverInfo.name,
            "session": session_id() is not None,
            "tools": [tool.name for tool in tools],
            "read": read.model_dump(mode="json", by_alias=True),
            "failed": failed.model_dump(mode="json", by_alias=True),
            "refused": refused,
        }
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
