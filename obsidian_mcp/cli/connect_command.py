"""The command `connect`: how an assistant elsewhere reaches the vault (specs/remote.md CONNECT)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.config import DEFAULT_PORT

from .options import Options
from .stdout import write_answer

if TYPE_CHECKING:
    from obsidian_mcp.setup.connect import Situation, Way


def show_ways(
    options: Options,
    *,
    assistant: str,
    public_url: str = "",
    port: int = DEFAULT_PORT,
    vault: Sequence[str] = (),
    add_key: bool = False,
    name: str = "",
    folder: str = "",
    read_only: bool = False,
    days: int = 0,
    json: bool = False,
) -> None:
    """Print each way in, step by step, for what runs here; with `add_key` with a new key. Raises:
    InvalidArguments."""
    from obsidian_mcp.serve.http.access.public_url import read_public_url
    from obsidian_mcp.setup import connect
    from obsidian_mcp.setup.api_keys import KeyLimits
    from obsidian_mcp.setup.api_keys import add_key as make_key

    options = options.with_vaults(tuple(vault))
    settings = options.config()
    entered = public_url or settings.http.public_url
    public = read_public_url(entered) if entered else ""
    key_name, key = name or assistant, ""
    if add_key:
        limits = KeyLimits(
            folder=folder or options.scope,
            read_only=read_only or options.read_only,
            tools=options.tools,
            days=days,
        )
        _, key = make_key(settings, key_name, limits)
    situation = connect.look_around(
        port=port,
        public=public,
        vault="".join(f" --vault {shlex.quote(named)}" for named in options.vaults),
        key_name=key_name,
        key=key,
    )
    _write_ways(situation, connect.list_ways(assistant, situation), as_json=json)


def _write_ways(situation: Situation, ways: Sequence[Way], *, as_json: bool) -> None:
    """Print what runs here, and the numbered ways with their steps."""
    from obsidian_mcp.setup.connect import describe_state

    public, key = situation.public, situation.key
    facts = {
        "server": situation.state,
        "local_address": situation.local_address,
        "address": situation.address if public else None,
        "key": {"name": situation.key_name, "header": situation.header} if key else None,
        "ways": list(map(asdict, ways)),
    }
    lines = [describe_state(situation)]
    if public:
        lines.append(f"Its address for other computers: {situation.address}")
    if key:
        lines.append(f"The key {situation.key_name}, which is shown this once:")
        lines.append(f"  {situation.header}")
    for number, entry in enumerate(ways, 1):
        lines += ["", f"{number}. {entry.title}", *(f"   {step}" for step in entry.steps)]
    write_answer(facts, "".join(f"{line}\n" for line in lines), as_json=as_json)
