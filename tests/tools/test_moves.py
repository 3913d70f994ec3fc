"""Moving notes and folders: links follow, everything else stays, and it is one change (specs/rename.md)."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.folder import VaultFolder
from obsidian_mcp.app import App
from obsidian_mcp.core.operations import new_file
from obsidian_mcp.errors import AmbiguousName, AppError, InvalidArguments, InvalidName, NoteExists
from obsidian_mcp.tools.registry import call
from tests.system import needs
from tests.tools.conftest import Opened
from tests.vaults import contents

pytestmark = pytest.mark.usefixtures("each_disk")


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).data


def test_links_of_every_form_follow_a_renamed_note(app: App, basic: Path) -> None:
    before = contents(basic)
    answer = run(app, "move_note", name="Alpha", to="Beta")

    assert (answer["path"], answer["to"], answer["moved"]) == ("Projects/Alpha.md", "Projects/Beta.md", True)
    assert {file["path"] for file in answer["updated"]} == {
        "Board.canvas",
        "Home.md",
        "People/Mori Ayumi.md",
        "Projects/Tower clock.md",
    }
    after = contents(basic)
    assert after.pop("Projects/Beta.md") == before.pop("Projects/Alpha.md")
    assert b"[[Beta|Project Alpha]]" in after["Home.md"]
    assert b'"file":"Projects/Beta.md"' in after["Board.canvas"]
    for path, data in before.items():
        restored = after[path].replace(b"Projects/Beta", b"Projects/Alpha").replace(b"[[Beta", b"[[Alpha")
        assert restored == data.replace(b"[[Projects/Alpha|", b"[[Alpha|")


@pytest.mark.parametrize(
    ("folder", "number", "words"),
    [
        ("People", errno.EMFILE, "too many files are open"),
        ("People", errno.EIO, "input/output"),
        ("", errno.EPERM, "does not allow listing"),
    ],
)
def test_nothing_is_renamed_while_notes_that_may_link_cannot_be_listed(
    app: App, basic: Path, monkeypatch: pytest.MonkeyPatch, folder: str, number: int, words: str
) -> None:
    """FILE-13"""
    listing = VaultFolder.listing

    def failing(self: VaultFolder, disk: str) -> contextlib.AbstractContextManager[Any]:
        if disk == folder:
            raise OSError(number, os.strerror(number))
        return listing(self, disk)

    before = contents(basic)
    with monkeypatch.context() as broken:
        broken.setattr(VaultFolder, "listing", failing)
        with pytest.raises(AppError, match=words):
            run(app, "move_note", name="Alpha", to="Beta")
    assert contents(basic) == before
    answer = run(app, "move_note", name="Alpha", to="Beta")
    assert "People/Mori Ayumi.md" in {file["path"] for file in answer["updated"]}


def test_links_in_nested_lists_follow_a_renamed_note(app: App, basic: Path) -> None:
    note = basic / "Outline.md"
    note.write_text("- [a](Heron.md)\n    - b\n    - [c](Heron.md)\n- [d](Heron.md)\n", "utf-8", newline="\n")
    (basic / "Heron.md").write_text("", "utf-8")
    run(app, "move_note", name="Heron", to="Crane")

    assert note.read_text("utf-8") == "- [a](Crane.md)\n    - b\n    - [c](Crane.md)\n- [d](Crane.md)\n"


def test_an_ideographic_space_in_a_new_name_leaves_markdown_links_links(app: App, basic: Path) -> None:
    """LINK-25"""
    note = basic / "Outline.md"
    note.write_text("[a](Heron.md) [b](<Heron.md>)\n", "utf-8", newline="\n")
    (basic / "Heron.md").write_text("", "utf-8")
    run(app, "move_note", name="Heron", to="会議　メモ")

    assert note.read_text("utf-8") == "[a](会議%E3%80%80メモ.md) [b](<会議　メモ.md>)\n"
    run(app, "move_note", name="会議　メモ", to="Heron")
    assert note.read_text("utf-8") == "[a](Heron.md) [b](<Heron.md>)\n"


def test_a_move_and_its_undo_leave_every_byte_as_it_was(app: App, basic: Path) -> None:
    """MOVE-02"""
    before = contents(basic)
    for name, to in [("Alpha", "Archive/Old/Alpha"), ("Projects", "Work"), ("wheel.svg", "gear"), ("Home", "HOME")]:
        run(app, "move_note", name=name, to=to)
    assert (basic / "Work/Tower clock.md").exists()
    assert (basic / "Attachments/gear.svg").exists()
    assert (basic / "HOME.md").exists()
    for _ in range(4):
        run(app, "undo")

    assert contents(basic) == before


def test_a_dry_run_shows_every_file_and_line_and_changes_nothing(app: App, basic: Path) -> None:
    """MOVE-04"""
    before = contents(basic)
    answer = run(app, "move_note", name="Tower clock", to="Clocks/", dry_run=True)

    assert answer["to"] == "Clocks/Tower clock.md"
    assert answer["moved"] is False
    assert contents(basic) == before
    answer = run(app, "move_note", name="Reading list", to="Books", dry_run=True)
    assert {"path": "People/Jonas Weiß.md", "lines": [6]} in answer["updated"]
    assert "Books#This year" in answer["diff"]


@pytest.mark.parametrize(
    ("name", "to", "path"),
    [
        ("Alpha", "Beta", "Projects/Beta.md"),
        ("Alpha", "/Beta", "Beta.md"),
        ("Alpha", "/", "Alpha.md"),
        ("Alpha", "Journal", "Journal/Alpha.md"),
        ("Alpha", "journal/", "Journal/Alpha.md"),
        ("Alpha", "New/Deep/", "New/Deep/Alpha.md"),
        ("Alpha", "New/Beta.md", "New/Beta.md"),
        ("Alpha", "v1.2", "Projects/v1.2.md"),
        ("wheel.svg", "Pictures/gear", "Pictures/gear.svg"),
        ("Reading", "Lesen", "Lesen"),
        ("Reading", "Archive/Lesen", "Archive/Lesen"),
        ("Reading", "Archive/", "Archive/Reading"),
    ],
)
def test_the_target_is_what_a_person_means(app: App, basic: Path, name: str, to: str, path: str) -> None:
    """MOVE-01"""
    assert run(app, "move_note", name=name, to=to)["to"] == path
    assert (basic / path).exists()


def test_nothing_is_moved_over_another_file(app: App, basic: Path) -> None:
    """MOVE-03"""
    before = contents(basic)
    for name, to in [
        ("Alpha", "Tower clock"),
        ("Alpha", "/home"),
        ("Alpha", "Alpha"),
    ]:
        with pytest.raises(AppError):
            run(app, "move_note", name=name, to=to)
    with pytest.raises(NoteExists):
        run(app, "move_note", name="Home", to="Projects/alpha.MD")
    with pytest.raises(InvalidName):
        run(app, "move_note", name="Projects", to="Projects/Inner")
    assert contents(basic) == before


def test_a_name_that_a_note_and_a_folder_have_is_not_guessed(app: App, basic: Path) -> None:
    """MOVE-06"""
    (basic / "Deep").mkdir()
    (basic / "Deep/Projects.md").write_bytes(b"a note of the folder's name")
    before = contents(basic)
    with pytest.raises(AmbiguousName) as refused:
        run(app, "move_note", name="Projects", to="Work")
    assert refused.value.data["candidates"] == ["Deep/Projects.md", "Projects/"]
    assert contents(basic) == before
    assert run(app, "move_note", name="Projects/", to="Work")["to"] == "Work"
    assert (basic / "Work/Alpha.md").exists()
    assert run(app, "move_note", name="Deep/Projects.md", to="Deep/Plans")["to"] == "Deep/Plans.md"


def test_links_can_be_left_alone(app: App, basic: Path) -> None:
    home = (basic / "Home.md").read_bytes()
    run(app, "move_note", name="Alpha", to="Beta", update_links=False)

    assert (basic / "Home.md").read_bytes() == home


def test_a_relative_link_of_a_moved_note_still_leads_where_it_led(app: App, basic: Path) -> None:
    run(app, "move_note", name="Alpha", to="Deep/er/Alpha")

    assert b"](Reading%20list.md)" in (basic / "Deep/er/Alpha.md").read_bytes()


def test_a_renamed_tag_is_renamed_everywhere_with_what_is_nested(app: App, basic: Path) -> None:
    """TAG-30"""
    before = contents(basic)
    shown = run(app, "rename_tag", tag="work", to="job", dry_run=True)
    assert contents(basic) == before
    answer = run(app, "rename_tag", tag="#work", to="job")

    assert answer["changed"] == shown["changed"] == ["Projects/Alpha.md", "Projects/Tower clock.md"]
    after = contents(basic)
    for path, data in before.items():
        assert after[path] == data.replace(b"work/clocks", b"job/clocks")
    assert run(app, "tags", tag="work")["total"] == 0
    run(app, "undo")
    assert contents(basic) == before


def test_a_folder_in_another_case_names_only_the_notes_whose_links_change(app: App, basic: Path) -> None:
    """RENAME-13"""
    (basic / "Short.md").write_bytes(b"[[Alpha]]")
    (basic / "Long.md").write_bytes(b"[[Projects/Alpha]]")
    answer = run(app, "move_note", name="Projects", to="projects")

    named = [file["path"] for file in answer["updated"]]
    assert "Short.md" not in named
    assert "Long.md" in named
    assert run(app, "undo")["files"][-1] == "Projects -> projects"


def test_a_tag_that_nothing_has_is_said(app: App) -> None:
    """TAG-30"""
    answer = run(app, "rename_tag", tag="wrok", to="job")

    assert answer["total"] == 0
    assert answer["warnings"] == ["Nothing has the tag #wrok. obsidian_tags lists the tags that there are."]


def test_queries_that_still_name_a_renamed_tag_are_said(app: App, basic: Path) -> None:
    """TAG-32"""
    base = 'filters:\n  and:\n    - file.hasTag("Work")\n    - status == "work"\n    - file.tags.contains("workshop")\n'
    (basic / "Jobs.base").write_text(base, encoding="utf-8", newline="\n")
    dashboard = (
        'The work of `#work`.\n\n```dataview\nLIST FROM #work/clocks AND -#done\nWHERE kind = "work"\n```\n\n'
        "> ```tasks\n> not done\n> (tags include #work) OR (done)\n> ```\n\n~~~query\n-tag:#work\n~~~\n\n"
        "```base\nfilters: 'file.hasTag(\"x\", \"work\")'\n```\n\n```js\ntag('#work')\n```\n"
    )
    inline = 'Open:\n`= length(filter(file.tags, (t) => t = "#work"))` `#work`\n'
    (basic / "Inline.md").write_text(inline, encoding="utf-8", newline="\n")
    (basic / "Dashboard.md").write_text(dashboard, encoding="utf-8", newline="\n")
    shown = run(app, "rename_tag", tag="work", to="job", dry_run=True)
    answer = run(app, "rename_tag", tag="work", to="job")

    assert answer["warnings"] == shown["warnings"]
    (warning,) = answer["warnings"]
    assert warning.startswith("Queries are not changed, and these seem to name #work: Jobs.base line 3; Dashboard.md")
    assert [int(line) for line in re.findall(r"Dashboard.md line (\d+)", warning)] == [4, 10, 14, 18]
    assert re.findall(r"Inline.md line (\d+)", warning) == ["2"]
    assert (basic / "Dashboard.md").read_text(encoding="utf-8") == dashboard


def test_a_note_whose_broken_frontmatter_names_a_renamed_tag_is_said(app: App, basic: Path) -> None:
    """TAG-30"""
    broken = b"---\ntags: [Work/x, y\n---\n#work\n"
    (basic / "Broken.md").write_bytes(broken)
    (basic / "Workshop.md").write_bytes(b"---\na: [workshop, homework\n---\n")
    (basic / "Binary.md").write_bytes("#work".encode("utf-16"))
    answer = run(app, "rename_tag", tag="work", to="job")

    assert "Broken.md" in answer["changed"]
    assert (basic / "Broken.md").read_bytes() == broken.replace(b"#work", b"#job")
    assert answer["warnings"] == [
        (
            "The frontmatter is broken and seems to name the tag, which stays there; "
            "repair it and rename again: Broken.md."
        ),
        "'Broken.md': The frontmatter is not readable: line 2: a [ is not closed, or a comma is missing.",
    ]


BINARY = {"Zeros.md": b"\0" * 64, "Wide.md": "[[Alpha]] #work".encode("utf-16"), "Torn.md": b"[[Alpha#Plan]] #work \0"}


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("move_note", {"name": "Alpha", "to": "Beta"}, "Torn.md"),
        ("edit_note", {"name": "Alpha", "operation": "rename_heading", "section": "Plan", "content": "Aim"}, "Torn.md"),
        ("create_note", {"name": "Other/Alpha", "content": "x"}, "Torn.md"),
        ("compose_notes", {"action": "merge", "name": "Alpha", "into": "Home"}, "Torn.md"),
        ("compose_notes", {"action": "extract", "name": "Alpha", "part": "Plan", "into": "Aim"}, "Torn.md"),
        ("rename_tag", {"tag": "work", "to": "job"}, "Torn.md"),
        ("move_note", {"name": "Odd", "to": "Even"}, "Torn.md; Odd/Wide.md; Odd/Zeros.md"),
        ("move_note", {"name": "Zeros", "to": "Nulls"}, "Zeros.md"),
        ("similar", {"name": "Alpha"}, None),
    ],
)
def test_files_that_are_not_text_hinder_no_change_of_others_and_are_named(
    app: App, basic: Path, tool: str, arguments: dict[str, Any], named: str | None
) -> None:
    """RENAME-14, TAG-30, SEARCH-90"""
    (basic / "Odd").mkdir()
    for name, data in BINARY.items():
        (basic / "Odd" / name).write_bytes(data)
    with (basic / "Projects/Alpha.md").open("a", encoding="utf-8", newline="\n") as note:
        note.write("\n# Plan\nFirst this. #work\n")
    answer = run(app, tool, **arguments)

    said = [warning for warning in answer.get("warnings") or () if warning.startswith("Files that are not text keep ")]
    assert [warning.rpartition(": ")[2] for warning in said] == ([f"Odd/{named}."] if named else [])
    kept = {path.name: path.read_bytes() for path in basic.rglob("*.md") if b"\0" in path.read_bytes()}
    assert set(kept.values()) == set(BINARY.values())
    if tool == "move_note":
        run(app, "undo")
        assert {name: (basic / "Odd" / name).read_bytes() for name in BINARY} == BINARY


def test_one_property_is_set_and_nothing_else(app: App, basic: Path) -> None:
    before = (basic / "Projects/Alpha.md").read_bytes()
    run(app, "set_properties", names=["Alpha"], properties={"Due": "2027-01-31"})
    assert (basic / "Projects/Alpha.md").read_bytes() == before.replace(b"2026-12-01", b"2027-01-31")
    run(app, "set_properties", names=["Alpha"], properties={"done": True})
    assert b"\ndone: true\n---\n" in (basic / "Projects/Alpha.md").read_bytes()
    run(app, "set_properties", names=["Alpha"], properties={"done": None})
    assert (basic / "Projects/Alpha.md").read_bytes() == before.replace(b"2026-12-01", b"2027-01-31")
    assert run(app, "get_properties", name="Alpha", property="rating")["properties"] == {"rating": 7}
    with pytest.raises(AppError):
        run(app, "set_properties", properties={"x": 1})


def test_the_vault_s_properties_and_graph_are_told(app: App) -> None:
    listed = run(app, "get_properties")["vault_properties"]
    assert listed[0] == {"property": "tags", "type": "tags", "notes": 5}
    assert run(app, "get_properties", property="status", details=True)["values"] == [
        {"path": "Projects/Alpha.md", "value": "active"}
    ]
    assert run(app, "graph", question="orphans")["names"] == {"/": ["Home.md", "No last newline.md"]}
    path = run(app, "graph", question="path", name="Home", to="Ayumi")["paths"]
    assert path[0] == "Home.md"
    assert path[-1] == "People/Mori Ayumi.md"
    assert run(app, "graph", question="unresolved")["unresolved"] == [
        {
            "path": "Journal/2026-11-20.md",
            "line": 3,
            "link": "[[Ayumi]]",
            "context": "Worked on [[Tower clock]]. Called [[Ayumi]] (no answer). Buy oil. #errand",
            "missing": "file",
            "did_you_mean": "[[Mori Ayumi|Ayumi]]",
        }
    ]


def test_a_note_far_down_is_created_changed_moved_and_brought_back(opened: Opened) -> None:
    """FILE-12"""
    app = opened({"Home.md": "# Home\n"})
    deep = "/".join(["a folder with a rather long name"] * 10)
    run(app, "create_note", name=f"{deep}/Note", content="A heron. [[Home]]")
    run(app, "edit_note", name="Note", operation="append", content="A crane.")
    run(app, "move_note", name="Home", to=f"{deep}/House")

    assert [hit["path"] for hit in run(app, "search", query="crane")["hits"]] == [f"{deep}/Note.md"]
    assert [link["path"] for link in run(app, "get_links", name="Note")["outgoing"]] == [f"{deep}/House.md"]
    for _ in range(3):
        run(app, "undo")
    assert [file["path"] for file in run(app, "list_files", recursive=True, details=True)["files"]] == ["Home.md"]


@pytest.mark.parametrize("name", ["x" * 252, "会" * 84])
def test_a_name_of_255_bytes_is_created_moved_and_brought_back(opened: Opened, name: str) -> None:
    """NAME-07: beside such a name there is no room for `.Note.md.icloud`, which is looked for
    (SAFE-14)."""
    app = opened({"Home.md": f"[[{name}]]"}, app={"trashOption": "local"})
    folder = app.vaults.get().files.root
    with pytest.raises(AppError, match="no note"):
        run(app, "read_note", name=name)
    run(app, "create_note", name=name, content="text")
    before = contents(folder)
    for tool, arguments in {"move_note": {"to": "short"}, "delete_note": {}}.items():
        run(app, tool, name=name, **arguments)
        assert not (folder / f"{name}.md").exists()
        run(app, "undo")
        assert {path: before[path] for path in ("Home.md", f"{name}.md")}.items() <= contents(folder).items()


@needs("names that differ in their normal form")
def test_a_folder_moves_in_both_normal_forms(opened: Opened) -> None:
    """MOVE-05: as a sync program between macOS and Linux leaves them"""
    app = opened({"Ü/a.md": "[[Ü/b]]", "U\u0308/b.md": "", "U\u0308/Deep/c.md": "", "d.md": "[[Ü/b]] [[Ü/Deep/c]]"})
    folder = app.vaults.get().files.root
    before = contents(folder)
    assert run(app, "list_files")["folders"] == ["Ü"]
    run(app, "move_note", name="Ü", to="New")
    after = {"New/a.md": b"[[b]]", "New/b.md": b"", "New/Deep/c.md": b"", "d.md": b"[[b]] [[c]]"}
    assert {path: data for path, data in contents(folder).items() if not path.startswith(".")} == after
    run(app, "undo")
    assert contents(folder) == before


def test_several_notes_move_into_a_folder_and_those_that_are_there_stay(opened: Opened) -> None:
    notes = {"F/A.md": "", "G/A.md": "", "In/C.md": "[[R]]", "R.md": "[[In/C]]"}
    app = opened(notes)
    folder = app.vaults.get().files.root
    before = contents(folder)
    with pytest.raises(NoteExists, match=r"G/A\.md.* cannot go to 'New/A\.md'"):
        run(app, "move_note", names=["F/A", "G/A"], to="New/")
    with pytest.raises(InvalidArguments, match=r"'In/New\.md' is the name of a note"):
        run(app, "move_note", names=["F/A", "R"], to="In/New.md")
    assert contents(folder) == before

    assert run(app, "move_note", names=["In/C", "R"], to="In")["moves"] == [{"path": "R.md", "to": "In/R.md"}]
    run(app, "move_note", names=["In/C", "In/R"], to="/", update_links=False)
    assert {path: data for path, data in contents(folder).items() if "/" not in path} == {
        "C.md": b"[[R]]",
        "R.md": b"[[In/C]]",
    }


def test_a_folder_is_renamed_in_case_only(opened: Opened) -> None:
    """MOVE-01"""
    app = opened({"Old/a.md": "[[Old/b]]", "Old/b.md": ""})
    run(app, "move_note", name="Old/", to="OLD")
    assert sorted(path for path in contents(app.vaults.get().files.root) if path.endswith(".md")) == [
        "OLD/a.md",
        "OLD/b.md",
    ]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"name": "A", "to": "B"}, "F/A.md; F/A.md#h"),
        ({"name": "F", "to": "G"}, "F/A.md; F/A.md#h; F"),
        ({"names": ["A"], "to": "New/"}, "F/A.md; F/A.md#h"),
        ({"name": "Other", "to": "B"}, ""),
    ],
)
def test_bookmarks_that_a_move_leaves_behind_are_listed(opened: Opened, arguments: dict[str, Any], named: str) -> None:
    """MOVE-05"""
    marks = [{"type": "file", "path": "F/A.md"}, {"type": "file", "path": "F/A.md", "subpath": "#h"}]
    app = opened(
        {"F/A.md": "", "Other.md": ""},
        bookmarks={"items": [*marks, {"type": "folder", "path": "F"}, {"type": "graph"}]},
    )
    begin = "Bookmarks are not changed by a move, and these name what moves: "
    assert run(app, "move_note", **arguments).get("warnings") == ([f"{begin}{named}."] if named else None)


CARD = '{"nodes":[{"id":"1","type":"text","text":"[[One]]","x":0,"y":0,"width":1,"height":1}]}'


def texts(root: Path) -> dict[str, str]:
    return {path: data.decode() for path, data in contents(root).items() if not path.startswith(".obsidian")}


def test_links_go_on_leading_to_a_note_whose_name_a_new_one_has(opened: Opened) -> None:
    """RENAME-04"""
    notes = {
        "x/One.md": "[[One]]",
        "s.md": "---\nup: '[[One|first]]'\n---\n[[One#h]] ![[one|50]] [o](One.md) [[x/One]] `[[One]]`",
        "c.canvas": CARD,
    }
    app = opened(notes)
    root = app.vaults.get().files.root
    answer = run(app, "create_note", name="One", content="[[One]]")
    assert "in c.canvas; s.md; x/One.md" in answer["warnings"][-1]
    assert texts(root) == {
        "x/One.md": "[[x/One]]",
        "s.md": "---\nup: '[[x/One|first]]'\n---\n[[x/One#h]] ![[x/One|50]] [o](x/One.md) [[x/One]] `[[One]]`",
        "c.canvas": CARD.replace("[[One]]", "[[x/One]]"),
        "One.md": "[[One]]",
    }
    run(app, "undo")
    assert texts(root) == notes


def test_where_very_many_files_link_to_a_name_a_new_note_is_made_without_a_look_at_them(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RENAME-04"""
    monkeypatch.setattr(new_file, "MOST_REFERRERS", 2)
    app = opened({"x/One.md": "# H\ntext", **{f"{n}.md": "[[One]]" for n in range(3)}})
    root = app.vaults.get().files.root
    expected = "Links to other files of this name may lead to the new one now: 3 files have links to this name"
    assert expected in run(app, "create_note", name="One")["warnings"][-1]
    answer = run(app, "compose_notes", action="extract", name="x/One", part="H", into="y/One")
    assert expected in answer["warnings"][0]
    assert contents(root)["0.md"] == b"[[One]]"


def test_a_new_note_that_takes_no_link_over_changes_no_other(opened: Opened) -> None:
    """RENAME-04"""
    app = opened({"x/One.md": "", "s.md": "[[One]] [[Two]]"})
    assert len(run(app, "create_note", name="long/way/One")["warnings"]) == 1
    assert "warnings" not in run(app, "create_note", name="Two")
    assert run(app, "read_note", name="s")["path"] == "s.md"
    assert contents(app.vaults.get().files.root)["s.md"] == b"[[One]] [[Two]]"


def test_links_in_a_note_that_the_policy_keeps_stay_and_are_named(opened: Opened, tmp_path: Path) -> None:
    """RENAME-04"""
    (tmp_path / "policy.toml").write_text('write = ["New/", "T/"]\n', encoding="utf-8")
    app = opened({"further/One.md": "", "kept/s.md": "[[One]]", "T/t.md": "[[One]]"})
    *_, changed, kept = run(app, "create_note", name="New/One")["warnings"]
    assert "in T/t.md." in changed
    assert "kept/s.md" in kept
    assert contents(app.vaults.get().files.root)["kept/s.md"] == b"[[One]]"


def test_a_new_attachment_changes_no_note_and_names_those_whose_links_it_takes_over(opened: Opened) -> None:
    """RENAME-04"""
    app = opened({"x/p.png": "one", "s.md": "![[p.png]]", "t.md": "![[x/p.png]]"})
    (warning,) = run(app, "add_attachment", name="p.png", data="AAAA")["warnings"]
    assert "lead to the new one now, in s.md." in warning
    assert contents(app.vaults.get().files.root)["s.md"] == b"![[p.png]]"


@pytest.mark.parametrize("several", [False, True])
def test_a_move_says_how_many_links_changed_their_form(opened: Opened, several: bool) -> None:
    """RENAME-16: else an assistant changes them back by hand"""
    notes = {
        "Work/Old/Plan.md": "[X](../../People/X.md) [[../../People/X]] [[Y]]\n",
        "People/X.md": "[plan](../Work/Old/Plan.md)\n",
        "Y.md": "[[Plan]]\n",
    }
    app = opened(notes, app={"newLinkFormat": "shortest"})
    what = {"names": ["Plan"]} if several else {"name": "Plan"}

    planned = run(app, "move_note", **what, to="Archive/", dry_run=True)
    moved = run(app, "move_note", **what, to="Archive/")

    assert moved["note"] == planned["note"]
    assert moved["note"].startswith("3 links changed form, as ../Work/Old/Plan.md to Plan.md: ")
    assert "'shortest'" in moved["note"]
    again = run(app, "move_note", name="Y", to="Z")
    assert "note" not in again
