"""Calls of tools are answered without the SDK, as the SDK answers them (specs/stdio.md, CALL)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tests.serve.raw import MODERN, Message, RawServer, initialize_params, notification, request, tool_call
from tests.serve.vault_server import slow, started
from tests.system import can

READ = "obsidian_read_note"
HOST_META = {"claudecode/toolUseId": "toolu_1", "example.com/deep": {"a": [1, None, True]}}


@pytest.fixture(scope="module")
def vault(shared_basic: Path) -> Path:
    (shared_basic / "odd.md").write_text(
        "---\nnumber: .nan\nbig: 1e400\n---\n\u2028 \x7f \U0001f600 e\u0301\n", encoding="utf-8"
    )
    (shared_basic / "pixel.png").write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fccfc0f01f0005"
            "05020027a5e1a10000000049454e44ae426082"
        )
    )
    if can("names that are not UTF-8"):
        (shared_basic / os.fsdecode(b"bad \xff name.md")).write_text("text\n", encoding="utf-8", newline="\n")
    return shared_basic


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


Pair = tuple[RawServer, RawServer]
"""Our server, and one that leaves every call to the SDK."""


@contextmanager
def pair_of_servers(vault: Path, style: str) -> Iterator[Pair]:
    errors = {"OBSIDIAN_MCP_ERRORS": style}
    with slow(vault, **errors) as ours, slow(vault, "--sdk", **errors) as theirs:
        yield ours, theirs
        assert ours.close() == 0
        assert theirs.close() == 0


@pytest.fixture(scope="module")
def pair(vault: Path) -> Iterator[Pair]:
    """Of several tests, each of which begins the conversations anew."""
    with pair_of_servers(vault, "error") as servers:
        yield servers


def assert_same_answers(pair: Pair, messages: list[Message]) -> None:
    ours, theirs = pair
    for message, got, expected in zip(messages, answers(ours, messages), answers(theirs, messages), strict=True):
        assert json.loads(got) == json.loads(expected), message


def test_a_call_of_2026_is_answered_as_by_the_sdk(pair: Pair) -> None:
    """CALL-01: before any handshake"""
    messages = [{**message, "params": {"_meta": {}, **message["params"]}} for message in calls()]
    for message in messages:
        message["params"]["_meta"] = {**message["params"]["_meta"], **MODERN}
    assert_same_answers(pair, messages)


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_a_call_is_answered_as_by_the_sdk(pair: Pair, version: str) -> None:
    """CALL-01"""
    for server in pair:
        server.initialize(version)
    assert_same_answers(pair, calls())


def test_a_failure_as_a_result_is_answered_as_by_the_sdk(vault: Path) -> None:
    """CALL-01"""
    with pair_of_servers(vault, "result") as servers:
        for server in servers:
            server.initialize()
        assert_same_answers(servers, calls())


def test_progress_is_told_as_by_the_sdk(pair: Pair) -> None:
    """CALL-01, TOOL-10"""
    dig = request(1, "tools/call", {"name": "dig", "arguments": {"steps": 30}, "_meta": {"progressToken": "t"}})
    told = []
    for server in pair:
        server.initialize()
        server.send(dig)
        told.append(server.read())
        while server.read().get("id") != 1:
            pass
    assert told[0] == told[1]
    assert told[0]["method"] == "notifications/progress"


def test_a_call_does_not_wait_for_the_sdk(vault: Path, tmp_path: Path) -> None:
    """DISPATCH-04"""
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    with started(vault, PYTHONPATH=str(tmp_path)) as server:
        server.initialize()
        for number in range(3):
            assert "Alpha" in json.dumps(server.call("tools/call", {"name": READ, "arguments": {"name": "Alpha"}})), (
                number
            )


def test_a_conversation_of_calls_ends_without_the_sdk(vault: Path, tmp_path: Path) -> None:
    """DISPATCH-04, END-01"""
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('not wanted')", encoding="utf-8")
    with started(vault, PYTHONPATH=str(tmp_path)) as server:
        hello = [request("hello", "initialize", initialize_params()), notification("notifications/initialized")]
        server.send(*hello, *[tool_call(number, READ, {"name": "Alpha"}) for number in range(20)])
        server.close_stdin()
        assert set(server.read_answers(21)) == {*range(20), "hello"}
        assert server.wait() == 0


ALPHA = {"name": READ, "arguments": {"name": "Alpha"}}


def test_before_the_handshake_a_call_is_refused(vault: Path) -> None:
    """GUARD-02"""
    with started(vault) as server:
        assert server.call("tools/call", ALPHA)["error"]["code"] == -32600
        server.initialize()
        assert "result" in server.call("tools/call", ALPHA)
        assert "result" in server.call("initialize", {"protocolVersion": 5})
        assert "result" in server.call("tools/call", ALPHA)
        assert server.close() == 0


def test_of_two_calls_under_one_id_the_later_one_is_cancelled(vault: Path) -> None:
    """CALL-02"""
    with slow(vault) as server:
        server.initialize()
        server.send(tool_call("7", "dig", {"steps": 60}), tool_call(7, "dig", {"steps": 100_000}))
        server.wait_for_log("digging 100000")
        server.send(notification("notifications/cancelled", {"requestId": 7}))
        assert server.read()["id"] == "7"
        server.wait_for_log("stopped digging")
        assert server.call("ping")["result"] == {}
        assert server.close() == 0


def test_a_flood_of_cancellations_is_survived(vault: Path) -> None:
    """CALL-02"""
    with slow(vault) as server:
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
    """CALL-02"""
    with slow(vault, OBSIDIAN_MCP_TIMEOUT="0.3") as server:
        server.initialize()
        answer = server.call("tools/call", {"name": "dig", "arguments": {"steps": 100_000}})
        assert answer["error"]["code"] == -32006
        server.wait_for_log("stopped digging")
        assert server.close() == 0


@pytest.mark.parametrize("arguments", [(), ("--sdk",)])
def test_a_commit_that_outlasts_the_limit_is_finished_and_the_answer_says_so(
    vault: Path, arguments: tuple[str, ...]
) -> None:
    """SAFE-19"""
    with slow(vault, *arguments, OBSIDIAN_MCP_TIMEOUT="0.3") as server:
        server.initialize()
        answer = server.call("tools/call", {"name": "bury", "arguments": {"steps": 60}})
        said = json.loads(answer["result"]["content"][0]["text"])["data"]
        assert said["steps"] == 60
        assert "It is complete" in said["late"]
        assert server.close() == 0


def test_quick_calls_do_not_wait_behind_slow_ones(vault: Path) -> None:
    """CALL-03"""
    with slow(vault) as server:
        server.initialize()
        server.send(*[tool_call(f"slow {number}", "dig", {"steps": 100_000}) for number in range(10)])
        begun = time.monotonic()
        assert "result" in server.call("tools/call", ALPHA)
        assert time.monotonic() - begun < 20  # ten slow ones take hours
        server.send(*[notification("notifications/cancelled", {"requestId": f"slow {number}"}) for number in range(10)])
        assert "result" in server.call("tools/call", ALPHA)
        assert server.close() == 0


def test_calls_that_outlast_the_end_are_given_up_with_an_answer(vault: Path) -> None:
    """END-05"""
    with slow(vault, "--drain", "0.2") as server:
        server.initialize()
        server.send(tool_call(1, "dig", {"steps": 100_000}))
        server.wait_for_log("digging")
        server.close_stdin()
        answer: dict[str, Any] = server.read()
        assert (answer["id"], answer["error"]["code"]) == (1, -32000)
        assert server.wait() == 0
