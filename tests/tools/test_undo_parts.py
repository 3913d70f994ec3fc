"""Undo of some files of a change, or of some of its hunks (specs/safety.md SAFE-31)."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments, UndoConflict
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.vaults import contents

pytestmark = pytest.mark.usefixtures("each_disk")

LINES = [f"line {number}\r\n" for number in range(30)]
OLD = "\ufeff" + "".join(LINES)


def run(app: App, name_: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{name_}", arguments).data


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for name in ("A", "B", "終"):
        (root / f"{name}.md").write_bytes(OLD.encode())
    return root


@pytest.fixture
def app(vault: Path) -> App:
    """Change 1 replaces words in all three notes, each in three places far from each other."""
    opened = app_on(vault)
    replaced = run(opened, "replace", find=r"line (3|14|25)\b", content="LINE $1!", regex=True, query="line")
    assert replaced["change"] == 1
    return opened


def text_with(*changed: int) -> bytes:
    """A note in which these of the three places are changed."""
    lines = [f"LINE {number}!\r\n" if number in changed else line for number, line in enumerate(LINES)]
    return ("\ufeff" + "".join(lines)).encode()


def test_history_numbers_the_hunks_of_each_file(app: App) -> None:
    shown = run(app, "history", change=1, name="A")["diff"]
    assert [line.rpartition("@@ ")[2] for line in shown.splitlines() if line.startswith("@@")] == [
        "hunk 1",
        "hunk 2",
        "hunk 3",
    ]
    assert run(app, "history", change=1, name="B")["diff"].count("hunk 1\n") == 1


def test_one_file_of_a_change_is_taken_back_and_its_undo_brings_it_again(app: App, vault: Path) -> None:
    after = contents(vault)

    undone = run(app, "undo", change=1, paths=["B"])

    assert undone["files"] == ["B.md"]
    assert contents(vault) == after | {"B.md": OLD.encode()}
    latest, first = run(app, "history")["changes"]
    assert (latest["undoes_part"], latest.get("undoes"), first.get("undone_by")) == (1, None, None)
    run(app, "undo", change=undone["change"])
    assert contents(vault) == after


def test_one_hunk_after_the_other_is_taken_back_until_nothing_is_left(app: App, vault: Path) -> None:
    run(app, "undo", change=1, paths=["終.md"], hunks=[2])
    assert (vault / "終.md").read_bytes() == text_with(3, 25)
    run(app, "undo", change=1, paths=["終"], hunks=[1, 3])
    assert (vault / "終.md").read_bytes() == OLD.encode()
    with pytest.raises(UndoConflict, match="is as it was before the change already"):
        run(app, "undo", change=1, paths=["終"], hunks=[2])


def test_the_whole_of_a_change_can_be_undone_after_a_part_of_it(app: App, vault: Path) -> None:
    run(app, "undo", change=1, paths=["A"], hunks=[1])
    run(app, "undo", paths=["B"])

    run(app, "undo")

    assert set(contents(vault).values()) >= {OLD.encode()}
    assert all((vault / f"{name}.md").read_bytes() == OLD.encode() for name in ("A", "B", "終"))
    assert run(app, "history", limit=10)["changes"][-1]["undone_by"] == 4


@pytest.mark.parametrize("seed", range(12))
def test_any_hunks_are_taken_back_as_by_hand_and_their_undo_brings_every_byte_again(
    app: App, vault: Path, seed: int
) -> None:
    chance = random.Random(seed)
    places, before = {1: 3, 2: 14, 3: 25}, contents(vault)
    steps: list[tuple[int, dict[str, bytes]]] = []
    changed = set(places)
    while changed:
        hunks = set(chance.sample(sorted(changed), chance.randint(1, len(changed))))
        changed -= hunks
        steps.append((0, contents(vault)))
        number = run(app, "undo", change=1, paths=["A.md"], hunks=sorted(hunks))["change"]
        steps[-1] = (number, steps[-1][1])
        assert (vault / "A.md").read_bytes() == text_with(*(places[hunk] for hunk in changed))
    for number, content in reversed(steps):
        run(app, "undo", change=number)
        assert contents(vault) == content
    assert contents(vault) == before


def test_a_hunk_of_a_file_that_was_edited_since_is_refused_or_merged(app: App, vault: Path) -> None:
    edited = (vault / "A.md").read_bytes().replace(b"line 20\r", b"mine\r")
    (vault / "A.md").write_bytes(edited)

    with pytest.raises(UndoConflict, match="has changed since"):
        run(app, "undo", change=1, paths=["A"], hunks=[1])
    assert (vault / "A.md").read_bytes() == edited
    run(app, "undo", change=1, paths=["A"], hunks=[1], wins="both")
    assert (vault / "A.md").read_bytes() == text_with(14, 25).replace(b"line 20\r", b"mine\r")


def test_what_was_edited_since_on_the_lines_of_a_hunk_is_never_overwritten(app: App, vault: Path) -> None:
    edited = (vault / "A.md").read_bytes().replace(b"LINE 3!", b"mine")
    (vault / "A.md").write_bytes(edited)

    for wins in ("neither", "both"):
        with pytest.raises(UndoConflict):
            run(app, "undo", change=1, paths=["A"], hunks=[1], wins=wins)
    assert (vault / "A.md").read_bytes() == edited


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"paths": ["C"]}, r"Change 1 did not touch 'C'. Its files: 'A.md', 'B.md', '終.md'"),
        ({"hunks": [1]}, r"numbered in each file.*'A.md', 'B.md'"),
        ({"hunks": [1], "paths": ["A", "B"]}, "give one path"),
        ({"hunks": [4], "paths": ["A"]}, "no hunk 4 of 'A.md': they are numbered from 1 to 3"),
        ({"hunks": [0], "paths": ["A"]}, "no hunk 0"),
    ],
)
def test_a_part_that_is_not_there_is_refused_with_what_there_is(
    app: App, vault: Path, arguments: dict[str, Any], message: str
) -> None:
    before = contents(vault)
    with pytest.raises(InvalidArguments, match=message):
        run(app, "undo", change=1, **arguments)
    assert contents(vault) == before


def test_a_moved_note_goes_back_with_the_links_to_it_or_not_at_all(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    (root / "Old.md").write_text("me: [[Old]]\n" + "\n" * 9 + "text\n", "utf-8")
    (root / "Other.md").write_text("[[Old]]\n", "utf-8")
    app, before = app_on(root), contents(root)
    number = run(app, "move_note", name="Old", to="New")["change"]
    moved = contents(root)

    with pytest.raises(InvalidArguments, match=r"moved 'Old.md', and changed links for it in 'Other.md'"):
        run(app, "undo", change=number, paths=["New"])
    assert contents(root) == moved
    run(app, "undo", change=number, paths=["Old.md", "Other"])
    assert contents(root) == before
    assert run(app, "history")["changes"][-1]["undone_by"] == number + 1


def test_a_hunk_of_a_note_that_the_change_moved_is_taken_back_where_it_is_now(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    (root / "Old.md").write_text("me: [[Old]]\n", "utf-8")
    app = app_on(root)
    number = run(app, "move_note", name="Old", to="New")["change"]
    assert (root / "New.md").read_text("utf-8") == "me: [[New]]\n"

    run(app, "undo", change=number, paths=["New"], hunks=[1])

    assert (root / "New.md").read_text("utf-8") == "me: [[Old]]\n"


def test_the_undo_of_a_new_note_names_where_a_later_move_and_a_person_have_put_it(tmp_path: Path) -> None:
    """SAFE-06"""
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    app = app_on(root)
    number = run(app, "create_note", name="New", content="new\n")["change"]
    run(app, "move_note", name="New", to="Later/New")
    (root / "By hand").mkdir()
    (root / "Later/New.md").rename(root / "By hand/New.md")

    with pytest.raises(UndoConflict, match=r"moved since, to 'By hand/New\.md'"):
        run(app, "undo", change=number)
    (root / "By hand/New.md").rename(root / "By hand/Renamed.md")
    with pytest.raises(UndoConflict, match=r"moved since, to 'By hand/Renamed\.md'"):
        run(app, "undo", change=number)
    with pytest.raises(UndoConflict, match=r"moved since, to 'By hand/Renamed\.md'"):
        run(app, "undo", change=number, wins="both")


@pytest.mark.parametrize("wins", ["neither", "undo", "current", "both"])
@pytest.mark.parametrize("by", ["an edit elsewhere", "a removal"])
def test_the_undo_of_a_new_note_that_is_gone_names_it_as_left_and_not_as_undone(
    tmp_path: Path, by: str, wins: str
) -> None:
    """SAFE-06: `files: ["New.md"]`, and the note was in another folder, with a line more."""
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    (root / "Old.md").write_bytes(b"new\n")
    os.utime(root / "Old.md", (0, 0))
    app = app_on(root)
    number = run(app, "create_note", name="New", content="new\n")["change"]
    if by == "a removal":
        (root / "New.md").unlink()
    else:
        (root / "F").mkdir()
        (root / "New.md").rename(root / "F/New.md")
        (root / "F/New.md").write_bytes(b"new\nand more\n")
    before = contents(root)

    answer = run(app, "undo", change=number, wins=wins)

    assert (answer["files"], answer["left"]) == ([], ["New.md"])
    assert contents(root) == before
    assert run(app, "history")["changes"][-1]["undone_by"] == answer["change"]


def test_a_new_note_is_taken_back_whole_and_has_no_hunks(tmp_path: Path) -> None:
    """SAFE-31"""
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    app = app_on(root)
    number = run(app, "create_note", name="New", content="new\n")["change"]

    with pytest.raises(InvalidArguments, match="whole"):
        run(app, "undo", change=number, paths=["New"], hunks=[1])
    run(app, "undo", change=number, paths=["New"])
    assert not (root / "New.md").exists()


def test_a_folder_that_a_change_made_goes_with_the_last_of_its_files(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    app = app_on(root)
    calls = [
        {"tool": "obsidian_create_note", "arguments": {"name": f"Deep/er/{name}", "content": "new\n"}} for name in "AB"
    ]
    number = run(app, "batch", calls=calls)["change"]

    run(app, "undo", change=number, paths=["Deep/er/A"])
    assert [path for path in contents(root) if path.startswith("Deep")] == ["Deep/er/B.md"]
    run(app, "undo", change=number, paths=["Deep/er/B.md"])
    assert not (root / "Deep").exists()


def test_a_file_that_is_no_text_is_taken_back_whole_only(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    app = app_on(root)
    number = run(app, "create_note", name="New", content="new\n")["change"]

    with pytest.raises(InvalidArguments, match=r"has no hunks of 'New.md'.*Take it back whole"):
        run(app, "undo", change=number, paths=["New"], hunks=[1])
    run(app, "undo", change=number, paths=["New"])
    assert not (root / "New.md").exists()
