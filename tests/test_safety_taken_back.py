"""What was never written is never taken back; what was is, and only that (SAFE-01 to 03, SAFE-22)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters import begun_steps, renames
from obsidian_mcp.adapters import disk as disk_module
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.place import DiskPlace
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.operations.undo import undo
from obsidian_mcp.core.vault.operation import Create, Move, Remove, Write
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import NoteExists, StaleEtag, StorageFailed, UndoConflict
from tests.system import needs

pytestmark = pytest.mark.usefixtures("disk_of_macos")

Opened = Callable[..., Vault]
NOTES = 8
BEFORE = b"# Log\nfirst\nmark\n"
AFTER = b"# Log\nfirst\n"
FOREIGN = b"theirs\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(NOTES):
        (folder / f"{number}.md").write_bytes(BEFORE)
    return folder


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(FOREIGN)


class Appending(Disk):
    """Another program appends to a file in the last moment before it is replaced or removed."""

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        append(self.root / disk)
        return super().write(disk, data, expected)

    def delete(self, disk: str, expected: bytes | None = None) -> None:
        append(self.root / disk)
        super().delete(disk, expected)

    def trash(self, disk: str, *, system: bool, expected: bytes | None = None) -> str:
        append(self.root / disk)
        return super().trash(disk, system=system, expected=expected)


def test_a_write_that_is_refused_in_the_last_moment_puts_no_line_in_twice(root: Path, opened: Opened) -> None:
    """SAFE-01: Issue 56: STALE_ETAG "Nothing was written", and the line that the edit removes stood twice."""
    with pytest.raises(StaleEtag):
        opened(Appending(root)).commit("edit_note", [Write("0.md", BEFORE, AFTER)])

    assert (root / "0.md").read_bytes() == BEFORE + FOREIGN


def test_an_undo_that_is_refused_in_the_last_moment_puts_no_line_in_twice(root: Path, opened: Opened) -> None:
    """SAFE-01, SAFE-04"""
    opened().commit("edit_note", [Write("0.md", BEFORE, BEFORE + b"ours\n")])

    with pytest.raises(StaleEtag):
        undo(opened(Appending(root)), 1)

    assert (root / "0.md").read_bytes() == BEFORE + b"ours\n" + FOREIGN


@pytest.mark.parametrize("permanent", [True, False])
def test_a_file_that_another_program_changes_in_the_last_moment_is_not_removed(
    root: Path, opened: Opened, *, permanent: bool
) -> None:
    """SAFE-08: neither for good nor into the trash; its line would be in no journal."""
    with pytest.raises(StaleEtag):
        opened(Appending(root)).commit("delete_note", [Remove("0.md", permanent=permanent)])

    assert (root / "0.md").read_bytes() == BEFORE + FOREIGN
    assert sorted(path.name for path in root.iterdir() if path.is_file()) == [f"{number}.md" for number in range(NOTES)]
    assert not [*root.rglob(".trash/*")]


@needs("swapped files")
def test_a_burst_of_lines_in_the_moment_of_a_write_is_kept_whole(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-08: the first line meets the old file before it is swapped out, the second the new one before it goes."""
    swap, lines = renames.exchange, iter([b"first\n", b"second\n"])

    def swap_after_a_line(place: DiskPlace, name: str) -> bool:
        with (root / "0.md").open("ab") as file:
            file.write(next(lines))
        return swap(place, name)

    monkeypatch.setattr(disk_module, "exchange", swap_after_a_line)
    with pytest.raises(StaleEtag):
        opened().commit("edit_note", [Write("0.md", BEFORE, AFTER)])

    assert (root / "0.md").read_bytes() == BEFORE + b"first\nsecond\n"


class Creating(Disk):
    """Another program makes the same file in the last moment."""

    def create(self, disk: str, data: bytes) -> None:
        (self.root / disk).write_bytes(data)
        super().create(disk, data)


def test_a_file_of_another_program_with_the_same_bytes_is_not_removed_with_a_create_that_failed(
    root: Path, opened: Opened
) -> None:
    """SAFE-02"""
    with pytest.raises(NoteExists):
        opened(Creating(root)).commit("create_note", [Write("0.md", BEFORE, AFTER), Create("New.md", b"same\n")])

    assert (root / "New.md").read_bytes() == b"same\n"
    assert (root / "0.md").read_bytes() == BEFORE


class Crash(BaseException):
    """The process dies."""


class Dying(Disk):
    """The process dies before or in the n-th write, or after it."""

    def __init__(self, root: Path, at: int, *, is_made: bool) -> None:
        super().__init__(root)
        self.left = at
        self.is_made = is_made

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        self.left -= 1
        if self.left < 0 or (self.left == 0 and not self.is_made):
            raise Crash
        super().write(disk, data, expected)
        if self.left == 0:
            raise Crash


@pytest.mark.parametrize("has_lost_power", [False, True])
@pytest.mark.parametrize("is_made", [False, True])
def test_after_a_crash_each_file_has_its_old_lines_once_and_those_of_another_program(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch, *, is_made: bool, has_lost_power: bool
) -> None:
    """SAFE-03, SAFE-22: Issue 56: in 186 to 193 of 200 notes the removed line stood twice."""
    with pytest.raises(Crash):
        opened(Dying(root, NOTES // 2, is_made=is_made)).commit(
            "replace", [Write(f"{number}.md", BEFORE, AFTER) for number in range(NOTES)]
        )
    for number in range(NOTES):
        append(root / f"{number}.md")
    if has_lost_power:
        monkeypatch.setattr(begun_steps, "SAME_START_SECONDS", -1.0)

    with opened().lock_changes():
        pass

    assert {(root / f"{number}.md").read_bytes() for number in range(NOTES)} == {BEFORE + FOREIGN}


def test_what_a_person_does_to_a_file_that_a_cut_off_change_had_not_reached_stays(root: Path, opened: Opened) -> None:
    """SAFE-03: also where it is just what the change would have done."""
    with pytest.raises(Crash):
        opened(Dying(root, 2, is_made=True)).commit(
            "replace",
            [*(Write(f"{number}.md", BEFORE, AFTER) for number in range(4)), Create("New.md", b"made\n")],
        )
    (root / "3.md").write_bytes(AFTER)
    (root / "New.md").write_bytes(b"made\n")

    with opened().lock_changes():
        pass

    assert [(root / f"{number}.md").read_bytes() for number in range(4)] == [BEFORE, BEFORE, BEFORE, AFTER]
    assert (root / "New.md").read_bytes() == b"made\n"


def test_a_half_written_record_of_begun_steps_counts_as_none(root: Path, opened: Opened) -> None:
    """SAFE-03"""
    with pytest.raises(Crash):
        opened(Dying(root, 3, is_made=True)).commit(
            "replace", [Write(f"{number}.md", BEFORE, AFTER) for number in range(4)]
        )
    (root.parent / "state/begun").write_bytes(b"half")

    with opened().lock_changes():
        pass

    assert {(root / f"{number}.md").read_bytes() for number in range(4)} == {BEFORE}


class Refusing(Disk):
    """Another program rewrites a line of the first file, and then the second one is refused."""

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> Any:
        if disk == "1.md":
            (self.root / "0.md").write_bytes(b"# Log\nours, and theirs\n")
            append(self.root / disk)
        return super().write(disk, data, expected)


def test_what_cannot_be_told_apart_is_named_and_its_old_text_can_be_had_back(root: Path, opened: Opened) -> None:
    """SAFE-22: "Nothing was written" would be untrue, and the old line would be nowhere."""
    vault = opened(Refusing(root))

    with pytest.raises(StorageFailed, match=r"'0\.md' had been written before") as raised:
        vault.commit("replace", [Write("0.md", BEFORE, b"# Log\nours\n"), Write("1.md", BEFORE, AFTER)])

    assert (root / "0.md").read_bytes() == b"# Log\nours, and theirs\n"
    assert (root / "1.md").read_bytes() == BEFORE + FOREIGN
    undo(opened(), raised.value.data["change"])
    assert (root / "0.md").read_bytes() == BEFORE


@pytest.mark.parametrize("by", ["a later change", "another program"])
def test_the_undo_of_a_note_that_was_moved_since_is_refused_with_its_place(root: Path, opened: Opened, by: str) -> None:
    """SAFE-06: the answer was "undone", and the note was still there."""
    vault = opened()
    vault.commit("create_note", [Create("F/New.md", b"new\n")])
    if by == "a later change":
        vault.commit("move_note", [Move("F", "G")])
    else:
        (root / "F").rename(root / "G")
    vault.refresh()

    with pytest.raises(UndoConflict, match=r"moved since, to 'G/New\.md'"):
        undo(vault, 1)

    assert (root / "G/New.md").read_bytes() == b"new\n"
    _, done, left = undo(vault, 1, "current")
    assert [step.disk for step in left] == ["F/New.md"]
    assert done.change


def test_the_undo_of_a_note_that_is_gone_is_done(root: Path, opened: Opened) -> None:
    """SAFE-04"""
    vault = opened()
    vault.commit("create_note", [Create("New.md", b"new\n")])
    (root / "New.md").unlink()
    vault.refresh()

    undo(vault, 1)

    assert vault.journal.changes(None, 10, 0)[1] == 2


def test_folders_that_were_made_one_in_the_other_are_removed_after_few_looks(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-17: listing all below each of them took seconds for 200 levels"""
    vault, levels = opened(), 150
    folder = "/".join(["d"] * levels)
    vault.commit("create", [Create(folder + "/New.md", b"x")])
    scans = 0

    def count_scan(folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        nonlocal scans
        scans += 1
        return scan(folder, is_wanted)

    scan = vault.files.scan
    monkeypatch.setattr(vault.files, "scan", count_scan)
    undo(vault, 1)
    assert not (vault.files.root / "d").exists()
    assert scans < 5
