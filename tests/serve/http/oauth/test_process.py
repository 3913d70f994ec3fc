"""`obsidian-mcp http --oauth` as a person starts it (specs/remote.md OAUTH-20, OAUTH-38, OAUTH-50, OAUTH-51)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from obsidian_mcp.cli.main import run_command_line
from tests.serve.http.oauth.flow import Browser, Program, answer_of, call, printed_code
from tests.serve.serving import free_port, started


def test_without_a_sign_in_nothing_of_it_is_loaded(basic: Path) -> None:
    """OAUTH-38: no start is slower"""
    code = (
        "import sys; from obsidian_mcp import compose, config; "
        "app = compose.build(config.Config(sys.argv[1:], environ={'HOME': '.'})); compose.http_application(app); "
        "print(sorted(name for name in sys.modules if 'oauth' in name or name.endswith('client_documents')))"
    )
    command = [sys.executable, "-c", code, str(basic)]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=True, cwd=basic.parent, timeout=60
    )
    assert done.stdout.strip() == "[]"


def next_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    return process.stderr.readline().decode()


def test_two_commands_suffice_on_the_computer_of_the_owner(basic: Path) -> None:
    """OAUTH-20, OAUTH-50, OAUTH-51"""
    port = free_port()
    public = f"http://127.0.0.1:{port}"
    with started(basic, "--oauth", "--port", str(port), "--public-url", public.upper()) as (process, urls):
        assert urls == [public]
        told = next_line(process)
        assert f"apps sign in at {public}/mcp" in told
        assert "http password" in told
        with httpx.Client(base_url=public, verify=False) as http:
            assert http.post("/mcp", json={}).status_code == 401
            program = Program(http, redirect="http://localhost:4711/cb", public=public)
            program.register()
            assert "Registered: Example App from 127.0.0.1" in next_line(process)
            browser = Browser(http, public=public)
            page = browser.open(program.request())
            code = printed_code(next_line(process))
            consent = browser.send(page, {"secret": code, "answer": "continue"})
            tokens = program.redeem(answer_of(browser.send(consent, {"answer": "allow"}))["code"]).json()
            assert call(http, tokens["access_token"]).status_code == 200


def test_without_a_public_address_the_server_says_who_cannot_come(
    basic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """OAUTH-51"""
    monkeypatch.setattr("obsidian_mcp.compose.serve_http", lambda app, **_: print(app.config.http.public_url))
    assert run_command_line(["http", "--vault", str(basic), "--oauth", "--port", "4000"]) == 0
    told = capsys.readouterr()
    assert told.out.strip() == "http://127.0.0.1:4000"
    assert "claude.ai" in told.err

    assert run_command_line(["http", "--vault", str(basic), "--oauth", "--port", "0"]) != 0
    assert "--public-url" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["https://notes.example.com/obsidian", "http://notes.example.com", "notes"])
def test_an_address_that_cannot_be_one_is_refused_at_the_start(
    basic: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """OAUTH-51, REMOTE-01"""
    assert run_command_line(["http", "--vault", str(basic), "--oauth", "--public-url", address]) != 0
    assert "--public-url" in capsys.readouterr().err
