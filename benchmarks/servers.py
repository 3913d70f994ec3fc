"""The servers that are measured, and how each of them is asked to read a note and to search."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .figures import BARE, OURS
from .wire import PATIENCE, Wire

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Kept:
    """An index that a server keeps on disk."""

    path: Path
    status: Call
    """The call that tells about it."""
    has_all: Callable[[bytes, int], bool]
    """Whether that answer says that so many notes can be searched."""
    is_idle: Callable[[bytes], bool]
    """Whether it says that there is nothing left to do: some look through every note at each start."""


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    command: Sequence[str]
    vault: Path
    read: Callable[[str], Call]
    """The call that reads a note, by its path in the vault."""
    search: Callable[[str], Call] | None
    """The call that finds a word; None where there is none."""
    env: Mapping[str, str] = field(default_factory=dict)
    kept: Kept | None = None
    """The index of a peer that has one."""

    def start(self, patience: float = PATIENCE) -> Wire:
        return Wire(self.command, self.env, patience)


def bare(vault: Path) -> Server:
    return Server(
        BARE,
        [sys.executable, str(Path(__file__).with_name("bare.py"))],
        vault,
        lambda path: ("read", {"path": str(vault / path)}),
        None,
    )


def ours(vault: Path) -> Server:
    beside = vault.with_name(f"{vault.name}-kept")
    return Server(
        OURS,
        [sys.executable, "-m", "obsidian_mcp", "--vault", str(vault)],
        vault,
        lambda path: ("obsidian_read_note", {"name": path}),
        lambda word: ("obsidian_search", {"query": word}),
        {"OBSIDIAN_MCP_CACHE": str(beside / "cache"), "OBSIDIAN_MCP_STATE": str(beside / "state")},
    )


def mcpvault(program: Path, vault: Path) -> Server:
    """npm `@bitbonsai/mcpvault`."""
    return Server(
        "mcpvault",
        [str(program), str(vault)],
        vault,
        lambda path: ("read_note", {"path": path}),
        lambda word: ("search_notes", {"query": word, "limit": 20}),
    )


def npm_obsidian(node: Path, program: Path, vault: Path) -> Server:
    """npm `obsidian-mcp`, which needs Node 22."""
    return Server(
        "npm obsidian-mcp",
        [str(node), str(program), str(vault)],
        vault,
        lambda path: ("obsidian_read_note", {"vault": vault.name, "path": path}),
        lambda word: ("obsidian_search_vault", {"vault": vault.name, "query": word}),
    )


def markdown_vault(program: Path, vault: Path) -> Server:
    """PyPI `markdown-vault-mcp`, with its index kept on disk."""
    index = vault.with_name(f"{vault.name}-index.sqlite")
    return Server(
        "markdown-vault-mcp",
        [str(program), "serve"],
        vault,
        lambda path: ("read", {"path": path}),
        lambda word: ("search", {"query": word, "mode": "keyword", "limit": 20}),
        {"MARKDOWN_VAULT_MCP_SOURCE_DIR": str(vault), "MARKDOWN_VAULT_MCP_INDEX_PATH": str(index)},
        Kept(
            index,
            ("get_index_status", {}),
            lambda answer, count: b'"queryable"' in answer and f'"documents_indexed":{count},'.encode() in answer,
            lambda answer: b'"in_flight":null' in answer and b'"queue_depth":0' in answer,
        ),
    )
