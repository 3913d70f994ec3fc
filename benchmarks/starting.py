"""The first index, and from the spawn of a process to its first answers, however it is started."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.contracts.plugin.plugin_server import PluginServer

from .figures import Samples
from .servers import Server
from .turns import in_turns, reason, settle, until
from .vaults import RARE
from .wire import CLAUDE_DESKTOP, FAILURES, INITIALIZE, MODERN, Refused, is_error

FIRST_BUILD = "first index"
INDEXING = 240.0
"""Seconds that a peer has for its first index."""
STARTS = ("initialize", "tools/list", "first search")
AFTER_LULL = "reads in the two seconds after the start"


def build(ours: Server, size: int, rounds: int, samples: Samples) -> None:
    """Notes a second of the first index of a vault, by the command; the start of its process is in it."""
    for _ in range(rounds):
        shutil.rmtree(Path(ours.env["OBSIDIAN_MCP_CACHE"]), ignore_errors=True)
        begun = time.perf_counter()
        subprocess.run(  # noqa: S603  ours
            [*ours.command, "index", "rebuild"],
            env={**os.environ, **ours.env},
            capture_output=True,
            check=True,
            timeout=600,
        )
        samples.add(FIRST_BUILD, ours.name, size / (time.perf_counter() - begun))


def catch_up(ours: Server) -> None:
    """The index knows the vault as it is: a measurement before may have changed notes and put them back."""
    with ours.start() as wire:
        wire.initialize()
        wire.call("obsidian_search", query="anything")
        settle([wire])


def indexed(peers: Sequence[Server], size: int, samples: Samples) -> list[Server]:
    """Those that can be measured: an index that a peer keeps is complete, or there is none. What came of it is noted
    beside the index, for the next run.
    """
    found = []
    for peer in peers:
        try:
            _first_index(peer, size)
        except FAILURES as error:
            samples.fail(STARTS, peer.name, reason(error))
        else:
            found.append(peer)
    return found


def _first_index(peer: Server, size: int) -> None:
    """Raises: TimeoutError, also where it was raised in an earlier run."""
    kept = peer.kept
    if kept is None:
        return
    mark = kept.path.with_name(f"{kept.path.name}.state")
    if not mark.exists():
        with peer.start(INDEXING) as wire:
            wire.initialize()
            in_time = until(wire, kept, lambda answer: kept.has_all(answer, size), INDEXING)
        mark.write_text("" if in_time else f"its first index took longer than {INDEXING:.0f} s", encoding="utf-8")
    if said := mark.read_text(encoding="utf-8"):
        raise TimeoutError(said)


def lull(ours: Server, note: str, rounds: int, samples: Samples) -> None:
    """Reads in the first seconds of a server, which is still at work on its index."""
    tool, given = ours.read(note)
    for _ in range(rounds):
        with ours.start() as wire:
            wire.initialize()
            wire.ask("tools/list")
            wire.call(tool, **given)
            end = time.perf_counter() + 2
            while time.perf_counter() < end:
                time.sleep(0.02)
                samples.add(AFTER_LULL, ours.name, wire.timed(tool, given))


def start(servers: Sequence[Server], rounds: int, samples: Samples) -> None:
    """From the spawn to the answers of initialize, tools/list and a first search (the bare server: a first call), to a
    client with the name of Claude Desktop."""

    def once(server: Server) -> None:
        for what, moment in zip(STARTS, _moments(server, Way(CLAUDE_DESKTOP)), strict=True):
            samples.add(what, server.name, moment)

    in_turns(servers, rounds, once, samples, STARTS)


@dataclass(frozen=True, slots=True)
class Way:
    """How a server is started, and who speaks to it."""

    hello: Mapping[str, Any] = field(default_factory=lambda: INITIALIZE)
    arguments: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Of every request, in the revision without a handshake."""
    wait: float = 0.0
    """Seconds from the spawn to the first message; the moments are counted from that."""


PLAIN = "plain start"
SHOWS_VIEWS = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}


def ways(policy: Path, folder: str, plugin: int) -> dict[str, Way]:
    """Return the ways in which people start a server, the plain one first. `plugin`: the port of a plugin's bridge."""
    return {
        PLAIN: Way(),
        "client claude-ai (Claude Desktop)": Way(CLAUDE_DESKTOP),
        "client that shows views": Way({**INITIALIZE, "capabilities": SHOWS_VIEWS}),
        "--tools core": Way(arguments=["--tools", "core"]),
        "--tools standard": Way(arguments=["--tools", "standard"]),
        "--read-only": Way(arguments=["--read-only"]),
        "--scope FOLDER": Way(arguments=["--scope", folder]),
        "policy file": Way(env={"OBSIDIAN_MCP_POLICY": str(policy)}),
        "OBSIDIAN_MCP_TIMEOUT=20": Way(env={"OBSIDIAN_MCP_TIMEOUT": "20"}),
        "2026-07-28": Way(meta=MODERN),
        "a plugin's tools beside the vault's": Way(env={"OBSIDIAN_MCP_PORT": str(plugin)}),
        "initialize a second after the start": Way(wait=1.0),
    }


def row(column: str, way: str) -> str:
    """Return the name of one figure of the table of ways."""
    return f"{column}, started: {way}"


def every_way(ours: Server, bare: Server, rounds: int, samples: Samples) -> None:
    """Each way of starting in turn with the others and with the bare server."""
    policy = ours.vault.with_name(f"{ours.vault.name}-kept") / "policy.toml"
    policy.write_text('confirm = ["permanent_delete"]\n', encoding="utf-8")
    folder = next(path.name for path in sorted(ours.vault.iterdir()) if path.is_dir() and path.name[0] != ".")
    with PluginServer() as plugin:
        known = ways(policy, folder, plugin.port)
        for number in range(rounds):
            names = [*known]
            for way in names[number % len(names) :] + names[: number % len(names)]:
                for column, moment in zip(STARTS, _moments(ours, known[way]), strict=True):
                    samples.add(row(column, way), ours.name, moment)
            for column, moment in zip(STARTS, _moments(bare, Way()), strict=True):
                samples.add(row(column, PLAIN), bare.name, moment)


def _moments(server: Server, way: Way) -> list[float]:
    """Seconds to the answers of initialize (or server/discover), tools/list and a first search."""
    tool, given = server.search(RARE) if server.search else ("echo", {})
    started = replace(server, command=[*server.command, *way.arguments], env={**server.env, **way.env})
    meta = {"_meta": way.meta} if way.meta else {}
    moments = []
    with started.start() as wire:
        if way.wait:
            time.sleep(way.wait)
        begun = wire.since_start() if way.wait else 0.0

        def ask(method: str, params: Mapping[str, Any]) -> None:
            line = wire.ask(method, {**params, **meta})
            if is_error(line):
                raise Refused(f"{method}: {line[:300].decode('utf-8', 'replace')}")
            moments.append(wire.since_start() - begun)

        if meta:
            ask("server/discover", {})
        else:
            ask("initialize", way.hello)
            wire.notify_initialized()
        ask("tools/list", {})
        ask("tools/call", {"name": tool, "arguments": given})
    return moments
