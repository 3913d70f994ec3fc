"""What a script gets whose output cannot be written (CLI-02)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize(
    ("command", "status"), [(["read", "Home"], 26), (["list", "--json"], 26), (["obsidian", "read", "file=Home"], 1)]
)
def test_output_to_a_full_disk_is_one_line_of_an_error(
    basic: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], status: int
) -> None:
    """CLI-02"""
    monkeypatch.delenv("PYTHONWARNDEFAULTENCODING", raising=False)  # warnings of other packages
    monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(basic))
    monkeypatch.setenv("OBSIDIAN_MCP_STATE", str(basic.parent / "state"))
    monkeypatch.setenv("OBSIDIAN_MCP_CACHE", str(basic.parent / "cache"))
    with FULL.open("wb") as full:
        run = subprocess.run(
            [sys.executable, "-m", "obsidian_mcp", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert (run.returncode, run.stderr) == (
        status,
        "obsidian-mcp: The output could not be written: No space left on device.\n",
    )
