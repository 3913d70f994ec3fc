"""Every answer about a note whose properties cannot be read says so, with the line (TOOL-38, FM-05)."""

from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import PropertiesUnreadable, TemplateFailed
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

BROKEN = "---\ntitle: fine\nsummary: a: b\n---\nText below\n"
OPEN = "---\ntitle: fine\nkind: open\n\nText below\n"
SETTINGS: dict[str, Any] = {
    "templates": {"folder": "Templates"},
    "daily_notes": {"template": "Templates/Ill"},
    "core_plugins": {"daily-notes": True},
}
FILES = {
    "Broken.md": BROKEN,
    "Open.md": OPEN,
    "Sound.md": "---\ntitle: fine\n---\n# Part\nText below\n",
    "Rule.md": "---\nA rule stands above this line.\n",
    "Templates/Ill.md": BROKEN,
    "Templates/Well.md": "From the template\n",
    "Tasks.md": BROKEN + "- [ ] Row\n",
}


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def said(answer: dict[str, Any]) -> str:
    return " ".join([*answer.get("warnings", ()), answer.get("warning", "")])


def edit(name: str, operation: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return "edit_note", {"name": name, "operation": operation, **arguments}


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "create": ("create_note", {"name": "New", "content": BROKEN}),
    "overwrite": ("create_note", {"name": "Sound", "content": BROKEN, "overwrite": True}),
    "create from template": ("create_note", {"name": "New", "template": "Ill"}),
    "create the daily note": ("create_note", {"name": "daily:today"}),
    "append": edit("Broken", "append", content="More\n"),
    "prepend": edit("Broken", "prepend", content="More\n"),
    "replace_text": edit("Sound", "replace_text", find="fine", content="a: b"),
    "unchanged": edit("Broken", "replace_text", find="Text", content="Text"),
    "dry run": ("edit_note", {**edit("Broken", "append", content="More\n")[1], "dry_run": True}),
    "replace": ("replace", {"find": "fine", "content": "a: b", "names": ["Sound"]}),
    "replace dry run": ("replace", {"find": "fine", "content": "a: b", "names": ["Sound"], "dry_run": True}),
    "batch": ("batch", {"calls": [{"tool": "edit_note", "arguments": edit("Broken", "append", content="x")[1]}]}),
    "daily note": ("daily_note", {"content": "More\n"}),
    "insert template": ("insert_template", {"template": "Well", "name": "Broken"}),
    "get properties": ("get_properties", {"name": "Broken"}),
    "read": ("read_note", {"name": "Broken"}),
    "read properties": ("read_note", {"name": "Broken", "view": "properties"}),
    "read template": ("list_templates", {"template": "Ill"}),
    "task": ("update_task", {"name": "Tasks", "task": "Row", "status": "done"}),
    "extract": ("compose_notes", {"action": "extract", "name": "Sound", "part": "Part", "into": "Broken"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_answer_about_a_note_with_a_broken_block_names_its_line(opened: Opened, name: str) -> None:
    """TOOL-38"""
    tool, arguments = CALLS[name]
    answer = said(run(opened(FILES, **SETTINGS), tool, **arguments))
    line = 2 if "fine" in str(arguments.get("find")) else 3
    assert answer.count(f"The frontmatter is not readable: line {line}: text with a colon") == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_note", {"name": "New", "content": OPEN}),
        edit("Open", "append", content="More\n"),
        ("get_properties", {"name": "Open"}),
        ("read_note", {"name": "Open"}),
    ],
)
def test_each_answer_about_a_block_that_nothing_closes_says_so(
    opened: Opened, tool: str, arguments: dict[str, Any]
) -> None:
    """TOOL-38, FM-05"""
    answer = said(run(opened(FILES, **SETTINGS), tool, **arguments))
    assert "line 1 opens it, and no line with only --- closes it; line 3 seems to be its last one" in answer


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("set_properties", {"names": ["Open"], "properties": {"status": "done"}}),
        ("set_properties", {"names": ["Open", "Sound"], "properties": {"status": "done"}}),
        ("create_note", {"name": "New", "content": OPEN, "properties": {"status": "done"}}),
    ],
)
def test_no_second_block_is_made_above_one_that_nothing_closes(
    opened: Opened, tool: str, arguments: dict[str, Any]
) -> None:
    """FM-05"""
    app = opened(FILES, **SETTINGS)
    with pytest.raises(PropertiesUnreadable, match="Add the line ---") as refused:
        run(app, tool, **arguments)
    assert refused.value.data["line"] == 1
    assert run(app, "read_note", name="Open")["content"] == OPEN


def test_text_that_is_put_above_an_open_block_is_said_to_cover_it(opened: Opened) -> None:
    """TOOL-38, FM-05"""
    answer = run(opened(FILES), "edit_note", name="Open", operation="prepend", content="Above\n")
    assert "The new text stands above it" in said(answer)


def test_a_rule_across_the_page_begins_no_properties(opened: Opened) -> None:
    """FM-05"""
    app = opened(FILES)
    changed = run(app, "set_properties", names=["Rule"], properties={"status": "done"})
    assert "warnings" not in changed
    assert run(app, "read_note", name="Rule")["content"].startswith("---\nstatus: done\n---\n---\n")


def test_a_note_or_template_with_an_open_block_is_not_taken_for_text(opened: Opened) -> None:
    """FM-05, COMPOSE-1, PERIODIC-18"""
    app = opened({**FILES, "Templates/Open.md": OPEN}, **SETTINGS)
    with pytest.raises(PropertiesUnreadable, match="cannot be merged"):
        run(app, "compose_notes", action="merge", name="Open.md", into="Sound")
    with pytest.raises(TemplateFailed, match="no line with only ---"):
        run(app, "insert_template", template="Open", name="Sound")


def test_of_many_notes_each_is_named_with_its_line(opened: Opened) -> None:
    """TOOL-38"""
    app = opened({f"{n}.md": BROKEN for n in range(9)})
    answer = run(app, "replace", find="below", content="above", names=[f"{n}.md" for n in range(9)])
    warnings = answer["warnings"]
    assert warnings[0].startswith("'0.md': The frontmatter is not readable: line 3")
    assert warnings[-1] == "The properties of 4 more of these notes cannot be read."


def test_the_check_lists_a_block_that_nothing_closes(opened: Opened) -> None:
    """CHECK-06, FM-05"""
    (result,) = run(opened({"Open.md": OPEN, "Rule.md": FILES["Rule.md"]}), "check", only="unreadable")["results"]
    assert [(finding["path"], finding["line"]) for finding in result["findings"]] == [("Open.md", 1)]
