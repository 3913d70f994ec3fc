"""Another program or another call at the same time: both changes are kept, nobody waits (SAFE-08, SAFE-21 to 23)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.core.files.ports import Step, StepKind
from obsidian_mcp.core.operations import bulk
from obsidian_mcp.core.operations.history import list_changes
from obsidian_mcp.core.operations.move import relocate
from obsidian_mcp.core.operations.undo import undo
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.core.vault.operation import Create, Move, Operation, Write
from obsidian_mcp.core.vault.take_back import take_back
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, NoteNotFound, OperationTimeout, StaleEtag, StorageFailed
from tests.core.memory import Always
from tests.system import needs

NOTES = 6
PATIENCE = 60.0
"""Seconds until a call counts as stuck."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(NOTES):
        (folder / f"{number}.md").write_bytes(f"note {number}\n[[0]]\n".encode())
    return folder


# Another program writes in the last moment


class Interrupted(Disk):
    """Another program appends to a file in the last moment before it is replaced, so many times."""

    def __init__(self, root: Path, times: int) -> None:
        super().__init__(root)
        self.left = times

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        if self.left:
            self.left -= 1
            with (self.root / disk).open("ab") as file:
                file.write(f"theirs {self.left}\n".encode())
        return super().write(disk, data, expected)


def test_an_edit_and_what_another_program_appends_in_the_last_moment_are_both_kept(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-22: Issue 15, example 16: the edit was refused, and one line in 19 000 was lost."""
    vault = opened(Interrupted(root, 2))
    vault.edit("test", vault.find("0"), lambda body: body + "ours\n")
    assert (root / "0.md").read_bytes() == b"note 0\n[[0]]\ntheirs 1\ntheirs 0\nours\n"


def test_an_edit_that_never_finds_the_file_at_rest_is_refused(root: Path, opened: Callable[[Disk], Vault]) -> None:
    """SAFE-08"""
    vault = opened(Interrupted(root, 100))
    with pytest.raises(StaleEtag):
        vault.edit("test", vault.find("0"), lambda body: body + "ours\n")
    assert b"ours" not in (root / "0.md").read_bytes()
    assert (root / "0.md").read_bytes().count(b"theirs") == 100 - vault.files.left  # type: ignore[attr-defined]


def test_an_edit_is_worked_out_while_others_write_and_again_where_they_wrote_to_its_note(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-23: at last while nobody else may write."""
    vault, other = opened(Disk(root)), opened(Disk(root))
    worked_out = []

    def change(body: str) -> str:
        worked_out.append(body)
        if len(worked_out) < 3:
            other.edit("test", other.find("0"), lambda body: body + "theirs\n")
        elif len(worked_out) == 3:
            with call_with(limit=Deadline(0.1)), pytest.raises(OperationTimeout):
                other.edit("test", other.find("1"), lambda body: body + "theirs\n")
        return body + "ours\n"

    vault.edit("test", vault.find("0"), change)

    assert len(worked_out) == 3
    assert (root / "0.md").read_bytes() == b"note 0\n[[0]]\ntheirs\ntheirs\nours\n"
    assert (root / "1.md").read_bytes() == b"note 1\n[[0]]\n"


class LateWriter(Disk):
    """Another program has opened a file before it is replaced, and appends to what it has opened afterwards."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.late: Any = None

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        if self.late is None:
            self.late = (self.root / disk).open("ab", buffering=0)
            place_new = threading.Thread(target=self._append, args=(disk, data))
            place_new.start()
        return super().write(disk, data, expected)

    def _append(self, disk: str, data: bytes) -> None:
        while (self.root / disk).read_bytes() != data:
            pass
        self.late.write(b"theirs\n")
        self.late.close()


@needs("removing open files")
def test_a_line_that_is_appended_to_the_file_that_was_just_replaced_is_not_lost(
    root: Path, opened: Callable[[Disk], Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-22: the other program opened the file before the rename and writes after it."""
    disk = LateWriter(root)
    vault = opened(disk)
    sync = os.fsync

    def after_the_late_writer(descriptor: int) -> None:
        if disk.late is not None and (root / "0.md").read_bytes().endswith(b"ours\n"):
            while not disk.late.closed:
                pass
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", after_the_late_writer)
    vault.edit("test", vault.find("0"), lambda body: body + "ours\n")
    assert (root / "0.md").read_bytes() == b"note 0\n[[0]]\ntheirs\nours\n"
    assert [path.name for path in root.iterdir() if path.name.startswith(".")] == []


class Hostile(Disk):
    """The last file of a change refuses; while the others are taken back, another program appends to each of them."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.appending: set[str] = set()

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        if disk == "2.md":
            self.appending = {"0.md", "1.md"}
            raise StorageFailed("Writing failed: the disk is full.")
        if disk in self.appending:
            self.appending.remove(disk)
            with (self.root / disk).open("ab") as file:
                file.write(b"theirs\n")
        return super().write(disk, data, expected)


def test_taking_back_keeps_what_another_program_writes_meanwhile(root: Path, opened: Callable[[Disk], Vault]) -> None:
    """SAFE-22: Issue 15, example 16: this ended in "could not be brought back as it was"."""
    vault = opened(Hostile(root))
    changes = [Write(f"{n}.md", data := vault.files.read_file(f"{n}.md"), b"ours\n" + data) for n in range(3)]
    changes[1] = Write("1.md", changes[1].before, changes[1].before + b"ours\n")  # on the line above theirs
    with pytest.raises(StorageFailed, match="full") as refused:
        vault.commit("test", changes)
    assert "brought back" not in refused.value.message
    assert [(root / f"{n}.md").read_bytes() for n in range(3)] == [
        b"note 0\n[[0]]\ntheirs\n",
        b"note 1\n[[0]]\ntheirs\n",
        b"note 2\n[[0]]\n",
    ]
    assert vault.journal.list_unfinished() == []


@pytest.mark.parametrize(
    ("before", "after", "now", "left"),
    [
        (b"a\nb\n", b"a\nB\n", b"a\nb\n", b"a\nb\n"),
        (b"a\nb\n", b"a\nB\n", b"A\r\nB\n", b"A\r\nb\n"),
        (b"a\nb\n", b"a\nB\n", b"a\nC\n", b"a\nC\n"),
        (b"a\nb\n", b"a\nB\n", None, None),
        (None, b"made\n", b"made\n", None),
        (None, b"made\n", b"made\ntheirs\n", b"made\ntheirs\n"),
        (None, b"made\n", None, None),
        (b"gone\n", None, None, b"gone\n"),
        (b"gone\n", None, b"theirs\n", b"theirs\n"),
    ],
)
def test_only_the_own_part_of_a_file_is_taken_back(
    root: Path, before: bytes | None, after: bytes | None, now: bytes | None, left: bytes | None
) -> None:
    """SAFE-22"""
    kind: StepKind = "create" if before is None else "remove" if after is None else "write"
    path = root / "n.md"
    if now is not None:
        path.write_bytes(now)
    assert take_back(Disk(root), [Step(kind, "n.md", before=before, after=after)]).lost == []
    assert (path.read_bytes() if path.exists() else None) == left


def test_taking_back_gives_up_on_a_file_that_another_program_never_leaves_alone(root: Path) -> None:
    """SAFE-03"""
    (root / "0.md").write_bytes(b"ours\n")
    disk = Interrupted(root, 10**9)
    assert take_back(disk, [Step("write", "0.md", before=b"old\n", after=b"ours\n")]).lost == ["0.md"]
    assert (root / "0.md").read_bytes().startswith(b"ours\ntheirs")


# Reads do not wait for a writer


class Halting(Disk):
    """Waits with its n-th change until the test lets it go on."""

    def __init__(self, root: Path, at: int) -> None:
        super().__init__(root)
        self.left = at
        self.reached, self.resume = threading.Event(), threading.Event()

    def _halt(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.reached.set()
            assert self.resume.wait(PATIENCE)

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        self._halt()
        return super().write(disk, data, expected)

    def move(self, source: str, target: str) -> None:
        super().move(source, target)
        self._halt()


@contextmanager
def halted(disk: Halting, change: Callable[..., Any], *args: Any) -> Iterator[ThreadPoolExecutor]:
    """A pool in which a change waits in its middle; it is finished at the end."""
    with ThreadPoolExecutor() as pool:
        making = pool.submit(change, *args)
        try:
            assert disk.reached.wait(PATIENCE)
            assert not making.done()
            yield pool
        finally:
            disk.resume.set()
        making.result(PATIENCE)


def answers(vault: Vault, name: str = "0") -> dict[str, Any]:
    vault.refresh()
    entry = vault.find(name)
    return {
        "files": [entry.path for entry in vault.entries()],
        "found": entry.path,
        "text": vault.read_text(entry).text.body.replace("Zero", "0"),
        "backlinks": [reference.source for reference in vault.graph.backlinks(entry.path).value],
        "history": list_changes(vault)[1],
        "unknown": vault.entry_at(entry.path) is None,
    }


@pytest.mark.parametrize("at", range(1, NOTES + 2))
def test_a_read_in_the_middle_of_a_commit_does_not_wait_and_sees_the_state_before(
    root: Path, opened: Callable[[Disk], Vault], at: int
) -> None:
    """SAFE-21: Issue 15, example 11: a commit of 600 files held up every read for its whole length."""
    disk = Halting(root, at)
    vault = opened(disk)
    before = answers(vault)
    plan = partial(relocate, vault, "0", "Deep/Zero", update_links=True)
    with halted(disk, bulk.make, vault, "move_note", plan) as pool:
        assert pool.submit(answers, vault).result(PATIENCE) == before
    after = answers(vault, "Zero")
    assert after["found"] == "Deep/Zero.md"
    assert sorted(after["backlinks"]) == sorted(path.replace("0.md", "Deep/Zero.md") for path in before["backlinks"])
    assert after["history"] == 1


def test_a_note_is_read_while_its_folder_moves(root: Path, opened: Callable[[Disk], Vault]) -> None:
    """SAFE-21"""
    (root / "Old").mkdir()
    (root / "Old/a.md").write_bytes(b"a note\n")
    disk = Halting(root, 1)
    vault = opened(disk)
    with halted(disk, vault.commit, "test", [Move("Old", "New")]) as pool:
        assert pool.submit(lambda: vault.read_text(vault.find("a")).text.body).result(PATIENCE) == "a note\n"
    assert vault.find("a").path == "New/a.md"


def test_a_note_that_had_the_name_of_a_moved_one_is_not_said_to_be_that(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-21: only while a file is being moved is it read elsewhere."""
    vault = opened(Disk(root))
    vault.commit("test", [Move("0.md", "moved.md")])
    (root / "0.md").write_bytes(b"another note\n")
    vault.refresh()
    another = vault.find("0")
    (root / "0.md").unlink()
    with pytest.raises(NoteNotFound):
        vault.read_text(another)


class App(Disk):
    """The app, which replaces a file whatever it holds."""

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
        assert expected is None
        (self.root / disk).write_bytes(data)


def test_the_app_replaces_no_text_that_a_change_was_not_made_from(root: Path) -> None:
    """SAFE-08"""
    journal = SqliteJournal(root.parent / "state")
    vault = Vault("v", Disk(root), Always(), journal, lambda: open_index(None), through_app=App(root))
    before = vault.files.read_file("0.md")
    (root / "0.md").write_bytes(b"theirs\n")
    with pytest.raises(StaleEtag):
        vault.commit("test", [Write("0.md", before, b"ours\n")])
    assert (root / "0.md").read_bytes() == b"theirs\n"
    vault.commit("test", [Write("0.md", b"theirs\n", b"ours\n")])
    assert (root / "0.md").read_bytes() == b"ours\n"
    vault.close()


def test_a_name_that_nobody_has_is_answered_in_the_middle_of_a_commit(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-21: a miss looks at the folder, but not at what is being changed."""
    disk = Halting(root, 1)
    vault = opened(disk)
    with (
        halted(disk, vault.commit, "test", [Move("0.md", "moved.md")]) as pool,
        pytest.raises(AppError, match="no note"),
    ):
        pool.submit(vault.find, "moved").result(PATIENCE)
    assert vault.find("moved").path == "moved.md"


# Plans are made outside the lock


def rename_disturbed(vault: Vault, disturb: Callable[[int], object]) -> int:
    """Rename `0` to `Zero`; before every plan `disturb` gets its number. Return how many were made."""
    plans = 0

    def plan() -> Any:
        nonlocal plans
        plans += 1
        disturb(plans)
        return relocate(vault, "0", "Zero", update_links=True)

    bulk.make(vault, "move_note", plan)
    return plans


def test_a_change_is_planned_while_others_write_and_planned_again_after_that(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-23: Issue 15, example 10: a move that waited for the index held up every other call."""
    vault = opened(Disk(root))

    def write(number: int) -> None:
        if number == 1:  # another program, another call of this one
            (root / "late.md").write_bytes(b"[[0]]\n")
            with ThreadPoolExecutor() as pool:
                operation: Operation = Create("made.md", b"![[0]]\n")
                pool.submit(vault.commit, "test", [operation]).result(PATIENCE)

    assert rename_disturbed(vault, write) == 2
    assert (root / "late.md").read_bytes() == b"[[Zero]]\n"
    assert (root / "made.md").read_bytes() == b"![[Zero]]\n"
    undo(vault, None)
    assert (root / "late.md").read_bytes() == b"[[0]]\n"


def test_a_rename_is_planned_again_where_a_note_is_edited_in_the_last_moment(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-23, SAFE-22"""
    assert rename_disturbed(opened(Interrupted(root, 1)), lambda _: None) == 2
    texts = [path.read_bytes() for path in root.glob("*.md")]
    assert all(b"[[Zero]]" in text for text in texts)
    assert [text.endswith(b"theirs 0\n") for text in texts].count(True) == 1


def test_a_plan_that_is_never_up_to_date_is_made_while_nobody_else_may_write(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-23: a program that writes all the time cannot keep a move from being made."""
    rename_disturbed(opened(Disk(root)), lambda number: (root / "busy.md").write_bytes(b"x" * number))
    assert (root / "Zero.md").exists()
    assert b"[[Zero]]" in (root / "5.md").read_bytes()


def test_a_plan_that_fails_on_what_another_program_changes_is_made_again(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-23: a note is renamed by another server while this one reads it for the change of a tag."""
    vault = opened(Disk(root))

    def rename(number: int) -> None:
        if number == 1:
            entry = vault.find("5")
            (root / "5.md").rename(root / "six.md")
            vault.read_content(entry)

    assert rename_disturbed(vault, rename) == 2
    assert b"[[Zero]]" in (root / "six.md").read_bytes()


def test_a_plan_that_fails_while_nothing_changes_is_not_tried_again(
    root: Path, opened: Callable[[Disk], Vault]
) -> None:
    """SAFE-23"""
    vault = opened(Disk(root))
    plans: list[str] = []

    def plan() -> Any:
        plans.append("made")
        return relocate(vault, "missing", "Zero", update_links=True)

    with pytest.raises(AppError, match="missing"):
        bulk.make(vault, "move_note", plan)
    assert plans == ["made"]
