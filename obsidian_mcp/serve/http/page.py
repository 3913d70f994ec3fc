"""The page at `/` for people: the vault, the tools and how to connect (specs/http.md HTTP-09)."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from obsidian_mcp import __version__
from obsidian_mcp.serve.http.tool_service import ToolService

from .dialect import Dialect, Refusal, Reply, Request

HEADERS: Final = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
}
_FRAME: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}
pre {{ overflow-x: auto; padding: .75rem; border: 1px solid #8885 }}
dt {{ font-family: ui-monospace, monospace }} dd {{ margin: 0 0 .5rem 1.5rem; opacity: .8 }}
</style>
<h1>{title}</h1>
{body}
</html>
"""
_CONNECT: Final = """<h2>Connect</h2>
<p>MCP clients (Streamable HTTP): <code>{url}/mcp</code></p>
<pre>claude mcp add --transport http obsidian {url}/mcp</pre>
<p>Plain HTTP:</p>
<pre>curl -s -X POST {url}/mcp -H 'Content-Type: application/json' \\
  -d '{{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {{}}}}'</pre>
<p>Where the server has a key, send it as <code>Authorization: Bearer KEY</code> or <code>X-Api-Key: KEY</code>.
All paths beside MCP: <a href="/openapi.json">openapi.json</a>.</p>
"""


class HomePage(Dialect):
    takes_key_from_query = True

    def refuse(self, request: Request, refusal: Refusal) -> Reply:  # noqa: ARG002  the same for every request
        body = f"<p>{escape(refusal.message)}</p>"
        return _page(refusal.reason.error, body, refusal.reason.status, refusal.headers)

    async def answer(self, request: Request, service: ToolService) -> Reply:
        url = escape(f"http://{request.headers.get('host', '127.0.0.1')}")
        vaults = ", ".join(await service.vaults()) or "no vault"
        tools = await service.listed()
        entries = (f"<dt>{escape(tool.name)}</dt><dd>{escape(tool.description)}</dd>" for tool in tools)
        body = (
            f"<p>obsidian-mcp {__version__} serves <b>{escape(vaults)}</b>.</p>\n{_CONNECT.format(url=url)}"
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

    async def answer(self, request: Request, service: ToolService) -> Reply:  # noqa: ARG002  always the same
        return Reply(200, self._token.encode(), {"content-type": "text/plain; charset=utf-8"})


def _page(title: str, body: str, status: int, headers: Mapping[str, str]) -> Reply:
    text = _FRAME.format(title=escape(title), body=body)
    return Reply(status, text.encode("utf-8", "replace"), {**headers, **HEADERS})
