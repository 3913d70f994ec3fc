"""Commands for setting up: install, uninstall, doctor, vaults, completion (specs/install.md). What
they do is in `setup`, which is imported when they run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from obsidian_mcp import TYPE_CHECKING, config
from obsidian_mcp.core.calendar.timestamp import timestamp
from obsidian_mcp.errors import AppError, InvalidArguments, VaultNotFound
from obsidian_mcp.setup.clients import CLIENTS, is_claude_running
from obsidian_mcp.setup.system import System, known_vaults, problem_of

from .cells import RESET, align
from .options import Options
from .stdout import ask, write, write_answer, write_json

if TYPE_CHECKING:
    from obsidian_mcp.setup.finding import Finding
    from obsidian_mcp.setup.install import ConfigChange

_OBSIDIAN_COMMAND = "obsidian-command"
_OTHER = "other"
"""In place of a client that `install` does not know."""
_NOT_HERE = "was not found on this computer; the entry waits for it."
_COLOURS = {"fine": "\x1b[32m", "note": "\x1b[33m", "problem": "\x1b[31m"}


def install(
    options: Options,
    *,
    client: str = "",
    vault: Sequence[str] = (),
    read_only: bool = False,
    name: str = "obsidian",
    replace: bool = False,
    list: bool = False,  # noqa: A002  the name of the option
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Set up a client to use this server; return the exit status. Raises: InvalidArguments."""
    from obsidian_mcp.setup import install as installer
    from obsidian_mcp.setup import launcher

    system = System.from_this_computer()
    if list:
        return _list_clients(system, as_json=json)
    _check_client(
        client,
        "other for any other one. install --list shows which are here.",
        (_OTHER, _OBSIDIAN_COMMAND),
    )
    running = launcher.Running.from_environment(system.environ)
    if client == _OBSIDIAN_COMMAND:
        link = launcher.install_command(
            system, running, known_vaults(options.config().app_folders), dry_run=dry_run
        )
        write(f"{'Would link' if dry_run else 'Linked'} {link}\n")
        return 0
    folders = _choose_vaults(options, vault, system)
    options = options.replace(read_only=read_only or options.read_only)
    line = [*launcher.command_line(running), *options.words()]
    for folder in folders:
        line += ["--vault", str(folder)]
    if client == _OTHER:
        write(
            f"{installer.render_block(name, line)}\n",
            "Paste this into the client's configuration. Some clients name the member otherwise.\n",
        )
        return 0
    was_here = CLIENTS[client].is_present(system)
    change = installer.install(
        CLIENTS[client], system, name, line, replace=replace, dry_run=dry_run
    )
    return _report(change, system, was_here=was_here, dry_run=dry_run, as_json=json)


def uninstall(
    options: Options,  # noqa: ARG001  as all commands
    *,
    client: str = "",
    name: str = "obsidian",
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Take this server out of a client's configuration; return the exit status. Raises:
    InvalidArguments."""
    from obsidian_mcp.setup import install as installer
    from obsidian_mcp.setup import launcher

    _check_client(client, "install --list shows which are set up.", (_OBSIDIAN_COMMAND,))
    system = System.from_this_computer()
    if client == _OBSIDIAN_COMMAND:
        link = launcher.uninstall_command(
            system, launcher.Running.from_environment(system.environ), dry_run=dry_run
        )
        write(
            f"{'Would remove' if dry_run else 'Removed'} {link}\n"
            if link
            else "There is no such link.\n"
        )
        return 0
    change = installer.uninstall(CLIENTS[client], system, name, dry_run=dry_run)
    return _report(change, system, was_here=True, dry_run=dry_run, as_json=json)


def _check_client(client: str, advice: str, further_clients: Sequence[str]) -> None:
    """Raises: InvalidArguments for no client, and for one that is neither known nor among
    `further_clients`."""
    if not client:
        raise InvalidArguments(f"Name a client: {', '.join(CLIENTS)}; {advice}")
    if client not in (*CLIENTS, *further_clients):
        raise InvalidArguments(
            f"{client!r} is not one of {', '.join((*CLIENTS, *further_clients))}."
        )


def diagnose(
    options: Options, *, vault: Sequence[str] = (), public_url: str = "", json: bool = False
) -> int:
    """Check everything this program needs, or its HTTP server at a public address from outside;
    return 0 where nothing is broken. Raises: InvalidArguments for what is no public address."""
    from obsidian_mcp.setup.doctor import examine
    from obsidian_mcp.setup.public_checks import examine_public

    settings = options.config_here(tuple(vault))
    if not public_url:
        checks = examine(settings, System.from_this_computer())
        return _report_findings(settings, checks, as_json=json)
    from obsidian_mcp.serve.http.access.public_url import read_public_url

    key = next(iter(settings.http.keys), "")
    checks = examine_public(read_public_url(public_url), key)
    return _report_findings(settings, checks, as_json=json)


def _report_findings(settings: config.Config, checks: Iterable[Finding], *, as_json: bool) -> int:
    """Tell each finding as soon as it is known; return 0 where nothing is broken."""
    from obsidian_mcp.computer import obeys_colours

    colours = _COLOURS if settings.colours and sys.stdout.isatty() and obeys_colours() else {}
    findings = []
    for finding in checks:
        findings.append(finding)
        if not as_json:
            colour = colours.get(finding.status, "")
            status = f"{colour}{finding.status:<8}{RESET if colour else ''}"
            remedy = f"{'':<9}-> {finding.remedy}\n" if finding.remedy else ""
            write(f"{status} {finding.subject}: {finding.message}\n{remedy}")
    broken = sum(finding.status == "problem" for finding in findings)
    if as_json:
        write_json({"healthy": not broken, "findings": [asdict(finding) for finding in findings]})
    else:
        write(
            "\nNothing is broken.\n"
            if not broken
            else f"\nProblems: {broken}. See the lines above.\n"
        )
    return 1 if broken else 0


def list_vaults(options: Options, *, limit: int | None = None, json: bool = False) -> None:
    """List the vaults that the Obsidian app knows: open ones first, then the last used."""
    rows, cells = [], []
    for vault in known_vaults(options.config().app_folders)[:limit]:
        facts = {"name": vault.name, "path": str(vault.path), "open": vault.open}
        last_used = timestamp(vault.opened * 1_000_000) if vault.opened else None
        rows.append(
            facts
            | {
                "last_used": last_used,
                "usable": not vault.problem,
                "problem": vault.problem or None,
            }
        )
        state = f"({vault.problem})" if vault.problem else "(open)" if vault.open else ""
        cells.append([vault.name, str(vault.path), state])
    remark = "" if rows else "The Obsidian app knows no vault here. Name a folder with --vault.\n"
    text = "".join(f"{line}\n" for line in align(cells, [False] * 3))
    write_answer({"vaults": rows}, text, remark, as_json=json)


def _choose_vaults(options: Options, named: Sequence[str], system: System) -> list[Path]:
    """Return the absolute folders of the vaults that are meant. Raises: VaultNotFound,
    InvalidArguments where several are here and none is named."""
    settings = config.Config((*options.vaults, *named), system.environ)
    if settings.vaults:
        folders = [Path(folder).absolute() for folder in settings.vaults]
        for folder in folders:
            if problem := problem_of(folder):
                raise VaultNotFound(
                    f"'{folder}' cannot be the vault: {problem}. Check --vault.", vault=str(folder)
                )
        return folders
    usable = [vault for vault in known_vaults(settings.app_folders) if not vault.problem]
    if not usable:
        raise VaultNotFound(
            "The Obsidian app knows no vault here. Name the folder of yours with --vault DIR."
        )
    if len(usable) == 1:
        return [usable[0].path]
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        listed = "; ".join(f"--vault {_quote(vault.path)}" for vault in usable)
        raise InvalidArguments(f"Obsidian knows {len(usable)} vaults here. Say which: {listed}.")
    for number, vault in enumerate(usable, 1):
        write("", f"{number:>3}  {vault.name}  {vault.path}{'  (open)' if vault.open else ''}\n")
    while True:
        typed = ask(f"Which vault? (1 to {len(usable)}) [1]:") or "1"
        if typed.isdecimal() and 0 < int(typed) <= len(usable):
            return [usable[int(typed) - 1].path]


def _report(
    change: ConfigChange, system: System, *, was_here: bool, dry_run: bool, as_json: bool
) -> int:
    """Tell what was done, and try what was installed as the client will; `was_here`: the client was
    there before."""
    import difflib

    from obsidian_mcp.setup import probe
    from obsidian_mcp.setup.install_remarks import list_remarks

    is_installed = not dry_run and change.action not in ("removed", "absent")
    tried = change.start(system) if is_installed else None
    problem = tried if isinstance(tried, str) else None
    step = "" if dry_run or change.action in ("unchanged", "absent") else _next_step(change, system)
    facts: dict[str, Any] = {
        **_facts_of(change),
        "client_found": was_here,
        "dry_run": dry_run,
        "answers": None if tried is None else problem is None,
        "problem": problem,
        "next": step or None,
        "remarks": list_remarks(change, system),
    }
    lines = [_describe(change, dry_run=dry_run)]
    lines += [] if was_here else [f"  note:   {change.client.title} {_NOT_HERE}"]
    lines += [f"  note:   {remark}" for remark in facts["remarks"]]
    lines += [f"  starts: {' '.join(map(_quote, change.command))}"] if is_installed else []
    lines += [f"  backup: {change.backup}"] if change.backup else []
    if isinstance(tried, probe.ProbeAnswer):
        lines.append(
            f"  tried:  it starts and answers after {tried.seconds:.1f} s, with {tried.tools} tools"
        )
    lines += [f"Next: {step}"] if step else []
    text = "".join(f"{line}\n" for line in lines)
    if dry_run:
        before, after = (
            change.before.splitlines(keepends=True),
            change.after.splitlines(keepends=True),
        )
        difference = difflib.unified_diff(before, after, "before", "after", n=2)
        text += "".join(line if line.endswith("\n") else line + "\n" for line in difference)
    failed = (
        f"obsidian-mcp: The entry was written, but the server {problem}. Run obsidian-mcp doctor.\n"
    )
    write_answer(facts, text, failed if problem else "", as_json=as_json)
    return 1 if problem else 0


def _facts_of(change: ConfigChange) -> dict[str, object]:
    """Return what the JSON of an answer says of a change of a client's file."""
    return {
        "client": change.client.id,
        "name": change.name,
        "file": str(change.path),
        "action": change.action,
        "command": change.command,
        "backup": str(change.backup) if change.backup else None,
    }


def _describe(change: ConfigChange, *, dry_run: bool) -> str:
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


def _next_step(change: ConfigChange, system: System) -> str:
    if change.action == "removed":
        return f"Restart {change.client.title}; until then it keeps the server."
    step = change.client.next_step(system)
    if change.client.id == "claude-desktop" and is_claude_running(system.platform):
        return (
            "Claude Desktop is running, and while it does it may write its old copy of the file "
            f"back. {step} If the server is missing then, quit it, run this command again, and "
            "start it."
        )
    return step


def _list_clients(system: System, *, as_json: bool) -> int:
    from obsidian_mcp.setup import install as installer

    rows: list[dict[str, object]] = []
    text = ""
    for client in CLIENTS.values():
        problem, configured = None, []
        try:
            configured = installer.list_configured(client, system)
        except AppError as error:
            problem = error.message
        file, is_present = str(client.file(system)), client.is_present(system)
        servers = [
            {"name": server.name, "command": server.command, "file": str(server.path)}
            for server in configured
        ]
        rows.append(
            {"client": client.id, "title": client.title, "present": is_present, "file": file}
        )
        rows[-1] |= {"servers": servers, "problem": problem}
        if problem:
            state = "broken file"
        elif configured:
            state = "set up"
        else:
            state = "here" if is_present else "not found"
        text += f"{client.id:<15} {state:<12} {file}\n"
        text += "".join(
            f"{'':<15} {server.name}: {' '.join(map(_quote, server.command))}\n"
            for server in configured
        )
        text += f"{'':<15} {problem}\n" if problem else ""
    write_answer({"clients": rows}, text, as_json=as_json)
    return 0


def _quote(part: object) -> str:
    text = str(part)
    return f'"{text}"' if " " in text else text
