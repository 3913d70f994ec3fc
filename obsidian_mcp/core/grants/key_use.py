"""The last use of a key of the HTTP server (specs/remote.md KEYS-03)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KeyUse:
    """When a key was used last, and by which program."""

    app: str
    """What the program calls itself; nobody has checked that."""
    used: float
    """Seconds since 1970, exact to a minute."""
