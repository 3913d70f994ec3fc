"""Long work: the client is told how far it is, and can stop it (specs/tools.md TOOL-10, TOOL-11)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve import slow_server
from tests.serve.raw import MODERN, Message, RawServer, notification, request

from .test_resources import started

TOLD = "notifications/progress"


@pytest.fixture
def server(basic: Path) -> Iterator[RawServer]:
    own = {"OBSIDIAN_MCP_CACHE": str(basic.parent / "cache"), "OBSIDIAN_MCP_STATE": str(basic.parent / "state")}
    root = Path(slow_server.__file__).parents[2]
    with RawServer([sys.executable, "-m", "tests.serve.slow_server", str(basic)], env=own, cwd=root) as running:
        yield running


def digging(number: int, steps: int, **meta: Any) -> Message:
    return request(number, "tools/call", {"name": "dig", "arguments": {"steps": steps}, "_meta": meta})


def until_answer(server: RawServer) -> tuple[list[Message], Message]:
    reply = []
    while "method" in (message := server.read()):
        reply.append(message)
    return reply, message


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_a_client_with_a_progress_token_is_told_how_far_the_work_is(server: RawServer, era: str) -> None:
    """TOOL-10: It grows, and nothing comes after the answer."""
    meta = MODERN if era == "2026" else {}
    if era == "2025":
        server.initialize()
    server.send(digging(1, 100, progressToken="t1", **meta))
    reply, answer = until_answer(server)
    steps = [message["params"]["progress"] for message in reply if message["method"] == TOLD]

    assert answer["result"]["structuredContent"]["data"] == {"steps": 100}
    assert len(steps) >= 3
    assert steps == sorted(set(steps))
    assert {message["params"]["progressToken"] for message in reply if message["method"] == TOLD} == {"t1"}
    assert {(message["params"]["total"], message["params"]["message"]) for message in reply} == {(100, "Digging")}
    assert server.close() == 0


def test_a_client_without_a_token_is_told_nothing(server: RawServer) -> None:
    server.initialize()
    server.send(digging(1, 50))
    reply, _ = until_answer(server)

    assert reply == []


def test_cancelled_work_stops_and_is_not_answered(server: RawServer) -> None:
    """TOOL-11"""
    server.initialize()
    server.send(digging(1, 100_000))
    server.wait_for_log("digging")
    server.send(notification("notifications/cancelled", {"requestId": 1, "reason": "enough"}))
    server.wait_for_log("stopped digging")

    assert server.call("ping")["result"] == {}
    assert server.close() == 0


def test_a_search_tells_how_far_it_is(basic: Path) -> None:
    for number in range(300):
        (basic / f"n{number}.md").write_text("word\n" * 50, encoding="utf-8", newline="\n")
    with started(basic) as server:
        server.initialize()
        arguments = {"query": r"/[xyz]\W[xyz]/", "limit": 1}
        params = {"name": "obsidian_search", "arguments": arguments, "_meta": {"progressToken": 7}}
        server.send(request(1, "tools/call", params))
        reply, answer = until_answer(server)

        assert answer["result"]["structuredContent"]["data"]["total"] == 0
        assert reply
        assert reply[0]["params"]["progressToken"] == 7
        assert server.close() == 0


def test_mentions_are_linked_with_progress_as_one_change(basic: Path) -> None:
    """LINK-31, TOOL-10"""
    for number in range(100):
        (basic / f"n{number}.md").write_text("Heron and heron\n", encoding="utf-8", newline="\n")
    (basic / "Heron.md").write_text("", encoding="utf-8")
    with started(basic) as server:
        server.initialize()
        params = {"name": "obsidian_link_mentions", "arguments": {"name": "Heron"}, "_meta": {"progressToken": 7}}
        server.send(request(1, "tools/call", params))
        reply, answer = until_answer(server)

        data = answer["result"]["structuredContent"]["data"]
        assert (data["total"], data["linked"], len(data["changed"]), data["more_changed"]) == (100, 200, 50, 50)
        assert {message["params"]["progressToken"] for message in reply} == {7}
        assert (basic / "n7.md").read_bytes() == b"[[Heron]] and [[Heron|heron]]\n"
        undone = server.call("tools/call", {"name": "obsidian_undo", "arguments": {}})
        assert undone["result"]["structuredContent"]["data"]["undone"] == 1
        assert {(basic / f"n{number}.md").read_bytes() for number in range(100)} == {b"Heron and heron\n"}
        assert server.close() == 0
