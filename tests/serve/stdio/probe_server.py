"""A small SDK server over our transport, run as a subprocess by the tests: each tool misbehaves in one way.

Arguments: --drain SECONDS, --grace SECONDS, --subscriptions (serve
subscriptions/listen), --sdk (the SDK's own transport, for comparison).
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sys
import time
from typing import Any

import anyio
import mcp_types as t
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

from obsidian_mcp.config import Config
from obsidian_mcp.errors import NoteNotFound
from obsidian_mcp.serve import stdio
from obsidian_mcp.serve.mcp.context import handle_errors
from obsidian_mcp.serve.stdio.sdk import SdkServer
from tests.serve.sdk_dispatcher import SdkDispatcher

Context = ServerRequestContext[Any, Any]


def _echo(arguments: dict[str, Any]) -> str:
    return str(arguments.get("text", ""))


def _slow(arguments: dict[str, Any]) -> str:
    time.sleep(arguments["seconds"])
    return f"slept {arguments['seconds']}"


def _print(arguments: dict[str, Any]) -> str:
    print("stray print")
    print("flushed print", flush=True)
    os.write(1, b"stray bytes\n")
    return "printed"


def _child(arguments: dict[str, Any]) -> str:
    script = "import sys; print('stray child'); print(repr(sys.stdin.read()))"
    subprocess.run([sys.executable, "-c", script], check=True)
    return "child ended"


def _raise(arguments: dict[str, Any]) -> str:
    raise RuntimeError("secret detail")


def _exit(arguments: dict[str, Any]) -> str:
    sys.exit(3)


def _not_found(arguments: dict[str, Any]) -> str:
    raise NoteNotFound("No note is called Alpha.", name="Alpha")


def _protocol_error(arguments: dict[str, Any]) -> str:
    raise MCPError(-32004, "told as it is", {"errorCode": "AMBIGUOUS_NAME", "candidates": ["a", "b"]})


def _surrogate(arguments: dict[str, Any]) -> str:
    return "bad \udcff name, pair \ud83d\ude00, \u2028 and ünïcode"


def _big(arguments: dict[str, Any]) -> str:
    return "ä" * (int(arguments.get("bytes", 2**20)) // 2)


def _size(arguments: dict[str, Any]) -> str:
    return str(len(arguments["text"]))


TOOLS = {
    "echo": _echo,
    "slow": _slow,
    "print": _print,
    "child": _child,
    "raise": _raise,
    "exit": _exit,
    "not_found": _not_found,
    "protocol_error": _protocol_error,
    "surrogate": _surrogate,
    "big": _big,
    "size": _size,
}
INLINE = {"echo", "big", "size"}
"""Run on the event loop: what is measured is the transport, not a thread hop."""


async def _list_tools(ctx: Context, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
    return t.ListToolsResult(tools=[t.Tool(name=name, input_schema={"type": "object"}) for name in TOOLS])


async def _call_tool(ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
    arguments = params.arguments or {}
    text = ""
    if params.name in INLINE:
        text = TOOLS[params.name](arguments)
    elif params.name == "ask":
        answer = await ctx.session.elicit_form("Sure?", {"type": "object", "properties": {}}, ctx.request_id)
        text = answer.action
    elif params.name == "wait":
        await anyio.sleep_forever()
    elif params.name == "own_model":
        text = str(t.TextContent.model_validate({"type": "secret"}))
    elif params.name == "exit_inline":
        text = _exit(arguments)
    elif params.name == "stubborn":
        text = await anyio.to_thread.run_sync(_slow, arguments)
    elif params.name == "chatty":
        for step in range(arguments["steps"]):
            await ctx.session.report_progress(step)
        text = "done"
    else:
        text = await anyio.to_thread.run_sync(TOOLS[params.name], arguments, abandon_on_cancel=True)
    return t.CallToolResult(content=[t.TextContent(type="text", text=text)])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--drain", type=float, default=30.0)
    parser.add_argument("--grace", type=float, default=stdio.GRACE_SECONDS)
    parser.add_argument("--sdk", action="store_true")
    parser.add_argument("--subscriptions", action="store_true")
    chosen = parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)

    listen = ListenHandler(InMemorySubscriptionBus())
    server = Server(
        "probe",
        version="1.0",
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_subscriptions_listen=listen if chosen.subscriptions else None,
    )
    server.middleware.insert(0, handle_errors)
    if chosen.sdk:

        async def serve() -> None:
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())

        anyio.run(serve)
        return 0
    served = SdkServer(server, listen.close if chosen.subscriptions else None)
    dispatcher = SdkDispatcher(Config(environ={"OBSIDIAN_MCP_TIMEOUT": "3600"}))
    return stdio.serve_stdio(lambda: served, dispatcher, drain_timeout=chosen.drain, grace=chosen.grace)


if __name__ == "__main__":
    sys.exit(main())
