"""Boards of the Kanban plugin: cards go where the plugin reads them (BOARD-1, BOARD-2 in specs/edits.md)."""

from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import NotText
from obsidian_mcp.tools import call
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
