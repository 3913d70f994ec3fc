"""A batch beside programs that write while it is worked out (BATCH-02, BATCH-03, SAFE-08, SAFE-22)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.core.operations import merge as merging
from obsidian_mcp.core.operations import move
from obsidian_mcp.core.operations.batch import Call, CallSequence
from obsidian_mcp.core.operations.undo import undo
from obsidian_mcp.core.vault import change_checks
from obsidian_mcp.core.vault.draft import DraftVault
from obsidian_mcp.core.vault.operation import Create, Move, Write, removal
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, NoteExists, StaleEtag
from tests.vaults import contents, vault_on

Opened = Callable[..., Vault]
FOREIGN = "theirs\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "Old/Empty").mkdir(parents=True)
    (folder / "A.md").write_bytes(b"# A\nold\n")
    (folder / "B.md").write_bytes(b"# B\n[[A]] [[Old/C]]\n")
    (folder / "Old/C.md").write_bytes(b"# C\n")
    (folder / "Old/.hidden").write_bytes(b"settings of another program\n")
    return folder


def visible(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in contents(root).items() if not path.startswith(".trash/")}


def folders(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_dir())


def edit(name: str, line: str = "ours\n") -> Call:
    def call(drafted: DraftVault) -> Any:
        return drafted.edit("edit_note", drafted.find(name), lambda body: body + line)

    return call


def overwrite(name: str) -> Call:
    def call(drafted: DraftVault) -> Any:
        before = drafted.read_content(drafted.find(name))
        drafted.commit("create_note", [Write(before.entry.disk, before.data, b"new\n")])

    return call


def delete(name: str, *, permanent: bool) -> Call:
    return lambda drafted: drafted.commit(
        "delete_note", [removal(drafted.find(name).disk, "local", permanent=permanent)]
    )


def relocate(name: str, to: str) -> Call:
    def call(drafted: DraftVault) -> Any:
        planned = move.relocate(drafted, name, to, update_links=True)
        drafted.commit("move_note", planned.operations)

    return call


def merge(source: str, target: str) -> Call:
    def call(drafted: DraftVault) -> Any:
        planned = merging.merge(drafted, drafted.find(source), drafted.find(target))
        drafted.commit("merge_notes", planned.operations)

    return call


class Foreign:
    """Another program that appends a line to a file while a batch is worked out, so many times."""

    def __init__(self, path: Path, times: int = 1) -> None:
        self.path = path
        self.left = times

    def __call__(self, _: DraftVault) -> None:
        if self.left:
            self.left -= 1
            with self.path.open("ab") as file:
                file.write(FOREIGN.encode())


@pytest.mark.parametrize(
    ("calls", "path", "expected"),
    [
        ([edit("A")], "A.md", "# A\nold\ntheirs\nours\n"),
        ([relocate("A", "Z"), edit("Z")], "Z.md", "# A\nold\ntheirs\nours\n"),
        ([edit("A"), relocate("A", "Z")], "Z.md", "# A\nold\ntheirs\nours\n"),
        ([relocate("A", "Z")], "Z.md", "# A\nold\ntheirs\n"),
        ([merge("A", "B")], "B.md", "# B\n[[B]] [[Old/C]]\n\nold\ntheirs\n"),
        ([delete("A", permanent=False)], ".trash/A.md", "# A\nold\ntheirs\n"),
        ([overwrite("A")], "A.md", "new\n"),
        ([delete("A", permanent=False), lambda d: d.commit("create_note", [Create("A.md", b"again\n")])], "A.md", None),
    ],
)
def test_a_line_that_another_program_writes_while_a_batch_is_worked_out_is_where_single_calls_leave_it(
    root: Path, opened: Opened, calls: list[Call], path: str, expected: str | None
) -> None:
    """BATCH-03: Issue 56: the batch was answered as done, and the line was gone."""
    vault = opened()
    foreign = Foreign(root / "A.md")

    CallSequence(vault, [*calls, foreign]).make()

    assert foreign.left == 0
    if expected is not None:
        assert (root / path).read_bytes().decode() == expected
    number = vault.journal.latest()
    recorded = vault.journal.change(number)
    assert recorded is not None
    assert any(FOREIGN.encode() in (step.before or b"") for step in recorded.steps) or path == "Z.md"
    undo(vault, number)
    assert visible(root)["A.md"] == b"# A\nold\ntheirs\n"


@pytest.mark.parametrize("call", [edit("A"), overwrite("A"), merge("A", "B"), delete("A", permanent=False)])
def test_a_batch_whose_file_never_rests_is_refused_whole_with_the_call(root: Path, opened: Opened, call: Call) -> None:
    """BATCH-03, SAFE-08"""
    vault = opened()
    foreign = Foreign(root / "A.md", times=100)

    with pytest.raises(StaleEtag, match=r"A\.md") as refused:
        CallSequence(vault, [edit("Old/C"), call, foreign]).make()

    assert refused.value.data["call"] == 2
    assert (root / "A.md").read_bytes().count(FOREIGN.encode()) == 100 - foreign.left
    assert (root / "Old/C.md").read_bytes() == b"# C\n"
    assert vault.journal.latest() == 0


def test_a_batch_deletes_for_good_only_what_its_caller_could_have_seen(root: Path, opened: Opened) -> None:
    """BATCH-03: an edit is made again from the new text; a deletion would take the line along."""
    vault = opened()

    with pytest.raises(StaleEtag, match=r"A\.md") as refused:
        CallSequence(vault, [delete("A", permanent=True), Foreign(root / "A.md")]).make()

    assert refused.value.data["call"] == 1
    assert (root / "A.md").read_bytes() == b"# A\nold\ntheirs\n"


def test_a_file_that_another_program_makes_meanwhile_is_neither_overwritten_nor_removed(
    root: Path, opened: Opened
) -> None:
    """BATCH-03, SAFE-02: also where it holds the very bytes that the batch would write."""
    vault = opened()

    def another_program(_: DraftVault) -> None:
        (root / "New.md").write_bytes(b"same\n")

    with pytest.raises(NoteExists) as refused:
        CallSequence(
            vault, [edit("A"), lambda drafted: drafted.commit("x", [Create("New.md", b"same\n")]), another_program]
        ).make()

    assert refused.value.data["call"] == 2
    assert (root / "New.md").read_bytes() == b"same\n"
    assert (root / "A.md").read_bytes() == b"# A\nold\n"


def test_a_batch_rewrites_a_link_that_another_program_writes_while_it_is_worked_out(root: Path, opened: Opened) -> None:
    """BATCH-02, WATCH-10"""
    vault = opened()
    times = iter([True])

    def another_program(_: DraftVault) -> None:
        if next(times, False):
            (root / "D.md").write_bytes(b"[[A]]\n")

    CallSequence(vault, [relocate("A", "Z"), another_program]).make()

    assert (root / "D.md").read_bytes() == b"[[Z]]\n"


def test_a_batch_takes_a_new_file_of_a_folder_that_it_moves_along(root: Path, opened: Opened) -> None:
    """BATCH-02"""
    vault = opened()
    times = iter([True])

    def another_program(_: DraftVault) -> None:
        if next(times, False):
            (root / "Old/D.md").write_bytes(b"# D\n")

    CallSequence(vault, [relocate("Old", "New"), another_program]).make()

    assert folders(root) == ["New", "New/Empty"]
    assert (root / "New/D.md").read_bytes() == b"# D\n"


def test_a_batch_holds_no_lock_while_it_is_worked_out(root: Path, opened: Opened) -> None:
    """BATCH-09, INDEX-43: Issue 56: another server's edit failed after 11 s."""
    vault, other = opened(), opened()

    def another_server(_: DraftVault) -> None:
        if b"other" not in (root / "B.md").read_bytes():
            other.refresh()
            other.edit("edit_note", other.find("B"), lambda body: body + "other\n")

    CallSequence(vault, [edit("A"), another_server, edit("B")]).make()

    assert (root / "B.md").read_bytes() == b"# B\n[[A]] [[Old/C]]\nother\nours\n"
    assert (root / "A.md").read_bytes() == b"# A\nold\nours\n"


def create(disk: str) -> Call:
    return lambda drafted: drafted.commit("create_note", [Create(disk, b"text\n")])


SEQUENCES: dict[str, list[Call]] = {
    "a folder moves with all that is in it": [relocate("Old", "New")],
    "a folder moves with an edited file": [edit("C"), relocate("Old", "New"), edit("C")],
    "a folder moves twice": [relocate("Old", "New"), relocate("New", "Deep/Newer")],
    "a folder moves there and back": [relocate("Old", "New"), relocate("New", "Old")],
    "a file leaves a folder that moves": [relocate("Old/C", "C2"), relocate("Old", "New")],
    "a file leaves a folder that has moved": [relocate("Old", "New"), relocate("New/C", "C2")],
    "a file comes into a folder that has moved": [relocate("Old", "New"), relocate("A", "New/A")],
    "a file comes into a folder before it moves": [relocate("A", "Old/A"), relocate("Old", "New")],
    "a file is deleted in a folder that moves": [delete("C", permanent=False), relocate("Old", "New")],
    "a file is made in a folder that has moved": [relocate("Old", "New"), create("New/D.md")],
    "a file is made where the folder was": [relocate("Old", "New"), create("Old/D.md")],
    "a folder moves into one that has moved": [relocate("Old", "New"), create("X/D.md"), relocate("X", "New/X")],
    "a new file is deleted again": [create("Made/D.md"), delete("Made/D", permanent=True)],
    "a new file leaves its folder": [create("Made/Deep/D.md"), relocate("Made/Deep/D", "D2")],
    "a moved folder takes a new empty one along": [
        create("Old/Made/D.md"),
        relocate("Old/Made/D", "D2"),
        relocate("Old", "New"),
    ],
    "a folder is renamed inside one that moves": [relocate("Old/Empty", "Old/Still"), relocate("Old", "New")],
    "a folder is renamed inside one that has moved": [relocate("Old", "New"), relocate("New/Empty", "New/Still")],
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_batch_leaves_the_files_and_folders_that_its_calls_leave_one_by_one(
    root: Path, tmp_path: Path, opened: Opened, name: str
) -> None:
    """BATCH-02"""
    before, folders_before = visible(root), folders(root)
    one_by_one = tmp_path / "one by one/vault"
    one_by_one.mkdir(parents=True)
    for path in folders(root):
        (one_by_one / path).mkdir()
    for path, data in visible(root).items():
        (one_by_one / path).write_bytes(data)
    plain = vault_on(Disk(one_by_one))
    for call in SEQUENCES[name]:
        call(plain)  # type: ignore[arg-type]  # a vault serves as a draft of itself
    plain.close()
    vault = opened()

    CallSequence(vault, SEQUENCES[name]).make()

    assert visible(root) == visible(one_by_one)
    assert sorted(set(folders(root)) - {".trash"}) == sorted(set(folders(one_by_one)) - {".trash"})
    if vault.journal.latest():
        undo(vault, None)
        assert visible(root) == before
        assert sorted(set(folders(root)) - {".trash"}) == folders_before


def test_what_is_too_large_as_one_call_is_refused_as_a_batch(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BATCH-10"""
    monkeypatch.setattr(change_checks, "MOST_BYTES", 1_000)
    vault = opened()

    CallSequence(vault, [edit("A", "x" * 900), edit("A", "y" * 10)]).make()  # of one file, the last text counts
    with pytest.raises(InvalidArguments, match="1,000 bytes together") as refused:
        CallSequence(vault, [edit("B", "x" * 600), edit("C", "x" * 600)]).make()

    assert refused.value.data["call"] == 2
    assert (root / "B.md").read_bytes() == b"# B\n[[A]] [[Old/C]]\n"


def test_a_draft_that_ends_as_it_began_changes_nothing(root: Path, opened: Opened) -> None:
    """BATCH-01"""
    vault = opened()
    there_and_back = [relocate("A", "Z"), relocate("Z", "A")]

    made = CallSequence(vault, there_and_back).make()

    assert not [step for step in made.operations if isinstance(step, Move | Write)]
    assert vault.journal.latest() == 0
