"""Boards of the Kanban plugin: cards go where the plugin reads them (BOARD-1 to BOARD-3 in specs/edits.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, NotText
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

HEAD = "---\n\nkanban-plugin: board\n\n---\n\n"
TODO = "## Todo\n\n- [ ] brass\n\n\n"
DONE = "## Done\n\n**完了**\n- [x] ship\n"
ARCHIVE = "***\n\n## アーカイブ\n\n- [x] old\n\n"
PLUGIN = "obsidian-tasks-plugin"
TASKS = f".obsidian/plugins/{PLUGIN}/data.json"
SETTINGS = '%% kanban:settings\n```\n{"kanban-plugin":"board"}\n```\n%%\n'


def run(app: App, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def text(app: App, name: str) -> str:
    vault = app.vaults.get()
    return vault.read_content(vault.find(name)).text.body


@pytest.mark.parametrize("archive", [ARCHIVE, ""])
def test_a_card_of_the_last_lane_stays_above_the_archive_and_the_settings(opened: Opened, archive: str) -> None:
    """BOARD-1"""
    app = opened({"B.md": f"{HEAD}{TODO}{DONE}\n\n{archive}{SETTINGS}"})
    run(app, "edit_note", name="B", operation="append_section", section="Done", content="- [x] paint")
    assert text(app, "B") == f"{HEAD}{TODO}{DONE}- [x] paint\n\n\n{archive}{SETTINGS}"
    run(app, "update_task", action="add", name="B", section="Done", text="call")
    assert text(app, "B") == f"{HEAD}{TODO}{DONE}- [x] paint\n- [ ] call\n\n\n{archive}{SETTINGS}"
    run(app, "edit_note", name="B", operation="replace_section", section="Done", content="- [x] all")
    assert text(app, "B") == f"{HEAD}{TODO}## Done\n\n**完了**\n- [x] all\n\n\n{archive}{SETTINGS}"
    run(app, "compose_notes", action="extract", name="B", part="Done", into="N", leave="nothing")
    assert text(app, "B").endswith(f"- [ ] brass\n\n\n\n\n{archive}{SETTINGS}")
    assert "%%" not in text(app, "N")


def test_a_first_card_goes_below_the_mark_of_a_lane_of_finished_cards(opened: Opened) -> None:
    """BOARD-1"""
    app = opened({"B.md": f"{HEAD}{TODO}{DONE}\n\n{SETTINGS}"})
    run(app, "edit_note", name="B", operation="prepend_section", section="Done", content="- [x] paint")
    assert text(app, "B") == f"{HEAD}{TODO}## Done\n\n**完了**\n- [x] paint\n- [x] ship\n\n\n{SETTINGS}"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_note", {"name": "B", "operation": "append", "content": "- [ ] x"}),
        ("edit_note", {"name": "B", "operation": "prepend", "content": "x"}),
        ("update_task", {"action": "add", "name": "B", "text": "x"}),
        ("compose_notes", {"action": "merge", "name": "N", "into": "B"}),
        ("edit_note", {"name": "B", "operation": "append_section", "section": "Todo", "content": "call Bob"}),
        ("edit_note", {"name": "B", "operation": "append_section", "section": "Todo", "content": "* [ ] second list"}),
        ("edit_note", {"name": "B", "operation": "replace_section", "section": "Done", "content": "all done"}),
    ],
)
def test_text_that_the_plugin_would_drop_is_refused_with_the_lanes(
    opened: Opened, tool: str, arguments: dict[str, Any]
) -> None:
    """BOARD-2"""
    board = f"{HEAD}{TODO}{DONE}\n\n{SETTINGS}"
    app = opened({"B.md": board, "N.md": "text\n"})
    with pytest.raises(NotText, match=r"Kanban board.*Name a lane as heading: 'Todo', 'Done'\."):
        run(app, tool, **arguments)
    assert text(app, "B") == board


def test_a_board_is_changed_where_the_plugin_keeps_it(opened: Opened) -> None:
    """BOARD-2: a lane in front of the lanes, a card of two lines, text that was lost before, a setting, a property, and
    any heading of a note that is no board."""
    app = opened({"B.md": f"{HEAD}{TODO}lost\n\n{SETTINGS}", "N.md": "# A\n\n**b**\nc\n\n***\n\n# D\n"})
    run(app, "edit_note", name="B", operation="prepend_section", section="Todo", content="- [ ] iron\n\tand steel")
    run(app, "edit_note", name="B", operation="replace_text", find="lost", content="losing")
    assert "## Todo\n\n- [ ] iron\n\tand steel\n- [ ] brass\n" in text(app, "B")
    run(app, "edit_note", name="B", operation="prepend", content="## New\n\n- [ ] a\n")
    run(app, "edit_note", name="B", operation="replace_text", find='"board"', content='"table"')
    run(app, "set_properties", names=["B"], properties={"x": 1})
    assert '"kanban-plugin":"table"' in text(app, "B")
    run(app, "edit_note", name="N", operation="append_section", section="A", content="e")
    assert text(app, "N") == "# A\n\n**b**\nc\n\n***\ne\n\n# D\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("arguments", "todo", "doing", "done"),
    [
        ({"task": "brass", "status": "done"}, "- [ ] saw\n", "- [ ] ship\n", "- [x] old\n- [x] brass\n\tfrom Anna\n"),
        ({"task": "brass", "lane": "Doing"}, "- [ ] saw\n", "- [ ] ship\n- [ ] brass\n\tfrom Anna\n", "- [x] old\n"),
        ({"task": "ship", "lane": "done"}, "- [ ] brass\n\tfrom Anna\n- [ ] saw\n", "", "- [x] old\n- [x] ship\n"),
        ({"task": "old", "lane": "Doing"}, "- [ ] brass\n\tfrom Anna\n- [ ] saw\n", "- [ ] ship\n- [ ] old\n", ""),
        ({"task": "saw", "lane": "Todo"}, "- [ ] brass\n\tfrom Anna\n- [ ] saw\n", "- [ ] ship\n", "- [x] old\n"),
    ],
)
def test_a_card_goes_to_a_lane_and_a_ticked_one_to_that_of_finished_cards(
    opened: Opened, arguments: dict[str, Any], todo: str, doing: str, done: str, newline: str
) -> None:
    """BOARD-3"""

    def board(todo: str, doing: str, done: str) -> str:
        lanes = f"## Todo\n\n{todo}\n## Doing\n\n{doing}\n## Done\n\n**Complete**\n{done}\n"
        return f"{HEAD}{lanes}{SETTINGS}".replace("\n", newline)

    before = board("- [ ] brass\n\tfrom Anna\n- [ ] saw\n", "- [ ] ship\n", "- [x] old\n")
    app = opened({"B.md": before})
    answer = run(app, "update_task", name="B", **arguments)
    written = text(app, "B")
    assert written == board(todo, doing, done)
    assert written.split("\n")[answer["line"] - 1].removesuffix("\r") == answer["new"][0]
    lane = arguments.get("lane", "Done").capitalize()
    assert answer.get("lane") == (lane if answer["changed"] else None)
    if answer["changed"]:
        run(app, "undo")
    assert text(app, "B") == before


def test_a_recurring_card_leaves_its_next_occurrence_and_a_lane_needs_a_board(opened: Opened) -> None:
    """BOARD-3"""
    card = "- [ ] pay 🔁 every month 📅 2026-11-30\n"
    app = opened({"B.md": f"{HEAD}{DONE}\n## Todo\n\n{card}\n{SETTINGS}", "N.md": "# A\n- [ ] x\n"}, tasks={})
    answer = run(app, "update_task", name="B", task="pay", status="done")
    lines = text(app, "B").split("\n")
    assert lines[answer["line"] - 1].startswith("- [x] pay")
    assert lines[answer["next"]["line"] - 1].startswith("- [ ] pay")
    assert lines.index("## Todo") > answer["line"]
    for wrong in ({"name": "N", "task": "x", "lane": "A"}, {"name": "B", "line": answer["next"]["line"], "lane": "No"}):
        with pytest.raises(AppError, match=r"no Kanban board|no lane 'No'. Its lanes are: 'Done', 'Todo'"):
            run(app, "update_task", **wrong)


CARDS = {
    "a line with only a tab": "- [ ] rope\n\t\n\tthree\n",
    "an empty line": "- [ ] rope\n\n\tthree\n",
    "four blanks": "- [ ] rope\n\n    three\n",
    "a line of four blanks": "- [ ] rope\n    \n    three\n",
    "two paragraphs": "- [ ] rope\n\t\n\tthree\n\t\n\tfour\n",
    "a code block": "- [ ] rope\n\t```\n\tx = 1\n\n\t- [ ] no task\n\t```\n",
    "subtasks": "- [ ] rope\n\t- [ ] buy\n\t\t- [x] ask\n\t- [ ] cut\n",
    "subtasks behind a blank line": "- [ ] rope\n\n    - [ ] buy\n\n        - [x] ask\n",
    "a quote": "- [ ] rope\n\t> [!note]\n\t> three\n",
    "a table": "- [ ] rope\n\n\t| a | b |\n\t|---|---|\n\t| 1 | 2 |\n",
    "a lazy line": "- [ ] rope\nand chain\n\t\n\tthree\n",
    "a comment": "- [ ] rope\n\t%% not\n\n\tnow %%\n",
    "a block id": "- [ ] rope ^r1\n\t\n\tthree\n",
}
"""Cards of several lines, by what is in them."""


def board_of(*lanes: str, archive: str = "", newline: str = "\n") -> str:
    """A board of lanes, each a heading and its cards, as the plugin writes it."""
    texts = "".join(f"## {lane.partition(chr(10))[0]}\n\n{lane.partition(chr(10))[2]}\n\n\n" for lane in lanes)
    rule = f"***\n\n## Archive\n\n{archive}" if archive else ""
    return f"{HEAD}{texts}{rule}\n\n{SETTINGS}".replace("\n", newline)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("place", ["first", "middle", "last", "only"])
@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_a_card_moves_with_all_that_is_inside_it(opened: Opened, card: str, place: str, newline: str) -> None:
    """BOARD-3"""
    above = "- [ ] tar\n" if place in ("middle", "last") else ""
    below = "- [ ] oars\n" if place in ("first", "middle") else ""

    def board(doing: str, done: str) -> str:
        return board_of(f"Doing\n{doing}", f"Done\n{done}", newline=newline)

    before = board(f"{above}{card}{below}", "- [ ] keel\n")
    app = opened({"B.md": before, "C.md": before})
    for name, asked in (("B", {"task": "rope"}), ("C", {"line": before[: before.index("- [ ] rope")].count("\n") + 1})):
        planned = run(app, "update_task", name=name, lane="Done", dry_run=True, **asked)
        assert text(app, name) == before
        answer = run(app, "update_task", name=name, lane="Done", **asked)
        assert text(app, name) == board(f"{above}{below}", f"- [ ] keel\n{card}")
        assert (answer["line"], answer["lane"]) == (planned["line"], "Done")
        run(app, "undo")
        assert text(app, name) == before
    asked = {"tool": "update_task", "name": "B", "task": "rope", "lane": "Done"}
    run(app, "batch", calls=[asked, {**asked, "lane": "Doing"}, asked])
    assert text(app, "B") == board(f"{above}{below}", f"- [ ] keel\n{card}")


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_a_ticked_card_goes_whole_to_the_lane_of_finished_cards_and_back(opened: Opened, card: str) -> None:
    """BOARD-3, BOARD-5"""
    ticked = card.replace("- [ ] rope", "- [x] rope")
    before = board_of(f"Doing\n- [ ] tar\n{card}", "Done\n**Complete**\n- [x] keel\n")
    app = opened({"B.md": before})
    answer = run(app, "update_task", task="rope", status="done")
    assert text(app, "B") == board_of("Doing\n- [ ] tar\n", f"Done\n**Complete**\n- [x] keel\n{ticked}")
    assert answer["lane"] == "Done"
    run(app, "update_task", task="rope", lane="Doing")
    assert text(app, "B") == before


def test_a_card_at_the_end_of_a_file_moves_with_its_lines(opened: Opened) -> None:
    """BOARD-3: the file has no last line end, before and after"""
    app = opened({"B.md": f"{HEAD}## Doing\n\n- [ ] tar\n\n## Done\n\n- [ ] keel\n- [ ] rope\n\t\n\tthree"})
    run(app, "update_task", task="rope", lane="Doing")
    moved = f"{HEAD}## Doing\n\n- [ ] tar\n- [ ] rope\n\t\n\tthree\n\n## Done\n\n- [ ] keel"
    assert text(app, "B") == moved
    run(app, "update_task", task="tar", lane="Done")
    assert text(app, "B") == moved.replace("- [ ] tar\n", "") + "\n- [ ] tar"


def test_the_archive_keeps_a_card_as_it_is(opened: Opened) -> None:
    """BOARD-5"""
    done, old = "**Complete**\n- [x] oars\n\tof ash\n- [-] mast\n", "- [x] old\n- [ ] raft\n"
    app = opened({"B.md": board_of("Doing\n- [ ] tar\n", f"Done\n{done}", archive=old)})
    for task in ("oars", "mast", "tar"):
        assert run(app, "update_task", task=task, lane="Archive")["lane"] == "Archive"
    gone = "- [x] oars\n\tof ash\n- [-] mast\n- [ ] tar\n"
    assert text(app, "B") == board_of("Doing\n", "Done\n**Complete**\n", archive=old + gone)
    assert "lane" not in run(app, "update_task", task="tar", status="done")
    assert text(app, "B") == board_of("Doing\n", "Done\n**Complete**\n", archive=old + gone.replace("[ ]", "[x]"))
    run(app, "update_task", task="old", lane="Doing")
    run(app, "update_task", task="raft", lane="Done")
    ticked = gone.replace("[ ]", "[x]")
    assert text(app, "B") == board_of("Doing\n- [x] old\n", "Done\n**Complete**\n- [x] raft\n", archive=ticked)


def test_a_card_keeps_its_status_between_lanes_of_one_kind(opened: Opened) -> None:
    """BOARD-5"""
    lanes = ["Doing\n- [x] tar\n", "Done\n**Complete**\n- [x] oars\n- [-] mast\n", "Sold\n**Complete**\n", "Idle\n"]
    app = opened({"B.md": board_of(*lanes)})
    for task, lane in (("tar", "Idle"), ("oars", "Sold"), ("mast", "Idle")):
        run(app, "update_task", task=task, lane=lane)
    assert text(app, "B") == board_of(
        "Doing\n", "Done\n**Complete**\n", "Sold\n**Complete**\n- [x] oars\n", "Idle\n- [x] tar\n- [-] mast\n"
    )
    run(app, "update_task", task="oars", status="todo")
    assert "lane" not in run(app, "update_task", task="oars", status="done")


@pytest.mark.parametrize("name", ["Backlog", "backlog", "Backlog (3)", "## Backlog", "  BACKLOG "])
def test_a_lane_is_named_without_its_limit(opened: Opened, name: str) -> None:
    """BOARD-4"""
    app = opened({"B.md": board_of("Backlog (3)\n- [ ] keel\n", "**Doing** (1)\n- [ ] tar\n- [ ] rope\n")})
    assert run(app, "update_task", task="tar", lane=name)["lane"] == "Backlog"
    run(app, "update_task", action="add", name="B", section=name, text="mast")
    full = run(app, "update_task", task="rope", lane=name)
    assert full["warnings"] == ["The lane 'Backlog' now has 4 cards, and its limit is 3."]
    run(app, "edit_note", name="B", operation="append_section", section=name, content="- [ ] oars")
    run(app, "edit_note", name="B", operation="prepend_section", section="Doing", content="- [ ] glue")
    cards = "".join(f"- [ ] {card}\n" for card in ("keel", "tar", "mast", "rope", "oars"))
    assert text(app, "B") == board_of(f"Backlog (3)\n{cards}", "**Doing** (1)\n- [ ] glue\n")
    with pytest.raises(AppError, match=r"no lane 'Later'. Its lanes are: 'Backlog', '\*\*Doing\*\*'"):
        run(app, "update_task", task="tar", lane="Later")


def test_of_lanes_of_one_name_the_first_is_meant_or_that_of_the_card(opened: Opened) -> None:
    """BOARD-4"""
    lanes = ["Idle\n- [ ] tar\n", "Doing (2)\n- [ ] oars\n", "Doing\n- [ ] rope\n"]
    app = opened({"B.md": board_of(*lanes)})
    run(app, "update_task", task="tar", lane="Doing")
    assert text(app, "B") == board_of("Idle\n", lanes[1], lanes[2] + "- [ ] tar\n")
    answer = run(app, "update_task", task="rope", lane="doing")
    assert not answer["changed"]


def test_a_lane_named_twice_is_told_with_its_lines(opened: Opened) -> None:
    """BOARD-4"""
    before = board_of("Idle\n- [ ] tar\n", "Doing\n- [ ] oars\n", "Doing\n- [ ] rope\n")
    app = opened({"B.md": before})
    same = run(app, "update_task", task="rope", lane="Doing")
    assert (text(app, "B"), same["changed"]) == (before, False)
    answer = run(app, "update_task", task="tar", lane="Doing")
    assert answer["warnings"] == [
        "2 lanes are called 'Doing' (lines 13, 19); the card is in the one of line 13, as it was before the change."
    ]
    assert text(app, "B") == board_of("Idle\n", "Doing\n- [ ] oars\n- [ ] tar\n", "Doing\n- [ ] rope\n")


@pytest.mark.parametrize("below", [False, True])
def test_the_next_occurrence_of_a_card_has_its_lines_too(opened: Opened, below: bool) -> None:
    """BOARD-6"""
    card = "- [ ] pay 🔁 every month 📅 2026-11-30\n\t\n\tby post\n\t- [ ] sign\n"
    before = board_of(f"Todo\n- [ ] tar\n{card}- [ ] oars\n", "Done\n**Complete**\n- [x] keel\n")
    app = opened({"B.md": before, TASKS: json.dumps({"recurrenceOnNextLine": below})}, community_plugins=[PLUGIN])
    answer = run(app, "update_task", task="pay", status="done")
    following = card.replace("2026-11-30", "2026-12-30")
    completed = card.replace("[ ] pay", "[x] pay").replace("11-30", "11-30 ✅ 2026-11-22")
    expected = board_of(f"Todo\n- [ ] tar\n{following}- [ ] oars\n", f"Done\n**Complete**\n- [x] keel\n{completed}")
    assert text(app, "B") == expected
    lines = expected.split("\n")
    assert lines[answer["line"] - 1].startswith("- [x] pay")
    assert lines[answer["next"]["line"] - 1].startswith("- [ ] pay")
    run(app, "undo")
    assert text(app, "B") == before


@pytest.mark.parametrize("below", [False, True])
def test_a_recurring_card_that_stays_is_repeated_with_its_lines(opened: Opened, below: bool) -> None:
    """BOARD-6"""
    card = "- [ ] pay 🔁 every month 📅 2026-11-30\n\tby post"
    before = f"{HEAD}## Todo\n\n{card}".replace("\n", "\r\n")
    app = opened({"B.md": before, TASKS: json.dumps({"recurrenceOnNextLine": below})}, community_plugins=[PLUGIN])
    run(app, "update_task", task="pay", status="done")
    two = [card.replace("11-30", "12-30"), card.replace("[ ]", "[x]").replace("11-30", "11-30 ✅ 2026-11-22")]
    expected = "\n".join(reversed(two) if below else two)
    assert text(app, "B") == f"{HEAD}## Todo\n\n{expected}".replace("\n", "\r\n")


def test_a_card_with_further_lines_is_not_deleted_on_completion(opened: Opened) -> None:
    """TASK-47: the line would become a part of the card above"""
    app = opened({"B.md": board_of("Todo\n- [ ] tar\n- [ ] rope 🏁 delete\n\t\n\tthree\n")})
    answer = run(app, "update_task", task="rope", status="done")
    assert "not deleted on completion" in answer["warnings"][0]
    assert "\n- [ ] tar\n- [x] rope 🏁 delete" in text(app, "B")


@pytest.mark.parametrize(
    ("doing", "done", "expected"),
    [
        ("- [ ] rope\n\tx\n", "* [ ] keel\n", "* [ ] keel\n* [ ] rope\n\tx\n"),
        ("- [ ] rope\n  x\n\n  - [ ] y\n", "1. [ ] keel\n", "1. [ ] keel\n2. [ ] rope\n   x\n\n   - [ ] y\n"),
        ("3) [ ] rope\n   x\n", "- [ ] keel\n", "- [ ] keel\n- [ ] rope\n   x\n"),
        ("- [ ] rope\n\tx\n", "- [ ] keel\n\ntext\n", "- [ ] keel\n- [ ] rope\n\tx\n\ntext\n"),
        ("- [ ] rope\n\tx\n", "text\n", "text\n- [ ] rope\n\tx\n"),
        ("- [ ] rope\n", "- [ ] keel\n> said\n- [ ] mast\n", "- [ ] keel\n- [ ] rope\n\n> said\n- [ ] mast\n"),
        ("- [ ] rope\n", "- [ ] keel\n<p>\n- [ ] mast\n", "- [ ] keel\n- [ ] rope\n\n<p>\n- [ ] mast\n"),
        ("\n- [ ] tar\n\n%% c %%\n\n- [ ] rope\n\tx\n", "- [ ] keel\n", "- [ ] keel\n- [ ] rope\n\tx\n"),
        ("  - [ ] rope\n\n      x\n", "- [ ] keel\n", "- [ ] keel\n- [ ] rope\n\n    x\n"),
    ],
)
def test_a_card_joins_the_list_of_its_lane(opened: Opened, doing: str, done: str, expected: str) -> None:
    """BOARD-3"""
    app = opened({"B.md": board_of(f"Doing\n{doing}", f"Done\n{done}")})
    run(app, "update_task", task="rope", lane="Done")
    assert text(app, "B").endswith(board_of(f"Done\n{expected}").removeprefix(HEAD))


def test_a_card_in_front_of_the_lanes_goes_to_a_lane_and_a_subtask_does_not(opened: Opened) -> None:
    """BOARD-3"""
    quoted = "- [ ] tar\n\t- [ ] heat\n\t> - [ ] stir\n"
    app = opened(
        {"B.md": f"{HEAD}- [ ] rope\n\tthree\n\n## Doing\n\n{quoted}> - [ ] said\n\n## Done\n\n**Complete**\n"}
    )
    run(app, "update_task", task="rope", lane="Doing")
    assert f"## Doing\n\n{quoted}- [ ] rope\n\tthree\n\n> - [ ] said\n" in text(app, "B")
    for task in ("heat", "stir", "said"):
        with pytest.raises(AppError, match="is inside a card"):
            run(app, "update_task", name="B", task=task, lane="Done")
        assert "lane" not in run(app, "update_task", name="B", task=task, status="done")


def test_a_new_task_joins_the_list_of_its_lane(opened: Opened) -> None:
    """BOARD-2"""
    app = opened({"B.md": board_of("Doing (2)\n* [ ] tar\n\t\n\tblack\n\ntext\n", "Done\n**Complete**\n1. [x] keel\n")})
    added = run(app, "update_task", action="add", name="B", section="Doing", text="rope")
    run(app, "update_task", action="add", name="B", section="Done", text="mast", status="done")
    doing = "Doing (2)\n* [ ] tar\n\t\n\tblack\n* [ ] rope\n\ntext\n"
    assert text(app, "B").startswith(board_of(doing, "Done\n**Complete**\n1. [x] keel\n2. [x] mast")[:-60])
    assert text(app, "B").split("\n")[added["line"] - 1] == added["new"][0] == "* [ ] rope"
