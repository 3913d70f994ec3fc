"""Commands that serve: MCP on stdio, a plugin's tools, and HTTP."""

from __future__ import annotations

import sys

import click

from obsidian_mcp.errors import InvalidArguments

from .examples import epilog
from .options import Options, vault_option


@click.command(epilog=epilog("serve"))
@click.pass_obj
def serve(options: Options) -> int:
    """Serve the vault to one MCP client on stdio (the default)."""
    return serve_vaults(options)


def serve_vaults(options: Options) -> int:
    """Serve the vaults on stdio, or a plugin's tools where the environment names one; returns the exit status."""
    import gc

    gc.disable()  # the imports make no garbage worth looking for; `stdio.run` freezes and enables
    from obsidian_mcp import compose
    from obsidian_mcp.serve.stdio import call_handler, handshake
    from obsidian_mcp.serve.stdio import server as stdio

    settings = options.config()
    if settings.bridge:
        return compose.serve_plugin(settings)
    app = compose.build(settings, serving=True)

    def load() -> stdio.SdkServer:
        from obsidian_mcp.serve.mcp import server as mcp

        server = mcp.build_server(app)
        return stdio.SdkServer(server, server.create_initialization_options(), server.subscriptions.close)

    app.vaults.warm()
    first, answered = handshake.finish()
    try:
        return stdio.run(load, call_handler.CallHandler(app), first=first, answered=answered)
    finally:
        app.vaults.close()


@click.command(epilog=epilog("bridge"))
@click.option("--host", help="Where the plugin listens.  [default: OBSIDIAN_MCP_HOST, else 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Its port.  [default: OBSIDIAN_MCP_PORT, else 3000]")
@click.pass_obj
def bridge(options: Options, host: str | None, port: int | None) -> int:
    """Offer a plugin's tools to one MCP client on stdio, and the vault's where --vault names one."""
    from obsidian_mcp import compose

    settings = options.config()
    plugin = settings.plugin
    plugin = plugin._replace(host=host or plugin.host, port=port or plugin.port)
    return compose.serve_plugin(settings._replace(plugin=plugin))


@click.command(epilog=epilog("http"))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a key.")
@click.option(
    "--port",
    "ports",
    type=click.IntRange(0, 65535),
    multiple=True,
    default=[3000],
    show_default=True,
    help="Port; repeat for several.",
)
@click.option("--allow-origin", "origins", multiple=True, metavar="URL", help="Web page that may call without a key.")
@click.option("--open-bridge", is_flag=True, help="Ask programs of this machine for no key at /bridge/v1.")
@vault_option
@click.pass_obj
def http(
    options: Options,
    host: str,
    ports: tuple[int, ...],
    origins: tuple[str, ...],
    open_bridge: bool,
    vault: tuple[str, ...],
) -> int:
    """Serve the vault over HTTP: MCP, and the dialects of specs/http.md. Keys: OBSIDIAN_MCP_API_KEY."""
    from obsidian_mcp import compose

    settings = options.with_vaults(vault).config()
    origins = (*settings.http.allow_origins, *origins)
    settings = settings._replace(http=settings.http._replace(allow_origins=origins, open_bridge=open_bridge))
    if settings.key:
        raise InvalidArguments("Over HTTP every request has the limits of the key that it carries; leave --key out.")
    return compose.serve_http(
        compose.build(settings, serving=True),
        host=host,
        ports=ports,
        announce=lambda url: print(f"obsidian-mcp: listening on {url}", file=sys.stderr, flush=True),
    )
