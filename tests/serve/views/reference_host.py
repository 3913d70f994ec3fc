"""A host for views: a page in Chromium that speaks MCP Apps with a view, and MCP over HTTP with our server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, FrameLocator, Page, Playwright

from tests.serve.mcp_session import MIME, McpSession

HOST_PAGE = Path(__file__).with_name("host.html").read_text(encoding="utf-8")
REQUIRED = "REQUIRE_CHROMIUM"
"""Set to 1 where a missing Chromium is a failure; `.ci/run` sets it."""
CAPABILITIES: dict[str, Any] = {"serverTools": {}, "openLinks": {}, "updateModelContext": {"text": {}}}
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launched(playwright: Playwright) -> Browser:
    """The system's Chromium without a window. Skips the test where there is none and none is required."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED}=1, and no Chromium is installed (Debian: apt-get install chromium)")
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium), and views are shown in one")
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=found, headless=True, args=[*FLAGS, *as_root])


class ReferenceHost:
    """One page of the host. `calls` are the calls that views made, `violations` what no view may ever do."""

    def __init__(self, page: Page, session: McpSession) -> None:
        self.page = page
        self.session = session
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.violations: list[str] = []
        page.expose_function("callTool", self._call)
        page.on("dialog", self._refuse)
        page.on("request", self._watch)
        page.on("console", lambda message: self._complain(message.type, message.text))
        page.on("pageerror", lambda error: self.violations.append(f"error {error}"))
        page.on("popup", lambda opened: self.violations.append(f"popup {opened.url}"))
        page.set_content(HOST_PAGE)
        self._tools = {tool["name"]: tool for tool in session.request("tools/list")["tools"]}

    def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        """What a host does with a view's call: only tools that are for views (specification, visibility)."""
        self.calls.append((name, arguments))
        meta = self._tools[name].get("_meta", {}).get("ui", {})
        assert "app" in meta.get("visibility", ["model", "app"]), f"{name} is not for views"
        return self.session.call(name, **arguments)

    def _refuse(self, dialog: Dialog) -> None:
        self.violations.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _watch(self, request: Any) -> None:
        if not request.url.startswith(("about:", "data:", "blob:")):
            self.violations.append(f"request {request.url}")

    def _complain(self, kind: str, text: str) -> None:
        if kind == "error":
            self.violations.append(f"console {text}")

    def show(self, tool: str, arguments: dict[str, Any], **options: Any) -> FrameLocator:
        """Call a tool and show its answer in the view that the list of tools names for it.

        Options: `theme`, `context`, `capabilities`; `result` (the answer that is passed on; None: none is),
        `send_input`.
        """
        answer = self.session.call(tool, **arguments)
        return self.open(tool, arguments, **{"result": answer, **options})

    def open(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        result: Any,
        theme: str = "light",
        context: dict[str, Any] | None = None,
        capabilities: dict[str, Any] = CAPABILITIES,
        send_input: bool = True,
    ) -> FrameLocator:
        uri = self._tools[tool]["_meta"]["ui"]["resourceUri"]
        (content,) = self.session.request("resources/read", {"uri": uri})["contents"]
        assert content["mimeType"] == MIME
        settings = {
            "html": content["text"],
            "capabilities": capabilities,
            "context": {
                "theme": theme,
                "locale": "en-GB",
                "timeZone": "UTC",
                "displayMode": "inline",
                "availableDisplayModes": ["inline", "fullscreen"],
                **(context or {}),
            },
            "input": arguments if send_input else None,
            "result": result,
        }
        self.page.evaluate("options => open_view(options)", settings)
        return self.page.frame_locator("#frame")

    def log(self, method: str) -> list[Any]:
        """The params of every message of this method that the view sent."""
        messages = self.page.evaluate("log")
        return [message.get("params") for message in messages if message.get("method") == method]


@contextmanager
def hosting(browser: Browser, url: str, **viewport: int) -> Iterator[ReferenceHost]:
    """A host in a fresh page. At its end: nothing forbidden has happened."""
    session = McpSession(url)
    size = {"width": 1000, "height": 700, **viewport}
    context = browser.new_context(viewport={"width": size["width"], "height": size["height"]})
    try:
        host = ReferenceHost(context.new_page(), session)
        yield host
        assert host.violations == []
    finally:
        context.close()
        session.close()
