"""Commands about the index (specs/index.md, INDEX-54)."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.index_dump import has_page_statistics

NOTES = 300


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "v"
    (folder / ".obsidian").mkdir(parents=True)
    for number in range(NOTES):
        text = f"# Note {number}\n\n- [ ] see [[Note {number - 1}]] #tag\n\n" + "some words " * 80
        (folder / f"Note {number}.md").write_text(text, encoding="utf-8", newline="\n")
    return folder


def run(vault: Path, *words: str) -> dict[str, Any]:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("OBSIDIAN")},
        "OBSIDIAN_VAULT_PATH": str(vault),
        "OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"),
        "OBSIDIAN_MCP_STATE": str(vault.parent / "state"),
    }
    command = [sys.executable, "-m", "obsidian_mcp", *words, "--json"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", check=True, timeout=120
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_an_index_says_how_far_it_is_and_what_it_takes(vault: Path) -> None:
    """INDEX-54"""
    status = run(vault, "index", "status")
    assert status["pending"] == NOTES
    assert status["progress"] == f"0 of {NOTES} files; no program is building: `obsidian-mcp index update` does"

    run(vault, "index", "update")
    status = run(vault, "index", "status")
    assert (status["pending"], "progress" in status) == (0, False)
    if has_page_statistics():
        sizes = {part["kind"]: part["bytes"] for part in status["space"]}
        assert {"texts", "words", "links", "tags", "tasks", "files"} <= sizes.keys()
        assert sum(sizes.values()) <= status["bytes"]


@pytest.mark.skipif(not has_page_statistics(), reason="this SQLite counts no pages")
def test_a_build_leaves_no_journal_and_little_beside_the_texts(vault: Path) -> None:
    """INDEX-52, INDEX-54"""
    run(vault, "index", "rebuild")
    (file,) = (vault.parent / "cache").rglob("index*.sqlite3")
    journal = file.with_name(f"{file.name}-wal")
    assert not journal.exists() or not journal.stat().st_size
    with sqlite3.connect(file) as connection:
        (size,) = connection.execute("SELECT sum(pgsize) FROM dbstat").fetchone()
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
    texts = sum(note.stat().st_size for note in vault.glob("*.md"))
    assert size < 1.5 * texts


def test_space_that_the_index_does_not_use_is_given_back(vault: Path) -> None:
    """INDEX-54"""
    run(vault, "index", "update")
    full = run(vault, "index", "status")["bytes"]
    for number in range(NOTES - 10):
        (vault / f"Note {number}.md").unlink()
    run(vault, "index", "update")
    answer = run(vault, "index", "shrink")
    assert answer["bytes"] <= answer["bytes_before"]
    assert answer["bytes"] < 0.7 * full
    assert run(vault, "search", "words", "--show", "paths")["total"] == 10
