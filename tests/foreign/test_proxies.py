"""The server behind the proxies of docs/remote.md, as the doctor sees it from outside (specs/install.md DOC-07)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from obsidian_mcp.app import App
from obsidian_mcp.setup.public_checks import examine_public
from tests.generated import ROOT
from tests.serve.mcp_session import McpSession
from tests.serve.serving import free_port, serving

KEY = "a-key-of-the-server"
PATIENCE = 60


@contextmanager
def running(command: list[str], url: str, **environ: str) -> Iterator[str]:
    """The address of a proxy, once it answers."""
    process = subprocess.Popen(command, env={**os.environ, **environ}, stderr=subprocess.PIPE)
    try:
        transport = httpx.HTTPTransport(retries=20)  # each waits a little longer
        with httpx.Client(transport=transport, verify=False) as client:
            assert client.get(url, timeout=PATIENCE).status_code
        yield url
    finally:
        process.terminate()
        process.wait(PATIENCE)
        assert process.stderr is not None
        process.stderr.close()


@pytest.fixture
def server(app: App) -> Iterator[str]:
    with serving(app, keys=(KEY,)) as url:
        yield url


@pytest.fixture(params=["caddy", "nginx"])
def public(request: pytest.FixtureRequest, server: str, tmp_path: Path) -> Iterator[str]:
    """The address of the server behind each proxy, without TLS."""
    program = shutil.which(request.param)
    if program is None:
        pytest.skip(f"{request.param} is not installed")
    port, behind = free_port(), server.removeprefix("http://")
    url = f"http://127.0.0.1:{port}"
    if request.param == "caddy":
        text = (ROOT / "packaging/Caddyfile").read_text(encoding="utf-8").replace("127.0.0.1:3000", behind)
        (tmp_path / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text, encoding="utf-8")
        command = [program, "run", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")]
        folders = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        with running(command, url, SITE=url, **folders) as address:
            yield address
        return
    document = (ROOT / "docs/remote.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^server \{.*?^\}$", document, re.MULTILINE | re.DOTALL)
    block = re.sub(r"^ *ssl_.*\n", "", block, flags=re.MULTILINE)
    block = block.replace("listen 443 ssl", f"listen 127.0.0.1:{port}").replace("127.0.0.1:3000", behind)
    temporary = "".join(
        f"{name}_temp_path {tmp_path / name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/log; events {{}}\n"
        f"http {{ access_log off; {temporary}\n{block}\n}}\n",
        encoding="utf-8",
    )
    with running([program, "-c", str(tmp_path / "nginx.conf")], url) as address:
        yield address


def test_every_link_of_the_way_through_a_documented_proxy_is_fine(public: str) -> None:
    """DOC-07"""
    assert [finding for finding in examine_public(public, KEY) if finding.status == "problem"] == []


def test_an_event_passes_a_documented_proxy_at_once(public: str, basic: Path) -> None:
    """HTTP-15"""
    session = McpSession(public, key=KEY)
    session.request("resources/subscribe", {"uri": "obsidian://vault/basic/Home.md"})
    headers = {**session.headers, "accept": "text/event-stream"}
    with httpx.stream("GET", f"{public}/mcp", headers=headers, timeout=PATIENCE) as stream:
        (basic / "Home.md").write_text("changed", encoding="utf-8")
        assert any("resources/updated" in line for line in stream.iter_lines())
    session.end()
