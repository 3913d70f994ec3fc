"""The stdio contract, as a client sees it that knows bytes only (contract 003, specs/errors.md)."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp import __version__
from obsidian_mcp.tools.registry import TOOLS
from tests.conftest import FIXTURES
from tests.serve.raw import MODERN, RawServer, initialize_params, notification, request, tool_call

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def started(vault: Path | None, **environment: str) -> RawServer:
    beside = vault.parent if vault is not None else FIXTURES
    command = [sys.executable, "-m", "obsidian_mcp"] + (["--vault", str(vault)] if vault is not None else [])
    own = {"OBSIDIAN_MCP_CACHE": str(beside / "cache"), "OBSIDIAN_MCP_STATE": str(beside / "state")}
    return RawServer(command, env={"OBSIDIAN_VAULT_PATH": "", **own, **environment})


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(FIXTURES / "same_name", folder / "v" / "same")
    return Path(shutil.copytree(FIXTURES / "basic", folder / "v", dirs_exist_ok=True))


@pytest.fixture(scope="module")
def server(vault: Path) -> Iterator[RawServer]:
    with started(vault) as running:
        running.initialize()
        yield running
        assert running.close() == 0


def called(server: RawServer, tool: str, **arguments: Any) -> dict[str, Any]:
    return server.call("tools/call", {"name": tool, "arguments": arguments})


@pytest.mark.parametrize("version", REVISIONS)
def test_a_client_of_every_revision_gets_its_handshake(server: RawServer, version: str) -> None:
    result = server.initialize(version)["result"]

    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "obsidian-mcp"
    assert result["serverInfo"]["version"] == __version__
    assert "tools" in result["capabilities"]
    assert server.call("tools/list")["result"]["tools"]


def test_discovery_needs_no_handshake(vault: Path) -> None:
    with started(vault) as fresh:
        found = fresh.call("server/discover", {"_meta": MODERN})["result"]
        listed = fresh.call("tools/list", {"_meta": MODERN})["result"]
        made = fresh.call("tools/call", {"name": "obsidian_vault_info", "arguments": {}, "_meta": MODERN})["result"]

        assert "2026-07-28" in found["supportedVersions"]
        assert len(listed["tools"]) == sum(not tool.needs_app for tool in TOOLS.values())
        assert made["structuredContent"]["data"]["vault"] == "v"


def test_what_a_model_sees_of_the_tools_is_small(server: RawServer) -> None:
    """TOOL-08: and what hosts demand of names."""
    tools = server.call("tools/list")["result"]["tools"]
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]

    assert len(json.dumps(seen, ensure_ascii=False, separators=(",", ":")).encode()) <= 24 * 1024
    for tool in tools:
        assert len(tool["name"]) < 30
        assert tool["name"].isascii()
        assert tool["title"]
        assert set(tool["annotations"]) == {
            "title",
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        for parameter in tool["inputSchema"]["properties"].values():
            assert isinstance(parameter["type"], str)
            assert not {"anyOf", "oneOf", "allOf", "$ref", "title"} & set(parameter)


def test_a_created_note_is_answered_as_the_contract_shows(server: RawServer) -> None:
    """TOOL-04, TOOL-06"""
    answer = called(server, "obsidian_create_note", name="Meeting Notes", content="# Meeting Notes\n\n- Agenda item 1")
    text = answer["result"]["content"][0]["text"]
    data = json.loads(text)

    assert text.startswith('{"success":true,"data":{"path":"Meeting Notes.md","created":true')
    assert answer["result"]["structuredContent"] == data
    assert not answer["result"].get("isError")


def test_a_read_note_comes_as_text_and_not_twice(server: RawServer, vault: Path) -> None:
    """TOOL-04"""
    (vault / "Raw.md").write_bytes(b"\xef\xbb\xbf# T\r\n\r\nlast line")
    result = called(server, "obsidian_read_note", name="Raw")["result"]

    assert [block["type"] for block in result["content"]] == ["text", "text"]
    assert json.loads(result["content"][0]["text"])["data"]["path"] == "Raw.md"
    assert result["content"][1]["text"].encode() == (vault / "Raw.md").read_bytes()
    assert "structuredContent" not in result


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "word"),
    [
        ("obsidian_read_note", {"name": "Nothing of the kind"}, -32003, "FILE_NOT_FOUND"),
        ("obsidian_read_note", {"name": "Note"}, -32004, "AMBIGUOUS_NAME"),
        ("obsidian_read_note", {"name": "../../etc/passwd"}, -32005, "PERMISSION_DENIED"),
        ("obsidian_read_note", {"name": "Alpha", "vault": "nowhere"}, -32002, "VAULT_NOT_FOUND"),
        ("obsidian_create_note", {"name": "Home"}, -32000, "NOTE_EXISTS"),
        ("obsidian_create_note", {}, -32602, "INVALID_ARGUMENTS"),
        ("obsidian_create_note", {"name": "x", "colour": "red"}, -32602, "INVALID_ARGUMENTS"),
        ("obsidian_create_note", {"name": ["x"]}, -32602, "INVALID_ARGUMENTS"),
        ("obsidian_no_such_tool", {}, -32602, "UNKNOWN_TOOL"),
    ],
)
def test_every_failure_has_its_code_and_word(
    server: RawServer, tool: str, arguments: dict[str, Any], code: int, word: str
) -> None:
    """ERR-01, ERR-02"""
    error = called(server, tool, **arguments)["error"]

    assert (error["code"], error["data"]["errorCode"]) == (code, word)
    assert error["message"][0].isupper() or error["message"][0] in "'\"0123456789"
    assert error["message"].endswith((".", "?"))


def test_a_wrong_argument_is_named_with_what_was_expected_and_what_came(server: RawServer) -> None:
    """TOOL-03"""
    error = called(server, "obsidian_search", query="x", limit="many")["error"]

    assert error["data"]["arguments"] == [
        {"argument": "limit", "expected": "a whole number of at least 0 and at most 500", "came": '"many"'}
    ]
    assert "limit" in error["message"]


def test_numbers_and_booleans_may_be_quoted(server: RawServer) -> None:
    """TOOL-05"""
    answer = called(server, "obsidian_list_files", limit="1", recursive="true")

    assert answer["result"]["structuredContent"]["data"]["total"] >= 1


def test_protocol_faults_have_the_standard_codes(server: RawServer) -> None:
    """ERR-03"""
    assert server.call("no/such/method")["error"]["code"] == -32601
    for line, code in [
        (b"{broken\n", -32700),
        (b'{"id":5,"method":"ping"}\n', -32600),
        (b'{"jsonrpc":"1.0","id":5,"method":"ping"}\n', -32600),
        (b"[]\n", -32600),
        (b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[]}\n', -32602),
    ]:
        server.write(line)
        assert server.read()["error"]["code"] == code
    assert server.call("ping")["result"] == {}


def test_exit_with_work_in_flight_finishes_it(vault: Path) -> None:
    with started(vault) as fresh:
        fresh.initialize()
        fresh.send(tool_call(1, "obsidian_search", {"query": "fox"}), notification("exit"))

        assert fresh.read()["result"]["structuredContent"]["data"]["total"] >= 1
        assert fresh.wait() == 0


def test_the_end_of_input_loses_no_answer(vault: Path) -> None:
    with started(vault) as fresh:
        calls = [tool_call(number, "obsidian_read_note", {"name": "Alpha"}) for number in range(50)]
        fresh.send(
            request("init", "initialize", initialize_params()), notification("notifications/initialized"), *calls
        )
        fresh.close_stdin()

        answers = fresh.read_answers(51)
        assert all("result" in answer for answer in answers.values())
        assert fresh.wait() == 0


def test_a_missing_vault_is_told_in_every_answer_and_not_with_a_traceback(tmp_path: Path) -> None:
    with started(tmp_path / "gone") as fresh:
        fresh.initialize()
        error = called(fresh, "obsidian_vault_info")["error"]

        assert error["code"] == -32002
        assert "does not exist" in error["message"]
        assert fresh.close() == 0
        assert "Traceback" not in fresh.stderr()


def test_without_a_vault_those_of_the_app_are_used(vault: Path, tmp_path: Path) -> None:
    registry = tmp_path / "config" / "obsidian"
    registry.mkdir(parents=True)
    vaults = {"a" * 16: {"path": str(tmp_path), "ts": 9}, "b" * 16: {"path": str(vault), "ts": 1, "open": True}}
    (registry / "obsidian.json").write_text(json.dumps({"vaults": vaults}), encoding="utf-8")
    own = {"OBSIDIAN_MCP_CACHE": str(tmp_path / "cache"), "OBSIDIAN_MCP_STATE": str(tmp_path / "state")}
    folders = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "APPDATA": str(tmp_path / "config")}
    with started(None, **folders, **own) as fresh:
        fresh.initialize()
        info = called(fresh, "obsidian_vault_info")["result"]["structuredContent"]["data"]

        assert info["vault"] == "v"
        assert info["vaults"] == ["v", tmp_path.name]


def test_errors_can_be_results(vault: Path) -> None:
    """ERR-01"""
    with started(vault, OBSIDIAN_MCP_ERRORS="result") as fresh:
        fresh.initialize()
        result = called(fresh, "obsidian_read_note", name="Nothing of the kind")["result"]

        assert result["isError"] is True
        text = result["content"][0]["text"]
        assert "There is no note 'Nothing of the kind'" in text
        assert "FILE_NOT_FOUND" in text
        assert called(fresh, "obsidian_read_note")["error"]["code"] == -32602


def test_a_call_that_takes_too_long_is_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    """TOOL-09"""
    vault = tmp_path / "v"
    vault.mkdir()
    (vault / "slow.md").write_bytes(b"a" * 40 + b"!")
    with started(vault, OBSIDIAN_MCP_TIMEOUT="0.2") as fresh:
        fresh.initialize()
        error = called(fresh, "obsidian_search", query="/(a|aa)+$/")["error"]

        assert (error["code"], error["data"]["errorCode"]) == (-32006, "TIMEOUT")
        assert fresh.call("ping")["result"] == {}


def test_a_note_written_by_another_program_is_found_by_the_next_search(server: RawServer, vault: Path) -> None:
    (vault / "From outside.md").write_text("A zebrafinch appeared.\n", encoding="utf-8", newline="\n")
    for _ in range(100):
        data = called(server, "obsidian_search", query="zebrafinch", show="paths")["result"]["structuredContent"]
        if data["data"]["total"]:
            break
    assert data["data"]["total"] == 1
