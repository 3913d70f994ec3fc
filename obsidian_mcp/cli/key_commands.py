"""Commands about the API keys of the HTTP server (specs/policy.md KEY-…)."""

from __future__ import annotations

from collections.abc import Sequence

from .answers import format_answer
from .options import Options
from .stdout import write_answer


def list_keys(options: Options, *, json: bool = False) -> None:
    """List the names of the keys and what they open."""
    from obsidian_mcp import policies
    from obsidian_mcp.setup import api_keys

    rows = [api_keys.describe(key) for key in policies.api_keys(options.config())]
    remark = "" if rows else "There are no keys. Make one: obsidian-mcp keys add NAME\n"
    write_answer(
        {"keys": rows}, format_answer({"keys": rows}) if rows else "", remark, as_json=json
    )


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

    scope, tools, read_only = (
        scope or options.scope,
        tools or options.tools,
        read_only or options.read_only,
    )
    file, key = api_keys.add(
        options.config(), name, vaults=tuple(vault), scope=scope, read_only=read_only, tools=tools
    )
    send = (
        f"Its hash is in {file}; a running server takes it. Send the key as: Authorization: "
        "Bearer KEY\n"
    )
    write_answer({"name": name, "key": key, "file": str(file)}, f"{key}\n", send, as_json=json)


def remove(options: Options, *, name: str, json: bool = False) -> None:
    """Remove a key: a running server refuses it from now on, and ends its sessions."""
    from obsidian_mcp.setup import api_keys

    file = api_keys.remove(options.config(), name)
    report = f"Removed {name} from {file}. A running server refuses it now.\n"
    write_answer({"removed": name, "file": str(file)}, report, as_json=json)
