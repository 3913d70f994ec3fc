"""The MCP inspector's command line, other people's client, against the server.

It is installed into tests/foreign on demand, which needs npm and a way to its registry.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.foreign.npm import MODULES, missing

PROGRAMS = MODULES / ".bin"
PATIENCE = 60


def test_the_inspector_reads_resources_and_prompts_and_completes_names(basic: Path) -> None:
    """The first thing that shows whether another client understands what we offer: no finding, and what we meant."""
    if reason := missing():
        pytest.skip(reason)
    environ = {
        **os.environ,
        "HOME": str(basic.parent),
        "OBSIDIAN_MCP_CACHE": str(basic.parent / "cache"),
        "OBSIDIAN_MCP_STATE": str(basic.parent / "state"),
    }
    server = [sys.executable, "-m", "obsidian_mcp", "--vault", str(basic)]

    def run(program: str, *arguments: str) -> Any:
        command = [str(PROGRAMS / program), *arguments]
        done = subprocess.run(command, env=environ, capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
        return json.loads(done.stdout or b"null")

    listed = run("mcp-inspector", "--cli", *server, "--method", "tools/list", "--strict", "-q", "--format", "json")
    assert listed["result"]["tools"]

    # A daemon in the sandboxed home holds one connection for the rest: a server for each would cost a second.
    def ask(*arguments: str) -> Any:
        return run("mcpdo", "--format", "json", "--connection", "it", *arguments)

    try:
        ask("connect", "--", *server)
        uris = [resource["uri"] for resource in ask("resources/list")["resources"]]
        assert "obsidian://vault/basic/People/Mori%20Ayumi.md" in uris
        (content,) = ask("resources/read", "obsidian://vault/basic/People/Mori%20Ayumi.md")["contents"]
        assert "時計職人" in content["text"]
        (template,) = ask("resources/templates/list")["resourceTemplates"]
        assert ask("prompts/list")["prompts"][0]["name"] == "summarize_note"
        reply = ask("prompts/get", "summarize_note", "--prompt-args", "note=Alpha")
        assert "Project Alpha" in reply["messages"][0]["content"]["text"]
        for kind, ref, argument, typed, expected in [
            ("ref/prompt", "summarize_note", "note", "clock", "Tower clock"),
            ("ref/prompt", "weekly_review", "tag", "wor", "work"),
            ("ref/resource", template["uriTemplate"], "path", "wheel", "Attachments/wheel.svg"),
        ]:
            what = ("--complete-ref-type", kind, "--complete-ref", ref)
            typing = ("--complete-arg-name", argument, "--complete-arg-value", typed)
            assert ask("prompts/complete", *what, *typing)["values"][0] == expected
    finally:
        run("mcpdo", "--format", "json", "daemon", "stop")
