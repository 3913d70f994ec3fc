"""Commands that serve: MCP on stdio, whose first answers wait for no import, a plugin's tools, and HTTP."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from obsidian_mcp.errors import InvalidArguments

from .options import Options

if TYPE_CHECKING:
    from obsidian_mcp.serve.stdio.sdk import SdkServer


def serve_vaults(options: Options, start_log: Callable[[], None] = lambda: None) -> int:
    """Serve the vaults on stdio, or a plugin's tools; return the exit status. `start_log` is called when the first
    messages can be answered. Raises: InvalidArguments, PolicyInvalid."""
    import gc

    gc.disable()  # the imports make no garbage worth looking for; `stdio.run` freezes and enables
    from obsidian_mcp import compose
    from obsidian_mcp.serve.dispatch import VaultDispatcher
    from obsidian_mcp.serve.stdio import server as stdio
    from obsidian_mcp.tools import entries

    settings = options.config()
    if settings.bridge:
        return compose.serve_plugin(settings, start_log)
    app = compose.build(settings, serving=True)
    entries.profile(app.config.tools)  # one without tools is refused before the first message is read

    def load() -> SdkServer:
        from obsidian_mcp.serve.mcp import server

        return server.build_sdk_server(app)

    return stdio.run(load, VaultDispatcher(app), app=app, prepare=lambda _: start_log())


def bridge(options: Options, *, host: str = "", port: int = 0) -> int:
    """Offer a plugin's tools to one MCP client on stdio, and the vault's where --vault names one."""
    from obsidian_mcp import compose

    settings = options.config()
    plugin = settings.plugin
    plugin = plugin._replace(host=host or plugin.host, port=port or plugin.port)
    return compose.serve_plugin(settings._replace(plugin=plugin))


def http(
    options: Options,
    *,
    host: str = "127.0.0.1",
    port: Sequence[int] = (3000,),
    allow_origin: Sequence[str] = (),
    open_bridge: bool = False,
    vault: Sequence[str] = (),
) -> int:
    """Serve the vault over HTTP: MCP, and the dialects of specs/http.md. Raises: InvalidArguments."""
    from obsidian_mcp import compose

    settings = options.with_vaults(tuple(vault)).config()
    origins = (*settings.http.allow_origins, *allow_origin)
    settings = settings._replace(http=settings.http._replace(allow_origins=origins, open_bridge=open_bridge))
    if settings.key:
        raise InvalidArguments("Over HTTP every request has the limits of the key that it carries; leave --key out.")
    return compose.serve_http(
        compose.build(settings, serving=True),
        host=host,
        ports=port,
        announce=lambda url: print(f"obsidian-mcp: listening on {url}", file=sys.stderr, flush=True),
    )
