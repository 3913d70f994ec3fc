"""Nothing is lost: faults at every file operation, kills at any moment, several servers at once (specs/safety.md)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import Any, ClassVar

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.adapters.place import TEMP_PREFIX
from obsidian_mcp.core.files.policy import Globs, Policy
from obsidian_mcp.core.files.ports import Recorded, Step
from obsidian_mcp.core.files.settings import TrashOption
from obsidian_mcp.core.operations.history import describe_author
from obsidian_mcp.core.operations.move import relocate
from obsidian_mcp.core.operations.undo import undo
from obsidian_mcp.core.text.call import Client, Deadline, call_with, current_call, set_call
from obsidian_mcp.core.vault.operation import Create, Move, Operation, Remove, Write, removal
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    AppError,
    ChangeNotFound,
    NoteExists,
    OperationTimeout,
    PermissionDenied,
    StorageFailed,
    UndoConflict,
)
from tests.core.memory import Always, Reported
from tests.disks import OtherDisk
from tests.vaults import contents

pytestmark = pytest.mark.usefixtures("each_disk")

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

    def delete(self, disk: str, expected: bytes | None = None) -> None:
        self._count()
        super().delete(disk, expected)

    def trash(self, disk: str, *, system: bool, expected: bytes | None = None) -> str:
        self._count()
        return super().trash(disk, system=system, expected=expected)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(NOTES):
        (folder / f"{number}.md").write_bytes(f"note {number}\r\nold\n".encode())
    return folder


def everything(vault: Vault) -> list[Operation]:
    """A change of every kind."""
    writes: list[Operation] = [
        Write(f"{number}.md", before := vault.files.read_file(f"{number}.md"), before + b"new\n") for number in range(3)
    ]
    return [*writes, Create("made/x.md", b"x"), Move("2.md", "moved/2.md"), Remove("3.md", permanent=True)]


AFTER = 6
"""Operations in `everything`."""


@pytest.mark.parametrize("error", [lambda: StorageFailed("Writing failed: the disk is full."), KeyboardInterrupt])
@pytest.mark.parametrize("at", range(1, AFTER + 1))
def test_a_disk_that_fails_at_any_operation_leaves_every_file_as_it_was(
    root: Path, opened: Callable[..., Vault], at: int, error: Callable[[], BaseException]
) -> None:
    before = contents(root)
    vault = opened(Faulty(root, at, error))

    with pytest.raises(type(error())):
        vault.commit("test", everything(vault))
    assert contents(root) == before
    assert vault.journal.changes(None, 10, 0)[1] == 0
    assert sorted(entry.path for entry in vault.entries()) == sorted(before)


def test_a_write_that_fails_when_it_was_made_is_taken_back(root: Path, opened: Callable[..., Vault]) -> None:
    class Late(Disk):
        failed = False

        def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
            super().write(disk, data, expected)
            if not self.failed:
                self.failed = True
                raise StorageFailed("Writing failed: the disk is not connected any more.")

    before = contents(root)
    vault = opened(Late(root))
    with pytest.raises(StorageFailed, match="not connected"):
        vault.commit("test", everything(vault))
    assert contents(root) == before


@pytest.mark.parametrize("option", ["system", "local", "none"])
def test_a_deleted_file_goes_into_the_trash_of_the_vault_s_settings(
    root: Path, opened: Callable[..., Vault], option: TrashOption
) -> None:
    into_system = []

    class Trashing(Disk):
        def trash(self, disk: str, *, system: bool, expected: bytes | None = None) -> str:
            into_system.append(system)
            return super().trash(disk, system=False, expected=expected)

    opened(Trashing(root)).commit("delete_note", [removal("0.md", option)])
    assert into_system == ([] if option == "none" else [option == "system"])
    assert not (root / "0.md").exists()


@pytest.mark.parametrize("at", range(1, AFTER + 1))
def test_a_crash_at_any_operation_is_taken_back_at_the_next_start(
    root: Path, opened: Callable[..., Vault], at: int
) -> None:
    before = contents(root)
    vault = opened(Faulty(root, at, Crash))
    with pytest.raises(Crash):
        vault.commit("test", everything(vault))

    again = opened()
    with again.lock_changes():
        assert contents(root) == before
    assert again.journal.list_unfinished() == []


def test_a_crash_in_a_change_of_many_files_is_taken_back_with_one_look_at_each_folder(
    root: Path, opened: Callable[..., Vault]
) -> None:
    """SAFE-03: temporary files are looked for in each folder once, not once for each file."""

    class Counting(Disk):
        swept: ClassVar[list[str]] = []

        def sweep(self, disk: str) -> None:
            self.swept.append(disk.rpartition("/")[0])
            super().sweep(disk)

    vault = opened(Faulty(root, AFTER, Crash))
    with pytest.raises(Crash):
        vault.commit("test", everything(vault))
    for name in (f"{TEMP_PREFIX}a.tmp", f"made/{TEMP_PREFIX}b.tmp"):
        (root / name).write_bytes(b"half")

    with opened(Counting(root)).lock_changes():
        pass
    assert sorted(Counting.swept) == ["", "made"]
    assert sorted(path.name for path in root.iterdir()) == [f"{number}.md" for number in range(NOTES)]


class Unfinished(SqliteJournal):
    """The process dies when all files of a change are written, before the journal knows."""

    def finish(self, number: int) -> None:  # noqa: ARG002
        raise Crash

    def discard(self, number: int) -> None:  # noqa: ARG002
        raise Crash


def test_a_crash_after_the_last_operation_is_taken_back_or_complete(root: Path, opened: Callable[..., Vault]) -> None:
    before = contents(root)
    journal = Unfinished(root.parent / "state")
    vault = Vault("v", Faulty(root, AFTER + 1, Crash), Always(), journal, lambda: open_index(None))
    vault.refresh()
    with pytest.raises(Crash):
        vault.commit("test", everything(vault))
    assert contents(root) != before
    vault.close()

    with opened().lock_changes():
        pass
    assert contents(root) == before


def test_what_somebody_else_wrote_meanwhile_is_not_taken_back(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened(Faulty(root, 3, Crash))
    with pytest.raises(Crash):
        vault.commit("test", everything(vault))
    (root / "0.md").write_bytes(b"written by the app")

    with opened().lock_changes():
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
    with pytest.raises(UndoConflict, match="undone already, by change 2"):
        undo(vault, 1)
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


def test_an_undone_change_leaves_no_folder_that_it_made(root: Path, opened: Callable[..., Vault]) -> None:
    """SAFE-05: and a folder in which somebody has put something since stays."""
    vault = opened()
    vault.commit("test", [Create("new/deep/x.md", b"x"), Move("0.md", "new/er/0.md")])
    undo(vault, None)
    assert not (root / "new").exists()

    vault.commit("test", [Create("new/deep/x.md", b"x")])
    (root / "new/other.md").write_bytes(b"the user's")
    undo(vault, None)
    assert sorted(path.name for path in (root / "new").iterdir()) == ["other.md"]


def test_a_crash_leaves_no_empty_folder_behind(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened(Faulty(root, 2, Crash))
    with pytest.raises(Crash):
        vault.commit("test", [Create("new/deep/x.md", b"x"), Create("y.md", b"y")])
    with opened().lock_changes():
        pass
    assert not (root / "new").exists()


class Stubborn(Disk):
    """After the first write no other change of one file succeeds, as when another program holds it."""

    def __init__(self, root: Path, held: str) -> None:
        super().__init__(root)
        self.held = held
        self.done = False

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        if disk == self.held and self.done:
            raise StorageFailed("Writing failed: the file is held by another program.")
        if self.done:
            raise StorageFailed("Writing failed: the disk is full.")
        self.done = disk == self.held
        return super().write(disk, data, expected)


def test_what_cannot_be_taken_back_is_told_and_tried_again(root: Path, opened: Callable[..., Vault]) -> None:
    """SAFE-03: the journal keeps the old text until it is back."""
    before = contents(root)
    vault = opened(Stubborn(root, "0.md"))
    changes = [
        Write(f"{number}.md", data := vault.files.read_file(f"{number}.md"), data + b"new\n") for number in range(2)
    ]
    with pytest.raises(StorageFailed, match=r"0\.md.* could not be brought back") as raised:
        vault.commit("test", changes)
    assert raised.value.data["paths"] == ["0.md"]
    assert contents(root) != before
    with vault.lock_changes():  # the file is still held
        assert len(vault.journal.list_unfinished()) == 1

    again = Vault("v", Disk(root), Reported(), SqliteJournal(root.parent / "state"), lambda: open_index(None))
    again.refresh()
    with again.lock_changes():
        assert contents(root) == before
        assert {entry.path: entry.size for entry in again.entries()} == {name: len(before[name]) for name in before}
    assert again.journal.list_unfinished() == []
    again.close()


class Slow(Disk):
    """Its first write takes until the limit of the call is over."""

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        limit = current_call.get().limit
        while limit is not None and not limit.overrun:
            assert not limit.passed, "the commit can be stopped"
        return super().write(disk, data, expected)


def test_a_commit_that_the_limit_overtakes_is_finished_whole(root: Path, opened: Callable[..., Vault]) -> None:
    """SAFE-19: the limit ends between the first and the second file of a change."""
    vault = opened(Slow(root))
    changes = [
        Write(f"{number}.md", data := vault.files.read_file(f"{number}.md"), data + b"new\n") for number in range(3)
    ]
    limit = Deadline(0.1)
    with call_with(limit=limit):
        vault.commit("test", changes)
    assert limit.overrun > 0
    assert [data.endswith(b"new\n") for data in contents(root).values()] == [True] * 3 + [False] * 3


def test_a_call_whose_time_is_over_changes_nothing(root: Path, opened: Callable[..., Vault]) -> None:
    """SAFE-19"""
    before = contents(root)
    vault = opened()
    with call_with(limit=Deadline(0)), pytest.raises(OperationTimeout, match="before it changed anything"):
        vault.commit("test", everything(vault))
    assert contents(root) == before
    assert vault.journal.list_unfinished() == []


class FullJournal(SqliteJournal):
    """A journal whose disk is full when it is `full`."""

    full = ""

    def begin(self, *arguments: Any, **others: Any) -> int:
        self._check("begin")
        return super().begin(*arguments, **others)

    def finish(self, number: int) -> None:
        self._check("finish")
        super().finish(number)

    def discard(self, number: int) -> None:
        self._check("discard")
        super().discard(number)

    def _check(self, doing: str) -> None:
        if doing in self.full:
            raise StorageFailed("The journal cannot be used (database or disk is full), so nothing was changed.")


@pytest.mark.parametrize("full", ["begin", "finish", "finish discard"])
def test_a_journal_that_is_full_at_any_moment_leaves_every_file_as_it_was(
    root: Path, opened: Callable[..., Vault], full: str
) -> None:
    """SAFE-13"""
    before = contents(root)
    journal = FullJournal(root.parent / "state")
    vault = Vault("v", Disk(root), Always(), journal, lambda: open_index(None))
    vault.refresh()
    journal.full = full
    with pytest.raises(StorageFailed, match="journal"):
        vault.commit("test", everything(vault))
    assert contents(root) == before
    journal.full = ""
    with vault.lock_changes():
        assert contents(root) == before
    vault.commit("test", everything(vault))
    assert contents(root) != before
    vault.close()


def test_a_vault_is_read_where_no_journal_can_be_written(root: Path) -> None:
    """SAFE-13"""
    (root.parent / "file").write_bytes(b"")
    vault = Vault("v", Disk(root), Always(), SqliteJournal(root.parent / "file" / "state"), lambda: open_index(None))
    vault.refresh()
    assert vault.read_content(vault.find("0")).data == b"note 0\r\nold\n"
    with pytest.raises(StorageFailed, match="nothing was changed"):
        vault.edit("test", vault.find("0"), lambda body: body + "x")
    assert (root / "0.md").read_bytes() == b"note 0\r\nold\n"
    vault.close()


def test_a_rename_that_somebody_else_made_first_is_not_taken_back(root: Path, opened: Callable[..., Vault]) -> None:
    class Overtaken(Disk):
        def move(self, source: str, target: str) -> None:
            (self.root / source).rename(self.root / target)
            super().move(source, target)

    vault = opened(Overtaken(root))
    with pytest.raises(AppError):
        vault.commit("test", [Move("0.md", "moved.md")])
    assert (root / "moved.md").read_bytes() == b"note 0\r\nold\n"
    assert not (root / "0.md").exists()


class LateJournal(SqliteJournal):
    """A journal that cannot be read yet when its vault is opened."""

    is_there = False

    def latest(self) -> int:
        if not self.is_there:
            self.is_there = True
            raise StorageFailed("The journal cannot be read.")
        return super().latest()


@pytest.mark.parametrize("kind", [SqliteJournal, LateJournal])
def test_two_vaults_know_at_once_what_the_other_has_changed(
    root: Path, opened: Callable[..., Vault], kind: type[SqliteJournal]
) -> None:
    """SAFE-09: also where the watcher has not told yet."""

    one = opened()
    other = Vault("v", Disk(root), Reported(), kind(root.parent / "state"), lambda: open_index(None))
    other.refresh()
    one.commit("test", [Move("0.md", "moved.md"), Create("made.md", b"m")])
    with other.lock_changes():
        paths = sorted(entry.path for entry in other.entries())
    assert paths == ["1.md", "2.md", "3.md", "4.md", "5.md", "made.md", "moved.md"]
    one.commit("test", [Create("later.md", b"l")])
    with other.lock_changes():
        assert "later.md" in {entry.path for entry in other.entries()}
    other.close()


def test_an_undo_leaves_an_empty_folder_that_was_there_before(root: Path, opened: Callable[..., Vault]) -> None:
    """SAFE-05"""
    (root / "empty").mkdir()
    vault = opened()
    vault.commit("test", [Create("empty/new/x.md", b"x"), Create("empty/new/y.md", b"y")])
    undo(vault, None)
    assert (root / "empty").is_dir()
    assert not (root / "empty/new").exists()


def test_a_file_too_large_for_the_journal_is_not_said_to_be_undone(root: Path, opened: Callable[..., Vault]) -> None:
    with (root / "big.bin").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    vault = opened()
    with pytest.raises(StorageFailed):
        vault.commit("test", [Remove("big.bin", permanent=True)])
    assert (root / "big.bin").exists()
    vault.commit("test", [Remove("big.bin", permanent=False)])
    with pytest.raises(AppError, match="trash"):
        undo(vault, None)


def test_a_link_to_a_folder_that_appears_is_not_looked_into(root: Path) -> None:
    (root.parent / "outside").mkdir()
    (root.parent / "outside" / "secret.md").write_bytes(b"secret")
    reporting = Reported()
    vault = Vault("v", Disk(root), reporting, SqliteJournal(root.parent / "state"), lambda: open_index(None))
    vault.refresh()
    (root / "link").symlink_to(root.parent / "outside")
    reporting.paths = {"link"}
    before = vault.catalog.revision
    vault.refresh()
    assert vault.catalog.revision == before
    assert not [entry for entry in vault.entries() if "secret" in entry.path]
    vault.close()


@pytest.mark.parametrize("at", [1, 20, 40, 41])
def test_a_permission_that_fails_in_the_middle_of_a_move_of_forty_files_leaves_all_as_it_was(
    root: Path, opened: Callable[..., Vault], at: int
) -> None:
    """SAFE-02: forty notes that link to the moved one, and the move itself."""
    for number in range(40):
        (root / f"linking {number}.md").write_bytes(b"\xef\xbb\xbf[[0]]\r\n![[0#x]] 007  \xff\n[0](0.md)")
    before = contents(root)
    vault = opened(Faulty(root, at, lambda: PermissionDenied("The system does not allow writing.")))
    with vault.lock_changes():
        plan = relocate(vault, "0", "Elsewhere/Zero", update_links=True)
        assert len(plan.operations) == 41
        with pytest.raises(PermissionDenied):
            vault.commit("move_note", plan.operations)
    assert contents(root) == before
    assert not (root / "Elsewhere").exists()


def test_undo_restores_every_byte_of_a_move_of_forty_files(root: Path, opened: Callable[..., Vault]) -> None:
    """SAFE-04"""
    for number in range(40):
        (root / f"linking {number}.md").write_bytes(b"\xef\xbb\xbf[[0]]\r\n![[0#x]] 007  \xff\n[0](0.md)")
    before = contents(root)
    vault = opened()
    with vault.lock_changes():
        done = vault.commit("move_note", relocate(vault, "0", "Elsewhere/Zero", update_links=True).operations)
    moved = contents(root)
    assert len([path for path in before if moved.get(path) != before[path]]) == 41

    undone = undo(vault, done.change)[1]
    assert contents(root) == before
    assert undone is not None
    undo(vault, undone.change)
    assert contents(root) == moved


def test_undo_restores_a_folder_with_notes_that_link_to_each_other(root: Path, opened: Callable[..., Vault]) -> None:
    """SAFE-04: links in the moved notes themselves were rewritten too."""
    (root / "Old").mkdir()
    (root / "Old/a.md").write_bytes(b"[b](Old/b.md)\n")
    (root / "Old/b.md").write_bytes(b"![[Old/a]]\n")
    before = contents(root)
    vault = opened()
    with vault.lock_changes():
        vault.commit("move_note", relocate(vault, "Old/", "New/", update_links=True).operations)
    assert (root / "New/Old/a.md").read_bytes() == b"[b](b.md)\n"

    undo(vault, None)
    assert contents(root) == before
    assert not (root / "New").exists()


def test_undo_of_a_new_note_asks_when_it_was_edited_since(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened()
    vault.commit("test", [Create("new.md", b"made\n")])
    (root / "new.md").write_bytes(b"made\nand edited\n")
    with pytest.raises(UndoConflict, match="edited"):
        undo(vault, None)
    number = undo(vault, None, "undo")[1]
    assert not (root / "new.md").exists()
    assert number is not None
    undo(vault, number.change)
    assert (root / "new.md").read_bytes() == b"made\nand edited\n"


def test_undo_puts_a_new_note_into_the_trash_where_nothing_may_be_deleted_for_good(root: Path) -> None:
    """POL-09"""
    vault = Vault(
        "v",
        Disk(root),
        Always(),
        SqliteJournal(root.parent / "s"),
        lambda: open_index(None),
        policy=Policy(permanent_delete=False),
    )
    vault.refresh()
    vault.commit("test", [Create("new.md", b"made\n")])
    undo(vault, None)
    assert not (root / "new.md").exists()
    assert (root / ".trash/new.md").read_bytes() == b"made\n"
    vault.close()


@pytest.mark.parametrize("error", [lambda: StorageFailed("Full."), Crash])
def test_a_change_of_case_is_taken_back(
    root: Path, opened: Callable[..., Vault], error: Callable[[], BaseException]
) -> None:
    (root / "n.md").write_bytes(b"n")
    before = contents(root)
    vault = opened(Faulty(root, 2, error))
    with pytest.raises(type(error())):
        vault.commit("test", [Move("n.md", "N.md"), Create("x.md", b"")])
    with opened().lock_changes():
        pass
    assert contents(root) == before
    again = opened()
    again.commit("test", [Move("n.md", "N.md")])
    assert sorted(contents(root)) == sorted([*before.keys() - {"n.md"}, "N.md"])
    undo(again, None)
    assert contents(root) == before


def test_a_note_just_made_is_named_as_a_disk_that_knows_no_case_spells_it(
    root: Path, opened: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """NAME-09"""
    OtherDisk(root, monkeypatch)
    vault = opened()
    (root / "Sub").mkdir()
    (root / "Sub/Raw.md").write_bytes(b"made by another program")

    assert vault.look_for("sub/raw.md") == vault.find("Sub/Raw")
    assert vault.find("sub/raw").disk == "Sub/Raw.md"


def test_a_folder_that_bears_the_name_of_a_note_is_in_the_way(
    root: Path, opened: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """FILE-11"""

    def open_as_windows(path: Any, flags: int, *more: Any, dir_fd: int | None = None) -> int:
        if not flags & getattr(os, "O_DIRECTORY", 0) and Path(root, path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied")
        return real_open(path, flags, *more, dir_fd=dir_fd)

    real_open = os.open
    (root / "Clip.md").mkdir()
    monkeypatch.setattr(os, "open", open_as_windows)
    vault = opened(Disk(root, relative_calls=False))

    with pytest.raises(NoteExists):
        vault.commit("test", [Create("Clip.md", b"text")])
    vault.commit("test", [Create("other.md", b"text")])
    assert not caplog.records


def test_an_undo_of_what_is_gone_already_makes_way_for_the_next(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened()
    vault.edit("test", vault.find("0"), lambda body: body + "edited\n")
    vault.commit("test", [Create("new.md", b"made\n")])
    (root / "new.md").unlink()

    assert undo(vault, None)[0].number == 2
    assert undo(vault, None)[0].number == 1
    assert (root / "0.md").read_bytes() == b"note 0\r\nold\n"
    with pytest.raises(AppError, match="no change to undo"):
        undo(vault, None)


def test_a_move_is_not_undone_where_another_file_has_the_old_name(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened()
    vault.commit("test", [Create("new.md", b""), Move("0.md", "moved.md")])
    (root / "0.md").write_bytes(b"another note\n")
    before = contents(root)

    with pytest.raises(UndoConflict, match="another file has its old name"):
        undo(vault, None)
    assert contents(root) == before
    undo(vault, None, "current")
    assert contents(root) == {path: data for path, data in before.items() if path != "new.md"}


def test_undo_of_an_edit_says_so_when_the_note_has_been_moved_since(root: Path, opened: Callable[..., Vault]) -> None:
    vault = opened()
    vault.edit("test", vault.find("0"), lambda body: body + "edited\n")
    vault.commit("test", [Move("0.md", "moved.md")])
    with pytest.raises(UndoConflict, match="moved or deleted"):
        undo(vault, 1)
    undo(vault, 1, "undo")
    assert (root / "0.md").read_bytes() == b"note 0\r\nold\n"
    assert (root / "moved.md").read_bytes() == b"note 0\r\nold\nedited\n"


def as_client(name: str, session: str = "") -> Any:
    """A context in which calls come from this client."""
    context = copy_context()
    context.run(set_call, client=Client(name, session))
    return context


def test_undo_without_a_number_takes_back_the_caller_s_own_last_change(
    root: Path, opened: Callable[..., Vault]
) -> None:
    """SAFE-20: two sessions of one HTTP server, and another process."""
    vault = opened()
    one, two = as_client("assistant", "1"), as_client("assistant", "2")
    one.run(vault.commit, "test", [Create("one.md", b"1")])
    two.run(vault.commit, "test", [Create("two.md", b"2")])
    other = Vault(
        "v", Disk(root), Always(), SqliteJournal(root.parent / "state", process="b"), lambda: open_index(None)
    )
    other.refresh()
    as_client("editor").run(other.commit, "test", [Create("three.md", b"3")])
    for _ in range(60):
        two.run(lambda: vault.journal.finish(vault.journal.begin("test", [])))

    undone = one.run(undo, vault, None)[0]
    assert undone.author == one.run(vault.journal.author)
    assert sorted(contents(root)) == sorted([*(f"{number}.md" for number in range(NOTES)), "two.md", "three.md"])
    with pytest.raises(ChangeNotFound, match=r"number 63 \(test\) by assistant \(another session\)") as refused:
        one.run(undo, vault, None)
    assert refused.value.data["latest"] == 63
    assert one.run(describe_author, vault, vault.journal.changes("three.md", 9, 0)[0][0]) == "editor"
    nameless = as_client("").run(vault.journal.begin, "test", [])
    vault.journal.finish(nameless)
    recorded = vault.journal.change(nameless)
    assert recorded is not None
    assert one.run(describe_author, vault, recorded) == "an unknown client"
    one.run(undo, vault, 3)
    assert not (root / "three.md").exists()
    other.close()


def test_the_caller_s_last_change_is_looked_for_once_among_many_of_others(root: Path) -> None:
    """SAFE-20: also where the policy hides changes, of which each is looked at."""

    class Counting(SqliteJournal):
        read = 0

        def changes(
            self, disk: str | None, limit: int, offset: int, *, anywhere: bool = False
        ) -> tuple[list[Recorded], int]:
            found, total = super().changes(disk, limit, offset, anywhere=anywhere)
            self.read += len(found)
            return found, total

    journal = Counting(root.parent / "state")
    vault = Vault(
        "v", Disk(root), Always(), journal, lambda: open_index(None), policy=Policy(hidden=(Globs(["Secret/"]),))
    )
    vault.refresh()
    as_client("assistant", "1").run(vault.commit, "test", [Create("one.md", b"1")])
    hidden = Step("create", "Secret/two.md", after=b"2")
    as_client("assistant", "1").run(lambda: journal.finish(journal.begin("test", [hidden])))
    others = as_client("assistant", "2")
    for _ in range(300):
        others.run(lambda: journal.finish(journal.begin("test", [])))
    assert as_client("assistant", "1").run(undo, vault, None)[0].number == 1
    assert journal.read <= 302
    vault.close()
