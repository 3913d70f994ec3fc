"""Changes that are planned, looked at and made later (specs/views.md PLAN-…)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.operations.plans import MOST_PLANS, Plans
from obsidian_mcp.core.text.call import call_with
from obsidian_mcp.core.vault.operation import Write
from obsidian_mcp.errors import (
    ChangeNotFound,
    ConfirmationRequired,
    InvalidArguments,
    PermissionDenied,
    StaleEtag,
    UnknownTool,
)
from obsidian_mcp.tools.registry import TOOLS, call
from tests.conftest import app_on

pytestmark = pytest.mark.usefixtures("each_disk")

MOVE = {"name": "Alpha", "to": "Projects/Beta"}


def run(app: App, name_: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{name_}", arguments).data


def plan(app: App, planned: str, /, **arguments: Any) -> dict[str, Any]:
    return run(app, "show_changes", tool=f"obsidian_{planned}", arguments=arguments)


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def states(answer: dict[str, Any]) -> dict[str, str]:
    return {file["path"]: file["state"] for file in answer["files"]}


def kept(files: dict[str, bytes]) -> dict[str, bytes]:
    """Without the trash, the random ids of cards and times of bookmarks."""
    return {path: DRAWN.sub(b"", data) for path, data in files.items() if not path.startswith(".trash/")}


DRAWN = re.compile(rb'"id":"[0-9a-f]{16}"|"ctime": [0-9]+')
CALLS: dict[str, dict[str, Any]] = {
    "edit_note": {"name": "Home", "operation": "append", "content": "One more line"},
    "compose_notes": {"action": "merge", "name": "Tower clock", "into": "Alpha"},
    "undo": {"change": 1},
    "move_note": MOVE,
    "replace": {"find": "clock", "content": "watch", "query": "clock"},
    "edit_table": {"name": "Alpha", "operations": [{"op": "set", "row": 1, "column": "mm", "value": "43"}]},
    "set_properties": {"names": ["Alpha"], "properties": {"status": "done"}},
    "edit_canvas": {"name": "Board", "operations": [{"op": "add", "type": "text", "text": "new"}]},
    "add_attachment": {"name": "dot.txt", "data": "YQ=="},
    "link_mentions": {"name": "2026-11-20"},
    "rename_tag": {"tag": "work/clocks", "to": "work/time"},
    "batch": {
        "calls": [
            {"tool": "move_note", "name": "Alpha", "to": "Beta"},
            {"tool": "edit_note", "name": "Beta", "operation": "append", "content": "x"},
        ]
    },
    "daily_note": {"date": "2026-11-20", "content": "Noted"},
    "edit_bookmarks": {"action": "add", "target": "Home"},
    "create_note": {"name": "New", "content": "text"},
    "delete_note": {"name": "Home"},
    "insert_template": {"name": "Home", "template": "Line"},
    "update_task": {"name": "Alpha", "task": "Cut the wheel", "status": "done"},
}


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS.values() if not tool.read_only and not tool.needs_app])
def test_what_a_plan_leaves_is_what_the_call_itself_leaves(app: App, basic: Path, tmp_path: Path, name: str) -> None:
    """PLAN-01, PLAN-04: for every tool that writes."""
    (basic / "Templates").mkdir()
    (basic / "Templates/Line.md").write_text("from a template", encoding="utf-8")
    (basic / ".obsidian/templates.json").write_text('{"folder": "Templates"}', encoding="utf-8")
    run(app, "edit_note", name="Projects/Tower clock", operation="append", content="Before")
    tool, before = name.removeprefix("obsidian_"), contents(basic)
    given = CALLS[tool]

    shown = plan(app, tool, **given)
    assert contents(basic) == before
    assert shown["files"]
    assert set(states(shown).values()) == {"pending"}
    assert run(app, "history")["total"] == 1

    applied = run(app, "apply_plan", plan=shown["plan"])
    assert set(states(applied).values()) == {"applied"}
    made, recorded = contents(basic), run(app, "history")["changes"][0]
    assert made != before
    assert recorded["change"] == applied["change"] == 2
    run(app, "undo", change=2)
    assert kept(contents(basic)) == kept(before)
    run(app, tool, **given)
    assert run(app, "history")["changes"][0]["tool"] == recorded["tool"]
    assert kept(contents(basic)) == kept(made)


def test_a_part_of_a_plan_is_applied_and_the_rest_later(app: App, basic: Path) -> None:
    """PLAN-04, PLAN-05"""
    shown = plan(app, "move_note", **MOVE)
    assert {file["path"]: file.get("needs") for file in shown["files"]} == {
        "Projects/Alpha.md": None,
        "Board.canvas": "Projects/Alpha.md",
        "Home.md": "Projects/Alpha.md",
        "People/Mori Ayumi.md": "Projects/Alpha.md",
        "Projects/Tower clock.md": "Projects/Alpha.md",
    }
    with pytest.raises(InvalidArguments, match="needs the move"):
        run(app, "apply_plan", plan=shown["plan"], paths=["Home.md"])

    first = run(app, "apply_plan", plan=shown["plan"], paths=["Projects/Alpha.md", "Home.md"])
    assert [path for path, state in states(first).items() if state == "applied"] == ["Projects/Alpha.md", "Home.md"]
    assert not any("needs" in file for file in first["files"])
    assert "[[Alpha]]" in (basic / "Projects/Tower clock.md").read_text(encoding="utf-8")
    run(app, "apply_plan", plan=shown["plan"])
    assert "[[Beta]]" in (basic / "Projects/Tower clock.md").read_text(encoding="utf-8")
    with pytest.raises(InvalidArguments, match="has been applied"):
        run(app, "apply_plan", plan=shown["plan"])
    run(app, "undo", change=2)
    run(app, "undo", change=1)
    assert set(states(run(app, "plan_diff", plan=shown["plan"])).values()) == {"pending"}


def test_links_inside_a_folder_that_was_moved_first_are_rewritten_where_they_are_now(app: App, basic: Path) -> None:
    """PLAN-05"""
    (basic / "Projects/Alpha.md").write_text("[x](./Tower%20clock.md) [y](../Home.md)", encoding="utf-8")
    shown = plan(app, "move_note", name="Projects", to="Old/Work/Projects")
    assert "Projects/Alpha.md" in states(shown)
    run(app, "apply_plan", plan=shown["plan"], paths=["Projects"])
    run(app, "apply_plan", plan=shown["plan"])

    assert (basic / "Old/Work/Projects/Alpha.md").read_text("utf-8") == "[x](./Tower%20clock.md) [y](Home.md)"
    again = plan(app, "move_note", name="Alpha", to="Old/")
    applied = run(app, "apply_plan", plan=again["plan"])
    assert (basic / "Old/Alpha.md").read_text("utf-8") == "[x](Tower%20clock.md) [y](Home.md)"
    assert set(states(applied).values()) == {"applied"}


def test_a_file_that_changed_since_is_refused_and_the_others_stay(app: App, basic: Path) -> None:
    """PLAN-03, PLAN-04"""
    shown = plan(app, "replace", find="clock", content="watch", query="clock")
    (basic / "Home.md").write_text("Somebody else's text about a clock", encoding="utf-8")
    before = contents(basic)

    with pytest.raises(StaleEtag, match=r"'Home\.md' changed since the plan was made"):
        run(app, "apply_plan", plan=shown["plan"])
    assert contents(basic) == before
    again = run(app, "plan_diff", plan=shown["plan"])
    assert states(again)["Home.md"] == "stale"
    others = [path for path, state in states(again).items() if state == "pending"]
    assert others
    run(app, "apply_plan", plan=shown["plan"], paths=others)
    assert (basic / "Home.md").read_text(encoding="utf-8") == "Somebody else's text about a clock"


def test_a_plan_that_would_leave_a_new_link_behind_is_refused(app: App, basic: Path) -> None:
    """PLAN-08, WATCH-10"""
    shown = plan(app, "move_note", name="Projects/Alpha", to="Moved.md")
    (basic / "Later.md").write_text("see [[Alpha]]", encoding="utf-8")
    before = contents(basic)

    with pytest.raises(StaleEtag, match=r"'Later\.md' came to be changed too"):
        run(app, "apply_plan", plan=shown["plan"])
    assert contents(basic) == before
    run(app, "apply_plan", plan=plan(app, "move_note", name="Projects/Alpha", to="Moved.md")["plan"])
    assert (basic / "Later.md").read_text("utf-8") == "see [[Moved]]"


def test_a_link_that_was_written_a_moment_ago_follows_its_note(app: App, basic: Path) -> None:
    """WATCH-10"""
    for number in range(5):
        old, new = f"Target {number}", f"Renamed {number}"
        (basic / f"{old}.md").write_text("", encoding="utf-8")
        run(app, "read_note", name=f"{old}.md")
        (basic / "Later.md").write_text(f"see [[{old}]]", encoding="utf-8")
        run(app, "move_note", name=old, to=f"{new}.md")
        assert (basic / "Later.md").read_text("utf-8") == f"see [[{new}]]"


@pytest.mark.parametrize(
    ("tool", "arguments", "meanwhile"),
    [
        ("create_note", {"name": "New"}, lambda root: (root / "New.md").write_text("mine", encoding="utf-8")),
        ("delete_note", {"name": "Home"}, lambda root: (root / "Home.md").write_text("mine", encoding="utf-8")),
        ("move_note", MOVE, lambda root: (root / "Projects/Beta.md").write_text("mine", encoding="utf-8")),
        ("move_note", MOVE, lambda root: (root / "Projects/Alpha.md").write_text("mine", encoding="utf-8")),
        ("move_note", MOVE, lambda root: (root / "Projects/Alpha.md").unlink()),
    ],
)
def test_nothing_of_another_program_is_overwritten(
    app: App, basic: Path, tool: str, arguments: dict[str, Any], meanwhile: Any
) -> None:
    """PLAN-03, PLAN-04"""
    shown = plan(app, tool, **arguments)
    meanwhile(basic)
    before = contents(basic)
    with pytest.raises(StaleEtag):
        run(app, "apply_plan", plan=shown["plan"])
    assert contents(basic) == before


def test_the_policy_holds_for_planning_and_for_applying(basic: Path) -> None:
    """PLAN-01, POL-02, POL-04"""
    (basic.parent / "policy.toml").write_text(
        'write = ["Projects/"]\nconfirm = ["edit"]', encoding="utf-8", newline="\n"
    )
    app = app_on(basic)
    with pytest.raises(PermissionDenied):
        plan(app, "edit_note", name="Home", operation="append", content="x")
    shown = plan(app, "edit_note", name="Alpha", operation="append", content="x")
    with pytest.raises(ConfirmationRequired):
        run(app, "apply_plan", plan=shown["plan"])
    run(app, "apply_plan", plan=shown["plan"], confirm=True)
    assert (basic / "Projects/Alpha.md").read_text(encoding="utf-8").endswith("x\n")
    app.vaults.close()


def test_a_plan_ends_after_half_an_hour_and_the_oldest_of_many_goes(app: App) -> None:
    """PLAN-02"""
    now = 0.0
    vault = app.vaults.get()
    plans = Plans(vault, lambda: now)
    disk = vault.find("Home").disk
    data = vault.files.read_file(disk)

    def draft() -> str:
        made = plans.draft(lambda: vault.commit("edit_note", [Write(disk, data, data + b"x")]))
        assert made is not None
        return made.id

    first = draft()
    assert len(first) == 2 + 32
    now = 29 * 60
    assert plans.get(first).id == first
    now = 31 * 60
    with pytest.raises(ChangeNotFound, match="plans end after 30 minutes"):
        plans.apply(first)
    ids = [draft() for _ in range(MOST_PLANS + 1)]
    with pytest.raises(ChangeNotFound):
        plans.get(ids[0])
    assert plans.get(ids[1]).id == ids[1]


def test_changed_lines_come_with_their_heading(app: App, basic: Path) -> None:
    """PLAN-06"""
    shown = plan(app, "replace", find="fox", content="cat", names=["Tower clock"])
    (file,) = shown["files"]
    assert (file["added"], file["removed"]) == (1, 1)
    answer = run(app, "plan_diff", plan=shown["plan"], path=file["path"])
    assert answer["cut"] is False
    assert answer["hunks"] == [
        {
            "old": 10,
            "new": 10,
            "heading": "Log",
            "lines": [
                " ",
                " - 2026-11-18: cleaned, oiled, still slow. #work/clocks",
                "-- 2026-11-20: the quick fix did not hold; a fox has nested in the belfry.",
                "+- 2026-11-20: the quick fix did not hold; a cat has nested in the belfry.",
            ],
        }
    ]
    with pytest.raises(ChangeNotFound):
        run(app, "plan_diff", plan=shown["plan"], path="Other.md")


@pytest.mark.parametrize(
    ("tool", "given", "shown"),
    [
        ("create_note", {"name": "New", "content": "a\nb\n"}, ("New.md", "create", None, 2, 0)),
        ("delete_note", {"name": "No last newline"}, ("No last newline.md", "delete", None, 0, 3)),
        ("move_note", MOVE, ("Projects/Alpha.md", "move", "Projects/Beta.md", 0, 0)),
        ("add_attachment", {"name": "x.bin", "data": "AAA="}, ("x.bin", "create", None, 0, 0)),
    ],
)
def test_a_plan_says_what_becomes_of_a_file(app: App, tool: str, given: dict[str, Any], shown: Any) -> None:
    """PLAN-06"""
    file = plan(app, tool, **given)["files"][0]
    assert (file["path"], file["op"], file.get("to"), file["added"], file["removed"]) == shown


def test_a_long_change_is_listed_in_pages(app: App, basic: Path) -> None:
    """VIEW-06, PLAN-06"""
    for number in range(300):
        (basic / f"A note with a long enough name to fill a page {number:03}.md").write_text("old", encoding="utf-8")
    shown = plan(app, "replace", find="old", content="new", query="old")
    listed = states(shown)
    page = shown
    while "cursor" in page:
        assert len(json.dumps(page, ensure_ascii=False).encode()) <= 10_000
        assert page["total"] == page["cursor"] + page["cut"]
        page = run(app, "plan_diff", plan=shown["plan"], cursor=page["cursor"])
        listed |= states(page)
    assert len(listed) == shown["total"] >= 300


def test_an_earlier_change_is_shown_with_its_lines_and_who_made_it(app: App, basic: Path) -> None:
    """PLAN-07"""
    run(app, "move_note", **MOVE)
    run(app, "delete_note", name="Home")
    last = run(app, "show_changes")
    assert (last["change"], last["tool"], last["by"]) == (2, "delete_note", "this client")
    assert [(file["path"], file["op"], file["state"]) for file in last["files"]] == [("Home.md", "delete", "applied")]
    moved = run(app, "show_changes", change=1)
    assert moved["summary"] == "Move Projects/Alpha.md to Projects/Beta.md and rewrite links in 4 files"
    lines = run(app, "plan_diff", change=1, path="Home.md")["hunks"][0]["lines"]
    assert "-- Work: [[Projects/Alpha|Project Alpha]], [[Tower clock]]" in lines
    run(app, "undo")
    assert run(app, "show_changes", change=2)["undone_by"] == 3


def test_a_batch_with_one_move_is_not_said_to_rewrite_links_only(app: App) -> None:
    """PLAN-07"""
    edit = {"tool": "edit_note", "name": "No last newline", "operation": "append", "content": "x"}
    shown = plan(app, "batch", calls=[{"tool": "move_note", **MOVE}, edit])
    assert shown["summary"] == f"Batch of changes: {shown.get('total') or len(shown['files'])} files"


def test_what_cannot_be_planned_is_said(app: App) -> None:
    """PLAN-01"""
    assert plan(app, "replace", find="not there", content="x", query="clock")["summary"] == "This would change nothing."
    for name in ("obsidian_search", "obsidian_open_note", "nonsense"):
        with pytest.raises(InvalidArguments, match="is no tool whose changes can be planned"):
            run(app, "show_changes", tool=name)
    with pytest.raises(InvalidArguments, match="not both"):
        run(app, "show_changes", tool="edit_note", change=1)
    with pytest.raises(UnknownTool):
        run(app, "show_nothing")


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS.values() if "dry_run" in tool.parameters])
def test_what_a_dry_run_has_planned_is_made_by_one_short_call(app: App, basic: Path, name: str) -> None:
    """PLAN-09: for every tool that has a dry run."""
    tool, before = name.removeprefix("obsidian_"), contents(basic)

    planned = run(app, tool, **CALLS[tool], dry_run=True)
    assert contents(basic) == before
    assert planned["apply_with"] == "obsidian_batch"
    applied = run(app, "batch", plan=planned["plan"])

    assert applied["total"] >= 1
    assert applied.keys() <= {"total", "change", "line_ends"}  # the dry run has shown the lines
    made = contents(basic)
    assert run(app, "history")["changes"][0]["tool"] == tool
    run(app, "undo", change=applied["change"])
    run(app, tool, **CALLS[tool])
    assert kept(contents(basic)) == kept(made) != kept(before)


def test_a_dry_run_that_changes_nothing_gives_no_plan_and_neither_does_one_for_people(app: App) -> None:
    """PLAN-09"""
    same = run(
        app, "edit_note", name="Home", operation="replace_text", find="Home", content="Home", all=True, dry_run=True
    )
    assert "plan" not in same
    with call_with(wants_all=True):
        shown = run(app, "edit_note", name="Home", operation="append", content="x", dry_run=True)
    assert "plan" not in shown
    small = app.replace(config=app.config.replace(tools="core"))
    told = call(small, "obsidian_edit_note", {"name": "Home", "operation": "append", "content": "x", "dry_run": True})
    assert "plan" not in told.data  # nothing that it is offered could apply it


def test_a_plan_of_a_dry_run_is_refused_when_the_note_has_changed_and_beside_calls(app: App, basic: Path) -> None:
    """PLAN-09"""
    planned = run(app, "edit_note", name="Home", operation="append", content="x", dry_run=True)
    (basic / "Home.md").write_text("another text\n", encoding="utf-8", newline="\n")

    with pytest.raises(StaleEtag, match=r"Home\.md"):
        run(app, "batch", plan=planned["plan"])
    with pytest.raises(InvalidArguments, match="alone"):
        run(app, "batch", plan=planned["plan"], dry_run=True)
    with pytest.raises(ChangeNotFound, match="no plan"):
        run(app, "batch", plan="p_none")
    with pytest.raises(InvalidArguments, match="1 to 100"):
        run(app, "batch")
    assert (basic / "Home.md").read_text(encoding="utf-8") == "another text\n"
