"""The first answers given before the SDK is there (specs/stdio.md, START-02 to START-06)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.serve.stdio.handshake import FILE, Handshake, is_server, tool_list
from tests.conftest import FIXTURES
from tests.serve.raw import RawServer, initialize_params, notification, request, tool_call

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

CAPABILITIES: list[dict[str, Any]] = [
    {},
    {"roots": {}},
    {"roots": {"listChanged": True}},
    {"roots": {"listChanged": False}, "sampling": {}},
    {"sampling": {"context": {}, "tools": {}}, "elicitation": {}},
    {"elicitation": {"form": {}, "url": {}}},
    {"elicitation": {"form": {"applyDefaults": True}}},
    {"experimental": {"claude/channel": {"depth": [1, None]}}},
    {"extensions": {"com.example/other": {"depth": [1, None]}}},
]
CLIENTS: list[dict[str, Any]] = [
    {"name": "raw", "version": "1"},
    {
        "name": 'Zürich 時計 "q" \\ \x7f',
        "version": "",
        "title": "T",
        "websiteUrl": "https://example.com",
        "description": "d",
    },
]
IDS: list[str | int] = [0, 1, 2**53 - 1, "", "a-1", 'quoted " and \\ back', "x" * 64]

UNUSUAL_PARAMS: list[Any] = [
    None,
    [],
    {},
    {**initialize_params(), "_meta": {}},
    {**initialize_params(), "protocolVersion": "2026-07-28"},
    {**initialize_params(), "protocolVersion": "1999-01-01"},
    {**initialize_params(), "protocolVersion": 20250618},
    {**initialize_params(), "protocolVersion": ["2025-06-18"]},
    {**initialize_params(), "clientInfo": {"name": "raw"}},
    {**initialize_params(), "clientInfo": {"name": "raw", "version": 1}},
    {**initialize_params(), "clientInfo": {"name": "raw", "version": "1", "icons": []}},
    {**initialize_params(), "clientInfo": "raw"},
    {**initialize_params(), "capabilities": None},
    initialize_params(capabilities={"roots": None}),
    initialize_params(capabilities={"roots": {"listChanged": 1}}),
    initialize_params(capabilities={"roots": {"listChanged": {}}}),
    initialize_params(capabilities={"sampling": True}),
    initialize_params(capabilities={"sampling": {"context": True}}),
    initialize_params(capabilities={"experimental": {"x": 1}}),
    initialize_params(capabilities={"tasks": {}}),
    initialize_params(capabilities={"unheard": {}}),
]
WITH_APP = {"OBSIDIAN_MCP_CLI": sys.executable}
"""A program that could be the `obsidian` command is there."""
HELLO = json.dumps(request(1, "initialize", initialize_params())).encode() + b"\n"
UNUSUAL_LINES = [
    b"\n",
    b"garbage\n",
    b"[" + HELLO.strip() + b"]\n",
    b"\xef\xbb\xbf" + HELLO,
    b"\xff" + HELLO,
    HELLO.replace(b'"raw"', b'"\\ud800"'),
    HELLO.replace(b'"raw"', b'"raw", "name": "again"'),
    HELLO.replace(b'"id": 1', b'"id": null'),
    HELLO.replace(b'"id": 1', b'"id": true'),
    HELLO.replace(b'"id": 1', b'"id": 1.0'),
    HELLO.replace(b'"id": 1', b'"id": -1'),
    HELLO.replace(b'"id": 1', b'"id": 1, "extra": 1'),
    HELLO.replace(b'"2.0"', b'"1.0"'),
    HELLO.replace(b'"capabilities": {}', b'"capabilities": {"experimental": {"x": {"y": NaN}}}'),
    b'{"jsonrpc":"2.0","method":"exit"}\n',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
    b"[" * 100_000 + b"\n",
]  # fmt: skip


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(FIXTURES / "basic", tmp_path_factory.mktemp("early") / "v"))


def started(vault: Path, *arguments: str, **environment: str) -> RawServer:
    own = {"OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"), "OBSIDIAN_MCP_STATE": str(vault.parent / "state")}
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(vault), *arguments]
    return RawServer(command, env={**own, "XDG_CONFIG_HOME": str(vault.parent), **environment})


@pytest.fixture(scope="module")
def sdk(vault: Path) -> Iterator[RawServer]:
    """A server that answers nothing early."""
    with started(vault, OBSIDIAN_MCP_TIMEOUT="30") as running:
        yield running
        assert running.close() == 0


@pytest.fixture(scope="module", autouse=True)
def written(sdk: RawServer, vault: Path, request: pytest.FixtureRequest) -> None:
    """The file of answers, made anew by `pytest --update`."""
    if request.config.getoption("--update"):
        hello = sdk.initialize()["result"]
        tools = sdk.call("tools/list")["result"]
        with started(vault, **WITH_APP) as server:
            server.initialize()
            all_tools = server.call("tools/list")["result"]["tools"]
        answers = {
            "protocolVersions": REVISIONS,
            "initialize": hello,
            "tools/list": tools,
            "app tools": [tool for tool in all_tools if tool not in tools["tools"]],
        }
        Path(FILE).write_text(json.dumps(answers, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")


def beginning(*, every_tool: bool = True) -> tuple[Handshake, list[bytes]]:
    said: list[bytes] = []
    answers = json.loads(Path(FILE).read_text(encoding="utf-8"))
    return Handshake(answers, said.append, lambda: answers["tools/list"] if every_tool else None), said


def line(message: object) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


@pytest.mark.parametrize("version", REVISIONS)
def test_early_answers_are_those_of_the_sdk_byte_for_byte(sdk: RawServer, version: str) -> None:
    # START-02; a failure here after a change of a tool: run pytest --update
    cases: list[tuple[Any, Any, Any]] = [(caps, CLIENTS[0], 7) for caps in CAPABILITIES] + [
        ({}, who, number) for who in CLIENTS for number in IDS
    ]
    for capabilities, client, number in cases:
        hello = request(number, "initialize", {**initialize_params(version, capabilities), "clientInfo": client})
        listing = request(number, "tools/list", {})
        early, said = beginning()
        early.feed(line(hello) + line(notification("notifications/initialized")) + line(listing))
        assert len(said) == 2
        sdk.send(hello, notification("notifications/initialized"), listing)
        assert said == [sdk.line(), sdk.line()]


@pytest.mark.parametrize(
    ("capabilities", "name"), [({"extensions": {"io.modelcontextprotocol/ui": {}}}, "host"), ({}, "claude-ai")]
)
def test_the_list_for_a_host_that_shows_views_is_left_to_the_sdk(capabilities: dict[str, Any], name: str) -> None:
    """VIEW-03."""
    params = {**initialize_params("2025-11-25", capabilities), "clientInfo": {"name": name, "version": "1"}}
    early, said = beginning()
    early.feed(line(request(1, "initialize", params)) + line(request(2, "tools/list")))

    assert len(said) == 1
    assert line(request(2, "tools/list")) in early.rest


def test_tools_may_be_listed_without_params(sdk: RawServer) -> None:
    early, said = beginning()
    early.feed(HELLO + line(request(2, "tools/list")))
    sdk.send(json.loads(HELLO), request(2, "tools/list"))

    assert said == [sdk.line(), sdk.line()]


def test_the_sdk_sees_all_but_the_listing() -> None:
    # START-03
    lines = [
        HELLO,
        line(notification("notifications/initialized")),
        line(request(2, "resources/list")),
        line(request(3, "tools/list")),
        line(tool_call(4, "obsidian_read_note", {"name": "Alpha"})),
        b'{"unfinished',
    ]
    early, said = beginning()
    for byte in b"".join(lines):
        early.feed(bytes([byte]))

    assert [json.loads(answer)["id"] for answer in said] == [1, 3]
    assert early.rest == b"".join(lines[:3] + lines[4:])
    assert early.answered == 1


@pytest.mark.parametrize("params", UNUSUAL_PARAMS, ids=repr)
def test_an_unusual_handshake_is_left_to_the_sdk(params: Any) -> None:
    # START-04
    assert_unread(line({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))


@pytest.mark.parametrize("data", UNUSUAL_LINES, ids=lambda data: repr(data[:40]))
def test_an_unusual_first_line_is_left_to_the_sdk_with_all_that_follows(data: bytes) -> None:
    assert_unread(data + HELLO)


def assert_unread(data: bytes) -> None:
    early, said = beginning()
    early.feed(data)

    assert said == []
    assert (early.passive, early.rest, early.answered) == (True, data, None)


@pytest.mark.parametrize(
    "after",
    [
        HELLO,
        line(notification("exit")),
        line(notification("notifications/cancelled", {"requestId": 9})),
        b"garbage\n",
        line({"jsonrpc": "2.0", "id": 9, "result": {}}),
    ],
)
def test_after_anything_unusual_nothing_more_is_answered(after: bytes) -> None:
    early, said = beginning()
    early.feed(HELLO + after + line(request(2, "tools/list")))

    assert len(said) == 1
    assert early.rest == HELLO + after + line(request(2, "tools/list"))


@pytest.mark.parametrize("params", [{"cursor": "x"}, {"_meta": {"progressToken": 1}}, []])
def test_a_listing_with_params_is_left_to_the_sdk(params: Any) -> None:
    early, said = beginning()
    early.feed(HELLO + line({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params}))

    assert len(said) == 1


def test_tools_are_listed_once_and_only_where_nothing_restricts_them() -> None:
    listing = line(request(2, "tools/list"))
    early, said = beginning()
    early.feed(HELLO + listing * 3)
    restricted, little = beginning(every_tool=False)
    restricted.feed(HELLO + listing)

    assert (len(said), early.rest) == (2, HELLO + listing * 2)
    assert (len(little), restricted.rest) == (1, HELLO + listing)


def test_the_tools_that_need_the_app_are_listed_where_it_is(vault: Path) -> None:
    # START-07
    with started(vault, **WITH_APP) as server:
        server.send(json.loads(HELLO), notification("notifications/initialized"), request(2, "tools/list", {}))
        hello, listing = server.line(), server.line()
        assert server.close() == 0
    answers = json.loads(Path(FILE).read_text(encoding="utf-8"))

    said: list[bytes] = []
    early = Handshake(answers, said.append, lambda: tool_list(answers, lambda: True))
    early.feed(HELLO + line(request(2, "tools/list")))

    assert said == [hello, listing]
    assert json.loads(listing)["result"]["tools"][-1]["name"] == "obsidian_app_command"


def test_a_flood_is_not_kept_in_memory() -> None:
    early, _ = beginning()
    early.feed(HELLO)
    early.feed(b"x" * 2**21)

    assert early.passive


@pytest.mark.parametrize(
    "arguments", [[], ["--vault", "x"], ["--vault=x", "-v", "--verbose"], ["--vault", "x", "serve"]]
)
def test_a_command_line_for_the_server_is_known(arguments: list[str]) -> None:
    assert is_server(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["read", "x"],
        ["--read-only"],
        ["serve", "--help"],
        ["--vault"],
        ["--vault", "--help"],
    ],
)
def test_any_other_command_line_is_not(arguments: list[str]) -> None:
    assert not is_server(arguments)


def test_nothing_but_the_standard_library_is_loaded_for_it() -> None:
    # START-05
    code = (
        "import sys; before = set(sys.modules); import obsidian_mcp.serve.stdio.handshake; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "sys.exit(' '.join(new - set(sys.stdlib_module_names) - {'obsidian_mcp'}) or len(new) > 40)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("version", REVISIONS)
def test_the_conversation_goes_on_as_if_the_sdk_had_begun_it(vault: Path, version: str) -> None:
    # START-01, START-03: every answer once, in the revision that was agreed on
    with started(vault) as server:
        server.initialize(version)
        server.send(request(1, "tools/list"), tool_call(2, "obsidian_read_note", {"name": "Alpha"}))
        answers = server.read_answers(2)
        assert answers[1]["result"]["tools"]
        assert "result" in answers[2]
        assert server.call("tools/list", request_id=1)["result"] == answers[1]["result"]
        assert server.call("initialize", initialize_params("2025-06-18"), request_id=1001)["result"]
        assert server.close() == 0


def test_the_first_answers_do_not_wait_for_the_sdk(vault: Path, tmp_path: Path) -> None:
    # START-02
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    with started(vault, PYTHONPATH=str(tmp_path)) as server:
        server.initialize()
        assert server.call("tools/list")["result"]["tools"]


def test_a_read_only_server_lists_no_tool_that_writes(vault: Path) -> None:
    # START-04
    for server in (started(vault, "--read-only"), started(vault, OBSIDIAN_MCP_READ_ONLY="1")):
        with server:
            server.initialize()
            names = {tool["name"] for tool in server.call("tools/list")["result"]["tools"]}
            assert "obsidian_read_note" in names
            assert "obsidian_create_note" not in names


def test_the_end_of_input_during_the_start_loses_no_answer(vault: Path) -> None:
    with started(vault) as server:
        server.send(
            request(1, "initialize", initialize_params()),
            notification("notifications/initialized"),
            request(2, "tools/list"),
            tool_call(3, "obsidian_read_note", {"name": "Alpha"}),
        )
        server.close_stdin()
        assert set(server.read_answers(3)) == {1, 2, 3}
        assert server.wait() == 0


def test_a_client_that_goes_during_the_start_ends_the_server(vault: Path) -> None:
    with started(vault) as server:
        assert server.close() == 0
