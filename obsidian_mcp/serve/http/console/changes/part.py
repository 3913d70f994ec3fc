"""The part Changes of the console: which page an address means, and what its forms do."""

from __future__ import annotations

from obsidian_mcp.serve.http.console.markup import element
from obsidian_mcp.serve.http.console.part import ConsolePage, Part, Visit


class ChangesPart(Part):
    """What was changed in a vault, by whom, and taking it back."""

    name = "changes"
    title = "Changes"

    def show(self, visit: Visit) -> ConsolePage:
        """Return the list, or one change."""
        total = visit.vault.journal.changes(None, 1, 0)[1]
        return ConsolePage("Changes", element("p", f"{total} changes were made."))
