"""What a plugin of the app offers through its bridge: values of other people's making, passed on as they came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Dialect = Literal["mcp", "v1"]
"""JSON-RPC at `/mcp`, or the plugin's own API at `/bridge/v1`."""


@dataclass(frozen=True, slots=True)
class PluginHealth:
    dialect: Dialect
    """The one that answered."""
    version: str | None
    """The plugin's, where it tells."""


@dataclass(frozen=True, slots=True)
class PluginTool:
    name: str
    definition: Mapping[str, Any]
    """The tool as the plugin describes it, with `name` and an `inputSchema` that says `"type": "object"`."""


@dataclass(frozen=True, slots=True)
class PluginTools:
    tools: tuple[PluginTool, ...]
    hash: str
    """Never empty; another one means that the tools changed."""


@dataclass(frozen=True, slots=True)
class Pause:
    """How long to wait for a plugin that did not answer."""

    seconds: float
    is_quiet: bool
    """The failure is not worth a line in the log any more."""


LOUD_TRIES = 30
LONGEST_PAUSE = 30.0


def pause_after(failures: int) -> Pause:
    """The pause after so many failed tries in a row (1 or more): 1, 2, 4, 8, 16, then 30 s for ever (BRIDGE-06)."""
    doublings = min(failures - 1, 10)
    return Pause(min(2.0**doublings, LONGEST_PAUSE), failures >= LOUD_TRIES)
