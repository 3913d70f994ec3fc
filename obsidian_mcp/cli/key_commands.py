"""Commands about the API keys of the HTTP server (specs/policy.md KEY-…)."""

from __future__ import annotations

import click

from .examples import epilog
from .options import Options, json_option
from .output import readable, write, write_json


@click.group("keys", invoke_without_command=True)
@click.pass_context
def keys(ctx: click.Context) -> None:
    """Make, list and remove keys of the HTTP server, with a name and limits each."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_keys)


@keys.command("list", epilog=epilog("keys list"))
@json_option
@click.pass_obj
def list_keys(options: Options, as_json: bool = False) -> None:
    """List the names of the keys and what they open."""
    from obsidian_mcp import compose
    from obsidian_mcp.setup import api_keys

    rows = [api_keys.describe(key) for key in compose.api_keys(options.config())]
    if as_json:
        write_json({"keys": rows})
    elif rows:
        write(readable({"keys": rows}))
    else:
        click.echo("There are no keys. Make one: obsidian-mcp keys add NAME", err=True)


@keys.command("add", epilog=epilog("keys add"))
@click.argument("name")
@click.option("--vault", "-V", "vaults", multiple=True, metavar="NAME", help="Vault that it opens.  [default: all]")
@click.option("--scope", metavar="FOLDER", help="Folder outside which nothing exists for it.")
@click.option("--read-only", is_flag=True, help="It may change nothing.")
@click.option("--tools", metavar="PROFILE", help="Tools that it may use: core, standard, research, or names.")
@json_option
@click.pass_obj
def add(
    options: Options,
    name: str,
    vaults: tuple[str, ...],
    scope: str | None,
    read_only: bool,
    tools: str | None,
    as_json: bool,
) -> None:
    """Make a key and print it. It is shown this once: the policy file gets only its hash."""
    from obsidian_mcp.setup import api_keys

    file, key = api_keys.add(
        options.config(),
        name,
        vaults=vaults,
        scope=scope or options.scope,
        read_only=read_only or options.read_only,
        tools=tools or options.tools,
    )
    if as_json:
        write_json({"name": name, "key": key, "file": str(file)})
        return
    write(key + "\n")
    click.echo(f"Its hash is in {file}. Restart the server, and send the key as: Authorization: Bearer KEY", err=True)


@keys.command("remove", epilog=epilog("keys remove"))
@click.argument("name")
@json_option
@click.pass_obj
def remove(options: Options, name: str, as_json: bool) -> None:
    """Remove a key; requests with it are refused after the next start of the server."""
    from obsidian_mcp.setup import api_keys

    file = api_keys.remove(options.config(), name)
    if as_json:
        write_json({"removed": name, "file": str(file)})
    else:
        click.echo(f"Removed {name} from {file}. Restart the server.")
