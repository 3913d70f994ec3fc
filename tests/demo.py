"""`make demo`: the real server on a copy of a fixture vault, with the official SDK's client as Claude Desktop.

Shows what is asked and what comes back.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from obsidian_mcp import __version__

FIXTURE = Path(__file__).parent.parent / "vault_fixtures" / "basic"
WIDTH = 110
TERMINAL = sys.stdout.isatty()


def say(mark: str, text: str, colour: int) -> None:
    first = f"\033[{colour}m{mark}\033[0m " if TERMINAL else f"{mark} "
    lines = [part for line in text.splitlines() for part in (textwrap.wrap(line, WIDTH) or [""])]
    print(first + f"\n{' ' * (len(mark) + 1)}".join(lines))


async def ask(client: Client, tool: str, **arguments: Any) -> types.CallToolResult | None:
    shown = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    say("→", f"{tool}({shown})", 36)
    started = time.perf_counter()
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        elapsed = time.perf_counter() - started
        say(
            "✗",
            f"error {error.error.code} {error.error.data['errorCode']} ({elapsed * 1e3:.0f} ms): {error.error.message}",
            31,
        )
        return None
    elapsed = time.perf_counter() - started
    for block in result.content:
        if isinstance(block, types.TextContent):
            say("←", block.text if len(block.text) < 900 else block.text[:900] + " …", 32)
    print(f"  ({elapsed * 1e3:.0f} ms)")
    return result


async def demonstrate(vault: Path) -> None:
    print(f"A copy of the fixture vault 'basic' is served by: obsidian-mcp --vault {vault.name}\n")
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "obsidian_mcp", "--vault", str(vault)])
    started = time.perf_counter()
    async with Client(stdio_client(parameters)) as client:
        say("→", "initialize", 36)
        say(
            "←",
            f"obsidian-mcp {__version__}, protocol {client.protocol_version} "
            f"({(time.perf_counter() - started) * 1e3:.0f} ms from start)",
            32,
        )
        say("→", "tools/list", 36)
        for tool in (await client.list_tools()).tools:
            say("←", f"{tool.name:24} {(tool.description or '').splitlines()[0][:84]}", 32)
        print()
        await ask(
            client,
            "obsidian_create_note",
            name="Ideas/Silent gears",
            content="# Silent gears\n\nNylon against brass? Ask [[Jonas Weiß]] before [[Alpha]] is cut. #idea\n",
        )
        await ask(client, "obsidian_search", query="quick fox", limit=3)
        await ask(client, "obsidian_read_note", name="森あゆみ")
        await ask(
            client,
            "obsidian_edit_note",
            name="Alpha",
            operation="append_section",
            section="Plan",
            content="- [ ] Try [[Silent gears]]",
            dry_run=True,
        )
        await ask(client, "obsidian_get_links", name="Jonas Weiß")
        await ask(client, "obsidian_read_note", name="Projekt Alpha")
    print("\nThe server has ended. Nothing outside the copy was touched.")


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(shutil.copytree(FIXTURE, Path(folder) / "Clockmaker"))
        asyncio.run(demonstrate(vault))


if __name__ == "__main__":
    main()
