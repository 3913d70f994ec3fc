"""How often somebody may try: registrations, guesses, fetches (OAUTH-40 to OAUTH-42)."""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MINUTE: Final = 60.0
MOST_ADDRESSES: Final = 10_000
"""Addresses that are counted; a further one displaces the one that was counted longest ago."""
FREE_GUESSES: Final = 5
"""Wrong secrets before an address has to wait."""
FIRST_WAIT: Final = 30.0
LONGEST_WAIT: Final = 900.0
"""Seconds. Each further wrong secret doubles the wait up to this."""
FORGET_SECONDS: Final = 3_600.0
"""After so long without a wrong secret the count begins anew."""


class RateLimit:
    """So many times a minute for one address, and for all together."""

    def __init__(self, per_address: int, all_together: int, clock: Callable[[], float]) -> None:
        self._per_address = per_address
        self._all_together = all_together
        self._clock = clock
        self._times: deque[tuple[float, str]] = deque()

    def wait(self, address: str) -> int:
        """Count one time, and return 0; the seconds until the next one where it is too many."""
        now = self._clock()
        while self._times and now - self._times[0][0] >= MINUTE:
            self._times.popleft()
        group = address_group(address)
        own = [at for at, counted in self._times if counted == group]
        for times, limit in (
            (own, self._per_address),
            ([at for at, _ in self._times], self._all_together),
        ):
            if len(times) >= limit:
                return int(MINUTE - (now - times[0])) + 1
        self._times.append((now, group))
        return 0


@dataclass
class _Guesses:
    wrong: int = 0
    at: float = 0.0
    until: float = 0.0
    """When the address may try again."""


class GuessLimit:
    """Wrong secrets by address: from the fifth on each costs a wait, which doubles.

    It holds for signing in alone. Tokens and keys go on working, so that a stranger who guesses
    cannot keep out who is in.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._by_address: dict[str, _Guesses] = {}

    def wait(self, address: str) -> int:
        """Return the seconds that an address has to wait; 0 where it may try."""
        guesses = self._by_address.get(address_group(address))
        return 0 if guesses is None else max(0, int(guesses.until - self._clock() + 0.999))

    def count_wrong(self, address: str) -> None:
        """Count a wrong secret."""
        group, now = address_group(address), self._clock()
        guesses = self._by_address.pop(group, _Guesses())
        if now - guesses.at > FORGET_SECONDS:
            guesses = _Guesses()
        guesses.wrong += 1
        guesses.at = now
        if guesses.wrong >= FREE_GUESSES:
            wait = FIRST_WAIT * 2 ** min(guesses.wrong - FREE_GUESSES, 10)
            guesses.until = now + min(wait, LONGEST_WAIT)
        while len(self._by_address) >= MOST_ADDRESSES:
            del self._by_address[next(iter(self._by_address))]
        self._by_address[group] = guesses

    def reset(self, address: str) -> None:
        """Forget what was wrong: the right secret came."""
        self._by_address.pop(address_group(address), None)


def address_group(address: str) -> str:
    """Return what counts as one address: of IPv6 the first 64 bits, which one customer has."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
