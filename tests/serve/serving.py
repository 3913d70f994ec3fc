"""The HTTP server on a real port, in a thread of the test or as the user starts it."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.contracts.rad.tools import Bridge
from obsidian_mcp.serve.http import listener
from tests import forked
from tests.system import SYSTEM_ENVIRONMENT


@contextmanager
def serving(app: App, registered: Bridge | None = None, drain: float = 5, port: int = 0, **http: Any) -> Iterator[str]:
    """The URL of a server in a thread, which waits at its end `drain` seconds for what is in flight; other keyword
    arguments are fields of HttpConfig."""
    changed = app.replace(config=app.config.replace(http=app.config.http.replace(**http)))
    with listening_to(compose.http_application(changed, registered), drain, port) as url:
        yield url


@contextmanager
def listening_to(served: Starlette, drain: float = 5, port: int = 0) -> Iterator[str]:
    """The URL of an application that a thread serves."""
    (listening,) = sockets = listener.listen("127.0.0.1", [port])
    server = listener.Listener(served, drain=drain, on_stop=served.state.services.stop)
    server.config.timeout_keep_alive = 6  # clients in Node.js reuse a connection for 4 s
    thread = threading.Thread(target=server.run, args=(sockets,))
    thread.start()
    try:
        yield listener.address(listening)
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def free_port() -> int:
    """A port of this computer that nobody listens on, for a program that must be told one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving_with_sign_in(app: App, password: str, **http: Any) -> Iterator[str]:
    """The URL of a server that programs sign in to, which is its public one; it fetches nothing from elsewhere."""
    port = free_port()
    public = f"http://127.0.0.1:{port}"
    sign_in: dict[str, Any] = {
        "oauth": True,
        "public_url": public,
        "oauth_password": password,
        "fetches_documents": False,
    }
    with serving(app, port=port, **sign_in, **http) as url:
        assert url == public
        yield url


@contextmanager
def started(vault: Path, *options: str, **environ: str) -> Iterator[tuple[subprocess.Popen[bytes], list[str]]]:
    """The process of `obsidian-mcp http`, and the URLs it says it listens on."""
    command = [sys.executable, "-m", "obsidian_mcp", "http", "--vault", str(vault), *(options or ("--port", "0"))]
    beside = vault.parent
    private = {
        **SYSTEM_ENVIRONMENT,
        "HOME": str(beside),
        "PATH": "",
        "OBSIDIAN_MCP_CACHE": str(beside / "cache"),
        "OBSIDIAN_MCP_STATE": str(beside / "state"),
    }
    process = forked.start(command, stderr=subprocess.PIPE, env={**private, **environ})
    assert process.stderr is not None
    try:
        urls = []
        for _ in range(max(command.count("--port"), 1)):
            line = process.stderr.readline().decode()
            assert "listening on http://" in line, line + process.stderr.read().decode()
            urls.append(line.rpartition(" ")[2].strip())
        yield process, urls
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        process.stderr.close()
