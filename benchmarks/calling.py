"""What calls cost once a server runs."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
import zlib
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from .figures import OURS, RIPGREP, SCAN, Samples
from .servers import Call, Server
from .turns import connected, in_turns
from .vaults import RARE, changing
from .wire import Wire

READ = "read a note"
IN_FLIGHT = 32
FLIGHT = f"calls a second, {IN_FLIGHT} in flight"
SEARCH = "search for a rare word"
LARGE = "answer of 400 KB"
LARGE_NOTE = "note of 400 KB as a resource"
BLOCK = 20
SCANS = 4
PATIENCE = 30.0


def asked(servers: Sequence[Server], notes: Sequence[str]) -> dict[str, list[Call]]:
    """Server -> the calls that read these notes; the bare server echoes as many characters as our answers have."""
    by_ours = next(server for server in servers if server.name == OURS)
    with by_ours.start() as wire:
        wire.initialize()
        lengths = [_length(wire.call(tool, **given)) for tool, given in map(by_ours.read, notes)]
    echoes: list[Call] = [("echo", {"length": length}) for length in lengths]
    return {server.name: [server.read(note) for note in notes] if server.search else echoes for server in servers}


def _length(answer: bytes) -> int:
    return sum(len(each["text"]) for each in json.loads(answer)["result"]["content"])


def reads(servers: Sequence[Server], notes: Sequence[str], rounds: int, samples: Samples) -> None:
    """One call after the other."""
    calls = asked(servers, notes)
    with connected(servers, samples, [READ], PATIENCE) as wires:

        def block(server: Server, number: int) -> list[float]:
            mine = calls[server.name]
            some = [mine[(number + place) % len(mine)] for place in range(BLOCK)]
            return [wires[server.name].timed(tool, given) for tool, given in some]

        there = [server for server in servers if server.name in wires]
        turn = dict.fromkeys(wires, 0)

        def once(server: Server) -> None:
            turn[server.name] += 1
            seconds = block(server, turn[server.name] * BLOCK)
            if turn[server.name] > 5:  # the first hundred warm up
                samples.add(READ, server.name, *seconds)

        in_turns(there, 5 + rounds * 5, once, samples, [READ])


def flight(servers: Sequence[Server], notes: Sequence[str], rounds: int, samples: Samples) -> None:
    """Reads, many at a time."""
    calls = asked(servers, notes)
    with connected(servers, samples, [FLIGHT], PATIENCE) as wires:
        there = [server for server in servers if server.name in wires]
        warm: set[str] = set()

        def once(server: Server) -> None:
            many = list(islice(cycle(calls[server.name]), 10 * IN_FLIGHT))
            wire = wires[server.name]
            if server.name not in warm:
                warm.add(server.name)
                wire.together(many, IN_FLIGHT)
            samples.add(FLIGHT, server.name, len(many) / wire.together(many, IN_FLIGHT))

        in_turns(there, rounds * 2, once, samples, [FLIGHT])


def searches(servers: Sequence[Server], rounds: int, samples: Samples) -> None:
    """One word, known to one note, asked of all that can search and of ripgrep, which starts anew each time."""
    able = [server for server in servers if server.search]
    with connected(able, samples, [SEARCH], PATIENCE) as wires:
        there = [server for server in able if server.name in wires]
        warm: set[str] = set()
        program = shutil.which("rg")
        scans: list[float] = []

        def once(server: Server) -> None:
            if server.search is None:
                return
            tool, given = server.search(RARE)
            if server.name not in warm:
                warm.add(server.name)
                wires[server.name].timed(tool, given)
            samples.add(SEARCH, server.name, wires[server.name].timed(tool, given))
            if program and server.name == OURS:
                samples.add(SEARCH, RIPGREP, ripgrep(program, server.vault))
            if server.name == OURS and len(scans) < SCANS:
                scans.append(scan(server.vault))
                samples.add(SEARCH, SCAN, scans[-1])

        in_turns(there, rounds * 2, once, samples, [SEARCH])


def scan(vault: Path) -> float:
    """What the simplest server would do."""
    begun = time.perf_counter()
    word = RARE.encode()
    found = [path for path in vault.rglob("*.md") if word in path.read_bytes().lower()]
    seconds = time.perf_counter() - begun
    if len(found) != 1:
        raise ValueError(f"{len(found)} notes have the rare word")
    return seconds


def ripgrep(program: str, vault: Path) -> float:
    command = [program, "--files-with-matches", "--fixed-strings", "--ignore-case", RARE, str(vault)]
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False, timeout=60)  # noqa: S603  ours
    return time.perf_counter() - begun


def large(ours: Server, bare: Server, rounds: int, samples: Samples) -> None:
    """Our largest answers to a tool are pictures; a note as long as that is read as a resource."""
    picture, note = "Large picture.png", "Large note.md"
    with changing(ours.vault, picture, note):
        (ours.vault / picture).write_bytes(png(320))
        text = "A line of words as they stand in notes, and a little more.\n"
        (ours.vault / note).write_text(text * (400_000 // len(text)), encoding="utf-8")
        with connected([ours, bare], samples, [LARGE], PATIENCE) as wires:
            one, other = wires[ours.name], wires[bare.name]
            address = f"obsidian://vault/{ours.vault.name}/Large%20note.md"
            for number in range(10 + 60 * rounds):
                seen = {
                    (LARGE, ours.name): one.timed("obsidian_attachments", {"name": picture}),
                    (LARGE, bare.name): other.timed("echo", {"length": 409_000}),
                    (LARGE_NOTE, ours.name): _resource(one, address),
                }
                for (what, who), seconds in seen.items():
                    if number >= 10:  # the first warm up
                        samples.add(what, who, seconds)


def _resource(wire: Wire, address: str) -> float:
    begun = time.perf_counter()
    wire.ask("resources/read", {"uri": address})
    return time.perf_counter() - begun


def png(side: int) -> bytes:
    """A square picture of noise, which no compression makes smaller."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    noise = random.Random(1)  # noqa: S311  the same on every machine
    rows = b"".join(b"\0" + noise.randbytes(3 * side) for _ in range(side))
    head = side.to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows, 0)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
