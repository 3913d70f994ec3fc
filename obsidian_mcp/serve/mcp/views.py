"""The extension MCP Apps: pages as resources, and the tools that open them (specs/views.md)."""

from __future__ import annotations

import re
from typing import Final

import mcp_types as types
from mcp.server.apps import APP_MIME_TYPE

from obsidian_mcp.serve import views

_ADDRESS: Final = re.compile(rf"ui://obsidian-mcp/({'|'.join(views.NAMES)})-[^/]*\.html")
_META: Final = {"ui": {"prefersBorder": True}}


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
