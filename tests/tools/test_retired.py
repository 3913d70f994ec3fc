"""Calls in the form of the version before (earlier_surface.json): answered, not listed (specs/tools.md TOOL-13)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, InvalidArguments, ObsidianNotRunning, UnknownTool
from obsidian_mcp.tools import TOOLS, call, listed
from obsidian_mcp.tools.registry import present
from tests.serve.http_client import http_client

SURFACE: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("earlier_surface.json").read_text(encoding="utf-8")
)
SAMPLES = {"string": "Alpha", "integer": 1, "boolean": True, "array": ["Alpha"], "object": {"a": 1}}


def values(described: dict[str, Any]) -> list[Any]:
    return described.get("enum") or [SAMPLES[described["type"]]]


@pytest.mark.parametrize("tool", SURFACE)
def test_every_argument_and_choice_of_the_version_before_is_known(app: App, tool: str) -> None:
    # TOOL-13
    refused = []
    for argument, described in SURFACE[tool].items():
        for value in values(described):
            given = {"name": "Alpha", "dry_run": True, argument: "basic" if argument == "vault" else value}
            known = {name: given[name] for name in given if name in SURFACE[tool]}
            try:
                call(app, tool, known)
            except InvalidArguments as error:
                refused += [error.message] if "There is no argument" in error.message else []
            except UnknownTool as error:
                refused.append(error.message)
            except AppError:
                pass  # the app does not run, a note is there already and the like
    assert refused == []


def test_old_names_are_not_listed(app: App) -> None:
    # TOOL-13
    gone = set(SURFACE) - set(TOOLS)
    assert gone == {"obsidian_properties", "obsidian_app"}
    assert not gone & set(listed(app))
    assert "rename_to" not in TOOLS["obsidian_tags"].input_schema["properties"]


def test_old_calls_do_what_they_did(app: App, basic: Path) -> None:
    # TOOL-13
    alpha = basic / next(path.relative_to(basic) for path in basic.rglob("Alpha.md"))
    call(app, "obsidian_properties", {"name": "Alpha", "action": "set", "property": "rank", "value": "3"})
    assert b"rank: 3\n" in alpha.read_bytes()
    etag = call(app, "obsidian_properties", {"name": "Alpha", "property": "rank", "value": ""}).data["etag"]
    call(
        app, "obsidian_properties", {"name": "Alpha", "action": "remove", "property": "rank", "etag": etag, "limit": 5}
    )
    assert b"rank" not in alpha.read_bytes()
    call(app, "obsidian_create_note", {"name": "Tagged", "content": "#old\n"})
    call(app, "obsidian_tags", {"tag": "old", "rename_to": "new", "dry_run": True})
    assert (basic / "Tagged.md").read_text(encoding="utf-8") == "#old\n"
    call(app, "obsidian_tags", {"tag": "old", "rename_to": "new"})
    assert (basic / "Tagged.md").read_text(encoding="utf-8") == "#new\n"
    assert call(app, "obsidian_tags", {"tag": "new", "dry_run": False}).data["total"] == 1


@pytest.mark.parametrize(
    ("given", "today"),
    [
        ({"action": "run", "text": "app:reload", "version": 1}, ("obsidian_app_command", {"command": "app:reload"})),
        ({"action": "eval", "text": "1", "name": ""}, ("obsidian_app_command", {"javascript": "1"})),
        ({"action": "open", "name": "A", "text": "x"}, ("obsidian_open_note", {"name": "A"})),
        ({"action": "daily", "vault": "v"}, ("obsidian_daily_note", {"create": False, "vault": "v"})),
        ({"action": "daily_append", "text": "x"}, ("obsidian_daily_note", {"content": "x"})),
        ({"action": "history", "name": "A"}, ("obsidian_app_info", {"topic": "history", "name": "A"})),
        ({}, ("obsidian_app_info", {"topic": "commands"})),
    ],
)
def test_the_actions_of_the_app_are_tools_of_their_own(given: dict[str, Any], today: tuple[str, Any]) -> None:
    # TOOL-13
    assert present("obsidian_app", given) == today


def test_every_dialect_answers_old_calls(app: App) -> None:
    # TOOL-13
    with http_client(app) as client:
        rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "obsidian_properties"}}
        answers = [
            client.post("/mcp", json=rpc).text,
            client.post("/bridge/v1/tools/obsidian_properties/call", json={"arguments": {}}).text,
            client.post("/v1/mcp", json={"id": "1", "method": "call_tool", "name": "obsidian_properties"}).text,
            client.post("/mcp/v1/tools/invoke", json={"tool": "obsidian_properties"}).text,
        ]
        unconfirmed = {"tag": "old", "rename_to": "new"}
        envelope = {"id": "1", "method": "call_tool", "name": "obsidian_tags", "args": unconfirmed}
        refused = client.post("/v1/mcp", json=envelope).json()
    assert [answer for answer in answers if "vault_properties" not in answer] == []
    assert refused["need_confirm"] is True


def test_an_old_call_of_the_app_says_that_it_does_not_run(app: App) -> None:
    with pytest.raises(ObsidianNotRunning):
        call(app, "obsidian_app", {"action": "commands"})
