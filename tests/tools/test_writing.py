"""Tools that change the vault: what they change, what they keep, what they refuse."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import AppError, InvalidName, NoteExists, PermissionDenied
from obsidian_mcp.tools.registry import call
from tests.conftest import VaultCopy, app_on
from tests.tools.conftest import Opened

pytestmark = pytest.mark.usefixtures("disk_of_macos")


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).data


def test_a_new_note_is_made_with_its_folders_and_exactly_its_content(app: App, basic: Path) -> None:
    """SAFE-10, NAME-08"""
    answer = run(app, "create_note", name="New/Deep/Note", content="# Ü\n\nno newline at the end")

    assert answer["path"] == "New/Deep/Note.md"
    assert answer["created"] is True
    assert (basic / "New/Deep/Note.md").read_bytes() == "# Ü\n\nno newline at the end".encode()
    assert {path.name for path in basic.iterdir()} >= {"New", "Home.md", ".obsidian"}
    assert not [path for path in basic.rglob(".*") if path.name != ".obsidian"]


def test_an_existing_note_is_refused_without_overwrite_however_it_is_spelled(app: App, basic: Path) -> None:
    before = (basic / "Home.md").read_bytes()

    for name in ("Home", "home.MD", "HOME"):
        with pytest.raises(NoteExists):
            run(app, "create_note", name=name, content="x")
    assert (basic / "Home.md").read_bytes() == before


def test_a_note_in_the_place_of_a_folder_is_refused_and_nothing_of_it_is_taken_back_later(
    app: App, basic: Path
) -> None:
    """SAFE-02, SAFE-03"""
    (basic / "Clip.md").mkdir()
    with pytest.raises(NoteExists):
        run(app, "create_note", name="Clip", content="x")

    (basic / "Clip.md").rmdir()
    (basic / "Clip.md").write_bytes(b"x")
    run(app, "create_note", name="Other", content="y")

    assert (basic / "Clip.md").read_bytes() == b"x"


def test_overwriting_keeps_line_ends_and_byte_order_mark(app: App, basic: Path) -> None:
    """FILE-04"""
    (basic / "Home.md").write_bytes(b"\xef\xbb\xbfold\r\nlines\r\n")

    answer = run(app, "create_note", name="Home", content="new\nlines\n", overwrite=True)

    assert answer["created"] is False
    assert (basic / "Home.md").read_bytes() == b"\xef\xbb\xbfnew\r\nlines\r\n"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("New", "In/box/New.md"),
        ("v1.2", "In/box/v1.2.md"),
        ("./New", "New.md"),
        ("New.md", "New.md"),
        ("Work/New", "Work/New.md"),
    ],
)
def test_a_note_without_a_folder_goes_where_the_settings_put_new_notes(opened: Opened, name: str, path: str) -> None:
    """NAME-13"""
    app = opened({"Old.md": ""}, app={"newFileLocation": "folder", "newFileFolderPath": "In/box"})
    assert run(app, "create_note", name=name)["path"] == path
    with pytest.raises(NoteExists, match=r"^'Old\.md'"):
        run(app, "create_note", name="Old")


def test_a_name_that_makes_links_ambiguous_is_created_with_a_warning(app: App, basic: Path) -> None:
    answer = run(app, "create_note", name="Alpha")

    assert "ambiguous" in answer["warnings"][0]
    assert (basic / "Alpha.md").read_bytes() == b""


@pytest.mark.parametrize("name", ["../out", "/abs", ".hidden", "a/../../b", "C:\\x", "x\0y", "\\\\server\\x"])
@pytest.mark.parametrize("tool", ["create_note", "read_note", "delete_note", "get_links"])
def test_nothing_outside_the_vault_is_touched(app: App, basic: Path, tool: str, name: str) -> None:
    outside = sorted(path.name for path in basic.parent.iterdir())

    with pytest.raises(PermissionDenied):
        run(app, tool, name=name)
    assert sorted(path.name for path in basic.parent.iterdir() if path.name not in ("cache", "state")) == outside


@pytest.mark.parametrize("name", ["CON", "what?", "trailing ", "日" * 90])
def test_names_that_do_not_sync_everywhere_are_refused(app: App, name: str) -> None:
    """NAME-07"""
    if name.strip() == name:
        with pytest.raises(InvalidName):
            run(app, "create_note", name=name)
    else:
        assert run(app, "create_note", name=name)["path"] == f"{name.strip()}.md"


def test_a_deleted_note_goes_where_the_vault_says(app: App, basic: Path) -> None:
    """FILE-09"""
    answer = run(app, "delete_note", name="Jonas Weiß")

    assert answer == {
        "path": "People/Jonas Weiß.md",
        "trashed": True,
        "location": ".trash/Jonas Weiß.md",
        "change": 1,
    }
    assert (basic / ".trash/Jonas Weiß.md").exists()
    assert run(app, "delete_note", name="Alpha", permanent=True)["trashed"] is False
    assert not (basic / "Projects/Alpha.md").exists()
    assert not (basic / ".trash/Alpha.md").exists()


def test_broken_settings_of_the_app_are_said_and_delete_nothing_for_good(app: App, basic: Path) -> None:
    """FILE-16"""
    (basic / ".obsidian").mkdir(exist_ok=True)
    (basic / ".obsidian/app.json").write_text('{"trashOption": "local", }', encoding="utf-8", newline="\n")
    deleted = run(app, "delete_note", name="Home")
    created = run(app, "create_note", name="Heron", content="[[Alpha]]")
    moved = run(app, "move_note", name="Alpha", to="Beta")
    merged = run(app, "compose_notes", action="merge", name="Heron", into="Beta")
    attached = run(app, "add_attachment", name="a.png", data="AAAA")

    assert deleted["location"] == ".trash/Home.md"
    for answer in (deleted, created, moved, merged, attached):
        assert [text for text in answer["warnings"] if ".obsidian/app.json cannot be read" in text] == [
            answer["warnings"][-1]
        ]
    assert "warnings" not in run(app, "create_note", name="Birds/Egret")


def test_every_change_can_be_undone_and_the_undo_too(app: App, basic: Path) -> None:
    home = (basic / "Home.md").read_bytes()
    run(app, "create_note", name="Home", content="gone", overwrite=True)
    run(app, "delete_note", name="Alpha", permanent=True)
    run(app, "create_note", name="Fresh", content="x")
    listed = run(app, "history")

    assert [change["tool"] for change in listed["changes"]] == ["create_note", "delete_note", "create_note"]
    for _ in range(3):
        undone = run(app, "undo")
    assert (basic / "Home.md").read_bytes() == home
    assert (basic / "Projects/Alpha.md").exists()
    assert not (basic / "Fresh.md").exists()
    run(app, "undo", change=undone["change"])
    assert (basic / "Home.md").read_bytes() == b"gone"
    assert run(app, "undo")["undone"] == undone["undone"]


def test_an_undo_is_refused_when_the_file_has_changed_since(app: App, basic: Path) -> None:
    """SAFE-06"""
    run(app, "create_note", name="N", content="one\ntwo\nthree\nfour\n")
    run(app, "create_note", name="N", content="ONE\ntwo\nthree\nfour\n", overwrite=True)
    (basic / "N.md").write_bytes(b"ONE\ntwo\nthree\nFOUR\n")

    with pytest.raises(AppError) as refused:
        run(app, "undo")
    assert refused.value.error_code == "UNDO_CONFLICT"
    assert "-one" in refused.value.message
    assert "+FOUR" in refused.value.message
    (basic / "N.md").write_bytes(b"1\ntwo\nthree\nFOUR\n")
    with pytest.raises(AppError, match="changed since, so nothing was undone") as refused:
        run(app, "undo", wins="both")
    assert "'both'" not in refused.value.message  # it was tried
    (basic / "N.md").write_bytes(b"ONE\ntwo\nthree\nFOUR\n")
    run(app, "undo", wins="both")
    assert (basic / "N.md").read_bytes() == b"one\ntwo\nthree\nFOUR\n"


def test_an_undo_says_which_files_it_left_as_they_are(app: App, basic: Path) -> None:
    """SAFE-06"""
    for name in ("There", "Then"):
        run(app, "create_note", name=name, content="x")
    run(app, "move_note", names=["There", "Then"], to="Gone/")
    (basic / "There.md").write_bytes(b"another\n")  # the old name is taken
    undone = run(app, "undo", wins="current")
    assert (undone["files"], undone["left"]) == (["Then.md -> Gone/Then.md"], ["There.md -> Gone/There.md"])
    assert (basic / "Gone/There.md").read_bytes() == b"x"
    assert (basic / "Then.md").read_bytes() == b"x"


def test_the_history_of_one_note_has_a_diff_on_demand(app: App) -> None:
    run(app, "create_note", name="Fresh", content="x\n")
    run(app, "delete_note", name="Alpha")

    listed = run(app, "history", name="Fresh")
    assert [change["files"] for change in listed["changes"]] == [["Fresh.md"]]
    shown = run(app, "history", change=listed["changes"][0]["change"])
    assert "+x" in shown["diff"]
    assert run(app, "history", name="Alpha")["total"] == 1


def test_several_vaults_are_kept_apart(vault_copy: VaultCopy) -> None:
    app = app_on(vault_copy("basic"), vault_copy("same_name"))

    assert run(app, "vault_info")["vaults"] == ["basic", "same_name"]
    assert run(app, "create_note", name="x", vault="SAME_NAME")["path"] == "x.md"
    assert [file["path"] for file in run(app, "list_files", vault="same_name", details=True)["files"]] == [
        "Note.md",
        "x.md",
    ]
    with pytest.raises(AppError) as error:
        run(app, "vault_info", vault="other")
    assert error.value.code == -32002
    app.vaults.close()


def test_links_stay_with_a_moved_note_whose_old_name_another_one_has_now(app: App, basic: Path) -> None:
    """SAFE-06"""
    run(app, "create_note", name="Here", content="[[There]]")
    run(app, "create_note", name="There", content="x")
    run(app, "move_note", name="There", to="Gone")
    (basic / "There.md").write_bytes(b"another\n")
    undone = run(app, "undo", wins="current")
    assert (undone["files"], undone["left"]) == ([], ["There.md -> Gone.md", "Here.md"])
    assert (basic / "Here.md").read_bytes() == b"[[Gone]]"
    assert (basic / "Gone.md").read_bytes() == b"x"


def test_an_answer_shows_what_changed_and_under_which_number(app: App, basic: Path) -> None:
    """TOOL-31"""
    (basic / "Windows.md").write_bytes(b"one\r\ntwo\r\n")
    (basic / "Long.md").write_text(
        "".join(f"line {number} of a long note\n" for number in range(200)), encoding="utf-8", newline="\n"
    )

    made = run(app, "create_note", name="New", content="# New\n")
    added = run(app, "edit_note", name="Windows", operation="append", content="three")
    many = run(app, "replace", query="path:Long", find="line", content="row")

    assert (made["change"], added["change"], many["change"]) == (1, 2, 3)
    assert "diff" not in made  # the caller has just written it
    assert added["diff"] == "@@ -2,0 +3 @@\n+three\r\n"
    assert added["line_ends"] == "CRLF"
    assert "line_ends" not in many
    assert many["diff"] == "Long.md:\n200 lines as:\n-line 0 of a long note\n+row 0 of a long note\n"
    assert "diff_left_out" not in many


def test_what_a_batch_changed_is_in_its_answer_whole_up_to_4_kb(app: App, basic: Path) -> None:
    """TOOL-31: without it, assistants read every note again"""
    names = [f"Meeting {number:02}" for number in range(12)]
    for number, name in enumerate(names):
        text = f"# Talk {number}\n\nWe met in room {number} and spoke of matter {number}.\n\n- [ ] item {number}\n"
        (basic / f"{name}.md").write_text(text, encoding="utf-8", newline="\n")
    calls = [
        {
            "tool": "edit_note",
            "name": name,
            "operation": "replace_text",
            "find": f"room {number}",
            "content": f"hall {number}",
        }
        for number, name in enumerate(names)
    ]
    calls += [{"tool": "edit_note", "name": name, "operation": "append", "content": "See you."} for name in names[:5]]
    calls.append({"tool": "create_note", "name": "Minutes", "content": "# Minutes\n\nof all\n"})

    made = run(app, "batch", calls=calls)

    assert "diff_left_out" not in made
    for number, name in enumerate(names):
        assert f"{name}.md:\n@@ -3 +3 @@\n-We met in room {number} and spoke" in made["diff"]
        assert f"+We met in hall {number} and spoke of matter {number}.\n" in made["diff"]
    assert made["diff"].count("+See you.\n") == 5
    assert "Minutes" not in made["diff"]  # it is what the call brought
    assert len(made["diff"].encode()) <= 4096


def test_beyond_4_kb_each_kind_of_change_is_in_the_answer(app: App, basic: Path) -> None:
    """TOOL-31"""
    for number in range(60):
        text = f"# Note {number}\n\nThe old mill stands by the river, and note {number} says so at length.\n\nend\n"
        (basic / f"Old {number:02}.md").write_text(text, encoding="utf-8", newline="\n")
    calls = [
        {"tool": "replace", "query": "path:Old", "find": "old mill", "content": "new mill"},
        {"tool": "replace", "query": "path:Old", "find": "end", "content": "fin"},
    ]

    made = run(app, "batch", calls=calls)

    assert made["diff"].count("60 lines in 60 files") == 2
    assert "diff_left_out" not in made


def test_lines_that_the_call_brought_are_not_sent_back_in_full(app: App, basic: Path) -> None:
    """TOOL-31"""
    lines = [f"Line {number} of a long text that somebody dictated" for number in range(40)]

    run(app, "create_note", name="Dictated", content="# Dictated\n")
    added = run(app, "edit_note", name="Dictated", operation="append", content="\n".join(lines))

    assert f"+{lines[0]}\n… 38 lines as given\n+{lines[-1]}" in added["diff"]
    assert "diff_left_out" not in added


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"])
@pytest.mark.parametrize("name", ["a.png", "a.pdf", "a.mp3", "a.bin"])
def test_a_file_without_lines_shows_none_and_has_no_line_ends(app: App, name: str, data: bytes) -> None:
    """TOOL-31"""
    given = {"name": name, "data": base64.b64encode(data).decode()}
    alone = run(app, "add_attachment", **given)
    run(app, "undo")
    planned = run(app, "batch", calls=[{"tool": "add_attachment", **given}], dry_run=True)

    assert alone["change"] == 1
    assert not {"diff", "diff_left_out", "line_ends"} & alone.keys()
    assert planned["diff"] == f"{alone['path']}: {len(data)} bytes that are no text\n"


def test_of_a_very_wide_line_what_changes_is_shown_and_a_mark_of_no_newline_with_its_line(
    app: App, basic: Path
) -> None:
    """TOOL-31"""
    (basic / "Wide.md").write_text("a old\u2028" + "é" * 3000, encoding="utf-8", newline="\n")
    (basic / "Odd\u2028name.md").write_text("old", encoding="utf-8", newline="\n")

    wide = run(app, "replace", query="path:Wide", find="old", content="new")
    odd = run(app, "replace", query="path:Odd", find="old", content="new")

    around = "\u2028" + "é" * 59 + "\n"
    assert wide["diff"] == f"Wide.md:\n-a old{around}+a new{around}"
    assert odd["diff"] == ("@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n")
    assert "diff_left_out" not in odd


def test_blank_lines_are_no_kind_of_change_but_where_nothing_else_changes(app: App, basic: Path) -> None:
    """TOOL-31"""
    for number in range(3):
        (basic / f"Old {number}.md").write_text("# Old\none\n\n\ntwo\n", encoding="utf-8", newline="\n")

    spaced = run(app, "replace", query="path:Old", find="one\n", content="one\n\n")
    written = run(app, "replace", query="path:Old", find="two\n", content="\n\n\nthree\n\n")

    assert spaced["diff"] == "3 blank lines in 3 files\n"
    assert written["diff"] == "3 lines in 3 files, as in Old 0.md:\n-two\n3 lines in 3 files, as in Old 0.md:\n+three\n"


def test_a_change_of_many_files_says_how_many_lines_of_how_many_changed_alike(app: App, basic: Path) -> None:
    """TOOL-31"""
    for number in range(30):
        (basic / f"Old {number:02}.md").write_text(f"{number} one\n{number} two\n", encoding="utf-8", newline="\n")
    (basic / "Old 30.md").write_text("one and one\nonely\n", encoding="utf-8", newline="\n")

    made = run(app, "replace", query="path:Old", find="one", content="1")
    batch = run(
        app,
        "batch",
        calls=[
            {"tool": "edit_note", "arguments": {"name": "Old 01", "operation": "append", "content": "three"}},
            {"tool": "create_note", "arguments": {"name": "Fresh", "content": "# Fresh\n\ntext\n"}},
        ],
    )

    assert made["diff"] == (
        "30 lines in 30 files, as in Old 00.md:\n-0 one\n+0 1\nOld 30.md:\n-one and one\n+1 and 1\n-onely\n+1ly\n"
    )
    assert "diff_left_out" not in made
    assert batch["diff"] == "Old 01.md:\n@@ -2,0 +3 @@\n+three\n"


def test_of_a_very_large_text_no_lines_are_compared_for_the_answer(app: App, basic: Path) -> None:
    """TOOL-31: it took 19 s and 4 GB"""
    (basic / "Large.md").write_bytes(b"line\n" * 3_300_000)

    with call_with(limit=Deadline(10)):
        answer = run(app, "edit_note", name="Large", operation="append", content="last")

    assert answer["diff_left_out"] == "1 file"
    assert "diff" not in answer
