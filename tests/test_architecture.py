"""What the layout promises beside the import contracts of pyproject.toml (specs/architecture.md)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from obsidian_mcp import __version__

ROOT = Path(__file__).parent.parent


def test_asking_for_help_does_not_load_the_sdk() -> None:
    # CLI-06
    code = (
        "import sys; from obsidian_mcp.cli.main import run; run(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('mcp', 'watchdog', 'httpx', 'starlette')))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_the_newest_changelog_entry_is_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[?(\d+\.\d+\.\d+)", text, re.MULTILINE)

    assert released[:1] == [__version__]


def test_one_context_variable_carries_the_record_of_a_call() -> None:
    sources = (ROOT / "obsidian_mcp").rglob("*.py")
    found = {source.name: source.read_text(encoding="utf-8").count("ContextVar(") for source in sources}

    assert {name: count for name, count in found.items() if count} == {"call.py": 1}
