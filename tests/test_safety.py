"""Nothing is lost: faults at every file operation, kills at any moment, several servers at once (specs/safety.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.core.index import Index
from obsidian_mcp.core.undo import undo
from obsidian_mcp.core.vault import Create, Move, Operation, Remove, Scanning, Vault, Write
from obsidian_mcp.errors import AppError, StorageFailed

NOTES = 6


class Crash(BaseException):
    """The process is gone: nothing after it is done, not even tidying up."""


class Faulty(Disk):
    """A disk whose n-th change fails with `error`, and with a Crash every one after it too."""

    def __init__(self, root: Path, fails_at: int, error: Callable[[], BaseException]) -> None:
        super().__init__(root)
        self.left = fails_at
        self.error = error

    def _count(self) -> None:
        self.left -= 1
        error = self.error()
        if self.left == 0 or (self.left < 0 and isinstance(error, Crash)):
            raise error

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        self._count()
        return super().write(disk, data, expected)

    def create(self, disk: str, data: bytes) -> Any:
        self._count()
        return super().create(disk, data)

    def move(self, source: str, target: str) -> None:
        self._count()
        super().move(source, target)

    def delete(self, disk: str) -> None:
        self._count()
        super().delete(disk)

    def trash(self, disk: str, *, system: bool) -> str:
        self._count()
        return super().trash(disk, system=system)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(NOTES):
        (folder / f"{number}.md").write_bytes(f"note {number}\r\nold\n".encode())
    return folder


@pytest.fixture
def opened(root: Path) -> Iterator[Callable[..., Vault]]:
    vaults = []

    def open_vault(disk: Disk | None = None) -> Vault:
        journal = SqliteJournal(root.parent / "state")
        vault = Vault("v", disk or Disk(root), Scanning(0), journal, Index.open(None))
        vault.refresh()
        vaults.append(vault)
        return vault

    yield open_vault
    for vault in vaults:
        vault.keeper.index.close()
        vault.journal.close()


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def everything(vault: Vault) -> list[Operation]:
    """A change of every kind."""
    writes: list[Operation] = [
        Write(f"{number}.md", before := vault.files.read(f"{number}.md"), before + b"new\n") for number in range(3)
    ]
    return [*writes, Create("made/x.md", b"x"), Move("2.md", "moved/2.md"), Remove("3.md", permanent=True)]


AFTER = 6
"""Operations in `everything`."""


@pytest.mark.parametrize("at", range(1, AFTER + 1))
def test_a_disk_that_fails_at_any_operation_leaves_every_file_as_it_was(
    root: Path, opened: Callable[..., Vault], at: int
) -> None:
    before = contents(root)
    vault = opened(Faulty(root, at, lambda: StorageFailed("Writing failed: the disk is full. Nothing was changed.")))

    with pytest.raises(StorageFailed):
        vault.commit("test", everything(vault))
    assert contents(root) == before
    assert vault.journal.changes(None, 10, 0)[1] == 0
    assert sorted(entry.path for entry in vault.entries()) == sorted(before)


@pytest.mark.parametrize("at", range(1, AFTER + 1))
def test_a_crash_at_any_operation_is_taken_back_at_the_next_start(
    root: Path, opened: Callable[..., Vault], at: int
) -> None:
    before = contents(root)
    vault = opened(Faulty(root, at, Crash))
    with pytest.raises(Crash):
        vault.commit("test", everything(vault))

    with opened().changing():
        pass
    assert contents(root) == before


def test_a_crash_after_the_last_operation_is_taken_back_or_complete(root: Path, opened: Callable[..., Vault]) -> None:
    before = contents(root)
    vault = opened()
    number = vault.journal.begin("test", [vault._step(operation) for operation in everything(vault)])
    for operation in everything(vault):
        vault._perform(operation, vault.files)
    assert number

    with opened().changing():
        pass
    assert contents(root) == before


def test_what_somebody_else_wrote_meanwhile_is_not_taken_back(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened(Faulty(root, 3, Crash))
    with pytest.raises(Crash):
        vault.commit("test", everything(vault))
    (root / "0.md").write_bytes(b"written by the app")

    with opened().changing():
        pass
    assert (root / "0.md").read_bytes() == b"written by the app"
    assert (root / "1.md").read_bytes() == b"note 1\r\nold\n"


def test_an_undo_brings_back_every_file_of_a_change(root: Path, opened: Callable[..., Vault]) -> None:
    before = contents(root)
    vault = opened()
    vault.commit("test", everything(vault))
    assert contents(root) != before

    undo(vault, None)
    assert contents(root) == before
    undo(vault, 2)
    assert (root / "moved/2.md").read_bytes() == b"note 2\r\nold\nnew\n"
    assert not (root / "3.md").exists()


def test_an_undo_that_cannot_be_whole_changes_nothing(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened()
    vault.commit("test", everything(vault))
    (root / "1.md").write_bytes(b"changed since\n")
    before = contents(root)

    with pytest.raises(AppError) as refused:
        undo(vault, None)
    assert refused.value.error_code == "UNDO_CONFLICT"
    assert contents(root) == before
    undo(vault, None, "current")
    assert (root / "1.md").read_bytes() == b"changed since\n"
    assert (root / "0.md").read_bytes() == b"note 0\r\nold\n"


def test_an_edit_made_to_an_older_version_is_merged_or_refused(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened()
    first = vault.edit("test", vault.find("0"), lambda _: "a\nb\nc\nd\ne\n").after
    vault.edit("test", vault.find("0"), lambda body: body.replace("e", "E"))

    merged = vault.edit("test", vault.find("0"), lambda body: body.replace("a", "A"), first.etag)
    assert merged.merged
    assert (root / "0.md").read_bytes() == b"A\nb\nc\nd\nE\n"
    with pytest.raises(AppError) as refused:
        vault.edit("test", vault.find("0"), lambda body: body.replace("e", "eee"), first.etag)
    assert refused.value.error_code == "STALE_ETAG"
    with pytest.raises(AppError):
        vault.edit("test", vault.find("0"), lambda body: body + "x", "0123456789abcdef")
    assert (root / "0.md").read_bytes() == b"A\nb\nc\nd\nE\n"
