"""Every start is answered at once, in both eras of the protocol (specs/stdio.md, DISPATCH)."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from obsidian_mcp.serve.dispatch import CHANGING_MS, CONSTANT_MS
from tests.conftest import FIXTURES
from tests.serve.raw import MODERN, Message, RawServer, initialize_params, notification, request, tool_call
from tests.serve.vault_server import sdk_out_of_reach, started
from tests.system import needs

READ = {"name": "obsidian_read_note", "arguments": {"name": "Alpha"}}
UNKNOWN = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
WITH_APP = {"OBSIDIAN_MCP_CLI": sys.executable}
"""A program that could be the `obsidian` command is there."""


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(FIXTURES / "basic", tmp_path_factory.mktemp("start") / "v"))


@pytest.fixture(scope="module")
def server(vault: Path) -> Iterator[RawServer]:
    with started(vault) as running:
        yield running
        assert running.close() == 0


@pytest.fixture
def without_sdk(tmp_path: Path) -> dict[str, str]:
    return sdk_out_of_reach(tmp_path)


def names(answer: Message) -> set[str]:
    return {tool["name"] for tool in answer["result"]["tools"]}


STARTS: dict[str, tuple[list[str], dict[str, str], Message]] = {
    "plain": ([], {}, {}),
    "core, scope and a variable": (["--tools", "core", "--scope", "Projects"], {"OBSIDIAN_MCP_TIMEOUT": "20"}, {}),
    "standard, read-only and a policy": (
        ["--tools=standard", "--read-only"],
        {"OBSIDIAN_MCP_POLICY": "policy.toml"},
        {},
    ),
    "Claude Desktop": ([], {}, {"clientInfo": {"name": "claude-ai", "version": "1"}}),
    "views": (
        [],
        {},
        {"capabilities": {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}},
    ),
}


@pytest.mark.parametrize("start", STARTS)
def test_no_start_waits_for_pydantic_or_the_sdk(
    vault: Path, without_sdk: dict[str, str], tmp_path: Path, start: str
) -> None:
    """DISPATCH-03, DISPATCH-04"""
    (tmp_path / "policy.toml").write_text('confirm = ["delete"]\n', encoding="utf-8")
    arguments, environment, client = STARTS[start]
    if "OBSIDIAN_MCP_POLICY" in environment:
        environment = {"OBSIDIAN_MCP_POLICY": str(tmp_path / "policy.toml")}
    with started(vault, *arguments, **without_sdk, **environment) as server:
        assert server.call("initialize", {**initialize_params(), **client})["result"]["instructions"]
        server.send(notification("notifications/initialized"))
        assert server.call("tools/list")["result"]["tools"]
        assert server.call("tools/call", READ)["result"]["content"]
        found = server.call("tools/call", {"name": "obsidian_search", "arguments": {"query": "alpha"}})
        assert found["result"]["structuredContent"]["success"]


def test_neither_does_one_of_2026(vault: Path, without_sdk: dict[str, str]) -> None:
    """DISPATCH-03, DISPATCH-04"""
    with started(vault, **without_sdk) as server:
        assert server.call("server/discover", {"_meta": MODERN})["result"]["supportedVersions"] == ["2026-07-28"]
        assert server.call("tools/list", {"_meta": MODERN})["result"]["tools"]
        called = server.call("tools/call", {"_meta": MODERN, **READ})["result"]
        assert called["resultType"] == "complete"


def test_an_initialize_a_second_after_the_start_is_answered_as_quickly(vault: Path) -> None:
    """DISPATCH-03"""
    seconds = []
    for _ in range(3):  # the best of them is one that no other program has slowed down
        with started(vault) as server:
            server.call("ping")
            time.sleep(1.0)
            begun = time.monotonic()
            server.initialize()
            seconds.append(time.monotonic() - begun)
        if seconds[-1] < 0.5:
            break
    assert min(seconds) < 0.5


SLOW_TO_IMPORT = {"asyncio", "concurrent", "dataclasses", "hashlib", "inspect"}
"""Each takes 3 to 30 ms, which neither the first answer nor the list of tools waits for."""
NEEDED_LATER = SLOW_TO_IMPORT | {
    *(
        "contextlib",
        "contextvars",
        "ctypes",
        "datetime",
        "fcntl",
        "heapq",
        "logging",
        "math",
        "pathlib",
        "platformdirs",
        "resource",
    ),
    *("shutil", "string", "tempfile", "typing", "urllib", "weakref"),
    *("obsidian_mcp.adapters", "obsidian_mcp.app", "obsidian_mcp.compose", "obsidian_mcp.core"),
    *("obsidian_mcp.serve.call_order", "obsidian_mcp.serve.results", "obsidian_mcp.serve.stdio.calls"),
    *("obsidian_mcp.serve.stdio.sdk", "obsidian_mcp.tools.registry"),
}
"""What the answer to `initialize` does without."""


@pytest.mark.parametrize(("options", "modules"), [((), 16), (("--tools", "core"), 18), (("--read-only",), 18)])
def test_the_first_answers_need_little_of_the_standard_library_and_nothing_else(
    vault: Path, options: tuple[str, ...], modules: int
) -> None:
    """DISPATCH-03: each of our modules takes 0.15 ms"""
    code = (
        "import sys; before = set(sys.modules)\n"
        "from obsidian_mcp.serve import dispatch, stdio\n"
        "def run(load, dispatcher, **_):\n"
        "    global kept, open; kept = dispatcher\n"
        "    open = stdio.Conversation(dispatcher, load, 1.0)\n"
        "    return 0\n"
        "stdio.serve_stdio = run\n"
        "from obsidian_mcp.cli.main import run_command_line as command\n"
        "assert command(sys.argv[1:]) == 0\n"
        "dispatcher = kept\n"
        "hello = {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 'x', 'version': '1'}}\n"
        "def answer(method, params):\n"
        "    message = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}\n"
        "    assert b'result' in dispatcher.answer_message(message, dispatch.read_peer({'params': hello}))\n"
        "    return set(sys.modules) - before\n"
        "new = answer('initialize', hello)\n"
        f"found = new & {NEEDED_LATER}\n"
        "own = [name for name in new if name.startswith('obsidian_mcp')]\n"
        f"found |= set(own) if len(own) > {modules} else set()\n"
        "answer('ping', {})\n"
        f"found |= answer('tools/list', {{}}) & {SLOW_TO_IMPORT}\n"
        "new = {name.partition('.')[0] for name in answer('tools/list', {})}\n"
        "found |= new - set(sys.stdlib_module_names) - {'obsidian_mcp', 'platformdirs', 'psutil'}\n"
        "print(*found, file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", code, "--vault", str(vault), *options]
    done = subprocess.run(command, input=b"", capture_output=True, check=False)  # a terminal would be given the help
    assert (done.returncode, done.stderr.strip()) == (0, b"")


@pytest.mark.parametrize("era", ["handshake", "2026"])
def test_a_session_of_hundreds_of_calls_and_an_edit_never_loads_the_sdk(vault: Path, era: str) -> None:
    """DISPATCH-04: a process prints its modules when it ends"""
    note = {"name": "Alpha", "operation": "append", "content": "more"}
    edit = {"name": "obsidian_edit_note", "arguments": note}
    code = (
        "import runpy, sys; sys.argv[1:] = ['--vault', sys.argv[1]]\n"
        "try: runpy.run_module('obsidian_mcp', run_name='__main__')\n"
        "finally: print('loaded:', *sys.modules, file=sys.stderr, flush=True)"
    )
    own = {"OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"), "OBSIDIAN_MCP_STATE": str(vault.parent / "state")}
    with RawServer([sys.executable, "-c", code, str(vault)], env=own) as server:
        meta = {"_meta": MODERN} if era == "2026" else {}
        if era == "handshake":
            server.initialize()
        assert server.call("tools/list", meta)["result"]["tools"]
        server.send(*[request(number, "tools/call", {**READ, **meta}) for number in range(300)])
        assert all("result" in answer for answer in server.read_answers(300).values())
        assert not server.call("tools/call", {**edit, **meta})["result"].get("isError")
        assert server.close() == 0
        order = server.stderr().partition("loaded: ")[2].split()
    assert order.index("typing") < order.index("dataclasses"), "a thread could find half of typing"
    loaded = set(order)
    assert "obsidian_mcp" in loaded
    assert not loaded & {"mcp", "mcp_types", "pydantic_settings", "pydantic", "starlette", "anyio", "asyncio", "ssl"}
    assert not loaded & {"shlex", "secrets", "obsidian_mcp.core.operations.move"}  # what other calls need


PROBES: dict[str, list[Message]] = {
    "a probe": [MODERN],
    "a probe of a version that is not served": [UNKNOWN],
    "two probes": [UNKNOWN, MODERN],
}
"""What Copilot CLI, Claude Code and Antigravity send before the old `initialize`."""


@pytest.mark.parametrize("probes", PROBES)
def test_a_probe_binds_nothing(vault: Path, probes: str) -> None:
    """DISPATCH-02"""
    with started(vault) as server:
        for meta in PROBES[probes]:
            answer = server.call("server/discover", {"_meta": meta})
            assert ("result" in answer) == (meta is MODERN), answer
            assert meta is MODERN or answer["error"]["code"] == -32022
        assert server.initialize()["result"]["protocolVersion"] == "2025-11-25"
        assert "obsidian_read_note" in names(server.call("tools/list"))
        assert server.call("tools/call", READ)["result"]["content"]
        assert server.call("prompts/list")["result"]["prompts"]
        assert server.close() == 0


def test_both_eras_are_spoken_on_one_connection_also_by_the_sdk(vault: Path) -> None:
    """DISPATCH-02, DISPATCH-05"""
    with started(vault) as server:
        server.initialize("2025-06-18")
        for _ in range(2):
            for method in ("tools/list", "prompts/list", "resources/list"):
                old, new = server.call(method)["result"], server.call(method, {"_meta": MODERN})["result"]
                key = method.partition("/")[0]
                assert len(old[key]) == len(new[key]) > 0
                assert ("ttlMs" in old, "ttlMs" in new) == (False, True)
        assert server.call("ping")["result"] == {}
        assert server.call("ping", {"_meta": MODERN})["error"]["code"] == -32601
        assert server.call("server/discover")["error"]["code"] == -32602
        server.send(
            request("l", "subscriptions/listen", {"_meta": MODERN, "notifications": {"toolsListChanged": True}})
        )
        assert server.read()["method"] == "notifications/subscriptions/acknowledged"
        assert server.call("tools/call", READ)["result"]["content"]
        server.close_stdin()
        assert server.read()["id"] == "l"
        assert server.wait() == 0


@pytest.mark.parametrize(("tools", "ttl"), [("core", CONSTANT_MS), ("standard", CONSTANT_MS), ("all", CHANGING_MS)])
def test_a_list_says_how_long_it_may_be_kept(vault: Path, tools: str, ttl: int) -> None:
    """DISPATCH-06"""
    with started(vault, "--tools", tools) as server:
        assert server.call("tools/list", {"_meta": MODERN})["result"]["ttlMs"] == ttl
        assert server.call("server/discover", {"_meta": MODERN})["result"]["ttlMs"] == CONSTANT_MS
        assert server.call("prompts/list", {"_meta": MODERN})["result"]["ttlMs"] == CONSTANT_MS
        assert server.call("resources/templates/list", {"_meta": MODERN})["result"]["ttlMs"] == CONSTANT_MS


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, "1999-01-01"])
def test_every_revision_with_a_handshake_is_spoken(server: RawServer, version: str) -> None:
    """DISPATCH-01"""
    known = version if version in HANDSHAKE_PROTOCOL_VERSIONS else "2025-11-25"
    assert server.initialize(version)["result"]["protocolVersion"] == known
    assert server.call("tools/list")["result"]["tools"]


def test_an_envelope_with_a_revision_that_is_not_served_is_told_those_that_are(server: RawServer) -> None:
    """DISPATCH-02"""
    for method in ("server/discover", "tools/list", "prompts/list"):
        error = server.call(method, {"_meta": UNKNOWN})["error"]
        assert (error["code"], error["data"]["supported"]) == (-32022, ["2026-07-28"])


def test_odd_capabilities_and_members_are_taken(vault: Path) -> None:
    """DISPATCH-05: the SDK, which gets to know the client later, is stricter"""
    odd: Message
    for odd in ({"sampling": True, "roots": None}, {"unheard": [1]}, {"extensions": {"com.example/other": {}}}):
        with started(vault) as server:
            params = {**initialize_params(), "capabilities": odd, "surplus": 1}
            assert server.call("initialize", params)["result"]["serverInfo"]["name"] == "obsidian-mcp"
            assert server.call("tools/list", {"surplus": 1})["result"]["tools"]
            assert server.call("prompts/list")["result"]["prompts"]


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
@pytest.mark.parametrize("meta", [{}, {"_meta": MODERN}], ids=["handshake", "2026-07-28"])
def test_only_a_cursor_that_no_answer_gave_is_refused(server: RawServer, method: str, meta: Message) -> None:
    """RES-03"""
    server.initialize()
    for cursor in (None, ""):
        assert "result" in server.call(method, {"cursor": cursor, **meta})
    assert server.call(method, {"cursor": "x", **meta})["error"]["code"] == -32602


def test_a_client_that_names_its_revision_with_a_handshake_in_every_request_is_served(server: RawServer) -> None:
    """DISPATCH-02"""
    server.initialize("2025-06-18")
    named = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2025-06-18"}}
    assert "ttlMs" not in server.call("tools/list", named)["result"]
    assert server.call("tools/call", {**READ, **named})["result"]["content"]
    assert server.call("resources/list", named)["result"]["resources"]
    assert server.call("ping", named)["result"] == {}


def test_the_tools_that_need_the_app_are_listed_where_it_is(vault: Path) -> None:
    """DISPATCH-07"""
    with started(vault, **WITH_APP) as server:
        server.initialize()
        assert "obsidian_app_command" in names(server.call("tools/list"))


def test_a_read_only_server_lists_no_tool_that_writes(vault: Path) -> None:
    """DISPATCH-07"""
    for server in (started(vault, "--read-only"), started(vault, OBSIDIAN_MCP_READ_ONLY="1")):
        with server:
            server.initialize()
            listed = names(server.call("tools/list"))
            assert "obsidian_read_note" in listed
            assert "obsidian_create_note" not in listed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tools", "nonsense"], "There is no tool obsidian_nonsense"),
        (["--tools", "research"], "offered over HTTP only"),
        (["--backend", "nothing"], "backend"),
        (["--surplus"], "--surplus"),
        (["--key", "nobody"], "There is no API key 'nobody'"),
    ],
)
def test_a_wrong_option_ends_the_start_and_says_what_there_is(vault: Path, arguments: list[str], said: str) -> None:
    """DISPATCH-07"""
    with started(vault, *arguments) as server:
        assert server.wait() != 0
        assert said in server.stderr()
        assert "Traceback" not in server.stderr()


def test_a_key_whose_tools_are_for_http_only_ends_the_start(vault: Path, tmp_path: Path) -> None:
    """DISPATCH-07, TOOL-25"""
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[keys.phone]\nsha256 = "{"0" * 64}"\ntools = "research"\n', encoding="utf-8")
    with started(vault, "--key", "phone", OBSIDIAN_MCP_POLICY=str(policy)) as server:
        assert server.wait() != 0
        assert "offered over HTTP only" in server.stderr()


def test_a_wrong_variable_ends_the_start_and_is_named(vault: Path) -> None:
    """DISPATCH-07"""
    with started(vault, OBSIDIAN_MCP_TIMEOUT="soon") as server:
        assert server.wait() != 0
        assert "OBSIDIAN_MCP_TIMEOUT is 'soon'" in server.stderr()


def test_the_end_of_input_during_the_start_loses_no_answer(vault: Path) -> None:
    """END-01"""
    with started(vault) as server:
        server.send(
            request(1, "initialize", initialize_params()),
            notification("notifications/initialized"),
            request(2, "tools/list"),
            tool_call(3, "obsidian_read_note", {"name": "Alpha"}),
            request(4, "prompts/list"),
        )
        server.close_stdin()
        assert set(server.read_answers(4)) == {1, 2, 3, 4}
        assert server.wait() == 0


@needs("signals between processes")
def test_a_signal_during_the_start_loses_no_answer(vault: Path) -> None:
    """END-03"""
    for _ in range(3):
        with started(vault) as server:
            server.send(request(1, "initialize", initialize_params()), request(2, "tools/call", READ))
            assert server.read()["id"] == 1
            server.signal(signal.SIGTERM)
            assert server.read()["id"] == 2
            assert server.wait() == 0


def test_a_client_that_goes_during_the_start_ends_the_server(vault: Path) -> None:
    with started(vault) as server:
        assert server.close() == 0


def test_the_answers_to_other_methods_come_from_the_sdk_which_is_loaded_for_the_first(
    vault: Path, tmp_path: Path
) -> None:
    """DISPATCH-04"""
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('not wanted')", encoding="utf-8")
    with started(vault, PYTHONPATH=str(tmp_path)) as server:
        server.initialize()
        for method in ("no/such", "logging/setLevel", "subscriptions/listen", "tasks/list"):
            assert server.call(method)["error"]["code"] == -32601, method
        assert json.dumps(server.call("tools/call", READ))
        server.send(request(1, "prompts/list"))
        assert server.wait() != 0
        assert "not wanted" in server.stderr()
