"""The parts of the console, in the order of its navigation (specs/console.md)."""

from __future__ import annotations

from obsidian_mcp.serve.http.console.apps.part import AppsPart
from obsidian_mcp.serve.http.console.changes.part import ChangesPart
from obsidian_mcp.serve.http.console.part import Part
from obsidian_mcp.serve.http.console.privacy.part import PrivacyPart

from .app_roster import ThisComputerRoster
from .privacy import PolicyFileRules


def console_parts() -> list[Part]:
    """Return all parts; a part that needs something of this computer gets it here."""
    return [ChangesPart(), PrivacyPart(PolicyFileRules()), AppsPart(ThisComputerRoster())]
