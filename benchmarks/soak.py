"""Many clients on one HTTP server: no lost write, no 5xx, quick reads, level memory (specs/http.md LIFE-07).

    python -m benchmarks.soak [--clients 64] [--seconds 60] [--pause 0.2] [--notes 1000]

Each client keeps one connection and sends, with random pauses, four reads or searches for each line that it appends: to
a note of its own or to one that all share. At the end every appended line must be in its note exactly once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any
from urllib.parse import urlsplit

import psutil

from tests.generate import generate

from .vaults import paths

CLIENTS, SECONDS, PAUSE_SECONDS, NOTES = 64, 60.0, 0.2, 1_000
SHARED = "Shared log.md"
WORDS = ("karito", "note", "status", "kind3", "日本語")
STATUS_LINE = slice(9, 12)


@dataclass(slots=True)
class Soak:
    """What a run has measured. Times in seconds, memory in bytes."""

    reads: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    writes: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    appended: list[tuple[str, str]] = field(default_factory=list)
    """Note and line of each write that was answered with success."""
    memory: list[int] = field(default_factory=list)
    """Of the server, at the start and after each quarter."""
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)

    @property
    def answered_5xx(self) -> int:
        return sum(count for status, count in self.statuses.items() if status >= 500)

    def lines(self) -> list[str]:
        """The report for people."""
        calls = sum(self.statuses.values())
        rows = [f"{calls} calls, {self.answered_5xx} answers 5xx, {len(self.failures)} failures"]
        for name, times in (("reads", self.reads), ("searches", self.searches), ("writes", self.writes)):
            cuts = quantiles(times, n=100) if len(times) > 1 else [0.0] * 99
            milliseconds = [f"{1000 * cut:.1f}" for cut in (cuts[49], cuts[98], max(times, default=0.0))]
            rows.append(
                f"{name}: {len(times)}, p50 {milliseconds[0]}, p99 {milliseconds[1]}, worst {milliseconds[2]} ms"
            )
        rows.append(f"writes lost: {len(self.lost)}, doubled: {len(self.doubled)}")
        rows.append("memory: " + ", ".join(f"{size / 2**20:.0f}" for size in self.memory) + " MiB")
        return rows


class _Client:
    """One kept connection."""

    def __init__(self, number: int, url: str, notes: Sequence[str], soak: Soak) -> None:
        self._number = number
        self._address = urlsplit(url)
        self._notes = notes
        self._soak = soak
        self._dice = random.Random(number)  # noqa: S311  the same in every run

    async def run(self, until: float, pause: float, calls: int = 0) -> None:
        """Call until a time, and at least so many times."""
        reader, writer = await asyncio.open_connection(self._address.hostname, self._address.port)
        turn = 0
        while turn < calls or time.monotonic() < until:
            if pause:
                await asyncio.sleep(self._dice.uniform(0, 2 * pause))
            turn += 1
            name, arguments, times = self._call(turn)
            begun = time.perf_counter()
            status, answer = await self._ask(reader, writer, name, arguments)
            times.append(time.perf_counter() - begun)
            self._soak.statuses[status] += 1
            if status != 200 or "error" in answer or answer["result"]["isError"]:
                self._soak.failures.append(f"{status} {name} {json.dumps(answer)[:200]}")
            elif times is self._soak.writes:
                self._soak.appended.append((arguments["name"], arguments["content"]))
        writer.close()
        await writer.wait_closed()

    def _call(self, turn: int) -> tuple[str, dict[str, Any], list[float]]:
        kind = self._dice.random()
        if kind < 0.2:
            note = SHARED if self._dice.random() < 0.25 else f"Log of {self._number}.md"
            line = f"client {self._number} line {turn}"
            return "obsidian_edit_note", {"name": note, "operation": "append", "content": line}, self._soak.writes
        if kind < 0.3:
            return "obsidian_search", {"query": self._dice.choice(WORDS), "limit": 5}, self._soak.searches
        return "obsidian_read_note", {"name": self._dice.choice(self._notes)}, self._soak.reads

    async def _ask(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str, arguments: dict[str, Any]
    ) -> tuple[int, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        body = json.dumps(message).encode()
        head = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        writer.write(head + body)
        received = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.partition(b":")[2])
            for line in received.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        return int(received[STATUS_LINE]), json.loads(await reader.readexactly(length))


def soak(vault: Path, clients: int, seconds: float, pause: float, calls: int = 0) -> Soak:
    """Run the clients on a server of its own for a vault made by `tests.generate`, and check what is left in it. Each
    client calls for some seconds, and at least so many times.

    Raises: RuntimeError where the server does not start.
    """
    count = sum(1 for _ in vault.rglob("*.md"))
    for name in [SHARED, *(f"Log of {number}.md" for number in range(clients + 1))]:
        (vault / name).write_text("# Log\n", encoding="utf-8")
    environment = {**os.environ, "OBSIDIAN_MCP_CACHE": f"{vault}-cache", "OBSIDIAN_MCP_STATE": f"{vault}-state"}
    command = [sys.executable, "-m", "obsidian_mcp", "http", "--vault", str(vault), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment)  # noqa: S603  ours
    log = process.stderr
    if log is None:
        raise RuntimeError("the server has no standard error")
    try:
        line = log.readline().decode()
        if "http://" not in line:
            raise RuntimeError(line + log.read().decode())
        found = Soak()
        url = line.rpartition(" ")[2].strip()
        running = _run(
            found,
            url,
            paths(count),
            clients=clients,
            seconds=seconds,
            pause=pause,
            calls=calls,
            process=process.pid,
        )
        asyncio.run(running)
        process.terminate()
        process.wait(60)
    finally:
        process.kill()
        process.wait()
        log.close()
    _check(found, vault)
    return found


async def _run(
    found: Soak,
    url: str,
    notes: Sequence[str],
    *,
    clients: int,
    seconds: float,
    pause: float,
    calls: int,
    process: int,
) -> None:
    # The index is built before the clock starts.
    warm = _Client(clients, url, notes, Soak())
    await warm.run(time.monotonic() + min(seconds, 5.0), 0.0, calls)
    server = psutil.Process(process)
    until = time.monotonic() + seconds
    running = [
        asyncio.create_task(_Client(number, url, notes, found).run(until, pause, calls)) for number in range(clients)
    ]
    for _ in range(4):
        found.memory.append(server.memory_info().rss)
        await asyncio.sleep(seconds / 4)
    await asyncio.gather(*running)
    found.memory.append(server.memory_info().rss)


def _check(found: Soak, vault: Path) -> None:
    texts = {
        note: Counter((vault / note).read_text("utf-8").splitlines()) for note in {note for note, _ in found.appended}
    }
    for note, line in found.appended:
        if texts[note][line] != 1:
            (found.doubled if texts[note][line] else found.lost).append(f"{note}: {line}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--pause", type=float, default=PAUSE_SECONDS, help="mean seconds between two calls of a client")
    parser.add_argument("--notes", type=int, default=NOTES)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = generate(Path(folder) / "vault", chosen.notes)
        found = soak(vault, chosen.clients, chosen.seconds, chosen.pause)
    report = [*found.lines(), *found.failures[:5], *found.lost[:5], *found.doubled[:5]]
    sys.stdout.write("\n".join(report) + "\n")
    return 1 if found.failures or found.lost or found.doubled else 0


if __name__ == "__main__":
    sys.exit(main())
