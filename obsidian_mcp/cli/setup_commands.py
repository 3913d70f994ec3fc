"""Commands for setting up: install, uninstall, doctor, vaults, completion (specs/install.md). Tools are in `cli`.

What they do is in `setup`; here it is asked for and shown. Most of `setup` is imported when a command runs, not before.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from obsidian_mcp import config
from obsidian_mcp.core.files.catalog import timestamp
from obsidian_mcp.errors import AppError, InvalidArguments, VaultNotFound
from obsidian_mcp.setup.clients import CLIENTS, is_claude_running
from obsidian_mcp.setup.known import known_vaults, problem_of
from obsidian_mcp.setup.system import System

from .options import Options, vault_option

if TYPE_CHECKING:
    from obsidian_mcp.setup import probe
    from obsidian_mcp.setup.install import ConfigChange

_OBSIDIAN_COMMAND = "obsidian-command"
_OTHER = "other"
"""In place of a client that `install` does not know."""
_client = click.argument("client", type=click.Choice([*CLIENTS, _OTHER, _OBSIDIAN_COMMAND]), required=False)
_name = click.option("--name", default="obsidian", show_default=True, help="Name of the server in the client.")
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change and change nothing.")
_json = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")


@click.command("install", epilog="Example:  obsidian-mcp install claude-desktop --vault ~/Notes")
@_client
@click.option("--vault", "vaults", multiple=True, metavar="DIR", help="Vault folder; repeat for several.")
@click.option("--read-only", is_flag=True, help="The server refuses every change.")
@_name
@click.option("--replace", is_flag=True, help="Replace another program's entry of that name.")
@click.option("--list", "listing", is_flag=True, help="Show which clients are here and what is set up.")
@_dry_run
@_json
@click.pass_obj
def install(
    options: Options,
    client: str | None,
    vaults: tuple[str, ...],
    read_only: bool,
    name: str,
    replace: bool,
    listing: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Set up CLIENT to use this server: write its configuration file, keep everything else in it.

    Without --vault you choose among the vaults that the Obsidian app knows. For a client that is not listed, `other`
    prints an entry to paste. The client obsidian-command is this program itself, linked as `obsidian` where the app's
    own command is absent.
    """
    from obsidian_mcp.setup import install as installer
    from obsidian_mcp.setup.launcher import Running, command_line

    system = System.here()
    if listing:
        return _list(system, as_json=as_json)
    if client is None:
        raise InvalidArguments(
            f"Name a client: {', '.join(CLIENTS)}; other for any other one. install --list shows which are here."
        )
    if client == _OBSIDIAN_COMMAND:
        return _link(options, system, dry_run=dry_run)
    folders = _chosen_vaults(options, vaults, system)
    options = options._replace(read_only=read_only or options.read_only)
    line = [*command_line(Running.here(system.environ)), *options.words()]
    for folder in folders:
        line += ["--vault", str(folder)]
    if client == _OTHER:
        click.echo(installer.block(name, line))
        click.echo("Paste this into the client's configuration. Some clients name the member otherwise.", err=True)
        return 0
    was_here = CLIENTS[client].is_present(system)
    change = installer.install(CLIENTS[client], system, name, line, replace=replace, dry_run=dry_run)
    return _report(change, system, was_here=was_here, dry_run=dry_run, as_json=as_json)


@click.command("uninstall")
@_client
@_name
@_dry_run
@_json
def uninstall(client: str | None, name: str, dry_run: bool, as_json: bool) -> int:
    """Take this server out of CLIENT's configuration; everything else in the file stays."""
    from obsidian_mcp.setup import install as installer

    if client in (None, _OTHER):
        raise InvalidArguments(f"Name a client: {', '.join(CLIENTS)}. install --list shows which are set up.")
    system = System.here()
    if client == _OBSIDIAN_COMMAND:
        return _unlink(system, dry_run=dry_run)
    change = installer.uninstall(CLIENTS[client], system, name, dry_run=dry_run)
    return _report(change, system, was_here=True, dry_run=dry_run, as_json=as_json)


@click.command("doctor")
@vault_option
@_json
@click.pass_obj
def doctor(options: Options, vault: tuple[str, ...], as_json: bool) -> int:
    """Check everything this program needs, and start what the clients are configured to start.

    Each line says that a part is fine or what to do about it. The exit status is 0 when nothing is broken.
    """
    from obsidian_mcp.setup.doctor import examine

    findings = []
    for finding in examine(options.with_vaults(vault).config(), System.here()):
        findings.append(finding)
        if not as_json:
            colour = {"fine": "green", "note": "yellow", "problem": "red"}[finding.status]
            click.echo(f"{click.style(f'{finding.status:<8}', fg=colour)} {finding.subject}: {finding.message}")
            if finding.remedy:
                click.echo(f"{'':<9}-> {finding.remedy}")
    broken = sum(finding.status == "problem" for finding in findings)
    if as_json:
        _print_json({"healthy": not broken, "findings": [asdict(finding) for finding in findings]})
    else:
        click.echo("\nNothing is broken." if not broken else f"\nProblems: {broken}. See the lines above.")
    return 1 if broken else 0


@click.command("vaults")
@_json
@click.pass_obj
def vaults(options: Options, as_json: bool) -> int:
    """List the vaults that the Obsidian app knows: open ones first, then the last used."""
    known = known_vaults(options.config().app_folders)
    if as_json:
        rows = [
            {
                "name": vault.name,
                "path": str(vault.path),
                "open": vault.open,
                "last_used": timestamp(vault.opened * 1_000_000) if vault.opened else None,
                "usable": not vault.problem,
                "problem": vault.problem or None,
            }
            for vault in known
        ]
        _print_json({"vaults": rows})
        return 0
    if not known:
        click.echo("The Obsidian app knows no vault here. Name a folder with --vault.", err=True)
    width = max((len(vault.name) for vault in known), default=0)
    for vault in known:
        remark = f"  ({vault.problem})" if vault.problem else "  (open)" if vault.open else ""
        click.echo(f"{vault.name:<{width}}  {vault.path}{remark}")
    return 0


@click.command(
    "completion",
    epilog='bash, in ~/.bashrc:  eval "$(obsidian-mcp completion bash)"  |  zsh, in ~/.zshrc after compinit:  '
    'eval "$(obsidian-mcp completion zsh)"  |  fish:  obsidian-mcp completion fish > '
    "~/.config/fish/completions/obsidian-mcp.fish  |  PowerShell, in $PROFILE:  "
    "obsidian-mcp completion powershell | Out-String | Invoke-Expression",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that makes the shell complete commands, options, and names of notes, folders, tags and vaults."""
    source = get_completion_class(shell)
    root = ctx.find_root()
    if source is not None:
        click.echo(source(root.command, {}, "obsidian-mcp", "_OBSIDIAN_MCP_COMPLETE").source())


def _link(options: Options, system: System, *, dry_run: bool) -> int:
    from obsidian_mcp.setup.launcher import Running
    from obsidian_mcp.setup.obsidian_command import install_command

    known = known_vaults(options.config().app_folders)
    link = install_command(system, Running.here(system.environ), known, dry_run=dry_run)
    click.echo(f"{'Would link' if dry_run else 'Linked'} {link}")
    return 0


def _unlink(system: System, *, dry_run: bool) -> int:
    from obsidian_mcp.setup.launcher import Running
    from obsidian_mcp.setup.obsidian_command import uninstall_command

    link = uninstall_command(system, Running.here(system.environ), dry_run=dry_run)
    if link is None:
        click.echo("There is no such link.")
    else:
        click.echo(f"{'Would remove' if dry_run else 'Removed'} {link}")
    return 0


def _chosen_vaults(options: Options, named: Sequence[str], system: System) -> list[Path]:
    """Absolute folders. Raises: VaultNotFound, InvalidArguments when it cannot be told which vault is meant."""
    settings = config.read((*options.vaults, *named), system.environ)
    if settings.vaults:
        folders = [Path(folder).absolute() for folder in settings.vaults]
        for folder in folders:
            if problem := problem_of(folder):
                raise VaultNotFound(f"'{folder}' cannot be the vault: {problem}. Check --vault.", vault=str(folder))
        return folders
    usable = [vault for vault in known_vaults(settings.app_folders) if not vault.problem]
    if not usable:
        raise VaultNotFound("The Obsidian app knows no vault here. Name the folder of yours with --vault DIR.")
    if len(usable) == 1:
        return [usable[0].path]
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        listed = "; ".join(f"--vault {_quoted(vault.path)}" for vault in usable)
        raise InvalidArguments(f"Obsidian knows {len(usable)} vaults here. Say which: {listed}.")
    for number, vault in enumerate(usable, 1):
        click.echo(f"{number:>3}  {vault.name}  {vault.path}{'  (open)' if vault.open else ''}", err=True)
    chosen: int = click.prompt("Which vault?", type=click.IntRange(1, len(usable)), default=1, err=True)
    return [usable[chosen - 1].path]


def _report(change: ConfigChange, system: System, *, was_here: bool, dry_run: bool, as_json: bool) -> int:
    """Tell what was done; what was installed is started once, as the client will start it.

    `was_here`: whether there were signs of the client before.
    """
    from obsidian_mcp.setup import install as installer
    from obsidian_mcp.setup import probe

    changes = change.action not in ("unchanged", "absent")
    starts = "" if dry_run or change.action in ("removed", "absent") else _try(change, system)
    answers = not isinstance(starts, str)
    failed = bool(starts) and not answers
    step = _next_step(change, system) if changes and not dry_run else ""
    if as_json:
        _print_json(
            {
                "client": change.client.id,
                "name": change.name,
                "file": str(change.path),
                "action": change.action,
                "client_found": was_here,
                "dry_run": dry_run,
                "command": installer.command_of(change.entry or {}),
                "backup": str(change.backup) if change.backup else None,
                "answers": None if starts == "" else answers,
                "problem": starts if failed else None,
                "next": step or None,
            }
        )
        return 1 if failed else 0
    click.echo(_told(change, dry_run=dry_run))
    if not was_here:
        click.echo(f"  note:   {change.client.title} was not found on this computer; the entry waits for it.")
    if dry_run:
        click.echo(_difference(change), nl=False)
        return 0
    if change.entry is not None and change.action != "removed":
        click.echo(f"  starts: {' '.join(map(_quoted, installer.command_of(change.entry)))}")
    if change.backup:
        click.echo(f"  backup: {change.backup}")
    if isinstance(starts, probe.ProbeAnswer):
        click.echo(f"  tried:  it starts and answers after {starts.seconds:.1f} s, with {starts.tools} tools")
    elif starts:
        click.echo(f"obsidian-mcp: The entry was written, but the server {starts}. Run obsidian-mcp doctor.", err=True)
    if step:
        click.echo(f"Next: {step}")
    return 1 if failed else 0


def _told(change: ConfigChange, *, dry_run: bool) -> str:
    title, name, path = change.client.title, change.name, change.path
    if change.action == "unchanged":
        return f"{title}: {name!r} is in {path} already, as it should be."
    if change.action == "absent":
        return f"{title}: there is no {name!r} of this program in {path}; nothing to do."
    if dry_run:
        return f"{title}: {name!r} would be {change.action} in {path}."
    if change.deleted:
        return f"{title}: {name!r} was removed, and {path} with it, which held nothing else."
    return f"{title}: {name!r} was {change.action} in {path}."


def _difference(change: ConfigChange) -> str:
    import difflib

    return "".join(
        line if line.endswith("\n") else line + "\n"
        for line in difflib.unified_diff(
            change.before.splitlines(keepends=True), change.after.splitlines(keepends=True), "before", "after", n=2
        )
    )


def _try(change: ConfigChange, system: System) -> probe.ProbeAnswer | str:
    """The answer of what the client will start, or how it failed, as the end of a sentence."""
    from obsidian_mcp.setup import install as installer
    from obsidian_mcp.setup import probe

    server = installer.Configured(change.client, change.path, change.name, change.entry or {})
    try:
        return probe.initialize(server.command, {**system.environ, **server.environment}, system.home)
    except probe.NoAnswer as error:
        return str(error)


def _next_step(change: ConfigChange, system: System) -> str:
    if change.action == "removed":
        return f"Restart {change.client.title}; until then it keeps the server."
    step = change.client.next_step(system)
    if change.client.id == "claude-desktop" and is_claude_running(system.platform):
        return (
            "Claude Desktop is running, and while it does it may write its old copy of the file back. "
            f"{step} If the server is missing then, quit it, run this command again, and start it."
        )
    return step


def _list(system: System, *, as_json: bool) -> int:
    """Every client: whether it is here, and which servers of ours it has."""
    from obsidian_mcp.setup import install as installer

    rows: list[dict[str, Any]] = []
    for client in CLIENTS.values():
        problem, found = None, []
        try:
            found = installer.list_configured(client, system)
        except AppError as error:
            problem = error.message
        rows.append(
            {
                "client": client.id,
                "title": client.title,
                "present": client.is_present(system),
                "file": str(client.file(system)),
                "servers": [
                    {"name": server.name, "command": server.command, "file": str(server.path)} for server in found
                ],
                "problem": problem,
            }
        )
    if as_json:
        _print_json({"clients": rows})
        return 0
    for row in rows:
        state = "set up" if row["servers"] else "here" if row["present"] else "not found"
        state = "broken file" if row["problem"] else state
        click.echo(f"{row['client']:<15} {state:<12} {row['file']}")
        for server in row["servers"]:
            click.echo(f"{'':<15} {server['name']}: {' '.join(map(_quoted, server['command']))}")
        if row["problem"]:
            click.echo(f"{'':<15} {row['problem']}")
    return 0


def _quoted(part: object) -> str:
    text = str(part)
    return f'"{text}"' if " " in text else text


def _print_json(data: object) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))
