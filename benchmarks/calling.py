"""What calls cost once a server runs."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from .figures import OURS, RIPGREP, SCAN, Samples
from .servers import Call, Server
from .turns import connected, in_turns, reason, settle, until
from .vaults import RARE, changing
from .wire import FAILURES, Ended, Wire

READ = "read a note"
IN_FLIGHT = 32
FLIGHT = f"calls a second, {IN_FLIGHT} in flight"
SEARCH = "search for a rare word"
LARGE = "answer of 400 KB"
LARGE_NOTE = "note of 400 KB as a resource"
BLOCK = 20
"""Reads of one turn."""
WARMING = 5
"""Turns that are not counted."""
SCANS = 4
PATIENCE = 30.0
"""Seconds for each answer."""
INDEX_PATIENCE = 40.0
"""Seconds that a peer has to look through its vault again before its calls are measured."""


@dataclass(frozen=True, slots=True)
class Session:
    """Servers that run and have warmed up."""

    servers: Sequence[Server]
    wires: Mapping[str, Wire]
    reads: Mapping[str, Sequence[Call]]
    """Server -> the calls that read the same notes; the bare server echoes as many characters as our answers have."""
    samples: Samples


@contextmanager
def session(servers: Sequence[Server], notes: Sequence[str], samples: Samples) -> Iterator[Session]:
    """All that can be started, once their indexes are complete."""
    with connected(servers, samples, [READ, FLIGHT, SEARCH], PATIENCE) as wires:
        there = [
            server for server in servers if server.name in wires and _is_ready(server, wires[server.name], samples)
        ]
        settle([wires[server.name] for server in there], patience=10)
        ours = next((server for server in there if server.name == OURS), None)
        if ours is None:
            raise Ended("our server did not start")
        lengths = [_length(wires[OURS].call(tool, **given)) for tool, given in map(ours.read, notes)]
        echoes: list[Call] = [("echo", {"length": length}) for length in lengths]
        reads = {server.name: [server.read(note) for note in notes] if server.search else echoes for server in there}
        yield Session(there, wires, reads, samples)


def _is_ready(server: Server, wire: Wire, samples: Samples) -> bool:
    """A server that has not come to rest in time is measured as it is; one that fails is left out."""
    try:
        if server.kept is not None:
            until(wire, server.kept, server.kept.is_idle, INDEX_PATIENCE)
    except FAILURES as error:
        samples.fail([READ, FLIGHT, SEARCH], server.name, reason(error))
        return False
    return True


def _length(answer: bytes) -> int:
    return sum(len(part["text"]) for part in json.loads(answer)["result"]["content"])


def reads(session: Session, rounds: int) -> None:
    """One call after the other."""
    turn = dict.fromkeys((server.name for server in session.servers), 0)

    def once(server: Server) -> None:
        turn[server.name] += 1
        calls = session.reads[server.name]
        some = [calls[(turn[server.name] * BLOCK + place) % len(calls)] for place in range(BLOCK)]
        seconds = [session.wires[server.name].timed(tool, given) for tool, given in some]
        if turn[server.name] > WARMING:
            session.samples.add(READ, server.name, *seconds)

    in_turns(session.servers, WARMING + 5 * rounds, once, session.samples, [READ])


def flight(session: Session, rounds: int) -> None:
    """Reads, many at a time."""
    turn = dict.fromkeys((server.name for server in session.servers), 0)

    def once(server: Server) -> None:
        turn[server.name] += 1
        many = list(islice(cycle(session.reads[server.name]), 10 * IN_FLIGHT))
        seconds = session.wires[server.name].together(many, IN_FLIGHT)
        if turn[server.name] > 1:
            session.samples.add(FLIGHT, server.name, len(many) / seconds)

    in_turns(session.servers, 1 + 2 * rounds, once, session.samples, [FLIGHT])


def searches(session: Session, rounds: int) -> None:
    """One word, known to one note, asked of all that can search and of ripgrep, which starts anew each time."""
    turn = dict.fromkeys((server.name for server in session.servers), 0)
    program = shutil.which("rg")
    scans: list[float] = []

    def once(server: Server) -> None:
        if server.search is None:
            return
        turn[server.name] += 1
        tool, given = server.search(RARE)
        seconds = session.wires[server.name].timed(tool, given)
        if turn[server.name] == 1 and seconds < 1:  # it may have warmed up; who reads the whole vault never does
            return
        session.samples.add(SEARCH, server.name, seconds)
        if program and server.name == OURS:
            session.samples.add(SEARCH, RIPGREP, ripgrep(program, server.vault))
        if server.name == OURS and len(scans) < SCANS:
            scans.append(scan(server.vault))
            session.samples.add(SEARCH, SCAN, scans[-1])

    in_turns(session.servers, 1 + 2 * rounds, once, session.samples, [SEARCH])


def scan(vault: Path) -> float:
    """What the simplest server would do."""
    begun = time.perf_counter()
    word = RARE.encode()
    found = [path for path in vault.rglob("*.md") if word in path.read_bytes().lower()]
    seconds = time.perf_counter() - begun
    if not found:
        raise ValueError(f"no note of {vault} has the rare word")
    return seconds


def ripgrep(program: str, vault: Path) -> float:
    command = [program, "--files-with-matches", "--fixed-strings", "--ignore-case", RARE, str(vault)]
    begun = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False, timeout=60)  # noqa: S603  ours
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
