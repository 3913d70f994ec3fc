"""Look at everything this program needs and say of each part that it is fine, or what to do
(specs/install.md, DOC).

Each part is tried by itself, so that one which is broken hides none of the others.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path

from obsidian_mcp import __version__, compose, computer, policies, vault_builder
from obsidian_mcp.config import Config
from obsidian_mcp.core.files import policy
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.core.text.vault_path import is_note
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, PolicyInvalid

from . import api_keys
from .client_checks import check_clients, vaults_of_clients
from .finding import Finding
from .launcher import NAME_OF_LINK, Running, is_our_link
from .system import System, known_vaults, problem_of

WATCH_SECONDS = 5.0
"""How long the watcher may take to start, and again to report a change."""


def examine(config: Config, system: System) -> Iterator[Finding]:
    """Every finding, as soon as it is known. Nothing is changed but files of this program's own."""
    yield from python()
    yield from folders(config)
    yield from check_policy(config)
    yield from keys(config)
    yield from semantic(config)
    yield from vaults(config, system)
    yield from watching(config)
    yield from app(system)
    yield first_obsidian(system)
    yield from plugin(config)
    yield from check_clients(system)


def python() -> Iterator[Finding]:
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


def folders(config: Config) -> Iterator[Finding]:
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
    """Where the policy is, or would be; what is wrong in it, and tables of vaults that do not exist
    (DOC-06)."""
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
    there = config.policy_file.exists()
    rule = (
        "says"
        if there
        else "is not there: nothing in the vaults is hidden or protected. A file there would say"
    )
    yield Finding("Policy", "fine", f"{config.policy_file} {rule} what may be read and changed")


def keys(config: Config) -> Iterator[Finding]:
    """The API keys of the HTTP server by name; what is wrong in the file is reported with each
    vault."""
    with contextlib.suppress(AppError):
        for key in policies.api_keys(config):
            said = api_keys.describe(key)
            opens = "; ".join(
                f"{what} {said[what]}" for what in ("vaults", "folder", "tools", "limits")
            )
            yield Finding(f"API key {key.name}", "fine", opens)


def semantic(config: Config) -> Iterator[Finding]:
    """Which model finds notes by their meaning, whether it answers, and what leaves this machine
    (SEM-06)."""
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


def vaults(config: Config, system: System) -> Iterator[Finding]:
    """The vaults that are configured, that the app knows, or else that clients' entries name; each
    opened as a server opens it (DOC-02)."""
    paths = [
        path.absolute() for path in config.vaults or computer.registered_vaults(config.app_folders)
    ]
    if not paths:
        paths = list(dict.fromkeys(vaults_of_clients(system)))
        config = config.replace(named_vaults=tuple(map(str, paths)))
    for vault in known_vaults(config.app_folders):
        if vault.problem and vault.path not in paths:
            remedy = "Remove it in the app's vault switcher, or connect the drive that it is on."
            yield Finding(
                f"Vault {vault.name}",
                "note",
                f"The app knows {vault.path}, but {vault.problem}.",
                remedy,
            )
    try:
        serving = compose.build(config)
        folders, names = vault_builder.vault_folders(config), serving.vaults.names()
    except AppError as error:
        yield Finding(
            "Vaults",
            "problem",
            error.message,
            "Open a vault in Obsidian, or name one with --vault.",
        )
        return
    try:
        for name, path in folders.items():
            if problem := problem_of(path):
                yield Finding(
                    f"Vault {name}", "problem", f"{path}: {problem}.", _readable_again(problem)
                )
            elif name not in names:
                yield Finding(
                    f"Vault {name}", "note", f"{path} is left out: it is outside of the scope."
                )
            else:
                try:
                    yield from vault_state(name, path, serving.vaults.get(name))
                except AppError as error:
                    yield Finding(f"Vault {name}", "problem", error.message)
    finally:
        serving.vaults.close()


def _readable_again(problem: str) -> str:
    if "allow" not in problem:
        return "Correct the path, or connect the drive that it is on."
    if sys.platform == "darwin":
        return (
            "Allow the program that starts the server in System Settings > Privacy & Security > "
            "Files and Folders."
        )
    return "Give yourself the right to read it."


def vault_state(name: str, path: Path, vault: Vault) -> Iterator[Finding]:
    """One vault that could be opened: its notes, whether it can be written, its index."""
    subject = f"Vault {name}"
    notes = [entry for entry in vault.entries() if entry.path.lower().endswith(".md")]
    if notes:
        vault.files.read(notes[0].disk, limit=1 << 30)
    summary = f"{path}: {write_count(len(notes), 'note')}"
    if not (path / ".obsidian").is_dir():
        remedy = "Make sure that it is the vault itself."
        yield Finding(subject, "note", f"{summary}; it has no .obsidian folder.", remedy)
    elif not os.access(path, os.W_OK):
        yield Finding(subject, "note", f"{summary}; it can be read but not written.")
    else:
        yield Finding(subject, "fine", summary)
    yield from count_matched(name, vault)
    vault.indexer.begin()
    subject = f"Index of {name}"
    status, progress = vault.indexer.index.status(), vault.indexer.progress
    files = write_count(status.files, "file")
    if status.problem:
        yield Finding(
            subject, "problem", status.problem, "Free some space, or name another folder."
        )
    elif progress.total:
        changed = f"{progress.total} are new or changed, which a server takes in when it starts."
        yield Finding(subject, "note", f"{files}; {changed}")
    else:
        yield Finding(subject, "fine", f"{files}, up to date")


def count_matched(name: str, vault: Vault) -> Iterator[Finding]:
    """What the patterns of a policy match in a vault: what they hide, or what alone may be read or
    changed (DOC-06)."""
    rules = {
        "Hidden": vault.policy.hidden,
        "To read": vault.policy.read,
        "To change": vault.policy.write,
    }
    patterns = [
        (f"{rule} in {name}", pattern)
        for rule, several in rules.items()
        for globs in several
        for pattern in globs.patterns
        if not pattern.startswith("!")
    ]
    if not patterns:
        return
    paths = [normal_form(file.disk) for file in vault.files.scan("")]
    folders = {path[:at] for path in paths for at, letter in enumerate(path) if letter == "/"}
    for subject, pattern in patterns:
        globs = policy.Globs([pattern])
        notes = sum(is_note(path) and globs.match(path) for path in paths)
        files = sum(map(globs.match, paths)) - notes
        matched = {folder for folder in folders if globs.match(f"{folder}/")}
        outermost = sum(folder.rpartition("/")[0] not in matched for folder in matched)
        counts = [(outermost, "folder"), (notes, "note"), (files, "other file")]
        counted = ", ".join(write_count(count, noun) for count, noun in counts if count)
        if counted:
            yield Finding(subject, "fine", f"{pattern}: {counted}")
        else:
            yield Finding(
                subject,
                "note",
                f"{pattern} matches nothing.",
                "Correct it, unless what it names is still to come.",
            )


def watching(config: Config) -> Iterator[Finding]:
    """Whether changes by other programs are reported: tried in a folder of our own, then judged for
    each vault."""
    if not config.watch:
        yield Finding(
            "Watching", "note", "OBSIDIAN_MCP_WATCH=0: changes are found by scans at each call."
        )
        return
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-") as folder:
        reported = threading.Event()
        watcher = computer.watch(Path(folder).resolve(), reported.set)
        watcher.start()
        try:
            if not _within(WATCH_SECONDS, lambda: watcher.mode == "events"):
                message = (
                    "The system reports no changes; scans at each call find them, a little slower."
                )
                yield Finding("Watching", "note", message)
                return
            watcher.drain()
            reported.clear()
            (Path(folder) / "probe.md").write_text("a change", encoding="utf-8")
            started = time.monotonic()
            if reported.wait(WATCH_SECONDS):
                took = (time.monotonic() - started) * 1000
                yield Finding("Watching", "fine", f"a change was reported after {took:.0f} ms")
            else:
                remedy = "Set OBSIDIAN_MCP_WATCH=0: then changes are found by scans at each call."
                message = "The system did not report a change in a temporary folder."
                yield Finding("Watching", "problem", message, remedy)
        finally:
            watcher.stop()
    for path in config.vaults:
        if kind := computer.remote_filesystem(str(path.absolute())):
            yield Finding(
                "Watching",
                "note",
                f"{path} is on a network disk ({kind}): its changes are found by scans.",
            )


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def app(system: System) -> Iterator[Finding]:
    """The Obsidian app and its official command: both optional."""
    running = computer.app_runs(system.platform)
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


def first_obsidian(system: System) -> Finding:
    """Which program the word `obsidian` starts in a terminal (DOC-05)."""
    subject, program = "Word obsidian", Running.here(system.environ).find(NAME_OF_LINK)
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


def plugin(config: Config) -> Iterator[Finding]:
    """The plugin's bridge, where one is configured (BRIDGE-10), asked as the bridge itself asks
    it."""
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
