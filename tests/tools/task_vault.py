"""A vault on disk with the Tasks plugin, and the tools on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obsidian_mcp import compose, config
from obsidian_mcp.core.files.settings import ENABLED_PLUGINS_FILE
from obsidian_mcp.core.tasks.settings import PLUGIN_ID, SETTINGS_FILE
from obsidian_mcp.tools.registry import call
from tests.core.tasks.vectors import members

TODAY = "2026-11-25"


class TaskVault:
    """A vault on disk with the Tasks plugin switched on, and the tools on it."""

    def __init__(
        self, place: Path, files: Mapping[str, str], settings: Mapping[str, Any] | None, today: str = TODAY
    ) -> None:
        self.root = place / "vault"
        for path, text in files.items():
            self.write(path, text)
        if settings is not None:
            self.write(f".obsidian/{ENABLED_PLUGINS_FILE}", json.dumps([PLUGIN_ID]))
            self.write(f".obsidian/{SETTINGS_FILE}", json.dumps(members(settings)))
        (self.root / ".obsidian").mkdir(parents=True, exist_ok=True)
        read = config.Config((str(self.root),), environ={"HOME": str(place), "OBSIDIAN_MCP_TODAY": today})
        self.app = compose.build(
            read.replace(
                named_cache=str(place / "cache"),
                named_state=str(place / "state"),
                named_policy=str(place / "policy.toml"),
            )
        )

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def list(self, **arguments: Any) -> Any:
        return call(self.app, "obsidian_list_tasks", arguments).data

    def query(self, query: str, **arguments: Any) -> Any:
        return call(self.app, "obsidian_query", {"language": "tasks", "query": query, **arguments}).data

    def update(self, **arguments: Any) -> Any:
        return call(self.app, "obsidian_update_task", arguments).data

    def close(self) -> None:
        self.app.vaults.close()
