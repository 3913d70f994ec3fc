"""The servers that are measured, and how each of them is asked to read a note and to search."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .wire import Wire

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    command: Sequence[str]
    read: Callable[[str], Call]
    """The call that reads a note, by its path in the vault."""
    search: Callable[[str], Call] | None
    """The call that finds a word; None where there is none."""
    env: Mapping[str, str] = field(default_factory=dict)

    def start(self) -> Wire:
        return Wire(self.command, self.env)


def bare(vault: Path) -> Server:
    return Server(
        "bare SDK",
        [sys.executable, str(Path(__file__).with_name("bare.py"))],
        lambda path: ("read", {"path": str(vault / path)}),
        None,
    )


def ours(vault: Path) -> Server:
    beside = vault.with_name(f"{vault.name}-kept")
    return Server(
        "obsidian-mcp (this)",
        [sys.executable, "-m", "obsidian_mcp", "--vault", str(vault)],
        lambda path: ("obsidian_read_note", {"name": path}),
        lambda word: ("obsidian_search", {"query": word}),
        {"OBSIDIAN_MCP_CACHE": str(beside / "cache"), "OBSIDIAN_MCP_STATE": str(beside / "state")},
    )


def peers(folder: Path | None, vault: Path) -> list[Server]:
    """Those installed below `folder`: by npm (node_modules) or in a virtual environment (bin, pv/bin)."""
    if folder is None:
        return []
    index = vault.with_name(f"{vault.name}-kept") / "markdown-vault-mcp.sqlite"
    known = [
        Server(
            "@bitbonsai/mcpvault",
            [str(folder / "node_modules/.bin/mcpvault"), str(vault)],
            lambda path: ("read_note", {"path": path}),
            lambda word: ("search_notes", {"query": word, "limit": 20}),
        ),
        Server(
            "npm obsidian-mcp",
            [str(folder / "node_modules/.bin/obsidian-mcp"), str(vault)],
            lambda path: (
                "read-note",
                {"vault": vault.name, "filename": path.split("/")[1], "folder": path.split("/")[0]},
            ),
            lambda word: ("search-vault", {"vault": vault.name, "query": word}),
        ),
        *(
            Server(
                "markdown-vault-mcp",
                [str(folder / place / "markdown-vault-mcp"), "serve"],
                lambda path: ("vault_read", {"path": path}),
                lambda word: ("vault_search", {"query": word, "mode": "keyword", "limit": 20}),
                {"MARKDOWN_VAULT_MCP_SOURCE_DIR": str(vault), "MARKDOWN_VAULT_MCP_INDEX_PATH": str(index)},
            )
            for place in ("bin", "pv/bin")
        ),
    ]
    return [server for server in known if Path(server.command[0]).exists()]
