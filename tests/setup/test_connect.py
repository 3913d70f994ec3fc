"""How an assistant elsewhere reaches the vault, as `connect` prints it (specs/remote.md CONNECT-…)."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from obsidian_mcp import computer
from obsidian_mcp.app import App
from obsidian_mcp.cli import command_table, grammar, main
from obsidian_mcp.setup import connect
from obsidian_mcp.setup.connect import Situation, list_ways, look_around
from tests.serve import plain_http
from tests.serve.serving import serving, started

PUBLIC = "https://notes.example.com"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CACHE", "STATE", "POLICY"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{name}", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "My notes/Journal").mkdir(parents=True)
    (tmp_path / "My notes/Journal/Day.md").write_text("a heron\n", encoding="utf-8")
    (tmp_path / "My notes/Plan.md").write_text("a heron\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        status = main.run_command_line(arguments)
        return status, *capsys.readouterr()

    return run


def situation(**given: Any) -> Situation:
    return Situation(**{"state": "absent", "port": 3000, "public": PUBLIC, **given})


def text(assistant: str, known: Situation) -> str:
    return "\n".join(step for way in list_ways(assistant, known) for step in way.steps)


def our_commands(steps: str) -> Iterator[list[str]]:
    """Yield the words of each command of ours that steps name."""
    for found in re.findall(r"^ +obsidian-mcp (.*)$", steps, re.MULTILINE):
        yield shlex.split(found)
    for inner in re.findall(r'--mcp-command "obsidian-mcp(.*?)"', steps):
        yield shlex.split(inner)


@pytest.mark.parametrize("assistant", ["claude", "chatgpt", "other"])
@pytest.mark.parametrize(
    "known",
    [
        situation(public=""),
        situation(state="open", port=4000, vault=" --vault '/My notes'", exposers=("tailscale",)),
        situation(state="locked", key_name="phone", key="omk_1"),
        situation(state="sign-in"),
    ],
    ids=lambda known: known.state,
)
def test_every_command_of_ours_that_is_printed_can_be_run(assistant: str, known: Situation) -> None:
    """CONNECT-01"""
    commands = list(our_commands(text(assistant, known)))
    assert commands
    for words in commands:
        reading = grammar.scan(grammar.root(), words, stops=True)
        if reading.rest:
            command, behind = command_table.find_command(reading.rest)
            grammar.values(command, grammar.scan(command, behind))


def test_the_link_to_claudes_form_has_name_and_address_filled_in() -> None:
    """CONNECT-01"""
    (link,) = set(re.findall(r"https://claude\.ai/\S+", text("claude", situation())))
    parts = urlsplit(link)
    assert (parts.netloc, parts.path) == ("claude.ai", "/settings/connectors")
    assert parse_qs(parts.query) == {
        "modal": ["add-custom-connector"],
        "connectorName": ["Obsidian"],
        "connectorUrl": [f"{PUBLIC}/mcp"],
    }


def test_without_a_public_address_the_programs_that_are_here_are_named() -> None:
    """CONNECT-02"""

    def find(program: str) -> str | None:
        return "/usr/bin/tailscale" if program == "tailscale" else None

    known = look_around(port=4000, public="", vault="", key_name="claude", key="", find=find)
    said = text("claude", known)
    assert "tailscale funnel --bg 4000" in said
    assert "cloudflared" not in said
    assert "docs/remote.md" in said
    assert "doctor" not in said


def test_what_runs_here_decides_which_steps_are_left(app: App) -> None:
    """CONNECT-02"""
    assert "obsidian-mcp http\n" in text("claude", situation())
    assert "obsidian-mcp http\n" not in text("claude", situation(state="locked"))
    assert "--oauth" in text("chatgpt", situation(state="locked"))
    assert "--oauth" not in text("chatgpt", situation(state="sign-in"))
    for keys, state in (((), "open"), (("a key of the server",), "locked")):
        with serving(app, keys=keys) as url:
            port = urlsplit(url).port or 0
            assert connect.find_server(port) == state
    assert connect.find_server(port) == "absent"


def reply(status: int, headers: dict[str, str], body: bytes, *_: object) -> tuple[int, dict[str, str], bytes]:
    """Return an answer, whatever is asked."""
    return status, headers, body


def test_another_program_at_the_port_is_not_taken_for_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """CONNECT-02"""
    for status, body in ((200, b"<html>"), (401, b"who are you"), (404, b"")):
        monkeypatch.setattr(computer, "send_request", partial(reply, status, {}, body))
        assert connect.find_server(3000) == "absent"
    named = {"www-authenticate": 'Bearer resource_metadata="x"'}
    monkeypatch.setattr(computer, "send_request", partial(reply, 401, named, b"Invalid or missing MCP API key."))
    assert connect.find_server(3000) == "sign-in"


def test_a_look_changes_nothing_and_add_key_makes_a_key_that_opens(run: Run, home: Path) -> None:
    """CONNECT-03"""
    assert run("connect", "claude", "--public-url", PUBLIC)[0] == 0
    assert not (home / "policy").exists()

    options = ("--public-url", f"{PUBLIC}/", "--add-key", "--folder", "Journal", "--read-only", "--days", "9", "--json")
    status, said, _ = run("connect", "claude", *options)
    facts = json.loads(said)
    (row,) = json.loads(run("keys", "list", "--json")[1])["keys"]
    assert (status, facts["address"], facts["key"]["name"]) == (0, f"{PUBLIC}/mcp", "claude")
    assert (row["name"], row["folder"], row["rights"]) == ("claude", "Journal", "read only")
    header, _, value = facts["key"]["header"].partition(": ")
    environ = {f"OBSIDIAN_MCP_{name}": str(home / name.lower()) for name in ("POLICY", "STATE", "CACHE")}
    with started(home / "My notes", **environ) as (_, (url,)):
        message = {"id": "1", "method": "call_tool", "name": "obsidian_search", "args": {"query": "heron"}}
        answer = plain_http.post(f"{url}/v1/mcp", json=message, headers={header: value}).text
    assert "Day" in answer
    assert "Plan" not in answer

    assert "There is an API key 'claude' already" in run("connect", "claude", "--add-key")[2]
    assert run("connect", "claude", "--add-key", "--name", "phone")[0] == 0


def test_an_assistant_that_is_not_known_is_refused_with_those_that_are(run: Run) -> None:
    """CONNECT-01"""
    status, _, said = run("connect", "gemini")
    assert status == 2
    assert "claude, chatgpt, other" in said
