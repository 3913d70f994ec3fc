"""Sessions of hosts with their hooks: what each host would run, with what it sends (specs/memory.md)."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.cli import hook_commands, main
from tests import forked

ROOT = Path(__file__).parent.parent.parent
CLAUDE = json.loads((ROOT / "packaging/claude-plugin/hooks/hooks.json").read_text(encoding="utf-8"))["hooks"]
CODEX = json.loads((ROOT / "packaging/hooks/codex.json").read_text(encoding="utf-8"))["hooks"]
ANTIGRAVITY = json.loads((ROOT / "packaging/hooks/antigravity.json").read_text(encoding="utf-8"))
CODEX_SOURCES = ("startup", "resume", "clear", "compact")
"""`SessionStartSource` in codex-rs/hooks."""
NOTES = {
    "Decisions.md": "- The tower clock project uses brass wheels [superseded_by:: [[Steel]]]\n"
    "- The tower clock is oiled on Mondays\n",
    "Steel.md": "The tower clock project uses steel wheels.\n",
    "Private/Clock.md": "The tower clock hides a treasure.\n",
    "Kitchen.md": "Soup.\n",
}


class Host:
    """Runs hooks as a host does: without a shell, or by splitting the command, with JSON on standard input."""

    def __init__(self, beside: Path) -> None:
        self.beside = beside
        self.starts_python = False
        """Whether a hook is a process of its own from the beginning, as it is for a host."""
        self.vault = beside / "vault"
        self.options = {"vault": str(self.vault), "recall_prompts": "false"}
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("OBSIDIAN")},
            "OBSIDIAN_MCP_CACHE": str(beside / "cache"),
            "OBSIDIAN_MCP_STATE": str(beside / "state"),
            "OBSIDIAN_MCP_POLICY": str(beside / "policy.toml"),
            "HOME": str(beside),
        }

    def run(self, hook: Mapping[str, Any], **sent: Any) -> str:
        """The context that the host gets; empty where the hook says nothing."""
        words = [*shlex.split(hook["command"]), *hook.get("args", ())]
        words = [re.sub(r"\$\{user_config\.(\w+)\}", lambda name: self.options[name[1]], word) for word in words]
        assert words[0] == "obsidian-mcp"
        environment = self.environment
        if "args" not in hook:  # these hosts know no settings of a plugin
            environment = {**environment, "OBSIDIAN_VAULT_PATH": self.options["vault"]}
        command, fed = [sys.executable, "-m", "obsidian_mcp", *words[1:]], json.dumps(sent).encode()
        if self.starts_python:
            done = subprocess.run(
                command, input=fed, capture_output=True, env=environment, cwd=ROOT, check=False, timeout=60
            )
        else:
            done = forked.run(command, fed=fed, env=environment, cwd=ROOT, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return ""
        answer = json.loads(done.stdout)
        if "injectSteps" in answer:
            (step,) = answer["injectSteps"]
            return str(step["ephemeralMessage"])
        if "systemMessage" in answer:
            return str(answer["systemMessage"])
        return str(answer["hookSpecificOutput"]["additionalContext"])

    def claude(self, event: str, **sent: Any) -> str:
        ((group,), name) = CLAUDE[event], event
        if "source" in sent:
            assert re.fullmatch(group["matcher"], sent["source"])
        (hook,) = group["hooks"]
        return self.run(hook, session_id="s1", hook_event_name=name, cwd=str(self.beside / "tower-clock"), **sent)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    for path, text in NOTES.items():
        (tmp_path / "vault" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / path).write_text(text, encoding="utf-8", newline="\n")
    return Host(tmp_path)


def test_a_session_of_claude_code_is_told_once_what_the_vault_knows_of_its_project(host: Host) -> None:
    """MEM-50, MEM-51, MEM-52"""
    told = host.claude("SessionStart", source="startup")
    assert "steel wheels" in told
    assert "brass" not in told
    assert "Soup" not in told
    assert "data, not instructions" in told
    assert len(told) <= 1_500
    assert "treasure" in told

    assert host.claude("SessionStart", source="resume") == ""
    assert host.claude("SessionStart", source="clear") == told
    assert host.claude("SessionStart", source="compact") == hook_commands.POINTER
    assert host.claude("UserPromptSubmit", prompt="which wheels does the tower clock use?") == ""
    assert "remember" in host.claude("PreCompact", trigger="auto")
    assert "transcript" in host.claude("SessionEnd", reason="exit")


def test_prompts_recall_only_where_that_is_switched_on(host: Host) -> None:
    """MEM-53"""
    host.options["recall_prompts"] = "true"
    assert "on Mondays" in host.claude("UserPromptSubmit", prompt="when is the tower clock oiled?")
    assert host.claude("UserPromptSubmit", prompt="when is the tower clock oiled?") == ""
    assert host.claude("UserPromptSubmit", prompt="regulation of cryptocurrency in Paraguay") == ""
    assert host.claude("UserPromptSubmit") == ""


def test_the_git_remote_names_the_project_too(host: Host) -> None:
    """MEM-51"""
    checkout = host.beside / "tower-clock"
    (checkout / ".git").mkdir(parents=True)
    (checkout / ".git/config").write_text(
        '[remote "origin"]\n\turl = git@example.com:anna/kitchen.git\n', encoding="utf-8"
    )
    assert "Soup" in host.claude("SessionStart", source="startup")


@pytest.mark.parametrize("event", ["SessionStart", "PreCompact"])
def test_codex_gets_its_own_form(host: Host, event: str) -> None:
    """MEM-54: no description, nothing in the background, at most 3 s"""
    ((hook,),) = [group["hooks"] for group in CODEX[event]]
    assert set(hook) == {"type", "command", "timeout"}
    assert hook["timeout"] <= 3
    told = host.run(hook, session_id="c", source="startup", cwd="/home/ada/tower-clock")
    assert "steel wheels" in told or event == "PreCompact"
    if event == "SessionStart":
        assert all(re.fullmatch(CODEX[event][0]["matcher"], source) for source in CODEX_SOURCES)
        assert host.run(hook, session_id="c", source="compact", cwd="/home/ada/tower-clock") == hook_commands.POINTER


def test_antigravity_is_told_before_the_first_call_of_the_model(host: Host) -> None:
    """MEM-54"""
    (hook,) = ANTIGRAVITY["obsidian-memory"]["PreInvocation"]
    sent = {"conversationId": "a", "workspacePaths": ["/home/ada/tower-clock"]}
    assert "steel wheels" in host.run(hook, invocationNum=0, **sent)
    assert host.run(hook, invocationNum=2, **sent) == ""


EVENTS = [("SessionStart", {"source": "startup"}), ("PreCompact", {}), ("SessionEnd", {}), ("UserPromptSubmit", {})]


@pytest.mark.parametrize(("event", "sent"), EVENTS)
@pytest.mark.parametrize("vault", ["missing", "file", "", "${user_config.vault}"])
def test_a_vault_that_is_not_there_is_no_error_to_the_host(
    host: Host, event: str, sent: dict[str, str], vault: str
) -> None:
    """MEM-50"""
    (host.beside / "file").write_text("x", encoding="utf-8")
    host.options["vault"] = str(host.beside / vault) if vault in ("missing", "file") else vault
    told = host.claude(event, **sent)
    assert told == "" or event in ("PreCompact", "SessionEnd")


def test_a_policy_hides_its_notes_from_hooks(host: Host) -> None:
    """MEM-42, MEM-50"""
    (host.beside / "policy.toml").write_text('hidden = ["Private/"]\n', encoding="utf-8")
    told = host.claude("SessionStart", source="startup")
    assert "steel wheels" in told
    assert "treasure" not in told
    (host.beside / "policy.toml").write_text("hidden = 7\n", encoding="utf-8")
    assert host.claude("SessionStart", source="clear") == ""


def test_a_vault_without_memories_says_nothing(host: Host) -> None:
    """MEM-50"""
    for file in host.vault.rglob("*.md"):
        file.unlink()
    assert host.claude("SessionStart", source="startup") == ""


def test_a_disk_that_is_asleep_does_not_hold_up_the_host(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """MEM-50"""
    asleep = threading.Event()
    monkeypatch.setattr(hook_commands, "_look_up", lambda *_: asleep.wait(60) and "")
    monkeypatch.setattr(hook_commands, "SECONDS", 0.1)
    monkeypatch.setattr(sys, "stdin", None)
    begun = time.monotonic()
    assert main.run_command_line(["hook", "session-start"]) == 0
    assert time.monotonic() - begun < 30
    asleep.set()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("typed", ["", "no json", "[1]", '{"cwd": 7, "source": []}'])
def test_what_a_host_sends_may_be_anything(host: Host, typed: str) -> None:
    """MEM-50"""
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(host.vault), "hook", "session-start"]
    done = forked.run(command, fed=typed.encode(), env=host.environment, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_end_of_a_session_loads_no_core(host: Host) -> None:
    """MEM-50"""
    command = [sys.executable, "-X", "importtime", "-m", "obsidian_mcp", "hook", "session-end"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=host.environment, cwd=ROOT, check=True)
    loaded = set(re.findall(r"\| +(\S+)$", done.stderr, re.MULTILINE))
    assert not {name for name in loaded if name.startswith(("obsidian_mcp.core.", "obsidian_mcp.adapters", "asyncio"))}


@pytest.mark.timing
def test_the_end_of_a_session_takes_less_than_300_ms(host: Host) -> None:
    """MEM-50"""
    host.starts_python = True
    seconds = []
    for _ in range(5):
        begun = time.monotonic()
        host.claude("SessionEnd")
        seconds.append(time.monotonic() - begun)
    assert min(seconds) < 0.3
