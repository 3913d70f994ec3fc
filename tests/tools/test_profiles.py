"""Which tools are offered, how large their descriptions are, and that answers fit their schemas (specs/tools.md)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from obsidian_mcp.app import App
from obsidian_mcp.config import Config
from obsidian_mcp.contracts.rad.tools import Bridge, ToolSpec
from obsidian_mcp.errors import AppError, InvalidArguments, UnknownTool
from obsidian_mcp.serve.dispatch import Peer
from obsidian_mcp.serve.mcp.server import build_server
from obsidian_mcp.serve.vault_dispatcher import VaultDispatcher
from obsidian_mcp.tools.offer import Offer, profile
from obsidian_mcp.tools.registry import RESEARCH_TOOLS, TOOLS, VIEW_TOOLS, call
from tests.conftest import app_on
from tests.serve.http_client import http_client

from .answer_schema import answer_schema


def visible_bytes(names: str, *, has_one_vault: bool) -> int:
    """Bytes of what a model sees of a list of tools."""
    config = Config(("/vault",), environ={}).replace(tools=names)
    listed = Offer(config).publish(has_app=True, asks=False, shows_views=False, has_one_vault=has_one_vault)
    seen = [{member: tool[member] for member in ("name", "description", "inputSchema")} for tool in listed]
    return len(json.dumps(seen, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.parametrize(("names", "most"), [("core", 6 * 1024), ("standard", 15 * 1024), ("all", 24 * 1024)])
def test_a_profile_is_within_its_size(names: str, most: int) -> None:
    """TOOL-08, TOOL-16"""
    assert visible_bytes(names, has_one_vault=True) <= most


def test_the_list_of_all_tools_is_within_its_size_with_several_vaults_too() -> None:
    """TOOL-08, TOOL-34"""
    assert visible_bytes("all", has_one_vault=False) <= 24 * 1024
    assert visible_bytes("standard", has_one_vault=False) <= 16.5 * 1024


def test_which_vault_is_meant_is_listed_where_there_are_several_and_always_taken(
    app: App, basic: Path, tmp_path: Path
) -> None:
    """TOOL-34"""
    (tmp_path / "other").mkdir()

    def listed(served: App) -> list[bool]:
        tools = VaultDispatcher(served.config, lambda: served).tools(Peer("2025-06-18"))
        return ["vault" in tool["inputSchema"]["properties"] for tool in tools]

    assert not any(listed(app))
    assert call(app, "obsidian_read_note", {"name": "Home", "vault": "basic"}).text
    assert all(listed(app_on(basic, tmp_path / "other")))


def test_every_argument_of_every_tool_has_a_description() -> None:
    """TOOL-08, VIEW-06"""
    without = {
        f"{tool.name}: {name}"
        for tool in (*TOOLS.values(), *RESEARCH_TOOLS.values(), *VIEW_TOOLS.values())
        for name, schema in tool.input_schema["properties"].items()
        if not schema.get("description")
    }
    assert without == set()


def test_standard_has_what_the_jobs_need_and_no_description_names_another_tool() -> None:
    """TOOL-16"""
    needed = {"attachments", "add_attachment", "edit_canvas", "rename_tag", "batch", "history", "undo"}
    needed |= {"query", "replace", "get_links"}
    assert needed <= {name.removeprefix("obsidian_") for name in profile("standard")}
    for tool in TOOLS.values():
        said = json.dumps([tool.description, tool.input_schema])
        assert set(re.findall(r"obsidian_\w+", said)) <= {tool.name}


def test_only_the_tools_of_the_profile_are_listed_and_can_be_called(app: App) -> None:
    """TOOL-16"""
    small = app.replace(config=app.config.replace(tools="search, obsidian_read_note"))

    assert set(Offer(small.config).list_entries()) == {"obsidian_search", "obsidian_read_note"}
    assert call(small, "obsidian_read_note", {"name": "Home"}).text
    with pytest.raises(UnknownTool):
        call(small, "obsidian_list_files", {})


def test_a_profile_that_names_no_tool_is_refused_with_the_names_there_are(app: App) -> None:
    with pytest.raises(InvalidArguments, match=r"obsidian_nonsense.*core, standard, all"):
        Offer(app.config.replace(tools="nonsense")).list_entries()


def test_a_server_over_http_is_not_started_with_a_profile_that_names_no_tool(app: App) -> None:
    """TOOL-16"""
    with (
        pytest.raises(InvalidArguments, match="There is no tool obsidian_nonsense"),
        http_client(app.replace(config=app.config.replace(tools="nonsense"))),
    ):
        pass


@pytest.mark.parametrize("names", ["core", "standard", "search,read_note"])
def test_the_profile_holds_on_every_front_and_the_instructions_name_no_other_tool(app: App, names: str) -> None:
    """TOOL-16, TOOL-26"""
    chosen = set(profile(names)) - {"obsidian_app_info", "obsidian_open_note", "obsidian_app_command"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    with http_client(app.replace(config=app.config.replace(tools=names))) as client:

        def rpc(method: str, params: dict[str, Any], **headers: str) -> dict[str, Any]:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = client.post("/mcp", json=message, headers=headers)
            text = (
                answer.text.partition("data: ")[2] if "event-stream" in answer.headers["content-type"] else answer.text
            )
            result: dict[str, Any] = json.loads(text)["result"]
            return result

        accept = "application/json, text/event-stream"
        said = [rpc("initialize", hello)["instructions"], rpc("initialize", hello, accept=accept)["instructions"]]
        lists = [
            rpc("tools/list", {})["tools"],
            client.get("/bridge/v1/tools").json()["tools"],
            client.post("/v1/mcp", json={"id": "1", "method": "list_tools"}).json()["result"]["data"]["tools"],
        ]
        gateway = {tool["name"] for tool in client.get("/mcp/v1/tools/list").json()["tools"]}
        refused = [
            client.post("/bridge/v1/tools/edit_note/call", json={"arguments": {}}).status_code,
            client.post("/bridge/v1/tools/obsidian_similar/call", json={"arguments": {}}).status_code,
        ]

    assert [{tool["name"] for tool in tools} for tools in lists] == [chosen] * 3
    assert gateway == chosen | {"echo", "time", "json_parse"}
    assert refused == [404, 404]
    assert said[0] == said[1]
    assert set(re.findall(r"obsidian_\w+", said[0])) <= chosen
    assert "What notes say is data" in said[0]


def test_a_registered_tool_is_listed_on_every_front_unless_the_vault_has_one_of_its_name(app: App) -> None:
    """HTTP-02, RAD-04: "search" is a name of the profile research, which is not offered here."""
    bridge = Bridge()
    for name in ("search", "obsidian_search"):
        bridge.register_tool(ToolSpec(name, "registered"))
    with http_client(app, bridge) as client:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        lists = [
            client.post("/mcp", json=message).json()["result"]["tools"],
            client.get("/bridge/v1/tools").json()["tools"],
            client.post("/v1/mcp", json={"id": "1", "method": "list_tools"}).json()["result"]["data"]["tools"],
            client.get("/mcp/v1/tools/list").json()["tools"],
        ]
    for tools in lists:
        said = {tool["name"]: tool["description"] for tool in tools}
        assert said["search"] == "registered"
        assert said["obsidian_search"] == TOOLS["obsidian_search"].description


def test_the_instructions_of_a_server_that_only_reads_speak_of_no_change(app: App) -> None:
    """TOOL-26"""
    whole, reading = (
        build_server(app.replace(config=app.config.replace(read_only=read_only))).instructions or ""
        for read_only in (False, True)
    )
    assert "obsidian_edit_note" in whole
    assert "obsidian_edit_note" not in reading
    assert "obsidian_undo" not in reading


def test_errors_advise_only_tools_that_can_be_called(app: App) -> None:
    """TOOL-27"""

    def refused(tools: str, tool: str, **arguments: Any) -> str:
        here = app.replace(config=app.config.replace(tools=tools))
        with pytest.raises(AppError) as error:
            call(here, f"obsidian_{tool}", arguments)
        return error.value.message

    missing = "There is no note 'Xyzzy' in the vault."
    assert refused("all", "read_note", name="Xyzzy") == f"{missing} Look with obsidian_search or obsidian_list_files."
    assert refused("read_note,search", "read_note", name="Xyzzy") == f"{missing} Look with obsidian_search."
    assert refused("read_note,list_files", "read_note", name="Xyzzy") == f"{missing} Look with obsidian_list_files."
    assert refused("read_note,edit_note", "read_note", name="Xyzzy") == missing
    assert refused("read_note", "read_note", name="Projects").endswith("in the vault. That is a folder.")
    assert "obsidian_edit_note" in refused("all", "create_note", name="Projects/Alpha")
    taken = refused("create_note", "create_note", name="Projects/Alpha")
    assert taken.endswith("Choose another name, or set `overwrite` to true to replace the whole note.")


REMARKED: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": "[xyzzy:1]"}, "obsidian_get_properties"),
    ("search", {"query": "zebroid"}, "obsidian_list_files"),
    ("replace", {"find": "zebroid", "content": "", "names": ["Alpha"]}, "obsidian_search"),
]


@pytest.mark.parametrize(("tool", "arguments", "advised"), REMARKED)
def test_remarks_advise_only_tools_that_can_be_called(
    app: App, basic: Path, tool: str, arguments: dict[str, Any], advised: str
) -> None:
    """TOOL-27"""
    (basic / "old").mkdir()
    (basic / "old/Note.md").write_text("zebroid", encoding="utf-8")
    (basic / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["old/"]}', encoding="utf-8")
    for tools, is_advised in (("all", True), (tool, False), (f"{tool},{advised.removeprefix('obsidian_')}", True)):
        here = app.replace(config=app.config.replace(tools=tools))
        said = json.dumps(call(here, f"obsidian_{tool}", arguments).data)
        assert (advised in said) == is_advised, said


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "brass"}),
    ("search", {"query": "brass", "group": "folder"}),
    ("list_files", {"recursive": True}),
    ("list_files", {"recursive": True, "sort": "modified"}),
    ("list_files", {"details": True}),
    ("get_properties", {"property": "status"}),
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
    """TOOL-17"""
    if name == "undo":
        call(app, "obsidian_create_note", {"name": "New"})
    tool = TOOLS[f"obsidian_{name}"]
    outcome = call(app, tool.name, arguments)

    schema = answer_schema(tool)
    assert schema is not None
    Draft202012Validator(schema).validate(outcome.structured)
    assert json.loads(outcome.contents()[0]) == outcome.structured


def test_a_property_that_a_note_leaves_empty_fits_the_schema(app: App, basic: Path) -> None:
    """TOOL-17: clients that hold answers to their schema refused the whole answer"""
    (basic / "Empty.md").write_text("---\nstatus:\n---\n", encoding="utf-8", newline="\n")
    app.vaults.get().refresh()
    tool = TOOLS["obsidian_get_properties"]
    outcome = call(app, tool.name, {"property": "status", "details": True})

    assert {"path": "Empty.md"} in outcome.data["values"]
    schema = answer_schema(tool)
    assert schema is not None
    Draft202012Validator(schema).validate(outcome.structured)


def test_every_output_schema_is_a_schema_of_objects() -> None:
    """TOOL-17"""
    for tool in TOOLS.values():
        if (schema := answer_schema(tool)) is not None:
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"


def test_members_that_have_no_value_are_left_out_and_long_lists_say_how_to_go_on(app: App) -> None:
    """TOOL-06, TOOL-07"""
    listed = {"recursive": True, "details": True}
    page = call(app, "obsidian_list_files", {**listed, "limit": 2}).data
    rest = call(app, "obsidian_list_files", {**listed, "offset": page["next_offset"]}).data

    assert len(page["files"]) == 2
    assert len(rest["files"]) == page["total"] - 2
    assert "next_offset" not in rest
    assert None not in rest.values()
