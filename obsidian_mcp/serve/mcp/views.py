"""The extension MCP Apps: pages as resources, and the tools that open them (specs/views.md)."""

from __future__ import annotations

import re
from typing import Any, Final

import mcp_types as types
from mcp.server.apps import APP_MIME_TYPE, client_supports_apps

from obsidian_mcp.app import App
from obsidian_mcp.serve import views
from obsidian_mcp.tools.registry import VIEW_TOOLS, view_tools

from .request_thread import Context, client_of

SILENT_CLIENT: Final = "claude-ai"
"""Shows views but does not say so."""
CALLED_BY_VIEWS: Final = ("obsidian_attachments", "obsidian_undo", "obsidian_update_task")
_ADDRESS: Final = re.compile(rf"ui://obsidian-mcp/({'|'.join(views.NAMES)})-[^/]*\.html")
_META: Final = {"ui": {"prefersBorder": True}}


def shows_views(app: App, context: Context) -> bool:
    """Whether the client is offered views (VIEW-03)."""
    if not view_tools(app):
        return False
    return app.config.views == "on" or client_of(context).name == SILENT_CLIENT or client_supports_apps(context)


def marked(entries: list[types.Tool]) -> list[types.Tool]:
    """Return a list of tools for a client that shows views, with who may call which."""
    return [entry.model_copy(update={"meta": {**(entry.meta or {}), **_meta(entry.name)}}) for entry in entries]


def _meta(name: str) -> dict[str, Any]:
    """Who may call a tool, and the page that shows its answer."""
    tool = VIEW_TOOLS.get(name)
    if tool is None:
        return {"ui": {"visibility": ["model", "app"] if name in CALLED_BY_VIEWS else ["model"]}}
    if not tool.view:
        return {"ui": {"visibility": ["app"]}}
    page = views.address(tool.view)
    # The flat key is what hosts read that were made before the standard was final.
    return {"ui": {"resourceUri": page, "visibility": ["model", "app"]}, "ui/resourceUri": page}


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
