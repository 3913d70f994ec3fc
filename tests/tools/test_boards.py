"""Boards of the Kanban plugin: cards go where the plugin reads them (BOARD-1 to BOARD-3 in specs/edits.md)."""

from __future__ import annotations

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
SETTINGS = '%% kanban:settings\n```\n{"kanban-plugin":"board"}\n```\n%%\n'


def run(app: App, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).whole()


def text(app: App, name: str) -> str:
    vault = app.vaults.get()
    return vault.read(vault.find(name)).text.body


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
        with pytest.raises(AppError, match=r"no Kanban board|no heading 'No'"):
            run(app, "update_task", **wrong)
