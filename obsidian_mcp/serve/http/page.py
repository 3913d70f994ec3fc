"""The page at `/` for people: the vault, the tools and how to connect (specs/http.md HTTP-09)."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from obsidian_mcp import __version__
from obsidian_mcp.serve.http.tool_service import ToolService

from .dialect import Dialect, HttpRequest, Refusal, Reply

HEADERS: Final = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
}


class HomePage(Dialect):
    takes_key_from_query = True

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Reply:  # noqa: ARG002  the same for every request
        body = f"<p>{escape(refusal.message)}</p>"
        return _page(refusal.reason.error, body, refusal.reason.status, refusal.headers)

    async def answer(self, request: HttpRequest, service: ToolService) -> Reply:
        url = escape(f"http://{request.headers.get('host', '127.0.0.1')}")
        vaults = ", ".join(await service.vaults()) or "no vault"
        tools = await service.list_tools()
        entries = (f"<dt>{escape(tool.name)}</dt><dd>{escape(tool.description)}</dd>" for tool in tools)
        body = (
            f"<p>obsidian-mcp {__version__} serves <b>{escape(vaults)}</b>.</p>\n{_fill('connect.html', url=url)}"
            f"<h2>Tools</h2>\n<dl>{''.join(entries)}</dl>"
        )
        return _page("obsidian-mcp", body, 200, {})


class Challenge(Dialect):
    """Shows OpenAI that who submits an app owns the server's address (HTTP-10)."""

    open_paths = (("challenge",),)

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token
        self.allowed = Dialect.allowed if token else ()

    async def answer(self, request: HttpRequest, service: ToolService) -> Reply:  # noqa: ARG002  always the same
        return Reply(200, self._token.encode(), {"content-type": "text/plain; charset=utf-8"})


def _page(title: str, body: str, status: int, headers: Mapping[str, str]) -> Reply:
    text = _fill("page.html", title=escape(title), body=body)
    return Reply(status, text.encode("utf-8", "replace"), {**headers, **HEADERS})


def _fill(file: str, **values: str) -> str:
    """Return the HTML of a file beside this module with the values in the place of their names."""
    return Template(Path(__file__).with_name(file).read_text(encoding="utf-8")).substitute(values)
