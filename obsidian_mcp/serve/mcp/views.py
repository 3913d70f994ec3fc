"""The extension MCP Apps: pages as resources, and the tools that open them (specs/views.md)."""

from __future__ import annotations

import re
from typing import Final

import mcp_types as types
from mcp.server.apps import APP_MIME_TYPE, client_supports_apps

from obsidian_mcp.app import App
from obsidian_mcp.serve import views
from obsidian_mcp.tools.registry import view_tools

from .request_thread import Context, client_of

SILENT_CLIENT: Final = "claude-ai"
"""Shows views but does not say so."""
_ADDRESS: Final = re.compile(rf"ui://obsidian-mcp/({'|'.join(views.NAMES)})-[^/]*\.html")
_META: Final = {"ui": {"prefersBorder": True}}


def shows_views(app: App, context: Context) -> bool:
    """Whether the client is offered views (VIEW-03)."""
    if not view_tools(app):
        return False
    return app.config.views == "on" or client_of(context).name == SILENT_CLIENT or client_supports_apps(context)


def entries() -> list[types.Resource]:
    """Return the pages as entries of the list of resources."""
    return [
        types.Resource(uri=views.address(name), name=f"{name}-view", mime_type=APP_MIME_TYPE, _meta=_META)
        for name in views.NAMES
    ]


def read(address: str) -> types.TextResourceContents | None:
    """Return the current page for the URI of any version of it (VIEW-04); None for other URIs."""
    named = _ADDRESS.fullmatch(address)
    if named is None:
        return None
    return types.TextResourceContents(uri=address, mime_type=APP_MIME_TYPE, text=views.page(named[1]), _meta=_META)
