"""What a command loads before it answers: a script waits for every module (CLI-20)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

LOADED = re.compile(r"^import time:.*\| +(\S+)$", re.MULTILINE)
OFTEN_HEAVY = {"click", "concurrent.futures", "mcp", "multiprocessing", "pathspec", "pydantic", "watchdog", "yaml"}
CORES = {f"obsidian_mcp.core.{name}" for name in ("bases", "dataview", "expressions", "tasks.task", "note.parser")}


def loaded(folder: Path, *words: str) -> set[str]:
    """Every module that the command imports, after a first run that builds the index."""
    command = [sys.executable, "-X", "importtime", "-m", "obsidian_mcp", "obsidian", *words]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=True, timeout=60)
    assert "fox" in done.stdout
    return set(LOADED.findall(done.stderr))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "fox.md").write_text("---\ntags: [animal]\n---\nA quick fox.\n", encoding="utf-8", newline="\n")
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{name}", str(tmp_path / name.lower()))
    return vault


# CLI-20
@pytest.mark.parametrize("words", [("read", "file=fox"), ("file", "file=fox"), ("files",)])
def test_a_command_about_one_file_loads_no_index_and_no_parser(folder: Path, words: tuple[str, ...]) -> None:
    found = loaded(folder, *words)
    unneeded = {"obsidian_mcp.core.search", "obsidian_mcp.core.index", "obsidian_mcp.core.graph", "regex"}
    unneeded |= {"dataclasses", "json", "logging"}  # a third of the time before
    assert found & (unneeded | OFTEN_HEAVY | CORES | {"obsidian_mcp.tools"}) == set()


@pytest.mark.parametrize("query", ["fox", "quick fox", '"quick fox"'])
def test_a_search_loads_no_parser_and_no_query_language(folder: Path, query: str) -> None:
    found = loaded(folder, "search", f"query={query}")
    assert found & (OFTEN_HEAVY | CORES | {"obsidian_mcp.tools"}) == set()
