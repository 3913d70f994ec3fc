"""The parts of the console, in the order of its navigation (specs/console.md)."""

from __future__ import annotations

from obsidian_mcp.serve.http.console.changes.part import ChangesPart
from obsidian_mcp.serve.http.console.part import Part


def console_parts() -> list[Part]:
    """Return all parts; a part that needs something of this computer gets it here."""
    return [ChangesPart()]
