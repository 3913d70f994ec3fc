"""The tools under the plugin's own names, which the HTTP server offers beside the vault's."""

from __future__ import annotations

from obsidian_mcp.tools.registry import Tools

PLUGIN_TOOLS = Tools(
    {
        "tools": (
            "read_note",
            "edit_note",
            "read_frontmatter",
            "edit_frontmatter",
            "get_note_outline",
            "create_note",
            "search_notes",
        )
    },
    package="obsidian_mcp.contracts.plugin",
)
