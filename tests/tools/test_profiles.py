"""Which tools are offered, how large their descriptions are, and that answers fit their schemas (specs/tools.md)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments, UnknownTool
from obsidian_mcp.tools import TOOLS, call, listed
from obsidian_mcp.tools.registry import profile


def visible_bytes(names: str) -> int:
    """Bytes of what a model sees of a list of tools."""
    seen = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in profile(names).values()
    ]
    return len(json.dumps(seen, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.parametrize(("names", "most"), [("core", 6 * 1024), ("standard", 14 * 1024), ("all", 24 * 1024)])
def test_a_profile_is_within_its_size(names: str, most: int) -> None:
    # TOOL-08, TOOL-16
    assert visible_bytes(names) <= most


def test_only_the_tools_of_the_profile_are_listed_and_can_be_called(app: App) -> None:
    # TOOL-16
    small = replace(app, config=replace(app.config, tools="search, obsidian_read_note"))

    assert set(listed(small)) == {"obsidian_search", "obsidian_read_note"}
    assert call(small, "obsidian_read_note", {"name": "Home"}).text
    with pytest.raises(UnknownTool):
        call(small, "obsidian_list_files", {})


def test_a_profile_that_names_no_tool_is_refused_with_the_names_there_are(app: App) -> None:
    with pytest.raises(InvalidArguments, match=r"obsidian_nonsense.*core, standard, all"):
        listed(replace(app, config=replace(app.config, tools="nonsense")))


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "brass"}),
    ("search", {"query": "brass", "group": "folder"}),
    ("list_files", {"recursive": True}),
    ("vault_info", {}),
    ("get_links", {"name": "Alpha"}),
    ("graph", {"question": "orphans"}),
    ("graph", {"question": "neighbours", "name": "Alpha"}),
    ("tags", {}),
    ("tags", {"tag": "work"}),
    ("get_properties", {}),
    ("get_properties", {"name": "Alpha"}),
    ("list_tasks", {}),
    ("create_note", {"name": "New", "content": "- [ ] x"}),
    ("edit_note", {"name": "Home", "operation": "append", "content": "x"}),
    ("set_properties", {"names": ["Home"], "properties": {"a": 1}}),
    ("rename_tag", {"tag": "work", "to": "job", "dry_run": True}),
    ("replace", {"names": ["Home"], "find": "e", "content": "E"}),
    ("update_task", {"action": "add", "name": "Home", "text": "y"}),
    ("move_note", {"name": "Alpha", "to": "Beta"}),
    ("history", {}),
    ("undo", {}),
    ("delete_note", {"name": "Home"}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_an_answer_fits_its_schema_and_is_the_text(app: App, name: str, arguments: dict[str, Any]) -> None:
    # TOOL-17
    if name == "undo":
        call(app, "obsidian_create_note", {"name": "New"})
    tool = TOOLS[f"obsidian_{name}"]
    outcome = call(app, tool.name, arguments)

    assert tool.output_schema is not None
    Draft202012Validator(tool.output_schema).validate(outcome.structured)
    assert json.loads(outcome.contents()[0]) == outcome.structured


def test_every_output_schema_is_a_schema_of_objects() -> None:
    # TOOL-17
    for tool in TOOLS.values():
        if tool.output_schema is not None:
            Draft202012Validator.check_schema(tool.output_schema)
            assert tool.output_schema["type"] == "object"


def test_members_that_have_no_value_are_left_out_and_long_lists_say_how_to_go_on(app: App) -> None:
    # TOOL-06, TOOL-07
    page = call(app, "obsidian_list_files", {"recursive": True, "limit": 2}).data
    rest = call(app, "obsidian_list_files", {"recursive": True, "offset": page["next_offset"]}).data

    assert len(page["files"]) == 2
    assert len(rest["files"]) == page["total"] - 2
    assert "next_offset" not in rest
    assert None not in rest.values()
