"""Vaults on disk for whole tests: their files, the vault on them, and calls of tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.app import App
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools import call

from .core.memory import Always


def write_files(root: Path, texts: Mapping[str, str]) -> Path:
    """Write the files of a new vault, line ends as they are; return its folder."""
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    return root


def contents(root: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder, by relative path."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


class CaseInsensitive(Disk):
    """A disk of macOS or Windows: `n.md` and `N.md` are one file."""

    def _actual(self, disk: str) -> str:
        names = {path.relative_to(self.root).as_posix().lower(): path.relative_to(self.root).as_posix()
                 for path in self.root.rglob("*")}  # fmt: skip
        return names.get(disk.lower(), disk)

    def scan(self, folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        for file in super().scan(self._actual(folder), is_wanted):
            yield file._replace(disk=folder + file.disk[len(folder) :])

    def stat(self, disk: str) -> DiskFile | None:
        file = super().stat(self._actual(disk))
        return file and file._replace(disk=disk)

    def exists(self, disk: str) -> bool:
        return super().exists(self._actual(disk))

    def read(self, disk: str, limit: int | None = None) -> bytes:
        return super().read(self._actual(disk), limit)

    def move(self, source: str, target: str) -> None:
        super().move(self._actual(source), target)


def vault_on(disk: Disk) -> Vault:
    """A vault that knows its files, with its journal beside it and its index in memory."""
    vault = Vault("v", disk, Always(), SqliteJournal(Path(disk.root).parent / "state"), lambda: open_index(None))
    vault.refresh()
    return vault


def answer(app: App, tool: str, **given: Any) -> tuple[str, str]:
    """Error code and message of a refused call, or no code and the whole answer."""
    try:
        outcome = call(app, f"obsidian_{tool}", given)
    except AppError as error:
        return error.error_code, f"{error.message} {json.dumps(error.payload())}"
    return "", outcome.envelope() + (outcome.text or "")
