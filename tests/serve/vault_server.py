"""Servers of a vault on stdio, as processes."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.serve import slow_server
from tests.serve.raw import RawServer


def started(vault: Path, *arguments: str, **environment: str) -> RawServer:
    """The program itself."""
    own = {"OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"), "OBSIDIAN_MCP_STATE": str(vault.parent / "state")}
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(vault), *arguments]
    return RawServer(command, env={**own, "XDG_CONFIG_HOME": str(vault.parent), **environment})


def slow(vault: Path, *arguments: str, **environment: str) -> RawServer:
    """One with tools that take their time (`tests.serve.slow_server`)."""
    own = {
        "OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"),
        "OBSIDIAN_MCP_STATE": str(vault.parent / "state"),
        "OBSIDIAN_MCP_POLICY": str(vault.parent / "policy.toml"),
    }
    root = Path(slow_server.__file__).parents[2]
    command = [sys.executable, "-m", "tests.serve.slow_server", str(vault), *arguments]
    return RawServer(command, env={**own, **environment}, cwd=root)


def sdk_out_of_reach(folder: Path) -> dict[str, str]:
    """An environment in which loading the SDK or pydantic takes ten minutes."""
    for package in ("mcp", "mcp_types", "pydantic", "pydantic_settings"):
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    return {"PYTHONPATH": str(folder)}
