"""A plugin's tools on stdio, as a client sees them that knows bytes only, whatever becomes of the plugin."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.contracts.plugin.client import LIST_SECONDS
from tests.conftest import FIXTURES, app_on
from tests.contracts.plugin.plugin_server import CONTENT, READ, WRITE, Answer, PluginServer
from tests.serve.raw import MODERN, Message, RawServer, notification, request, tool_call
from tests.serve.serving import serving
from tests.serve.vault_server import sdk_out_of_reach

SCRIPT = "tests.contracts.plugin.bridge_server"
CHANGED = "notifications/tools/list_changed"


@pytest.fixture
def plugin() -> Iterator[PluginServer]:
    with PluginServer() as running:
        yield running


SOON = 8.0
"""Seconds that leave room for a busy machine; a call that hangs takes 10 s."""


def hasty(plugin: PluginServer, *arguments: str) -> RawServer:
    return RawServer([sys.executable, "-m", SCRIPT, str(plugin.port), *arguments])


@pytest.fixture
def server(plugin: PluginServer) -> Iterator[RawServer]:
    with hasty(plugin) as running:
        running.initialize()
        yield running
        assert ended(running) == 0


def listed(server: RawServer) -> list[dict[str, Any]]:
    tools = server.call("tools/list")["result"]["tools"]
    assert isinstance(tools, list)
    return tools


def called(server: RawServer, tool: str, /, **arguments: Any) -> Message:
    return server.call("tools/call", {"name": tool, "arguments": arguments})


def ended(server: RawServer) -> int:
    """The exit status at the end of input; news of the tools may still have come before it."""
    server.close_stdin()
    return server.wait()


def wait_for_tools(server: RawServer, names: set[str]) -> None:
    """Until the server has said that the tools are others, and these are."""
    for _ in range(20):
        if {tool["name"] for tool in listed(server)} == names:
            return
        while server.read().get("method") != CHANGED:
            pass
    raise AssertionError(f"never offered {names}")


# What is passed on


def test_tools_are_offered_as_the_plugin_describes_them(server: RawServer) -> None:
    """BRIDGE-10, BRIDGE-15"""
    wait_for_tools(server, {READ["name"], WRITE["name"]})  # a busy plugin is hidden until it answers
    assert listed(server) == [READ, WRITE]


@pytest.mark.parametrize("mode", ["auto", "mcp", "v1"])
def test_content_comes_through_untouched(plugin: PluginServer, mode: str) -> None:
    """BRIDGE-15"""
    with hasty(plugin, "--mode", mode) as server:
        server.initialize()
        listed(server)
        result = called(server, "read_note", path="a.md")["result"]
        extra = {} if mode == "v1" else {"structuredContent": {"odd": [None]}}

        assert result == {"content": CONTENT, "isError": False, **extra}
        assert ended(server) == 0


def test_the_revision_without_handshakes_gets_the_same_and_what_it_demands(plugin: PluginServer) -> None:
    with hasty(plugin) as server:
        tools = server.call("tools/list", {"_meta": MODERN})["result"]
        result = server.call("tools/call", {"name": "read_note", "arguments": {"path": "x"}, "_meta": MODERN})["result"]

        assert tools["tools"] == [READ, WRITE]
        assert (result["content"], result["resultType"]) == (CONTENT, "complete")
        assert ended(server) == 0


def test_a_tool_that_fails_is_a_result(plugin: PluginServer, server: RawServer) -> None:
    said = [{"type": "text", "text": "Error: Note not found"}]
    plugin.speaks_mcp = False
    plugin.on_call = lambda _, __: Answer({"success": False, "content": said, "isError": True})
    wait_for_tools(server, {"read_note", "write_note"})

    assert called(server, "read_note", path="x")["result"] == {"content": said, "isError": True}


def test_names_that_need_escapes_in_a_url_reach_the_plugin(plugin: PluginServer) -> None:
    names: list[str] = []
    plugin.tools = [{**READ, "name": "utils/größe ✓"}]

    def on_call(name: str, _: dict[str, Any]) -> Answer:
        names.append(name)
        return Answer({"success": True, "content": []})

    plugin.on_call = on_call
    with hasty(plugin, "--mode", "v1") as server:
        server.initialize()
        called(server, listed(server)[0]["name"])

        assert names == ["utils/größe ✓"]
        assert ended(server) == 0


@pytest.mark.parametrize("beside_vault", [False, True])
def test_no_call_in_either_era_waits_for_pydantic_or_the_sdk(
    plugin: PluginServer, vault: Path, tmp_path: Path, beside_vault: bool
) -> None:
    """BRIDGE-12, DISPATCH-03, DISPATCH-04"""
    (tmp_path / "path").mkdir()
    environ = {
        **sdk_out_of_reach(tmp_path / "path"),
        "OBSIDIAN_VAULT_PATH": str(vault) if beside_vault else "",
        "OBSIDIAN_MCP_PORT": str(plugin.port),
        "OBSIDIAN_MCP_CACHE": str(tmp_path / "cache"),
        "OBSIDIAN_MCP_STATE": str(tmp_path / "state"),
    }
    call = {"name": "read_note", "arguments": {"path": "a.md"}}
    with RawServer([sys.executable, "-m", "obsidian_mcp"], env=environ) as server:
        assert server.call("server/discover", {"_meta": MODERN})["result"]["capabilities"]["tools"]["listChanged"]
        assert READ in server.call("tools/list", {"_meta": MODERN})["result"]["tools"]
        assert server.call("tools/call", {**call, "_meta": MODERN})["result"]["content"] == CONTENT
        server.initialize()  # what came before was a probe
        assert READ in listed(server)
        assert server.call("tools/call", call)["result"]["content"] == CONTENT
        assert ended(server) == 0


@pytest.mark.parametrize("meta", [{}, {"_meta": MODERN}], ids=["handshake", "2026-07-28"])
def test_null_and_what_hosts_add_reach_only_a_tool_that_takes_them(plugin: PluginServer, meta: Message) -> None:
    """BRIDGE-19"""
    arrived: list[Any] = []

    def on_call(_: str, arguments: dict[str, Any]) -> None:
        arrived.append(arguments)

    properties = {
        "path": {"type": "string"},
        "limit": {"type": "integer"},
        "value": {"type": ["string", "null"]},
        "any": {},
        "action": {"type": "string"},
    }
    plugin.tools = [{**READ, "inputSchema": {"type": "object", "properties": properties, "required": ["path"]}}, WRITE]
    plugin.on_call = on_call
    given = {"path": None, "limit": None, "value": None, "any": None, "odd": None}
    added = {"task_progress": "- [ ] read", "action": "sendMessage"}
    with hasty(plugin) as server:
        server.initialize()
        listed(server)
        server.call("tools/call", {"name": "read_note", "arguments": {**given, **added}, **meta})
        server.call("tools/call", {"name": "write_note", "arguments": {**given, **added}, **meta})
        server.call("tools/call", {"name": "write_note", "arguments": None, **meta})
        assert ended(server) == 0

    kept = {"path": None, "value": None, "any": None, "odd": None, "action": "sendMessage"}
    assert arrived == [kept, {**given, **added}, {}]


def test_a_bridge_without_a_vault_says_at_once_what_it_does_not_serve(plugin: PluginServer, server: RawServer) -> None:
    """BRIDGE-10"""
    for method in ("resources/list", "prompts/list", "completion/complete", "logging/setLevel", "nothing/known"):
        assert server.call(method)["error"]["code"] == -32601
    assert server.call("tools/list", {"cursor": "2"})["error"]["code"] == -32602
    wait_for_tools(server, {"read_note", "write_note"})


# A plugin that is late, gone, or another


def test_the_client_is_answered_at_once_while_the_plugin_is_down(plugin: PluginServer) -> None:
    """BRIDGE-12"""
    plugin.stop()
    with hasty(plugin) as server:
        capabilities = server.initialize()["result"]["capabilities"]

        assert capabilities["tools"] == {"listChanged": True}
        assert listed(server) == []
        error = called(server, "read_note", path="x")["error"]
        assert (error["code"], error["data"]["errorCode"]) == (-32001, "OBSIDIAN_NOT_RUNNING")
        assert server.call("ping")["result"] == {}
        assert ended(server) == 0


def test_a_plugin_that_comes_late_is_found_and_the_client_told(plugin: PluginServer) -> None:
    """BRIDGE-11, BRIDGE-13: fifty times as fast as in life, so this is a minute late."""
    plugin.stop()
    with hasty(plugin) as server:
        server.initialize()
        server.wait_for_log("The next try is in 0.32 s.")
        server.wait_for_log("The next try is in 0.6 s.")
        plugin.start()

        assert server.read()["method"] == CHANGED
        assert listed(server) == [READ, WRITE]
        assert called(server, "read_note", path="x")["result"]["content"] == CONTENT
        assert ended(server) == 0
        assert server.stderr().count("No plugin answers") >= 6


def test_a_client_that_asks_for_the_list_has_the_plugin_tried_at_once(plugin: PluginServer) -> None:
    """BRIDGE-12"""
    plugin.stop()
    with hasty(plugin) as server:
        server.initialize()
        server.wait_for_log("The next try is in 0.6 s.")
        plugin.start()

        assert listed(server) == [READ, WRITE]
        assert ended(server) == 0


def test_a_plugin_that_was_restarted_with_other_tools_is_noticed(plugin: PluginServer, server: RawServer) -> None:
    """BRIDGE-11"""
    wait_for_tools(server, {"read_note", "write_note"})
    plugin.stop()
    server.wait_for_log("No plugin answers")
    assert {tool["name"] for tool in listed(server)} == {"read_note", "write_note"}, "the old ones meanwhile"
    plugin.tools = [{**READ, "name": "other"}]
    plugin.start()

    wait_for_tools(server, {"other"})
    error = called(server, "read_note", path="x")["error"]
    assert error["code"] == -32602
    assert called(server, "other", path="x")["result"]["content"] == CONTENT


def test_a_tool_that_is_too_new_for_the_list_is_called_all_the_same(plugin: PluginServer) -> None:
    with RawServer([sys.executable, "-m", "obsidian_mcp", "bridge", "--port", str(plugin.port)]) as server:
        server.initialize()
        assert listed(server) == [READ, WRITE]
        plugin.tools = [*plugin.tools, {**READ, "name": "new"}]

        assert called(server, "new", path="x")["result"]["content"] == CONTENT
        assert ended(server) == 0


def test_a_plugin_that_goes_in_mid_call_fails_the_call_and_nothing_else(
    plugin: PluginServer, server: RawServer
) -> None:
    release = threading.Event()
    plugin.on_call = lambda _, __: Answer(drop=True, wait_for=release)
    wait_for_tools(server, {"read_note", "write_note"})
    server.send(tool_call(1, "read_note", {"path": "x"}))
    assert plugin.arrived.acquire(timeout=20)
    plugin.stop()
    release.set()

    while "error" not in (answer := server.read()):
        assert answer["method"] == CHANGED
    assert (answer["id"], answer["error"]["code"]) == (1, -32000)
    assert "not known" in answer["error"]["message"]
    plugin.on_call = lambda _, __: None
    plugin.start()
    for _ in range(100):
        if "result" in called(server, "read_note", path="x"):
            break
    assert called(server, "read_note", path="x")["result"]["content"] == CONTENT


BAD: list[tuple[str, Answer, int]] = [
    ("400", Answer({"error": "Invalid request body", "message": "Missing required argument: path"}, 400), -32602),
    ("401", Answer({"error": "Unauthorized", "message": "Key, please."}, 401), -32005),
    ("404", Answer({"error": "Tool not found", "message": "Tool not found"}, 404), -32602),
    ("413", Answer({"error": "Request body too large", "message": "Too large"}, 413), -32602),
    ("429", Answer({"error": "Too many", "message": "Too many"}, 429), -32000),
    ("500", Answer({"error": "EXECUTION_ERROR", "message": "Internal server error"}, 500), -32000),
    ("502 of a proxy", Answer(b"<html>Bad gateway</html>", 502), -32000),
    ("garbage", Answer(b"\x00\xff garbage"), -32000),
    ("empty", Answer(b""), -32000),
    ("not an object", Answer([1, 2]), -32000),
    ("no content", Answer({"success": True}), -32000),
    ("NaN", Answer(b'{"success":true,"content":[NaN]}'), -32000),
    ("dropped", Answer(drop=True), -32000),
]


@pytest.fixture(scope="module")
def hardened() -> Iterator[dict[str, tuple[PluginServer, RawServer]]]:
    """A plugin and a bridge for each dialect, which have to stand everything that follows."""
    first, second = PluginServer(), PluginServer()
    with first, second, hasty(first, "--mode", "v1") as v1, hasty(second, "--mode", "mcp") as mcp:
        for server in (v1, mcp):
            server.initialize()
            listed(server)
        yield {"v1": (first, v1), "mcp": (second, mcp)}
        assert (ended(v1), ended(mcp)) == (0, 0)


@pytest.mark.parametrize(("bad", "code"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
@pytest.mark.parametrize("mode", ["v1", "mcp"])
def test_a_bad_answer_to_a_call_is_an_error_and_the_next_call_works(
    hardened: dict[str, tuple[PluginServer, RawServer]], mode: str, bad: Answer, code: int
) -> None:
    """BRIDGE-14"""
    plugin, server = hardened[mode]
    plugin.on_call = lambda _, __: bad
    error = called(server, "read_note", path="x")["error"]
    plugin.on_call = lambda _, __: None

    expected = -32000 if mode == "mcp" and bad.status in (404, 429) else code
    assert error["code"] == expected, error
    assert called(server, "read_note", path="x")["result"]["content"] == CONTENT


@pytest.mark.parametrize("bad", [row[1] for row in BAD], ids=[row[0] for row in BAD])
@pytest.mark.parametrize("mode", ["v1", "mcp"])
def test_a_bad_list_is_passed_over_until_there_is_a_good_one(
    hardened: dict[str, tuple[PluginServer, RawServer]], mode: str, bad: Answer
) -> None:
    """BRIDGE-13: the original ends at a 401."""
    plugin, server = hardened[mode]
    before = listed(server)
    tries = threading.Semaphore(0)

    def on_list() -> Answer:
        tries.release()
        return bad

    plugin.on_list = on_list
    for _ in range(3):
        assert tries.acquire(timeout=20)
    assert listed(server) == before
    plugin.tools = [{**READ, "name": f"new {len(plugin.requests)}"}, READ]
    plugin.on_list = lambda: None

    wait_for_tools(server, {tool["name"] for tool in plugin.tools})


def test_a_list_whose_head_never_ends_does_not_keep_later_ones_away(plugin: PluginServer) -> None:
    """BRIDGE-13"""
    ended_drips, polled = threading.Event(), threading.Event()

    def on_list() -> Answer:
        polled.set()
        plugin.on_list = lambda: None
        return Answer(drips=ended_drips)

    with hasty(plugin, "--mode", "v1") as server:
        server.initialize()
        wait_for_tools(server, {"read_note", "write_note"})
        plugin.on_list = on_list
        assert polled.wait(20)
        plugin.tools = [READ]
        wait_for_tools(server, {"read_note"})
        ended_drips.set()
        assert ended(server) == 0


def test_a_tool_that_takes_too_long_is_answered_for_and_holds_up_nobody(plugin: PluginServer) -> None:
    """BRIDGE-14"""
    release = threading.Event()
    plugin.on_call = lambda name, _: Answer(CONTENT, wait_for=release) if name == "write_note" else None
    with hasty(plugin, "--seconds", "1") as server:
        server.initialize()
        listed(server)
        server.send(tool_call(1, "write_note"), tool_call(2, "read_note", {"path": "x"}))

        assert server.read()["id"] == 2
        late = server.read()
        assert (late["id"], late["error"]["code"]) == (1, -32006)
        release.set()
        assert ended(server) == 0


def test_every_one_of_many_calls_is_answered_whatever_the_plugin_does(plugin: PluginServer) -> None:
    """BRIDGE-14"""
    count = 300
    moods: list[Callable[[], Answer | None]] = [lambda: None, *(lambda bad=row[1]: bad for row in BAD)]
    plugin.on_call = lambda _, arguments: moods[int(arguments["path"]) % len(moods)]()
    with hasty(plugin) as server:
        server.initialize()
        listed(server)
        server.send(*(tool_call(number, "read_note", {"path": str(number)}) for number in range(count)))

        answers = server.read_answers(count)
        assert set(answers) == set(range(count))
        assert all(("result" in answers[number]) == (number % len(moods) == 0) for number in range(count))
        assert ended(server) == 0


def test_a_plugin_that_is_slow_to_list_does_not_keep_the_client_waiting(plugin: PluginServer) -> None:
    release = threading.Event()
    plugin.on_list = lambda: Answer({"tools": [], "hash": "x"}, wait_for=release)
    with hasty(plugin) as server:
        server.initialize()
        started = time.monotonic()
        assert listed(server) == []
        assert time.monotonic() - started < SOON
        release.set()
        plugin.on_list = lambda: None
        wait_for_tools(server, {"read_note", "write_note"})
        assert ended(server) == 0


# The end


def test_the_end_of_input_ends_the_bridge_while_the_plugin_is_down(plugin: PluginServer) -> None:
    """BRIDGE-17: the original stays for ever."""
    plugin.stop()
    with hasty(plugin) as server:
        server.initialize()
        started = time.monotonic()

        assert ended(server) == 0
        assert time.monotonic() - started < SOON


def test_the_end_of_input_ends_the_bridge_while_a_look_at_the_plugin_hangs(plugin: PluginServer) -> None:
    release = threading.Event()
    message = threading.Event()

    def on_list() -> Answer:
        message.set()
        return Answer({}, wait_for=release)

    plugin.on_list = on_list
    with RawServer([sys.executable, "-m", "obsidian_mcp", "bridge", "--port", str(plugin.port)]) as server:
        server.initialize()
        assert message.wait(20)
        started = time.monotonic()

        assert ended(server) == 0
        assert time.monotonic() - started < LIST_SECONDS
        release.set()


def test_a_call_that_is_in_flight_at_the_end_of_input_is_finished(plugin: PluginServer, server: RawServer) -> None:
    release = threading.Event()
    plugin.on_call = lambda _, __: Answer({"success": True, "content": []}, wait_for=release)
    plugin.speaks_mcp = False
    wait_for_tools(server, {"read_note", "write_note"})
    with hasty(plugin, "--mode", "v1") as other:
        other.initialize()
        listed(other)
        other.send(tool_call(1, "read_note", {"path": "x"}))
        assert plugin.arrived.acquire(timeout=20)
        other.close_stdin()
        release.set()

        assert other.read()["id"] == 1
        assert other.wait() == 0


def test_a_cancelled_call_is_not_answered_and_holds_up_nothing(plugin: PluginServer) -> None:
    release = threading.Event()
    plugin.on_call = lambda name, _: Answer(CONTENT, wait_for=release) if name == "write_note" else None
    with hasty(plugin) as server:
        server.initialize()
        listed(server)
        server.send(tool_call(1, "write_note"))
        assert plugin.arrived.acquire(timeout=20)
        server.send(notification("notifications/cancelled", {"requestId": 1}))

        assert called(server, "read_note", path="x")["result"]["content"] == CONTENT
        started = time.monotonic()
        assert ended(server) == 0
        assert time.monotonic() - started < SOON
        release.set()


# Settings


def test_the_environment_names_the_plugin_and_its_dialect(plugin: PluginServer) -> None:
    """BRIDGE-10"""
    environ = {
        "OBSIDIAN_VAULT_PATH": "",
        "OBSIDIAN_MCP_HOST": "127.0.0.1",
        "OBSIDIAN_MCP_PORT": str(plugin.port),
        "OBSIDIAN_MCP_API_KEY": "geheim",
    }
    for dialect, paths in (("v1", {"/bridge/v1/tools"}), ("mcp", {"/mcp"})):
        plugin.requests.clear()
        with RawServer(
            [sys.executable, "-m", "obsidian_mcp"], env={**environ, "OBSIDIAN_MCP_TRANSPORT": dialect}
        ) as server:
            server.initialize()

            assert listed(server) == [READ, WRITE]
            assert ended(server) == 0
        assert {path for _, path, _ in plugin.requests} == paths
        keys = {headers.get("x-obsiscripta-api-key") for _, _, headers in plugin.requests}
        assert keys == ({"geheim"} if dialect == "mcp" else {None})


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "many"), ("PORT", "0"), ("PORT", "65536"), ("TRANSPORT", "pigeon"), ("HOST", "a b")]
)
def test_a_setting_that_cannot_be_meant_is_told(name: str, value: str) -> None:
    environ = {f"OBSIDIAN_MCP_{name}": value}
    with RawServer([sys.executable, "-m", "obsidian_mcp"], env=environ) as server:
        assert server.wait() == 2
        assert value in server.stderr()


def test_application_errors_can_be_results(plugin: PluginServer) -> None:
    plugin.stop()
    with hasty(plugin, "--errors", "result") as server:
        server.initialize()
        result = called(server, "read_note", path="x")["result"]

        assert result["isError"] is True
        assert "OBSIDIAN_NOT_RUNNING" in result["content"][0]["text"]
        assert ended(server) == 0


def test_a_listening_client_of_2026_is_told(plugin: PluginServer) -> None:
    with hasty(plugin) as server:
        wanted = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
        server.send(request("listen", "subscriptions/listen", wanted))
        assert server.read()["method"] == "notifications/subscriptions/acknowledged"
        plugin.tools = [WRITE]

        while server.call("tools/list", {"_meta": MODERN})["result"]["tools"] != [WRITE]:
            assert server.read()["method"] == CHANGED
        server.close_stdin()
        assert server.wait() == 0


# With a vault as well


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "basic", tmp_path / "v"))


def with_vault(plugin: PluginServer, vault: Path, *arguments: str) -> RawServer:
    own = {"OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"), "OBSIDIAN_MCP_STATE": str(vault.parent / "state")}
    command = [sys.executable, "-m", SCRIPT, str(plugin.port), "--vault", str(vault), *arguments]
    return RawServer(command, env=own)


def test_the_vaults_and_the_plugins_tools_are_offered_at_once(plugin: PluginServer, vault: Path) -> None:
    """BRIDGE-16"""
    clash = {**READ, "name": "obsidian_read_note"}
    plugin.tools = [READ, clash]
    with with_vault(plugin, vault) as server:
        server.initialize()
        tools = {tool["name"]: tool for tool in listed(server)}

        assert tools["read_note"] == READ
        assert tools["plugin_obsidian_read_note"] == {**clash, "name": "plugin_obsidian_read_note"}
        assert called(server, "plugin_obsidian_read_note", path="x")["result"]["content"] == CONTENT
        own = called(server, "obsidian_read_note", name="Home")["result"]
        assert own["content"][1]["text"].encode() == (vault / "Home.md").read_bytes()
        plugin.stop()
        assert called(server, "obsidian_vault_info")["result"]["structuredContent"]["data"]["vault"] == "v"
        assert called(server, "read_note")["error"]["code"] == -32001
        assert ended(server) == 0


def test_pipelined_calls_of_the_vaults_own_tools_take_effect_in_order(plugin: PluginServer, vault: Path) -> None:
    """BRIDGE-18, TOOL-15"""
    with with_vault(plugin, vault) as server:
        server.initialize()
        for number in range(15):
            append = {"name": "Home", "operation": "append", "content": f"mark {number}"}
            server.send(
                tool_call(f"write {number}", "obsidian_edit_note", append),
                tool_call(f"read {number}", "obsidian_read_note", {"name": "Home"}),
            )
        answers: dict[Any, Message] = {}
        while len(answers) < 30:
            if "id" in (message := server.read()):
                answers[message["id"]] = message
        for number in range(15):
            assert f"mark {number}" in answers[f"read {number}"]["result"]["content"][1]["text"].splitlines()
        marks = [line for line in (vault / "Home.md").read_text("utf-8").splitlines() if line.startswith("mark")]
        assert marks == [f"mark {number}" for number in range(15)]
        assert ended(server) == 0


def test_a_client_is_told_of_a_plugin_that_comes_to_a_vault(plugin: PluginServer, vault: Path) -> None:
    plugin.stop()
    with with_vault(plugin, vault) as server:
        server.initialize()
        alone = {tool["name"] for tool in listed(server)}
        plugin.start()

        wait_for_tools(server, alone | {"read_note", "write_note"})
        assert ended(server) == 0


def test_read_only_offers_only_tools_that_say_that_they_only_read(plugin: PluginServer, vault: Path) -> None:
    """BRIDGE-16"""
    with with_vault(plugin, vault, "--read-only") as server:
        server.initialize()
        names = {tool["name"] for tool in listed(server)}

        assert "read_note" in names
        assert not {"write_note", "obsidian_create_note"} & names
        assert called(server, "write_note")["error"]["code"] == -32602
        assert plugin.arrived.acquire(blocking=False) is False
        assert ended(server) == 0


# Our own server at the other end

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("obsidian_read_note", {"name": "Home"}),
    ("obsidian_search", {"query": "clocks"}),
    ("obsidian_get_links", {"name": "Alpha"}),
    ("obsidian_list_files", {"recursive": True}),
    ("obsidian_create_note", {"name": "New", "content": "a\n\\nu\n"}),
    ("obsidian_get_links", {"name": "New"}),
]


@pytest.mark.parametrize("mode", ["auto", "mcp", "v1"])
def test_our_server_through_our_bridge_is_as_our_server_on_stdio(vault: Path, mode: str) -> None:
    other = Path(shutil.copytree(vault, vault.parent / "other" / "v", copy_function=shutil.copy2))
    app = app_on(vault)
    own = {"OBSIDIAN_MCP_CACHE": str(other.parent / "cache"), "OBSIDIAN_MCP_STATE": str(other.parent / "state")}
    direct = RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", str(other)], env=own)
    try:
        with serving(app) as url, direct:
            port = url.rpartition(":")[2].strip("/")
            with RawServer([sys.executable, "-m", SCRIPT, port, "--mode", mode]) as bridged:
                bridged.initialize()
                direct.initialize()
                here = {tool["name"]: tool for tool in listed(direct)}
                through = {tool["name"]: tool for tool in listed(bridged)}
                # A busy server may answer later than this hasty bridge waits, or only its second question, by v1.
                while not through or (mode == "auto" and "annotations" not in through["obsidian_search"]):
                    through = {tool["name"]: tool for tool in listed(bridged)}
                shown = ("name", "description", "inputSchema") if mode == "v1" else next(iter(here.values())).keys()
                for name, tool in here.items():
                    if mode == "v1":  # its contract lists all arguments
                        through[name]["inputSchema"]["properties"].pop("vault")
                    assert {key: through[name].get(key) for key in shown} == {key: tool.get(key) for key in shown}
                for name, arguments in CALLS:
                    results = [called(server, name, **arguments)["result"] for server in (bridged, direct)]
                    contents = [json.dumps(result["content"], sort_keys=True) for result in results]
                    assert contents[0] == contents[1].replace(str(other), str(vault))
                    if mode != "v1":
                        assert results[0].get("structuredContent") == results[1].get("structuredContent")
                missing = called(bridged, "obsidian_read_note", name="Nothing of the kind")["result"]
                assert missing["isError"] is True
                assert "FILE_NOT_FOUND" in missing["content"][0]["text"]
                assert ended(bridged) == 0
                assert ended(direct) == 0
    finally:
        app.vaults.close()
    assert (vault / "New.md").read_bytes() == (other / "New.md").read_bytes() == b"a\n\\nu\n"
