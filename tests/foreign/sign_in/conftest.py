"""A browser, a server with a sign-in, and a program that waits for the answer at a port of this computer."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from obsidian_mcp.app import App
from tests.conftest import FIXTURES, app_on
from tests.foreign.views.reference_host import open_browser
from tests.serve.http.oauth.flow import PASSWORD, Program
from tests.serve.serving import serving_with_sign_in

if TYPE_CHECKING:  # the folder is skipped where the package is absent
    from playwright.sync_api import Browser

PATIENCE = 30_000
"""Milliseconds; a busy machine is slow."""


class Callback:
    """Where a program waits for the browser. It may send it on, as hosts do to their own window."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.onward = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if not self.path.startswith("/callback"):
                    self.send_error(404)
                    return
                outer.answers.append(self.path)
                self.send_response(302 if outer.onward else 200)
                if outer.onward:
                    self.send_header("location", outer.onward)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(b"<title>done</title>Back in the app")

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/callback"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with open_browser(PATIENCE) as running:
        yield running


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    app = app_on(Path(shutil.copytree(FIXTURES / "basic", tmp_path_factory.mktemp("sign-in") / "basic")))
    yield app
    app.vaults.close()


@pytest.fixture(scope="package")
def url(served: App) -> Iterator[str]:
    with serving_with_sign_in(served, PASSWORD) as address:
        yield address


@pytest.fixture
def callback() -> Iterator[Callback]:
    opened = Callback()
    yield opened
    opened.close()


@pytest.fixture
def program(url: str, callback: Callback) -> Iterator[Program]:
    with httpx.Client(base_url=url, verify=False) as http:
        program = Program(http, redirect=callback.address, public=url)
        assert program.register(redirect_uris=["http://127.0.0.1/callback"]).status_code in (201, 429)
        yield program
