"""Vaults on disk for whole tests: their files, the vault on them, and calls of tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.app import App
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.registry import call

from .core.memory import Always, empty_index


def write_files(root: Path, texts: Mapping[str, str]) -> Path:
    """Write the files of a new vault, line ends as they are; return its folder."""
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    return root


def contents(root: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder, by relative path."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def vault_on(disk: Disk) -> Vault:
    """A vault that knows its files, with its journal beside it and its index in memory."""
    vault = Vault("v", disk, Always(), SqliteJournal(Path(disk.root).parent / "state"), empty_index)
    vault.refresh()
    return vault


def answer(app: App, tool: str, **given: Any) -> tuple[str, str]:
    """Error code and message of a refused call, or no code and the whole answer."""
    try:
        outcome = call(app, f"obsidian_{tool}", given)
    except AppError as error:
        return error.error_code, f"{error.message} {json.dumps(error.payload())}"
    return "", outcome.envelope() + (outcome.text or "")
