"""Other people's programs sign in: clients of the TypeScript SDK, mcp-remote, the suite (specs/remote.md OAUTH)."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from obsidian_mcp.app import App
from tests.foreign.npm import FOREIGN, MODULES, missing
from tests.foreign.test_conformance import NODE, SUITE
from tests.serve.http.oauth.flow import PASSWORD, Browser, Program
from tests.serve.http.oauth.test_sdk_client import CLAUDE_CODE
from tests.serve.serving import free_port, serving_with_sign_in

PATIENCE = 120
"""Seconds; a busy machine is slow."""


@pytest.fixture(scope="module", autouse=True)
def _npm_packages() -> None:
    if reason := missing():
        pytest.skip(reason)


@pytest.fixture(scope="module")
def url(shared_app: App) -> Iterator[str]:
    with serving_with_sign_in(shared_app, PASSWORD) as address:
        yield address


def allow(url: str, address: str, access: str = "write") -> str:
    """What the owner does at the browser; the address to which it is sent back."""
    with httpx.Client(base_url=url, verify=False) as http:
        return str(Browser(http, public=url).allow(address, access=access).headers["location"])


@contextmanager
def running(command: Sequence[str], **environ: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if environ.pop("joined", "") else subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=FOREIGN,
        env={**os.environ, **environ},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("document", ["", CLAUDE_CODE])
@pytest.mark.parametrize("line", ["1", "2"])
def test_the_typescript_sdks_clients_sign_in_and_refresh(url: str, line: str, document: str) -> None:
    """OAUTH-10, OAUTH-21, OAUTH-22, OAUTH-33"""
    command = [str(NODE), "oauth_client.mjs", line, f"{url}/mcp", *filter(None, [document])]
    with running(command) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().strip()
        assert address.startswith(f"{url}/authorize?"), address + process.stderr.read()
        output, errors = process.communicate(f"{allow(url, address)}\n", timeout=PATIENCE)
    assert process.returncode == 0, errors
    seen: dict[str, Any] = json.loads(output)
    assert "obsidian_create_note" in seen["tools"]
    assert seen["scope"] == "vault:read vault:write"
    assert seen["refreshed"] is True
    assert seen["state"] == "a state"
    assert (seen["id"] == document) == bool(document)


def test_mcp_remote_signs_in_and_lists_tools(url: str, tmp_path: Path) -> None:
    """OAUTH-13, OAUTH-21: it registers, and listens at a port of its own"""
    command = [str(NODE), str(MODULES / "mcp-remote" / "dist" / "proxy.js"), f"{url}/mcp", str(free_port())]
    environ = {"MCP_REMOTE_CONFIG_DIR": str(tmp_path), "BROWSER": "none", "PATH": str(tmp_path)}
    with running(command, **environ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        told = ""
        while (asked := re.search(r"http://\S+/authorize\?\S+", told)) is None:
            line = process.stderr.readline()
            assert line, told
            told += line
        back = allow(url, asked[0], "read")
        assert httpx.get(back, verify=False).status_code == 200
        messages = [
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "t", "version": "1"},
                },
            },
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ]
        process.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    names = {tool["name"] for tool in answers[1]["result"]["tools"]}
    assert "obsidian_search" in names
    assert "obsidian_create_note" not in names


def test_the_official_suite_finds_no_fault_with_the_server(url: str) -> None:
    """OAUTH-11, OAUTH-16, OAUTH-30: metadata, and the whole way to the tokens"""
    port = free_port()
    with httpx.Client(base_url=url, verify=False) as http:
        program = Program(http, redirect=f"http://127.0.0.1:{port}/callback", public=url)
        program.register()
    options = ["--url", url, "--client-id", program.client_id, "--resource", f"{url}/mcp", "-p", str(port)]
    with running([str(NODE), str(SUITE), "authorization", *options], joined="1") as process:
        assert process.stdout is not None
        told = ""
        while (asked := re.search(rf"{re.escape(url)}/authorize\?\S+", told)) is None:
            line = process.stdout.readline()
            assert line, told
            told += line
        httpx.get(allow(url, asked[0]), verify=False)
        told += process.stdout.read()
    assert process.wait(PATIENCE) == 0, told
    assert "✓" in told
