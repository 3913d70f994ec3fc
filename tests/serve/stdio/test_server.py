"""The transport as a client sees it: bytes into a real process, bytes out of it (specs/stdio.md).

The server is `probe_server.py`. One process serves most of the tests; those about the end of a conversation start
their own.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from obsidian_mcp.serve.stdio import GRACE_SECONDS
from obsidian_mcp.serve.stdio.conversation import MAX_IN_FLIGHT
from tests import forked
from tests.generated import ROOT
from tests.serve.raw import MODERN, PATIENCE, Message, RawServer, initialize_params, notification, request, tool_call
from tests.serve.test_jsonrpc import BROKEN
from tests.serve.vault_server import started
from tests.system import EndingSignal, ending_signals, needs

PROBE = [sys.executable, "-m", "tests.serve.stdio.probe_server"]
INITIALIZED = notification("notifications/initialized")
EXIT = notification("exit")
MANY = MAX_IN_FLIGHT + 200
BIG = 24
"""Answers of a megabyte: more than the 16 MiB that may be unread while calls are begun (PIPE-05)."""


def probe(*arguments: str, **options: Any) -> RawServer:
    return RawServer([*PROBE, *arguments], **options)


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    """A 2025-11-25 connection. In the end it must close with status 0 and must have sent nothing unasked."""
    with probe() as running:
        running.initialize()
        yield running
        assert running.close() == 0


def text(answer: Message) -> str:
    value = answer["result"]["content"][0]["text"]
    assert isinstance(value, str)
    return value


def alive(server: RawServer) -> bool:
    return text(server.call("tools/call", {"name": "echo", "arguments": {"text": "alive"}})) == "alive"


# --- messages


def test_every_broken_line_is_answered_in_order_and_the_server_goes_on(server: RawServer) -> None:
    """GUARD-01"""
    for line, code, request_id in BROKEN:
        server.write(line + b"\n")
        answer = server.read()
        assert (answer["id"], answer["error"]["code"]) == (request_id, code), line[:100]
        assert answer["error"]["message"]
        assert answer["error"]["data"]["errorCode"]
    assert alive(server)


def test_blank_lines_carriage_returns_and_line_separators_in_text_are_fine(server: RawServer) -> None:
    server.write(b"\n\r\n   \n" + json.dumps(request(1, "ping")).encode() + b"\r\n")
    assert server.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    tricky = "a\u2028b\u2029c\x85d\r\ne\x0bf"
    assert text(server.call("tools/call", {"name": "echo", "arguments": {"text": tricky}})) == tricky


def test_a_line_may_come_in_pieces_cut_inside_a_character(server: RawServer) -> None:
    line = json.dumps(tool_call(1, "echo", {"text": "ä😀"}), ensure_ascii=False).encode() + b"\n"
    middle = line.index("😀".encode()) + 2
    for piece in (line[:5], line[5:middle], line[middle:-1], line[-1:]):
        server.write(piece)
    assert text(server.read()) == "ä😀"


def test_many_lines_may_come_in_one_write(server: RawServer) -> None:
    server.send(*[tool_call(number, "echo", {"text": str(number)}) for number in range(300)])
    answers = server.read_answers(300)
    assert {number: text(answer) for number, answer in answers.items()} == {n: str(n) for n in range(300)}


def test_ids_come_back_as_they_were_sent(server: RawServer) -> None:
    for request_id in ("a", "7", 7, 0, -1, 2**63, "", "ünï"):
        assert server.call("ping", request_id=request_id)["id"] == request_id


def test_more_pipelined_calls_than_are_begun_at_once_are_all_answered(server: RawServer) -> None:
    """PIPE-05"""
    server.send(*[tool_call(number, "echo", {"text": "x" * 100}) for number in range(MANY)])
    assert set(server.read_answers(MANY)) == set(range(MANY))


def test_a_line_of_20_mb_is_served(server: RawServer) -> None:
    assert text(server.call("tools/call", {"name": "size", "arguments": {"text": "y" * 20_000_000}})) == "20000000"


def test_an_answer_of_a_megabyte_arrives_whole(server: RawServer) -> None:
    for _ in range(3):
        assert text(server.call("tools/call", {"name": "big"})) == "ä" * 2**19


def test_a_line_over_the_limit_is_refused_and_the_next_one_served(server: RawServer) -> None:
    """PIPE-03"""
    server.write(b'{"jsonrpc":"2.0","id":1,"method":"')
    for _ in range(65):
        server.write(b"x" * 2**20)
    server.write(b'"}\n')
    answer = server.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert alive(server)


# --- errors


def test_an_unknown_method_is_32601(server: RawServer) -> None:
    assert server.call("no/such")["error"]["code"] == -32601
    assert server.call("exit")["error"]["code"] == -32601  # exit is a notification


@pytest.mark.parametrize(
    ("params", "fields"),
    [
        (None, [{"field": "params", "expected": "a value", "got": "nothing"}]),
        ({}, [{"field": "name", "expected": "a value", "got": "nothing"}]),
        ({"name": 5}, [{"field": "name", "expected": "a valid string", "got": "the number 5"}]),
        (
            {"name": "echo", "arguments": [1]},
            [{"field": "arguments", "expected": "a valid dictionary", "got": "an array"}],
        ),
    ],
)
def test_params_of_the_wrong_shape_are_32602_and_name_the_field(
    server: RawServer, params: Message | None, fields: list[Message]
) -> None:
    """GUARD-03"""
    error = server.call("tools/call", params)["error"]
    assert error["code"] == -32602
    assert error["data"]["fields"] == fields
    assert fields[0]["field"] in error["message"]


def test_errors_of_the_program_and_of_the_protocol_go_out_with_their_code_and_data(server: RawServer) -> None:
    """GUARD-05"""
    assert server.call("tools/call", {"name": "not_found"})["error"] == {
        "code": -32003,
        "message": "No note is called Alpha.",
        "data": {"errorCode": "FILE_NOT_FOUND", "name": "Alpha"},
    }
    assert server.call("tools/call", {"name": "protocol_error"})["error"] == {
        "code": -32004,
        "message": "told as it is",
        "data": {"errorCode": "AMBIGUOUS_NAME", "candidates": ["a", "b"]},
    }


@pytest.mark.parametrize("tool", ["raise", "exit", "exit_inline", "own_model"])
def test_any_other_failure_is_32603_without_its_details_and_the_server_goes_on(server: RawServer, tool: str) -> None:
    """GUARD-04"""
    error = server.call("tools/call", {"name": tool})["error"]
    assert error["code"] == -32603
    assert error["data"] == {"errorCode": "INTERNAL_ERROR"}
    assert "secret" not in json.dumps(error)
    assert "Traceback" not in json.dumps(error)
    assert alive(server)


def test_a_failure_is_logged_on_stderr_with_its_details(server: RawServer) -> None:
    """GUARD-04"""
    server.call("tools/call", {"name": "raise"})
    server.wait_for_log("RuntimeError: secret detail")

    assert "Traceback" in server.stderr()


def test_a_lone_surrogate_in_a_result_does_not_end_the_server(server: RawServer) -> None:
    """MSG-07"""
    assert text(server.call("tools/call", {"name": "surrogate"})) == "bad \ufffd name, pair 😀, \u2028 and ünïcode"
    assert alive(server)


def test_nothing_that_is_printed_reaches_the_client(server: RawServer) -> None:
    """PIPE-01"""
    assert text(server.call("tools/call", {"name": "print"})) == "printed"
    assert text(server.call("tools/call", {"name": "child"})) == "child ended"
    assert alive(server)


def test_a_cancelled_call_is_not_answered_and_others_go_on(server: RawServer) -> None:
    """END-07"""
    server.send(tool_call("slow", "wait"), tool_call(2, "echo", {"text": "2"}))
    assert server.read()["id"] == 2
    server.send(notification("notifications/cancelled", {"requestId": "slow"}), request(3, "ping"))
    assert server.read()["id"] == 3


def test_every_revision_with_a_handshake_is_spoken_also_in_a_second_initialize(server: RawServer) -> None:
    for version in HANDSHAKE_PROTOCOL_VERSIONS:
        assert server.initialize(version)["result"]["protocolVersion"] == version
        assert alive(server)
    assert server.initialize("1999-01-01")["result"]["protocolVersion"] == LATEST_HANDSHAKE_VERSION


# --- handshake and eras


def test_before_initialize_known_methods_are_32600_and_a_2024_client_is_served_after_it(tmp_path: Path) -> None:
    """GUARD-02"""
    (tmp_path / "vault").mkdir()
    with started(tmp_path / "vault") as server:
        for method, params in (("tools/list", None), ("tools/call", {"name": "x"}), ("prompts/list", None)):
            error = server.call(method, params)["error"]
            assert (error["code"], error["data"]["errorCode"]) == (-32600, "NOT_INITIALIZED")
            assert "Server not initialized" in error["message"]
        assert server.call("ping")["result"] == {}
        assert server.call("no/such")["error"]["code"] == -32601
        lenient = server.call("initialize", {"protocolVersion": 5})["result"]
        assert lenient["protocolVersion"] == LATEST_HANDSHAKE_VERSION
        assert server.initialize("2024-11-05")["result"]["protocolVersion"] == "2024-11-05"
        assert server.call("tools/list")["result"]["tools"]
        assert server.call("prompts/list")["result"]["prompts"]
        assert server.close() == 0


def test_a_2026_client_is_served_without_a_handshake_and_its_subscription_ends_gracefully() -> None:
    """END-06"""
    with probe("--subscriptions") as server:
        discovered = server.call("server/discover", {"_meta": MODERN})["result"]
        assert "2026-07-28" in discovered["supportedVersions"]
        called = server.call("tools/call", {"_meta": MODERN, "name": "echo", "arguments": {"text": "hi"}})
        assert text(called) == "hi"
        assert server.call("tools/call", {"_meta": MODERN, "name": 5})["error"]["code"] == -32602
        assert server.call("tools/call", {"_meta": MODERN, "name": "raise"})["error"]["code"] == -32603
        listen = {"_meta": MODERN, "notifications": {"toolsListChanged": True}}
        server.send(request("listen", "subscriptions/listen", listen))
        assert server.read()["method"] == "notifications/subscriptions/acknowledged"
        server.close_stdin()
        assert server.read()["id"] == "listen"
        assert server.line() == b""
        assert server.wait() == 0


# --- the end


def test_fifty_calls_pipelined_behind_the_handshake_are_answered_although_the_input_ends(tmp_path: Path) -> None:
    """END-01: PIPE-04: the wire is UTF-8 whatever the locale says"""
    odd = {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Note.md").write_text("日本 ä\n", encoding="utf-8", newline="\n")
    with started(tmp_path / "vault", **odd) as server:
        calls = [tool_call(number, "obsidian_search", {"query": "日本"}) for number in range(1, 51)]
        server.write(
            b"".join(
                json.dumps(message, ensure_ascii=False).encode() + b"\n"
                for message in [request(0, "initialize", initialize_params()), INITIALIZED, *calls]
            ).rstrip(b"\n")  # not even the last line end
        )
        server.close_stdin()
        answers = server.read_answers(51)
        assert all("日本 ä" in text(answers[number]) for number in range(1, 51))
        assert server.line() == b""
        assert server.wait() == 0


def test_work_in_flight_is_finished_and_answered_after_the_exit_notification() -> None:
    """END-02"""
    with probe() as server:
        server.initialize()
        server.send(tool_call(1, "slow", {"seconds": 0.3}), tool_call(2, "stubborn", {"seconds": 0.2}), EXIT)
        server.send(tool_call(3, "echo", {"text": "too late"}))
        answers = server.read_answers(2)
        assert text(answers[1]) == "slept 0.3"
        assert text(answers[2]) == "slept 0.2"
        assert server.line() == b""
        assert server.wait() == 0


def test_exit_as_the_first_line_ends_the_server() -> None:
    """END-02"""
    with probe() as server:
        server.send(EXIT)
        assert server.line() == b""
        assert server.wait() == 0


def test_a_file_as_input_is_served_to_its_end(tmp_path: Path) -> None:
    """PIPE-06"""
    lines = [request(0, "initialize", initialize_params()), INITIALIZED]
    lines += [tool_call(number, "slow", {"seconds": 0.05}) for number in range(1, 11)]
    file = tmp_path / "input"
    file.write_bytes(b"\xef\xbb\xbf" + b"".join(json.dumps(line).encode() + b"\r\n" for line in lines))
    with file.open("rb") as stdin, probe(stdin=stdin) as server:
        assert set(server.read_answers(11)) == set(range(11))
        assert server.line() == b""
        assert server.wait() == 0


@pytest.mark.parametrize("sig", ending_signals())
def test_a_signal_lets_the_work_in_flight_finish_and_a_second_one_ends_at_once(sig: EndingSignal) -> None:
    """END-03"""
    with probe() as server:
        server.initialize()
        server.send(tool_call(1, "slow", {"seconds": 0.4}), request(2, "ping"))
        assert server.read()["id"] == 2
        server.signal(sig.sent)
        assert text(server.read()) == "slept 0.4"
        assert server.line() == b""
        assert server.wait() == 0
    with probe() as server:
        server.initialize()
        server.send(tool_call(1, "slow", {"seconds": 60}), request(2, "ping"))
        assert server.read()["id"] == 2
        server.signal(sig.sent)
        server.wait_for_log(sig.arrives.name)
        server.signal(sig.sent)
        assert server.wait() == 128 + sig.arrives


def test_a_client_that_closes_our_stdout_ends_the_server_at_once_although_an_answer_is_being_written() -> None:
    """END-04"""
    with probe(reading=False) as server:
        server.send(request(0, "initialize", initialize_params()), INITIALIZED)
        server.send(tool_call(1, "wait"), tool_call(2, "big"))
        assert server.process.stdout is not None
        assert server.process.stdout.readline()
        begun = time.monotonic()
        server.close_stdout()
        assert server.wait() == 0
        assert time.monotonic() - begun < GRACE_SECONDS
        assert "Traceback" not in server.stderr()


def test_work_that_never_ends_is_given_up_and_the_process_ends_although_a_thread_hangs() -> None:
    """END-05"""
    with probe("--drain", "0.2", "--grace", "0.3") as server:
        server.initialize()
        hanging = [tool_call(1, "slow", {"seconds": 600}), tool_call(2, "stubborn", {"seconds": 600})]
        server.send(*hanging, tool_call(3, "echo", {"text": "3"}))
        assert server.read()["id"] == 3
        server.close_stdin()
        assert server.wait() == 0
        while line := server.line():
            assert json.loads(line)["error"]["code"] == -32000
        assert "gave up 2 calls" in server.stderr()


def test_a_call_that_waits_for_an_answer_of_the_client_fails_when_the_input_ends() -> None:
    """END-08"""
    with probe() as server:
        server.initialize(capabilities={"elicitation": {}})
        server.send(tool_call(1, "ask"))
        question = server.read()
        assert question["method"] == "elicitation/create"
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
        assert text(server.read()) == "decline"
        server.send(tool_call(2, "ask"))
        assert server.read()["method"] == "elicitation/create"
        server.close_stdin()
        answer = server.read()
        assert (answer["id"], answer["error"]["code"]) == (2, -32000)
        assert server.wait() == 0


def test_more_calls_and_answers_than_are_held_reach_a_client_that_writes_first_and_reads_later() -> None:
    """PIPE-05"""
    with probe(reading=False) as server:
        server.send(request("init", "initialize", initialize_params()), INITIALIZED)
        server.send(*[tool_call(number, "echo", {"text": "z" * 200}) for number in range(MANY)])
        server.send(*[tool_call(number, "big") for number in range(MANY, MANY + BIG)])
        server.send(tool_call("chatty", "chatty", {"steps": 100}))
        server.close_stdin()
        server.start_reading()
        answers = server.read_answers(MANY + BIG + 2)
        assert set(answers) == {*range(MANY + BIG), "init", "chatty"}
        assert server.line() == b""
        assert server.wait() == 0


@needs("sockets among its files")
def test_sockets_that_do_not_block_serve_as_standard_streams() -> None:
    """PIPE-06: as a host does that shares its event loop's descriptors with us"""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        ours.settimeout(PATIENCE)
        wires = theirs.fileno()
        process = forked.start(PROBE, stdin=wires, stdout=wires, stderr=subprocess.DEVNULL, env=os.environ)
        theirs.close()
        with process, ours.makefile("rwb") as wire:
            calls = [tool_call(number, "big") for number in range(1, 6)]
            for message in [request(0, "initialize", initialize_params()), INITIALIZED, *calls]:
                wire.write(json.dumps(message).encode() + b"\n")
            wire.flush()
            assert {json.loads(wire.readline())["id"] for _ in range(6)} == set(range(6))
            ours.shutdown(socket.SHUT_WR)
            assert wire.readline() == b""
            assert process.wait(PATIENCE) == 0


@needs("POSIX shell")
def test_a_process_started_without_its_standard_streams_ends_quietly(tmp_path: Path) -> None:
    """PIPE-07"""
    program = [sys.executable, "-m", "obsidian_mcp", "--vault", str(tmp_path)]
    command = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *program]
    assert subprocess.run(command, cwd=ROOT, timeout=PATIENCE, check=False).returncode == 0
