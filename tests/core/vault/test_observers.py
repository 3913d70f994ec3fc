"""Who observes a vault is told of each change when it is made and nobody is kept waiting (SAFE-25)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.core.files.observers import Observers
from obsidian_mcp.core.files.ports import Undoing
from obsidian_mcp.core.operations.batch import CallSequence
from obsidian_mcp.core.operations.undo import undo
from obsidian_mcp.core.text.call import Client, call_with
from obsidian_mcp.core.vault.committed import Committed
from obsidian_mcp.core.vault.operation import Create, Write
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import StaleEtag

Opened = Callable[..., Vault]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/A.md").write_bytes(b"old\n")
    return tmp_path / "vault"


def test_an_observer_is_told_what_was_changed_by_whom(root: Path, opened: Opened) -> None:
    """SAFE-25"""
    vault = opened()
    changes: list[Committed] = []
    vault.committed.add(changes.append)

    with call_with(client=Client("Claude", "")):
        vault.commit("edit_note", [Write("A.md", b"old\n", b"new\n")])
        undo(vault, None)

    assert [(change.number, change.tool, change.undoes) for change in changes] == [
        (1, "edit_note", None),
        (2, "undo", Undoing(1)),
    ]
    assert changes[0].operations == (Write("A.md", b"old\n", b"new\n"),)
    assert changes[0].author.client == "Claude"
    recorded = vault.journal.change(1)
    assert recorded is not None
    assert abs(changes[0].time - recorded.time) < 60


def test_observers_are_told_in_order_when_the_lock_is_free_again(root: Path, opened: Opened) -> None:
    """SAFE-25: an observer may ask the vault, and another writer goes on meanwhile."""
    vault, other = opened(), opened()
    told: list[str] = []

    def write_elsewhere(change: Committed) -> None:
        thread = threading.Thread(target=other.commit, args=("x", [Create(f"{change.number}.md", b"other\n")]))
        thread.start()
        thread.join()
        told.append(f"first {change.number}")

    vault.committed.add(write_elsewhere)
    vault.committed.add(lambda change: told.append(f"second {change.number}"))
    with vault.lock_changes():
        vault.commit("x", [Create("B.md", b"b\n")])
        vault.commit("x", [Create("C.md", b"c\n")])
        assert told == []

    assert told == ["first 1", "second 1", "first 2", "second 2"]
    assert (root / "1.md").read_bytes() == b"other\n"


def test_an_observer_that_fails_changes_nothing_for_anybody(root: Path, opened: Opened) -> None:
    """SAFE-25"""
    vault = opened()
    told: list[int] = []

    def fail(_: Committed) -> None:
        raise RuntimeError

    vault.committed.add(fail)
    vault.committed.add(lambda change: told.append(change.number))

    vault.commit("edit_note", [Write("A.md", b"old\n", b"new\n")])

    assert told == [1]
    assert (root / "A.md").read_bytes() == b"new\n"


def test_nobody_is_told_of_a_change_that_was_not_made(root: Path, opened: Opened) -> None:
    """SAFE-25: but of the one before it, under the same lock."""
    vault = opened()
    told: list[int] = []
    vault.committed.add(lambda change: told.append(change.number))

    def change_twice() -> None:
        with vault.lock_changes():
            vault.commit("x", [Create("B.md", b"b\n")])
            vault.commit("edit_note", [Write("A.md", b"another text\n", b"new\n")])

    with pytest.raises(StaleEtag):
        change_twice()

    assert told == [1]


def test_of_a_batch_observers_are_told_once(root: Path, opened: Opened) -> None:
    """SAFE-25, BATCH-01"""
    vault = opened()
    changes: list[Committed] = []
    vault.committed.add(changes.append)

    CallSequence(
        vault,
        [
            lambda drafted: drafted.commit("x", [Create("B.md", b"b\n")]),
            lambda drafted: drafted.commit("x", [Write("A.md", b"old\n", b"new\n")]),
        ],
    ).make()

    assert [change.tool for change in changes] == ["batch"]
    assert len(changes[0].operations) == 2


def test_observers_are_functions_in_the_order_of_their_coming() -> None:
    observers: Observers[str] = Observers()
    told: list[str] = []
    observers.add(lambda event: told.append(f"{event} 1"))
    observers.add(lambda event: told.append(f"{event} 2"))

    observers.notify("news")

    assert told == ["news 1", "news 2"]
