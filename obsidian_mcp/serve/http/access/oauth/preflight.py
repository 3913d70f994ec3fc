"""What pages of other origins may send to the documents and endpoints of the sign-in (CORS)."""

from __future__ import annotations

from typing import Final

from obsidian_mcp.serve.http.dialect import CORS

PREFLIGHT: Final = {
    **CORS,
    "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
    "access-control-allow-headers": "Authorization, Content-Type, Accept, MCP-Protocol-Version, *",
    "access-control-max-age": "3600",
}
"""Programs that run in a browser, such as the MCP Inspector, sign in by these requests. `*` does
not cover `Authorization`, which a browser wants by name."""
