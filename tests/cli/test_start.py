"""What a command loads before it answers: a script waits for every module (CLI-20)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked

LOADED = re.compile(r"^import time:.*\| +(\S+)$", re.MULTILINE)
OFTEN_HEAVY = {"click", "concurrent.futures", "mcp", "multiprocessing", "pathspec", "pydantic", "watchdog", "yaml"}
HEAVY = {
    "click",
    "concurrent.futures",
    "mcp",
    "pydantic",
    "pydantic_core",
    "starlette",
    "watchdog",
    "obsidian_mcp.serve",
}
"""Of no use to a command that ends by itself."""
CORES = {f"obsidian_mcp.core.{name}" for name in ("bases", "dataview", "expressions", "tasks.task", "note.parser")}


def loaded(folder: Path, *words: str, says: str = "fox", **environment: str) -> set[str]:
    """Every module that a command imports, after a first run that builds the index."""
    command = ["-m", "obsidian_mcp", *words]
    own = {**os.environ, **environment}
    assert forked.run([sys.executable, *command], cwd=folder, env=own).returncode == 0
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        cwd=folder,
        env=own,
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    assert says in done.stdout
    return set(LOADED.findall(done.stderr))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "fox.md").write_text(
        "---\ntags: [animal]\n---\nA quick fox.\n\n- [ ] feed it\n", encoding="utf-8", newline="\n"
    )
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{name}", str(tmp_path / name.lower()))
    return vault


@pytest.mark.parametrize("words", [("read", "file=fox"), ("file", "file=fox"), ("files",)])
def test_a_command_about_one_file_loads_no_index_and_no_parser(folder: Path, words: tuple[str, ...]) -> None:
    """CLI-20"""
    found = loaded(folder, "obsidian", *words)
    unneeded = {"obsidian_mcp.core.search", "obsidian_mcp.core.index", "obsidian_mcp.core.graph", "regex"}
    unneeded |= {"dataclasses", "json", "logging"}  # a third of the time before
    assert found & (unneeded | OFTEN_HEAVY | CORES | {"obsidian_mcp.tools"}) == set()


@pytest.mark.parametrize("query", ["fox", "quick fox", '"quick fox"'])
def test_a_search_loads_no_parser_and_no_query_language(folder: Path, query: str) -> None:
    found = loaded(folder, "obsidian", "search", f"query={query}")
    assert found & (OFTEN_HEAVY | CORES | {"obsidian_mcp.tools"}) == set()


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        (("read", "fox"), {"obsidian_mcp.core.operations", "obsidian_mcp.core.note.parser", "yaml"}),
        (("search", "fox", "--match", "exact"), {"obsidian_mcp.core.operations.move", "obsidian_mcp.core.note.parser"}),
        (("search", "fox"), {"obsidian_mcp.core.frontmatter.parser", "obsidian_mcp.core.note.parser", "yaml"}),
        (("recall", "quick", "fox"), {"obsidian_mcp.core.frontmatter.parser", "obsidian_mcp.tools.registry", "yaml"}),
        (("list",), {"obsidian_mcp.core.operations", "obsidian_mcp.core.index", "yaml"}),
        (("links", "fox"), {"obsidian_mcp.core.operations", "obsidian_mcp.core.search"}),
        (("tasks",), {"obsidian_mcp.core.operations.templates", "obsidian_mcp.core.note.parser", "yaml"}),
    ],
)
def test_a_command_of_a_tool_loads_what_the_tool_needs(
    folder: Path, words: tuple[str, ...], unneeded: set[str]
) -> None:
    """CLI-06, CLI-20"""
    environment = {"OBSIDIAN_VAULT_PATH": str(folder)}
    assert loaded(folder, *words, **environment) & (unneeded | HEAVY) == set()


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("--help",), {}),
        (("search", "--help"), {}),
        (("completion", "bash"), {}),
        ((), {"_OBSIDIAN_MCP_COMPLETE": "bash_complete", "COMP_WORDS": "obsidian-mcp sea", "COMP_CWORD": "1"}),
    ],
)
def test_help_and_completion_load_no_core(folder: Path, words: tuple[str, ...], environment: dict[str, str]) -> None:
    """CLI-20"""
    found = loaded(folder, *words, says="s", **environment)
    core = {name for name in found if name.startswith(("obsidian_mcp.core.", "obsidian_mcp.adapters"))}
    assert core | found & HEAVY == set()
