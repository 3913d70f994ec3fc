"""Saves within one tick of a coarse clock, as on exFAT, are not told by size and time (INDEX-03)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.core.vault.vault import Vault
from tests.core.memory import Always, Reported

SAVED_NS = 1_700_000_000_500_000_000
LATER_NS = SAVED_NS + 3_000_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets what time it is, in nanoseconds."""

    def set_time(now: int) -> None:
        monkeypatch.setattr(time, "time_ns", lambda: now)

    set_time(SAVED_NS + 1_000_000)
    return set_time


def save(root: Path, text: str, at: int = SAVED_NS) -> None:
    (root / "n.md").write_text(text, encoding="utf-8", newline="\n")
    os.utime(root / "n.md", ns=(at, at))


def links(vault: Vault) -> list[str]:
    vault.refresh()
    return [found.name for found in vault.graph.unresolved_links().value]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


def opened(root: Path, dirty: Always | Reported) -> Vault:
    state = root.parent / "state"
    return Vault("v", Disk(root), dirty, SqliteJournal(state), lambda: open_index(root.parent / "index.sqlite3"))


@pytest.mark.parametrize("dirty", [Always(), Reported()])
def test_a_save_within_the_tick_of_the_one_before_is_seen(
    root: Path, clock: Callable[[int], None], dirty: Always | Reported
) -> None:
    save(root, "[[one]]")
    vault = opened(root, dirty)
    assert links(vault) == ["one"]
    save(root, "[[two]]")
    if isinstance(dirty, Reported):
        dirty.paths.add("n.md")
    assert links(vault) == ["two"]
    vault.close()


def test_a_file_read_within_the_tick_of_its_save_is_read_again_at_the_next_start(
    root: Path, clock: Callable[[int], None]
) -> None:
    save(root, "[[one]]")
    first = opened(root, Reported())
    assert links(first) == ["one"]
    first.close()
    save(root, "[[two]]")
    clock(LATER_NS)
    second = opened(root, Reported())
    assert links(second) == ["two"]
    second.close()


@pytest.mark.parametrize(("saved", "now"), [(SAVED_NS, LATER_NS), (SAVED_NS + 100, SAVED_NS + 200)])
def test_a_file_whose_time_tells_its_saves_apart_is_not_read_again(
    root: Path, clock: Callable[[int], None], saved: int, now: int
) -> None:
    clock(now)
    reported = Reported()
    save(root, "[[one]]", saved)
    vault = opened(root, reported)
    assert links(vault) == ["one"]
    save(root, "[[two]]", saved)  # what no disk does
    reported.paths.add("n.md")
    assert links(vault) == ["one"]
    vault.close()
