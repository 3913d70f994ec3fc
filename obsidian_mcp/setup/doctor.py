"""Look at everything this program needs and say of each part that it is fine, or what to do
(specs/install.md, DOC).

Each part is tried by itself, so that one which is broken hides none of the others.
"""

from __future__ import annotations

import contextlib
import json
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path

from obsidian_mcp import (
    __version__,
    compose,
    computer,
    install_command,
    policies,
    vault_builder,
)
from obsidian_mcp.config import Config
from obsidian_mcp.errors import AppError, PolicyInvalid

from .admissions import EXPIRED, KEY, list_admissions
from .client_checks import check_clients
from .finding import Finding
from .launcher import NAME_OF_LINK, Running, is_our_link
from .system import System
from .vault_checks import check_vaults, check_watching


def examine(config: Config, system: System) -> Iterator[Finding]:
    """Yield every finding as soon as it is known. Nothing is changed but files of this program's
    own."""
    yield from check_python()
    yield from check_folders(config)
    yield from check_policy(config)
    yield from check_keys(config)
    yield from check_semantic(config)
    yield check_media()
    yield from check_vaults(config, system)
    yield from check_watching(config)
    yield from check_app(system)
    yield check_obsidian_word(system)
    yield from check_plugin(config)
    yield from check_clients(system)


def check_python() -> Iterator[Finding]:
    """Yield the versions of Python and this program, and whether SQLite has full-text search."""
    versions = f"obsidian-mcp {__version__}, mcp {metadata.version('mcp')}"
    yield Finding(
        "Python",
        "fine",
        f"{platform.python_version()} ({sys.executable}), {versions}, "
        f"{platform.platform(terse=True)}",
    )
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
        except sqlite3.OperationalError:
            message = f"{sqlite3.sqlite_version} was built without full-text search (FTS5)."
            remedy = (
                "Use a Python whose sqlite3 has it: python.org, Homebrew, uv and the "
                "distributions' own do."
            )
            yield Finding("SQLite", "problem", message, remedy)
        else:
            yield Finding("SQLite", "fine", f"{sqlite3.sqlite_version} with full-text search")


def check_folders(config: Config) -> Iterator[Finding]:
    """Yield whether the folders of index and journal can be written."""
    for subject, folder, variable in (
        ("Index folder", config.cache, "OBSIDIAN_MCP_CACHE"),
        ("Journal folder", config.state, "OBSIDIAN_MCP_STATE"),
    ):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            remedy = (
                f"Give yourself the right to write there, or name another folder in {variable}."
            )
            yield Finding(
                subject, "problem", f"{folder} cannot be written: {error.strerror}.", remedy
            )
        else:
            yield Finding(subject, "fine", f"{folder} can be written")


def check_policy(config: Config) -> Iterator[Finding]:
    """Yield where the policy is or would be, what is wrong in it, and its tables for vaults that do
    not exist (DOC-06)."""
    try:
        folders = vault_builder.vault_folders(config).items()
        unmatched = policies.policy_file(config).unmatched_vaults(
            (name, str(path)) for name, path in folders
        )
    except PolicyInvalid as error:
        yield Finding(
            "Policy", "problem", error.message, "Correct the file: until then nothing is allowed."
        )
        return
    except AppError:  # no vaults: that is reported with them
        unmatched = []
    for name in unmatched:
        message = (
            f"[vaults.{json.dumps(name, ensure_ascii=False)}] in {config.policy_file} is the "
            "name of no vault here."
        )
        yield Finding("Policy", "problem", message, "Correct the name: its rules protect nothing.")
    rule = "says"
    if not config.policy_file.exists():
        rule = "is not there: nothing in the vaults is hidden or protected. A file there would say"
    yield Finding("Policy", "fine", f"{config.policy_file} {rule} what may be read and changed")


def check_keys(config: Config) -> Iterator[Finding]:
    """Yield the API keys of the HTTP server and the programs that signed in, by name; what is wrong
    in the file is reported with each vault."""
    with contextlib.suppress(AppError):
        for row in list_admissions(config):
            subject = f"API key {row.name}" if row.way == KEY else f"App {row.name}"
            opens = (
                f"vaults {row.vaults}; folder {row.folder}; {row.rights}; tools {row.tools}; "
                f"limits {row.limits}; used {row.used}"
            )
            if row.ends == EXPIRED:
                remedy = f"obsidian-mcp keys remove {row.name}"
                yield Finding(subject, "note", f"{opens}; it has expired", remedy)
            else:
                ends = f"; ends {row.ends}" if row.ends else ""
                yield Finding(subject, "fine", f"{opens}{ends}")


def check_media() -> Finding:
    """Return whether scanned pages and large images can be shown (ATT-13)."""
    subject = "Images and PDFs"
    if missing := computer.missing_media_packages():
        return Finding(
            subject,
            "note",
            "The text of PDFs is read. Scanned pages and large images are not shown: "
            f"{' and '.join(missing)} are not installed.",
            install_command("media"),
        )
    return Finding(subject, "fine", "text of PDFs, scanned pages and large images")


def check_semantic(config: Config) -> Iterator[Finding]:
    """Yield which model finds notes by their meaning, whether it answers, and what leaves this
    machine (SEM-06)."""
    subject = "Search by meaning"
    try:
        choice = vault_builder.embedding_choice(config)
        if choice is None:
            if not computer.missing_packages():
                yield Finding(subject, "fine", "off; `obsidian-mcp semantic setup` sets it up")
            return
        vault_builder.embedder(config, choice).embed(["ready"])
    except AppError as error:
        yield Finding(
            subject, "problem", error.message, "Or turn it off: obsidian-mcp semantic off"
        )
        return
    if choice.url:
        sent = (
            "The text of every note that is not hidden, and every search that is weak, is sent "
            f"to {choice.url}."
        )
        yield Finding(
            subject,
            "note",
            f"{choice.model} answers. {sent}",
            "To end it: obsidian-mcp semantic off",
        )
    else:
        yield Finding(
            subject, "fine", f"{choice.model} answers, on this machine; nothing leaves it"
        )


def check_app(system: System) -> Iterator[Finding]:
    """Yield whether the Obsidian app runs and its official command answers; both are optional."""
    running = computer.is_app_running(system.platform)
    if running:
        yield Finding("Obsidian app", "fine", "is running")
    else:
        yield Finding(
            "Obsidian app", "note", "is not running; only what the app alone can do needs it."
        )
    subject = "Obsidian command"
    try:
        command = computer.find_app_command(
            system.environ, system.platform, system.environ.get("OBSIDIAN_MCP_CLI")
        )
    except AppError as error:
        yield Finding(subject, "problem", error.message)
        return
    if command is None:
        remedy = "In Obsidian 1.12 or later: Settings > General > Command line interface."
        yield Finding(
            subject, "note", "was not found; only tools that work through the app need it.", remedy
        )
    elif not running:
        yield Finding(subject, "fine", f"{' '.join(command)} (not tried: the app is not running)")
    else:
        try:
            version = computer.app_version(command, system.environ)
        except AppError as error:
            yield Finding(subject, "problem", f"{' '.join(command)}: {error.message}")
        else:
            yield Finding(subject, "fine", f"{' '.join(command)} answers: Obsidian {version}")


def check_obsidian_word(system: System) -> Finding:
    """Return which program the word `obsidian` starts in a terminal (DOC-05)."""
    subject, program = "Word obsidian", Running.from_environment(system.environ).find(NAME_OF_LINK)
    if program is None:
        remedy = (
            "obsidian-mcp install obsidian-command links this program, where the app is absent."
        )
        return Finding(subject, "note", "no program of that name is on PATH.", remedy)
    if not is_our_link(Path(program)):
        return Finding(subject, "fine", f"{program} comes first on PATH; it is not this program")
    real = computer.find_app_command(system.environ, system.platform)
    if real is None:
        return Finding(subject, "fine", f"{program} comes first on PATH and is this program")
    message = f"{program} comes first on PATH and is this program; the app's command is {real[0]}."
    return Finding(
        subject,
        "note",
        message,
        "obsidian-mcp uninstall obsidian-command leaves the name to the app.",
    )


def check_plugin(config: Config) -> Iterator[Finding]:
    """Yield whether the plugin answers, where a bridge to it is configured (BRIDGE-10); it is asked
    as the bridge asks it."""
    if not config.bridge:
        return
    subject = "Obsidian plugin"
    try:
        bridge = compose.plugin(config)
    except AppError as error:
        yield Finding(
            subject, "problem", error.message, "Correct OBSIDIAN_MCP_HOST or OBSIDIAN_MCP_API_KEY."
        )
        return
    try:
        offered = bridge.tools()
    except AppError as error:
        remedy = "Start Obsidian and switch the plugin on."
        yield Finding(subject, "problem", f"{bridge.address}: {error.message}", remedy)
    else:
        yield Finding(subject, "fine", f"{bridge.address} answers with {len(offered.tools)} tools")
