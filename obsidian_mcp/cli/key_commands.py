"""Commands about the API keys of the HTTP server (specs/policy.md KEY-…)."""

from __future__ import annotations

from collections.abc import Sequence

from .answers import readable
from .options import Options
from .stdout import write, write_json


def list_keys(options: Options, *, json: bool = False) -> None:
    """List the names of the keys and what they open."""
    from obsidian_mcp import compose
    from obsidian_mcp.setup import api_keys

    rows = [api_keys.describe(key) for key in compose.api_keys(options.config())]
    if json:
        write_json({"keys": rows})
    elif rows:
        write(readable({"keys": rows}))
    else:
        write("", "There are no keys. Make one: obsidian-mcp keys add NAME\n")


def add(
    options: Options,
    *,
    name: str,
    vault: Sequence[str] = (),
    scope: str = "",
    read_only: bool = False,
    tools: str = "",
    json: bool = False,
) -> None:
    """Make a key and print it this once: the policy file gets only its hash."""
    from obsidian_mcp.setup import api_keys

    file, key = api_keys.add(
        options.config(),
        name,
        vaults=tuple(vault),
        scope=scope or options.scope,
        read_only=read_only or options.read_only,
        tools=tools or options.tools,
    )
    if json:
        write_json({"name": name, "key": key, "file": str(file)})
        return
    send = f"Its hash is in {file}. Restart the server, and send the key as: Authorization: Bearer KEY\n"
    write(f"{key}\n", send)


def remove(options: Options, *, name: str, json: bool = False) -> None:
    """Remove a key; requests with it are refused after the next start of the server."""
    from obsidian_mcp.setup import api_keys

    file = api_keys.remove(options.config(), name)
    if json:
        write_json({"removed": name, "file": str(file)})
    else:
        write(f"Removed {name} from {file}. Restart the server.\n")
