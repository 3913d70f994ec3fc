"""What the doctor says of each vault: whether it opens, its index, policy and watcher (DOC-02)."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from obsidian_mcp import compose, computer, vault_builder
from obsidian_mcp.config import Config
from obsidian_mcp.core.files import policy
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.core.text.vault_path import is_note
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError

from .client_checks import vaults_of_clients
from .finding import Finding
from .system import System, known_vaults, problem_of

MOST_BYTES = 2**30
"""Of the note that is read as a trial."""
WATCH_SECONDS = 5.0
"""How long the watcher may take to start, and again to report a change."""


def check_vaults(config: Config, system: System) -> Iterator[Finding]:
    """Yield the vaults that are configured, that the app knows, or else that clients' entries name;
    each opened as a server opens it (DOC-02)."""
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
                    f"Vault {name}", "problem", f"{path}: {problem}.", _advise_reading(problem)
                )
            elif name not in names:
                yield Finding(
                    f"Vault {name}", "note", f"{path} is left out: it is outside of the scope."
                )
            else:
                try:
                    yield from check_vault(name, path, serving.vaults.get(name))
                except AppError as error:
                    yield Finding(f"Vault {name}", "problem", error.message)
    finally:
        serving.vaults.close()


def _advise_reading(problem: str) -> str:
    """Return how to make a vault's folder readable again."""
    if "allow" not in problem:
        return "Correct the path, or connect the drive that it is on."
    if sys.platform == "darwin":
        return (
            "Allow the program that starts the server in System Settings > Privacy & Security > "
            "Files and Folders."
        )
    return "Give yourself the right to read it."


def check_vault(name: str, path: Path, vault: Vault) -> Iterator[Finding]:
    """Yield how many notes an opened vault has, whether it can be written, what its policy matches,
    and the state of its index."""
    subject = f"Vault {name}"
    notes = [entry for entry in vault.entries() if entry.path.lower().endswith(".md")]
    if notes:
        vault.files.read_file(notes[0].disk, limit=MOST_BYTES)  # the system may forbid it
    summary = f"{path}: {write_count(len(notes), 'note')}"
    if not (path / ".obsidian").is_dir():
        remedy = "Make sure that it is the vault itself."
        yield Finding(subject, "note", f"{summary}; it has no .obsidian folder.", remedy)
    elif not os.access(path, os.W_OK):
        yield Finding(subject, "note", f"{summary}; it can be read but not written.")
    else:
        yield Finding(subject, "fine", summary)
    yield from check_patterns(name, vault)
    vault.indexer.pending.begin()
    subject = f"Index of {name}"
    status, progress = vault.indexer.index.status(), vault.indexer.pending.progress
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


def check_patterns(name: str, vault: Vault) -> Iterator[Finding]:
    """Yield what the patterns of a policy match in a vault: what they hide, or what alone may be
    read or changed (DOC-06)."""
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


def check_watching(config: Config) -> Iterator[Finding]:
    """Yield whether changes by other programs are reported: tried in a folder of our own, then
    judged for each vault."""
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
            if not _wait_until(WATCH_SECONDS, lambda: watcher.mode == "events"):
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


def _wait_until(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
