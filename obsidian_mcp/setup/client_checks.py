"""The checks of `doctor` on the clients of this computer: what each is told of this program, and
whether that works."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from obsidian_mcp.config import expand_home
from obsidian_mcp.errors import ClientConfigRefused

from . import install, probe
from .clients import CLIENTS
from .finding import Finding
from .system import System, problem_of

SLOW_START = 8.0
"""Seconds from start to answer above which some hosts give up (Codex waits 10)."""


def check_clients(system: System) -> Iterator[Finding]:
    """Yield a finding for each client entry that starts this program, and one for clients without.

    A client's file that cannot be read is a problem of its own.
    """
    tried: dict[tuple[str, ...], str | probe.ProbeAnswer] = {}
    configured, not_set_up = [], []
    for client in CLIENTS.values():
        try:
            servers = install.list_configured(client, system)
        except ClientConfigRefused as error:
            yield Finding(client.title, "problem", error.message)
            continue
        configured += servers
        if not servers and client.is_present(system):
            not_set_up.append(client)
    for server in configured:
        yield check_entry(server, system, tried)
    if not_set_up or not configured:
        listed = ", ".join(f"{client.title} ({client.id})" for client in not_set_up)
        message = f"not set up: {listed}." if listed else "No client was found on this computer."
        yield Finding("Clients", "note", message, "obsidian-mcp install CLIENT sets one up.")


def check_entry(
    server: install.Configured,
    system: System,
    tried: dict[tuple[str, ...], str | probe.ProbeAnswer],
) -> Finding:
    """Return whether one client entry names usable vaults, starts and answers.

    `tried` holds the answers by command and environment, and is added to: several clients often
    share one command, and each start takes seconds.
    """
    subject = f"{server.client.title} ({server.name})"
    named = "" if server.name == "obsidian" else f" --name {server.name}"
    again = f"Run: obsidian-mcp install {server.client.id}{named}"
    command = server.command
    for folder in vaults_named(command):
        if problem := problem_of(folder):
            return Finding(
                subject, "problem", f"{server.path} names the vault {folder}, but {problem}.", again
            )
    if server.client.windowed and not Path(command[0]).is_absolute():
        reason = "programs started from the desktop do not have your terminal's PATH."
        message = f"{server.path} names {command[0]!r} without its folder, and {reason}"
        return Finding(subject, "problem", message, again)
    key = (*command, *(f"{name}={value}" for name, value in sorted(server.environment.items())))
    if key not in tried:
        tried[key] = server.start(system)
    answer = tried[key]
    if isinstance(answer, str):
        return Finding(subject, "problem", f"{' '.join(command)}: it {answer}.", again)
    summary = (
        f"starts and answers after {answer.seconds:.1f} s with {answer.tools} tools ({server.path})"
    )
    if answer.seconds > SLOW_START:
        remedy = "Install the program instead of running it by uvx."
        return Finding(subject, "note", f"{summary}; that is slow.", remedy)
    return Finding(subject, "fine", summary)


def readable_entries(system: System) -> Iterator[install.Configured]:
    """Yield the entries of all clients that start this program, but those in a file that cannot be
    read."""
    for client in CLIENTS.values():
        with contextlib.suppress(ClientConfigRefused):  # `check_clients` reports it
            yield from install.list_configured(client, system)


def vaults_of_clients(system: System) -> Iterator[Path]:
    """Yield the vaults that the entries of clients name."""
    for server in readable_entries(system):
        yield from vaults_named(server.command)


def vaults_named(command: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that a command line gives to --vault."""
    for index, argument in enumerate(command):
        if argument == "--vault" and index + 1 < len(command):
            yield expand_home(command[index + 1])
        elif argument.startswith("--vault="):
            yield expand_home(argument.removeprefix("--vault="))
