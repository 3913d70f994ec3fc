"""What the running app tells: the values that its drivers give to the tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    version: int
    """1 is the newest."""
    label: str
    """The line as the app prints it (time, size)."""


@dataclass(frozen=True, slots=True)
class Plugin:
    id: str
    name: str | None
    version: str | None
    enabled: bool
