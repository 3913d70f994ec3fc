"""Memory: after a thousand calls of all kinds, and over a hundred thousand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from tests.generate import words

from .figures import BARE, OURS, Samples
from .servers import Call, Server
from .turns import in_turns, settle
from .vaults import RARE, changing
from .wire import Refused

MEMORY = "memory after 1 000 mixed calls"
GROWN = "memory after {count} mixed calls"
GROWTH = "memory after {count} mixed calls, by that after half of them"
SCRATCH = "Scratch of the benchmark.md"
CALLS = 1_000
IN_FLIGHT = 32


def mixed(notes: Sequence[str]) -> list[Call]:
    """What an assistant does, in an order that repeats after some hundred calls: reads above all, searches, questions
    about links, tags and properties, now and then a change of the scratch note, and names that no note has.
    """
    vocabulary = words()
    queries: list[Mapping[str, object]] = [
        *({"query": word} for word in vocabulary[300:320]),
        *({"query": f"{one} {other}"} for one, other in zip(vocabulary[40:43], vocabulary[60:63], strict=True)),
        {"query": f'"{vocabulary[2]} {vocabulary[5]}"'},
        {"query": "tag:#area/3", "match": "exact"},
        {"query": "[rating:4]", "match": "exact", "show": "paths"},
        {"query": "日本語"},
        {"query": RARE},
        {"query": "xylophage"},
    ]
    searches = cycle(queries)
    calls: list[Call] = []
    for number, note in enumerate(notes):
        calls += [("obsidian_read_note", {"name": other}) for other in (note, notes[number * 7 % len(notes)])]
        calls.append(("obsidian_read_note", {"name": note.rpartition("/")[2], "view": "metadata"}))
        if number % 4 == 0:
            calls.append(("obsidian_search", next(searches)))
        if number % 4 == 1:
            calls.append(("obsidian_get_links", {"name": note}))
        if number % 20 == 2:
            calls.append(("obsidian_list_files", {"folder": note.partition("/")[0], "limit": 50}))
        if number % 20 == 6:
            calls.append(("obsidian_get_properties", {"name": note}))
        if number % 20 == 10:
            calls.append(("obsidian_tags", {"tag": "kind3", "limit": 20}))
        if number % 40 == 14:
            text = f"Written {number % 80}. [[{note.rpartition('/')[2][:-3]}]]\n"
            calls.append(("obsidian_create_note", {"name": SCRATCH, "content": text, "overwrite": True}))
        if number % 100 == 18:
            calls.append(("obsidian_read_note", {"name": f"No such note {number}"}))
    return calls


def memory(servers: Sequence[Server], notes: Sequence[str], samples: Samples) -> None:
    """Resident bytes. The bare server echoes; peers read, and search twice: many of them read the vault for it."""
    ours = next(server for server in servers if server.name == OURS)

    def once(server: Server) -> None:
        with server.start() as wire:
            wire.initialize()
            for number, (tool, given) in enumerate(islice(cycle(_of(server, notes)), CALLS)):
                try:
                    wire.call(tool, **given)
                except Refused:
                    if server.name != OURS or "No such note" not in str(given) or number == 0:
                        raise
            settle([wire], patience=10)  # what a server loads later counts as well
            samples.add(MEMORY, server.name, wire.memory())

    with changing(ours.vault, SCRATCH):
        in_turns(servers, 1, once, samples, [MEMORY])


def _of(server: Server, notes: Sequence[str]) -> list[Call]:
    if server.name == OURS:
        return mixed(notes)
    if server.name == BARE or server.search is None:
        return [("echo", {"length": 5_000})]
    reads = [server.read(note) for note in islice(cycle(notes), CALLS // 2 - 1)]
    return [*reads, server.search(RARE)]


def growth(ours: Server, notes: Sequence[str], count: int, samples: Samples) -> None:
    """Resident bytes, looked at after each tenth of so many calls: what warms up does so in the first half."""
    calls = mixed(notes)
    seen = []
    with changing(ours.vault, SCRATCH), ours.start() as wire:
        wire.initialize()
        wire.call("obsidian_search", query="anything")
        settle([wire])  # what is loaded in a lull is there from the start
        for _ in range(10):
            wire.together(islice(cycle(calls), count // 10), IN_FLIGHT, may_fail=True)
            seen.append(wire.memory())
    grouped = f"{count:,}".replace(",", " ")
    samples.add(GROWN.format(count=grouped), ours.name, seen[-1])
    samples.add(GROWTH.format(count=grouped), ours.name, seen[-1] / seen[4])
