"""Fixtures of the tests of tools: vaults with settings of their own, on a fixed day."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from tests.conftest import app_on

Opened = Callable[..., App]
SUNDAY = datetime.fromisoformat("2026-11-22T09:05")


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Opens an App on a new vault: `files` by path, `settings` below `.obsidian` by name, on Sunday 2026-11-22."""

    def build(files: Mapping[str, str | bytes] | None = None, /, **settings: Any) -> App:
        root = tmp_path / "vault"
        root.mkdir()
        for path, text in (files or {}).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        plugins = [
            name for name in ("periodic-notes", "calendar", "templater-obsidian") if name.replace("-", "_") in settings
        ]
        for name, value in ({"community_plugins": plugins} | settings).items():
            name = name.replace("_", "-")
            written = root / ".obsidian" / (f"plugins/{name}/data.json" if name in plugins else f"{name}.json")
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(json.dumps(value), encoding="utf-8")
        return app_on(root, today=SUNDAY.isoformat())

    return build
