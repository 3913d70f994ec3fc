"""A vault with the stand-in app beside it, as the tools see the two: in this process, or as the user starts them."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from obsidian_mcp import compose, config
from obsidian_mcp.adapters.app_access import is_same_vault
from obsidian_mcp.adapters.app_files import AppFiles
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.adapters.obsidian_cli import ObsidianCommand
from obsidian_mcp.adapters.obsidian_program import ProgramResult
from obsidian_mcp.app import App
from obsidian_mcp.config import CommandOptions, Config
from obsidian_mcp.core.files import policy as policies
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.vault.scanning import Scanning
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    ObsidianNotRunning,
    OperationTimeout,
    PermissionDenied,
    VaultNotFound,
)
from obsidian_mcp.tools.registry import call
from tests import fake_obsidian
from tests.conftest import FIXTURES

CHANGES = ["create", "append", "move", "delete"]
"""Commands that change a note."""
NO_ANSWER: list[tuple[dict[str, Any], type[AppError]]] = [
    ({"down": "exit"}, ObsidianNotRunning),
    ({"down": "stdout"}, ObsidianNotRunning),
    ({"down": "stdout", "noise": ["stderr"]}, ObsidianNotRunning),
    ({"down": "gui"}, AppCommandFailed),
    ({"disabled": True}, AppCommandFailed),
    ({"disabled": True, "noise": ["stdout"], "crlf": True}, AppCommandFailed),
    ({"denied": True}, PermissionDenied),
    ({"name": "Other"}, VaultNotFound),
    ({"name": "Other", "noise": ["stdout"], "blank": True}, VaultNotFound),
    ({"crash": 255}, AppCommandFailed),
    ({"crash": 134}, AppCommandFailed),
    ({"crash": -6}, AppCommandFailed),
    ({"mute": True}, AppCommandFailed),
    ({"type_error": True}, AppCommandFailed),
]
"""Moods in which the app does nothing of what it is told, and their errors."""


@dataclass
class Program:
    """The stand-in without a process: each call answers as its knobs say, and is remembered."""

    knobs: dict[str, Any]
    calls: list[list[str]] = field(default_factory=list)
    waiting: list[threading.Timer] = field(default_factory=list)

    def run_program(self, arguments: Sequence[str], timeout: float) -> ProgramResult:
        self.calls.append(list(arguments))
        forced = fake_obsidian.in_force(self.knobs, self.commands[-1])
        if forced.get("hang"):
            raise OperationTimeout(f"The stand-in did not answer within {timeout:g} seconds.")
        if late := forced.get("late"):
            earlier = len(self.calls) - 1
            timer = threading.Timer(late, fake_obsidian.respond, (self.knobs, list(arguments), earlier))
            self.waiting.append(timer)
            timer.start()
            return ProgramResult(b"", b"", 0)
        printed = fake_obsidian.respond(self.knobs, list(arguments), len(self.calls) - 1)
        return ProgramResult(printed.stdout, printed.stderr.encode(), printed.status)

    @property
    def commands(self) -> list[str]:
        """The command word of each call."""
        return [next(word for word in call if "=" not in word) for call in self.calls]

    @property
    def changes(self) -> list[str]:
        return [command for command in self.commands if command in CHANGES]


@dataclass
class Desk:
    """A copy of a fixture vault under one backend. `program` is None for `files`."""

    root: Path
    app: App
    vault: Vault
    program: Program | None

    def call(self, tool: str, **arguments: Any) -> Any:
        """The data of an answer, with the text of a document as `content`."""
        return call(self.app, f"obsidian_{tool}", arguments).to_full_data()

    @property
    def commands(self) -> list[str]:
        return self.program.commands if self.program is not None else []

    def files(self) -> dict[str, bytes]:
        return files(self.root)

    def trashed(self) -> list[bytes]:
        """What is in the vault's trash, wherever there."""
        return sorted(path.read_bytes() for path in (self.root / ".trash").rglob("*") if path.is_file())

    def close(self) -> None:
        for timer in self.program.waiting if self.program is not None else ():
            timer.join()
        self.vault.close()


def files(root: Path) -> dict[str, bytes]:
    """Every file of a vault but those in its trash."""
    found = (path for path in root.rglob("*") if path.is_file())
    named = {path.relative_to(root).as_posix(): path.read_bytes() for path in found}
    return {path: data for path, data in named.items() if not path.startswith(".trash/")}


@dataclass
class OneVault:
    """`Vaults` of one vault."""

    vault: Vault
    command: ObsidianCommand | None
    running: Callable[[], bool] = lambda: True

    def get(self, name: str = "", *, listed: bool = True) -> Vault:  # noqa: ARG002  there is one
        self.vault.refresh()
        return self.vault

    def obsidian(self, name: str = "") -> ObsidianCommand:  # noqa: ARG002  there is one
        if self.command is None:
            raise ObsidianNotRunning
        return self.command

    def problem(self) -> str:
        return ""

    def has_app(self) -> bool:
        return self.command is not None

    def asks(self) -> bool:
        return bool(self.vault.policy.confirm)

    def names(self) -> list[str]:
        return [self.vault.name]

    def warm(self) -> None: ...
    def close(self) -> None: ...

    def wait(self, seconds: float) -> bool:  # noqa: ARG002  nothing comes
        return False


def desk(
    folder: Path,
    backend: str,
    *,
    fixture: str = "basic",
    is_open: bool = True,
    policy: Policy = policies.DEFAULT,
    late_seconds: float = 0.5,
    timeout: float = 20.0,
    allow_eval: bool = False,
    **knobs: Any,
) -> Desk:
    """A fresh vault in `folder`, with the stand-in in this process."""
    root = Path(shutil.copytree(FIXTURES / fixture, folder / "vault"))
    disk = Disk(root)
    program = None if backend == "files" else Program({"vault": str(root), **knobs})
    command = None
    through = None
    if program is not None:
        sent = command = ObsidianCommand(program, "Notes", timeout, same_folder=partial(is_same_vault, root))
        through = AppFiles(disk, lambda: sent, None if backend == "cli" else lambda: is_open, late_seconds=late_seconds)
    vault = Vault(
        "vault",
        disk,
        Scanning(0),
        SqliteJournal(folder / "state"),
        lambda: open_index(None),
        policy=policy,
        app=command if backend == "cli" else None,
        through_app=through,
    )
    options = CommandOptions(backend=backend, allow_eval=allow_eval, read_only=policy.read_only)
    settings = Config(options=options)
    return Desk(root, compose.build(settings).replace(vaults=OneVault(vault, command)), vault, program)


def environment(folder: Path, root: Path, **knobs: Any) -> dict[str, str]:
    """The environment in which the program finds the stand-in as the `obsidian` command and nothing of this machine."""
    knob_file = folder / "knobs.json"
    settings = {"vault": str(root), "name": root.name, "log": str(folder / "calls.jsonl"), **knobs}
    knob_file.write_text(json.dumps(settings), encoding="utf-8")
    return {
        "HOME": str(folder),
        "PATH": os.defpath,
        "FAKE_OBSIDIAN": str(knob_file),
        "OBSIDIAN_MCP_CLI": " ".join(fake_obsidian.command_line()),
        "OBSIDIAN_MCP_ASSUME_RUNNING": "1",
        "OBSIDIAN_MCP_CACHE": str(folder / "cache"),
        "OBSIDIAN_MCP_STATE": str(folder / "state"),
        "OBSIDIAN_MCP_POLICY": str(folder / "policy.toml"),
    }


def composed(root: Path, environ: dict[str, str]) -> App:
    """The App as the program makes it for these variables."""
    return compose.build(config.Config((str(root),), environ=environ))
