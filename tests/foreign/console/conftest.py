"""One browser, and one server of the console, for all tests of this folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Client, call_with
from obsidian_mcp.serve.http.console.page import opening_address
from obsidian_mcp.setup.console_parts import console_parts
from obsidian_mcp.tools.registry import call
from tests.conftest import FIXTURES, app_on
from tests.foreign.views.reference_host import open_browser
from tests.serve.serving import listening_to

if TYPE_CHECKING:  # the folder is skipped where the package is absent
    from playwright.sync_api import Browser, Page

PATIENCE = 30_000
"""Milliseconds; a busy machine is slow."""
SIZES = {"desk": (1280, 900), "telephone": (390, 800)}
HARMLESS = ("postMessage", "Failed to load resource")
"""Of axe-core in a frame without an origin; of a page with another status than 200."""


@dataclass
class ServedConsole:
    """A console that people can open, and its vault."""

    app: App
    root: Path
    url: str
    make_token: Callable[[], str]

    def address(self) -> str:
        """An address that opens it once."""
        return opening_address(self.url, self.make_token())

    def change(self, tool: str, by: str = "claude-ai", **arguments: object) -> int:
        """Let an assistant change something; the number of the change."""
        with call_with(client=Client(by, by)):
            call(self.app, f"obsidian_{tool}", arguments)
        return self.app.vaults.get("").journal.latest()

    def rewrite(self, name: str, *texts: str) -> int:
        """Let an assistant write one text after the other into a note."""
        for text in texts:
            self.change("create_note", name=name, content=text, overwrite=True)
        return self.app.vaults.get("").journal.latest()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with open_browser(PATIENCE) as running:
        yield running


@contextmanager
def serve_console(root: Path) -> Iterator[ServedConsole]:
    """A console of the vault in a folder, served by a thread."""
    app = app_on(root)
    starlette, sessions = compose.console_alone(app, console_parts())
    with listening_to(starlette) as url:
        yield ServedConsole(app, root, url, sessions.make_token)
    app.vaults.close()


@pytest.fixture(scope="package")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedConsole]:
    root = Path(shutil.copytree(FIXTURES / "basic", tmp_path_factory.mktemp("console") / "basic"))
    with serve_console(root) as served:
        yield served


def foreign(address: str, own: str) -> list[str]:
    """An address that is none of the console's."""
    return [] if address.startswith((own, "data:")) else [address]


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SIZES)
def page(browser: Browser, console: ServedConsole, scheme: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page in which the console was opened. At its end no policy was broken and nothing was fetched elsewhere."""
    width, height = SIZES[request.param]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.extend(foreign(request.url, console.url)))
    page.goto(console.address())
    page.wait_for_url("**/changes")
    yield page
    context.close()
    assert [text for text in complaints if not any(word in text for word in HARMLESS)] == []
