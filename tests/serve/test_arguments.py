"""Arguments in the forms in which hosts send them, on every way into the server and in both eras (TOOL-28, TOOL-29)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.tools.registry import TOOLS
from tests.conftest import FIXTURES, app_on
from tests.serve.http.test_parity import NAMES, by_bridge, by_envelope, by_registry, by_rpc, by_session
from tests.serve.http_client import http_client
from tests.serve.mcp.test_server import started
from tests.serve.raw import MODERN
from tests.tools.test_arguments import needed

Ask = Callable[[str, dict[str, Any]], Any]
"""Sends a call; returns the whole answer."""
WAYS = ["stdio", "stdio 2026-07-28", *(f"http {name}" for name in NAMES)]


@pytest.fixture(scope="module", params=WAYS)
def ask(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """A way into a server on a vault of its own, which the tests of this file share."""
    way = request.param
    vault = Path(shutil.copytree(FIXTURES / "basic", tmp_path_factory.mktemp("arguments") / "basic"))
    if way.startswith("http"):
        asks = dict(zip(NAMES, (by_bridge, by_rpc, by_envelope, by_registry, by_session), strict=True))
        app = app_on(vault)
        with http_client(app) as client:
            agreed = {"_confirm": True} if way.endswith("envelope") else {}
            yield lambda tool, given: asks[way.removeprefix("http ")](client, tool, {**given, **agreed})
        app.vaults.close()
        return
    with started(vault) as server:
        meta = {"_meta": MODERN} if "2026" in way else {}
        if not meta:
            server.initialize()
        yield lambda tool, given: server.call("tools/call", {"name": tool, "arguments": given, **meta})
        assert server.close() == 0


def test_null_for_every_optional_argument_of_every_tool_is_no_fault(ask: Ask) -> None:
    for name, tool in TOOLS.items():
        nulls = {known: None for known, parameter in tool.parameters.items() if not parameter.is_required}
        answer = json.dumps(ask(name, {**needed(tool), **nulls}))
        assert "but null came" not in answer, name
        assert not any(f"'{known}' must be" in answer or f"argument {known} " in answer for known in nulls), name


def test_a_search_is_answered_in_every_form_that_hosts_send(ask: Ask) -> None:
    given = {
        "query": "brass",
        "limit": "5",
        "snippets": "0",
        "show": "paths",
        "match": "",
        "folder": None,
        "task_progress": "- [ ] search",
        "toolCallId": "call_1",
    }
    assert "Projects/Alpha.md" in json.dumps(ask("obsidian_search", given))
    assert "Projects/Alpha.md" in json.dumps(ask("obsidian_read_note", {"names": '["Alpha", "Home"]', "name": None}))
    properties = ask("obsidian_set_properties", {"names": "Alpha", "properties": '{"status": null, "size": 3}'})
    assert "Projects/Alpha.md" in json.dumps(properties)
    read = json.dumps(ask("obsidian_get_properties", {"name": "Alpha"}))
    assert "status" not in read
    assert "size" in read


def test_an_argument_that_does_not_fit_is_refused_with_what_is_allowed(ask: Ask) -> None:
    """TOOL-03"""
    answer = json.dumps(ask("obsidian_search", {"query": "brass", "limit": 1000}))
    assert "'limit' must be a whole number of at least 0 and at most 500, but 1000 came" in answer
    answer = json.dumps(ask("obsidian_read_note", {"nam": "Alpha"}))
    assert "There is no argument 'nam' in obsidian_read_note. Did you mean name?" in answer
    assert "leave section out" in json.dumps(ask("obsidian_read_note", {"name": "Alpha", "section": "null"}))
