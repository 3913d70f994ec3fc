"""What one process writes outlives every other one that opens the same database meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.adapters.grant_store import GrantStore
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.core.grants.key_use import KeyUse

USE_KEYS = "store = GrantStore(Path(sys.argv[1]) / 'grants.db'); print(*store.key_uses()); store.close()"
USE_HISTORY = (
    "journal = SqliteJournal(Path(sys.argv[1])); print(*(c.tool for c in journal.list_since(0))); journal.close()"
)
IMPORTS = (
    "import sys; from pathlib import Path; from obsidian_mcp.adapters.grant_store import GrantStore; "
    "from obsidian_mcp.adapters.journal import SqliteJournal; "
)


def seen_elsewhere(code: str, folder: Path) -> set[str]:
    """What another process reads, which closes the database and ends."""
    command = [sys.executable, "-c", IMPORTS + code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True, timeout=60)
    return set(done.stdout.split())


def grants(folder: Path) -> tuple[Callable[[str], None], Callable[[], None]]:
    store = GrantStore(folder / "grants.db")
    return lambda name: store.note_key_use(name, KeyUse("app", 1.0)), store.close


def history(folder: Path) -> tuple[Callable[[str], None], Callable[[], None]]:
    journal = SqliteJournal(folder)
    return lambda tool: journal.finish(journal.begin(tool, [])), journal.close


@pytest.mark.parametrize(("opened", "read"), [(grants, USE_KEYS), (history, USE_HISTORY)])
def test_what_is_written_after_another_process_has_closed_the_database_stays(
    tmp_path: Path, opened: Callable[[Path], tuple[Callable[[str], None], Callable[[], None]]], read: str
) -> None:
    """STORE-02, SAFE-13: also where this process has it open twice, as a server for two keys has"""
    write, close = opened(tmp_path)
    write("first")
    write_too, close_too = opened(tmp_path)
    write_too("second")

    assert seen_elsewhere(read, tmp_path) == {"first", "second"}
    write("third")
    write_too("fourth")
    assert seen_elsewhere(read, tmp_path) == {"first", "second", "third", "fourth"}
    close()
    close_too()
    assert seen_elsewhere(read, tmp_path) == {"first", "second", "third", "fourth"}
