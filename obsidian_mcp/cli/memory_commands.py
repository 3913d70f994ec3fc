"""The commands of a vault as memory (specs/memory.md)."""

from __future__ import annotations

from typing import Any

from . import grammar
from .options import Options
from .tool_commands import call_tool


def write_successor(options: Options, old: str, new: str, reason: str = "", **typed: Any) -> None:
    """Mark a note or block as superseded by another, and list what still says the old thing."""
    compose, _ = grammar.find(["compose"])
    arguments = {"action": "supersede", "name": old, "into": new, **typed}
    call_tool(options, compose, arguments | ({"reason": reason} if reason else {}))
