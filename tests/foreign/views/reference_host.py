"""A host for views: a page in Chromium with the official AppBridge, and MCP over HTTP with our server."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import jsonschema
import mcp_types as types
import pytest

from tests.foreign.npm import MODULES, missing
from tests.serve.mcp_session import MIME, McpSession

if TYPE_CHECKING:  # the folder is skipped where the package is absent
    from playwright.sync_api import Browser, BrowserContext, Dialog, Frame, FrameLocator, Playwright

REQUIRED = "REQUIRE_CHROMIUM"
"""Set to 1 where a missing browser or host is a failure; `.ci/run` sets it."""
CAPABILITIES: dict[str, Any] = {"serverTools": {}, "openLinks": {}, "updateModelContext": {"text": {}}, "message": {}}
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A frame in a process of its own loses clicks while it changes its size, and sometimes comes up empty. The other
    # features are those of Playwright's own list, which this one replaces, that tests notice.
    "--disable-features=IsolateSandboxedIframes,RenderDocument,PaintHolding,Translate,OptimizationHints,MediaRouter",
]
METHOD_NOT_FOUND = -32601
WIDTH, HEIGHT = 1000, 700


def launched(playwright: Playwright) -> Browser:
    """The system's Chromium without a window. Skips the test where there is none and none is required."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        unavailable("no Chromium is installed (Debian: apt-get install chromium), and views are shown in one")
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=found, headless=True, args=[*FLAGS, *as_root])


@contextmanager
def open_browser(patience: int) -> Iterator[Browser]:
    """A browser whose expectations wait so many milliseconds."""
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as playwright:
        running = launched(playwright)
        expect.set_options(timeout=patience)
        yield running
        running.close()


def require_packages() -> None:
    """Skips the test where the host and axe-core cannot be installed and are not required."""
    if reason := missing():
        unavailable(reason)


def unavailable(reason: str) -> NoReturn:
    """Skip the test, or fail it where it must run."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{REQUIRED}=1, but {reason}")
    pytest.skip(reason)


def barriers(frame: Frame) -> list[str]:
    """What axe-core finds wrong with a page: the rules that it breaks, and where."""
    require_packages()
    if not frame.evaluate("() => 'axe' in window"):
        frame.evaluate((MODULES / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = frame.evaluate("() => axe.run({ resultTypes: ['violations'] })")["violations"]
    return [f"{rule['id']}: {rule['help']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]


class ReferenceHost:
    """One page of the host. `calls` are the calls that views made, `violations` what no view may ever do."""

    session: McpSession

    def __init__(self, context: BrowserContext) -> None:
        require_packages()
        schema = MODULES / "@modelcontextprotocol" / "ext-apps" / "dist" / "src" / "generated" / "schema.json"
        self._messages = {
            method["const"]: jsonschema.Draft202012Validator(message)
            for message in json.loads(schema.read_text(encoding="utf-8"))["$defs"].values()
            if (method := message.get("properties", {}).get("method"))
        }
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.violations: list[str] = []
        self.page = page = context.new_page()
        page.expose_function("callTool", self._call)
        page.on("dialog", self._refuse)
        page.on("request", self._watch)
        page.on("console", lambda message: self._complain(message.type, message.text))
        page.on("pageerror", lambda error: self.violations.append(f"error {error}"))
        page.on("popup", lambda opened: self.violations.append(f"popup {opened.url}"))
        page.set_content(Path(__file__).with_name("host.html").read_text(encoding="utf-8"))
        page.add_script_tag(path=MODULES / "app-bridge.js")

    @contextmanager
    def on(self, url: str, width: int = WIDTH, height: int = HEIGHT) -> Iterator[ReferenceHost]:
        """This host with our server at a URL. At the end: all messages were valid, nothing forbidden has happened."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.session = McpSession(url)
        self._tools = {tool["name"]: tool for tool in self.session.request("tools/list")["tools"]}
        self.calls.clear()
        self.violations.clear()
        try:
            yield self
            self._check_messages()
            assert self.log("ui/message") == []  # no view writes in the chat
            assert self.violations == []
        finally:
            self.page.evaluate("close_view()")
            self.session.close()

    def _check_messages(self) -> None:
        """Compare what the view sent with the schema of the extension, or of MCP for what comes from there."""
        for message in self.page.evaluate("log"):
            content = {key: value for key, value in message.items() if key not in ("jsonrpc", "id")}
            assert message["jsonrpc"] == "2.0"
            method = content.get("method")
            if method in self._messages:
                self._messages[method].validate(content)
            elif method == "tools/call":
                types.CallToolRequest.model_validate(content)
            else:  # an answer to the host
                assert content == {"result": {}} or content["error"]["code"] == METHOD_NOT_FOUND

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

    @property
    def frame(self) -> Frame:
        """The view's own frame."""
        return self.page.frames[1]

    def log(self, method: str) -> list[Any]:
        """The params of every message of this method that the view has sent; one on its way is not among them."""
        return [message.get("params") for message in self.page.evaluate("log") if message.get("method") == method]

    def sent(self, method: str, count: int = 1) -> list[Any]:
        """The same, once the view has sent so many."""
        self.page.wait_for_function(
            "([method, count]) => log.filter(message => message.method === method).length >= count", arg=[method, count]
        )
        return self.log(method)
