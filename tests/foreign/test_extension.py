"""The vendor's tool packs the extension for Claude Desktop (specs/install.md, PACK)."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from tests.setup.conftest import bundle
from tests.setup.test_packages import BUNDLE_KB

NO_VENDOR_TOOL = 3
"""The exit status of packaging/bundle.py where the tool cannot be had."""


def test_the_vendors_tool_accepts_packs_and_unpacks_the_extension(tmp_path: Path) -> None:
    """PACK-01"""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed; the vendor's tool comes from there")
    output = tmp_path / "extension.mcpb"

    done = bundle("--output", str(output))

    if done.returncode == NO_VENDOR_TOOL:
        pytest.skip(f"the vendor's tool cannot be had here: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout
    assert output.stat().st_size <= BUNDLE_KB * 1_000
    with zipfile.ZipFile(output) as extension:
        assert {"manifest.json", "server.py", "pyproject.toml", "icon.png", "obsidian_mcp/cli/main.py"} <= set(
            extension.namelist()
        )
