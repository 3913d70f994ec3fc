"""Plain calls are answered past the SDK, and nobody can tell (specs/stdio.md, DIRECT)."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from obsidian_mcp.serve.stdio.call_handler import is_plain
from tests.serve import slow_server
from tests.serve.raw import MODERN, PATIENCE, Message, RawServer, initialize_params, notification, request, tool_call

from .test_handshake import started

READ = "obsidian_read_note"
HOST_META = {"claudecode/toolUseId": "toolu_1", "example.com/deep": {"a": [1, None, True]}}


def server_on(vault: Path, *arguments: str, **environment: str) -> RawServer:
    own = {
        "OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"),
        "OBSIDIAN_MCP_STATE": str(vault.parent / "state"),
        "OBSIDIAN_MCP_POLICY": str(vault.parent / "policy.toml"),
    }
    root = Path(slow_server.__file__).parents[2]
    command = [sys.executable, "-m", "tests.serve.slow_server", str(vault), *arguments]
    return RawServer(command, env={**own, **environment}, cwd=root)


@pytest.fixture
def vault(basic: Path) -> Path:
    (basic / "odd.md").write_text(
        "---\nnumber: .nan\nbig: 1e400\n---\n\u2028 \x7f \U0001f600 e\u0301\n", encoding="utf-8"
    )
    (basic / "pixel.png").write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fccfc0f01f0005"
            "05020027a5e1a10000000049454e44ae426082"
        )
    )
    if sys.platform == "linux":  # elsewhere names of files are Unicode
        (basic / os.fsdecode(b"bad \xff name.md")).write_text("text\n", encoding="utf-8", newline="\n")
    return basic


def calls() -> list[Message]:
    """Calls of every kind of outcome, under ids of every kind."""
    plain: list[tuple[str, Message]] = [
        (READ, {"name": "Alpha"}),
        (READ, {"name": "odd"}),
        (READ, {"name": "no such note"}),
        (READ, {"name": 5}),
        (READ, {"name": "Alpha", "lines": "x", "colour": None}),
        (READ, {}),
        ("obsidian_list_files", {}),
        ("obsidian_search", {"query": "the", "match": "exact"}),
        ("obsidian_search", {"query": '"open'}),
        ("obsidian_get_properties", {"name": "odd"}),
        ("obsidian_attachments", {"name": "pixel.png"}),
        ("obsidian_get_links", {"name": "Alpha"}),
        ("no_such_tool", {}),
        ("dig", {"steps": 1}),
        ("dig", {"steps": 1, "fail": True}),
        ("dig", {"steps": 1, "surrogate": True}),
    ]
    messages = [tool_call(number, tool, arguments) for number, (tool, arguments) in enumerate(plain)]
    alpha = {"name": READ, "arguments": {"name": "Alpha"}}
    messages += [
        request("seven", "tools/call", alpha),
        request("", "tools/call", alpha),
        request(2**70, "tools/call", alpha),
        request("-3", "tools/call", {**alpha, "_meta": {}}),
        request("host", "tools/call", {**alpha, "_meta": HOST_META}),
        request("token", "tools/call", {**alpha, "_meta": {"progressToken": "p"}}),
        request("null", "tools/call", {"name": READ, "arguments": None}),
        request("absent", "tools/call", {"name": READ}),
    ]
    return messages


def answers(server: RawServer, messages: list[Message]) -> Iterator[bytes]:
    for message in messages:
        server.send(message)
        yield server.line()


@pytest.mark.parametrize(
    ("version", "style"), [*((version, "error") for version in HANDSHAKE_PROTOCOL_VERSIONS), ("2025-11-25", "result")]
)
def test_a_plain_call_is_answered_byte_for_byte_as_by_the_sdk(vault: Path, version: str, style: str) -> None:
    # DIRECT-01
    messages = calls()
    assert all(map(is_plain, messages))
    with (
        server_on(vault, OBSIDIAN_MCP_ERRORS=style) as ours,
        server_on(vault, "--sdk", OBSIDIAN_MCP_ERRORS=style) as theirs,
    ):
        ours.initialize(version)
        theirs.initialize(version)
        for message, got, expected in zip(messages, answers(ours, messages), answers(theirs, messages), strict=True):
            assert got == expected, message
        assert ours.close() == 0
        assert theirs.close() == 0


def test_progress_is_told_as_by_the_sdk(vault: Path) -> None:
    # DIRECT-01, TOOL-10
    dig = request(1, "tools/call", {"name": "dig", "arguments": {"steps": 30}, "_meta": {"progressToken": "t"}})
    firsts = []
    for arguments in ((), ("--sdk",)):
        with server_on(vault, *arguments) as server:
            server.initialize()
            server.send(dig)
            firsts.append(server.line())
            assert server.read()
    assert firsts[0] == firsts[1]
    assert json.loads(firsts[0])["method"] == "notifications/progress"


def test_a_plain_call_does_not_wait_for_the_sdk(vault: Path, tmp_path: Path) -> None:
    # DIRECT-02
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    with started(vault, PYTHONPATH=str(tmp_path)) as server:
        server.initialize()
        for number in range(3):
            assert "Alpha" in json.dumps(server.call("tools/call", {"name": READ, "arguments": {"name": "Alpha"}})), (
                number
            )


def test_the_sdk_is_loaded_when_the_client_is_quiet(vault: Path, tmp_path: Path) -> None:
    # START-08
    (tmp_path / "mcp").mkdir()
    loaded = "import sys, time; print('loading the SDK', file=sys.stderr, flush=True); time.sleep(600)"
    (tmp_path / "mcp" / "__init__.py").write_text(loaded, encoding="utf-8")
    with started(vault, PYTHONPATH=str(tmp_path)) as server:
        server.initialize()
        server.wait_for_log("loading the SDK")  # although nothing has needed it
        assert "result" in server.call("tools/call", ALPHA)


def test_a_conversation_of_plain_calls_ends_without_the_sdk(vault: Path, tmp_path: Path) -> None:
    # DIRECT-02, END-01
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('not wanted')", encoding="utf-8")
    with started(vault, PYTHONPATH=str(tmp_path)) as server:
        hello = [request("hello", "initialize", initialize_params()), notification("notifications/initialized")]
        server.send(*hello, *[tool_call(number, READ, {"name": "Alpha"}) for number in range(20)])
        server.close_stdin()
        assert set(server.read_answers(21)) == {*range(20), "hello"}
        assert server.wait() == 0


ALPHA = {"name": READ, "arguments": {"name": "Alpha"}}


@pytest.mark.parametrize(
    "message",
    [
        request(1, "tools/list", {}),
        request(1, "tools/call"),
        request(1, "tools/call", {"arguments": {}}),
        request(1, "tools/call", {"name": 5}),
        request(1, "tools/call", {**ALPHA, "arguments": [1]}),
        request(1, "tools/call", {**ALPHA, "_meta": MODERN}),
        request(1, "tools/call", {**ALPHA, "_meta": None}),
        request(1, "tools/call", {**ALPHA, "_meta": {"progressToken": 1.5}}),
        request(1, "tools/call", {**ALPHA, "_meta": {"progressToken": True}}),
        request(1, "tools/call", {**ALPHA, "_meta": {"traceparent": "00-1-2-00"}}),
        request(1, "tools/call", {**ALPHA, "_meta": {"tools.mcp.com/x": 1}}),
        request(1, "tools/call", {**ALPHA, "_meta": {"dev.MCP/x": 1}}),
        request(1, "tools/call", {**ALPHA, "task": {"ttl": 60}}),
        request(1, "tools/call", {**ALPHA, "inputResponses": {}}),
        {**request(1, "tools/call", ALPHA), "extra": 1},
    ],
)
def test_what_is_unusual_in_the_least_is_left_to_the_sdk(message: Message) -> None:
    # DIRECT-03
    assert not is_plain(message)


def test_before_the_handshake_a_call_is_refused(vault: Path) -> None:
    # DIRECT-03, GUARD-02
    with started(vault) as server:
        assert server.call("tools/call", ALPHA)["error"]["code"] == -32600
        server.initialize()
        assert "result" in server.call("tools/call", ALPHA)
        assert server.call("initialize", {"protocolVersion": 5})["error"]["code"] == -32602
        assert "result" in server.call("tools/call", ALPHA)
        assert server.close() == 0


def test_calls_behind_a_second_handshake_wait_for_it(vault: Path) -> None:
    # DIRECT-03
    with started(vault) as server:
        first = server.initialize("2024-11-05")["result"]
        again = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        server.send(request(1001, "initialize", again), tool_call(2, READ, {"name": "Alpha"}))
        second, called = server.read(), server.read()
        assert (first["protocolVersion"], second["result"]["protocolVersion"]) == ("2024-11-05", "2025-06-18")
        assert (second["id"], called["id"]) == (1001, 2)
        assert server.close() == 0


def test_of_two_calls_under_one_id_the_later_one_is_cancelled(vault: Path) -> None:
    # DIRECT-04
    with server_on(vault) as server:
        server.initialize()
        server.send(tool_call("7", "dig", {"steps": 60}), tool_call(7, "dig", {"steps": 100_000}))
        server.wait_for_log("digging 100000")
        server.send(notification("notifications/cancelled", {"requestId": 7}))
        assert server.read()["id"] == "7"
        server.wait_for_log("stopped digging")
        assert server.call("ping")["result"] == {}
        assert server.close() == 0


def test_a_flood_of_cancellations_is_survived(vault: Path) -> None:
    # DIRECT-04
    with server_on(vault) as server:
        server.initialize()
        flood: list[Message] = []
        for number in range(3000):
            flood.append(tool_call(number, READ, {"name": "Alpha"}))
            flood.append(notification("notifications/cancelled", {"requestId": number}))
        server.send(*flood, request("last", "ping"))
        while server.read()["id"] != "last":
            pass
        assert server.close() == 0


def test_a_call_that_takes_too_long_is_told_so_and_stops(vault: Path) -> None:
    # DIRECT-04
    with server_on(vault, OBSIDIAN_MCP_TIMEOUT="0.3") as server:
        server.initialize()
        answer = server.call("tools/call", {"name": "dig", "arguments": {"steps": 100_000}})
        assert answer["error"]["code"] == -32006
        server.wait_for_log("stopped digging")
        assert server.close() == 0


@pytest.mark.parametrize("arguments", [(), ("--sdk",)])
def test_a_commit_that_outlasts_the_limit_is_finished_and_the_answer_says_so(
    vault: Path, arguments: tuple[str, ...]
) -> None:
    # SAFE-19
    with server_on(vault, *arguments, OBSIDIAN_MCP_TIMEOUT="0.3") as server:
        server.initialize()
        answer = server.call("tools/call", {"name": "bury", "arguments": {"steps": 60}})
        said = json.loads(answer["result"]["content"][0]["text"])["data"]
        assert said["steps"] == 60
        assert "It is complete" in said["late"]
        assert server.close() == 0


def test_quick_calls_do_not_wait_behind_slow_ones(vault: Path) -> None:
    # DIRECT-05
    with server_on(vault) as server:
        server.initialize()
        server.send(*[tool_call(f"slow {number}", "dig", {"steps": 100_000}) for number in range(10)])
        begun = time.monotonic()
        assert "result" in server.call("tools/call", ALPHA)
        assert time.monotonic() - begun < PATIENCE / 3
        server.send(*[notification("notifications/cancelled", {"requestId": f"slow {number}"}) for number in range(10)])
        assert "result" in server.call("tools/call", ALPHA)
        assert server.close() == 0


def test_calls_that_outlast_the_end_are_given_up_with_an_answer(vault: Path) -> None:
    # END-05
    with server_on(vault, "--drain", "0.2") as server:
        server.initialize()
        server.send(tool_call(1, "dig", {"steps": 100_000}))
        server.wait_for_log("digging")
        server.close_stdin()
        answer: dict[str, Any] = server.read()
        assert (answer["id"], answer["error"]["code"]) == (1, -32000)
        assert server.wait() == 0
