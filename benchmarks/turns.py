"""Servers take turns, so that noise falls on all of them; one that fails or has used its time is left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from .figures import BARE, OURS, Samples
from .servers import Kept, Server
from .wire import FAILURES, Wire

BUDGET, PEERS_BUDGET = 20.0, 8.0
"""Seconds that a server may use for one measurement; after that it is measured no more often, and the count says so."""


def in_turns(
    servers: Sequence[Server],
    rounds: int,
    action: Callable[[Server], None],
    samples: Samples,
    whats: Sequence[str],
) -> None:
    """`action` for each server, `rounds` times; a failure is noted for all that it would have measured."""
    spent = dict.fromkeys((server.name for server in servers), 0.0)
    for number in range(rounds):
        first = number % len(servers)
        for server in [*servers[first:], *servers[:first]]:
            if spent[server.name] >= (BUDGET if server.name in (OURS, BARE) else PEERS_BUDGET):
                continue
            begun = time.perf_counter()
            try:
                action(server)
            except FAILURES as error:
                samples.fail(whats, server.name, reason(error))
                spent[server.name] = float("inf")
            spent[server.name] += time.perf_counter() - begun


@contextmanager
def connected(
    servers: Sequence[Server], samples: Samples, whats: Sequence[str], patience: float
) -> Iterator[Mapping[str, Wire]]:
    """All of them started and initialized, by name; those that cannot be are noted and left out."""
    with ExitStack() as stack:
        wires = {}
        for server in servers:
            try:
                wire = stack.enter_context(server.start(patience))
                wire.initialize()
            except FAILURES as error:
                samples.fail(whats, server.name, reason(error))
            else:
                wires[server.name] = wire
        yield wires


def until(wire: Wire, kept: Kept, is_so: Callable[[bytes], bool], patience: float) -> bool:
    """Wait until what a server says of its index is so; False where it is not in that time. Raises: Refused, Ended."""
    end = time.monotonic() + patience
    tool, given = kept.status
    while not is_so(wire.call(tool, **given)):
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


LULL = 1.2
"""Seconds without a call after which a server may begin to load what it has not needed yet."""


def settle(wires: Sequence[Wire], quiet: float = 0.3, patience: float = 120.0) -> None:
    """Wait until no server computes any more, after a lull: something may still be under construction."""
    time.sleep(LULL)
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = sum(wire.seconds() for wire in wires)
        time.sleep(quiet)
        if sum(wire.seconds() for wire in wires) - before < quiet * 0.05:
            return


def reason(error: Exception) -> str:
    return " ".join(f"{error}".split())[:160] or type(error).__name__
