"""Commands that serve a plugin's tools on stdio, or the vaults over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from obsidian_mcp import compose
from obsidian_mcp.errors import InvalidArguments

from .options import Options


def bridge(options: Options, *, host: str = "", port: int = 0) -> int:
    """Offer a plugin's tools to one MCP client on stdio, and the vault's where --vault names
    one."""
    settings = options.config()
    plugin = settings.plugin
    plugin = plugin.replace(host=host or plugin.host, port=port or plugin.port)
    return compose.serve_plugin(settings.replace(plugin=plugin))


def http(
    options: Options,
    *,
    host: str = "127.0.0.1",
    port: Sequence[int] = (3000,),
    allow_origin: Sequence[str] = (),
    open_bridge: bool = False,
    vault: Sequence[str] = (),
) -> int:
    """Serve the vault over HTTP: MCP, and the dialects of specs/http.md. Raises:
    InvalidArguments."""
    settings = options.with_vaults(tuple(vault)).config()
    origins = (*settings.http.allow_origins, *allow_origin)
    settings = settings.replace(
        http=settings.http.replace(allow_origins=origins, open_bridge=open_bridge)
    )
    if settings.key:
        raise InvalidArguments(
            "Over HTTP every request has the limits of the key that it carries; leave --key out."
        )
    return compose.serve_http(
        compose.build(settings, serving=True),
        host=host,
        ports=port,
        announce=lambda url: print(
            f"obsidian-mcp: listening on {url}", file=sys.stderr, flush=True
        ),
    )
