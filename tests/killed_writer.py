"""A program that makes one change after another in a vault until it is killed, as the tests of kills start it.

    python -m tests.killed_writer FOLDER write_a_generation

It prints a character when it is about to begin, and after each change.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.core.operations import move
from obsidian_mcp.core.vault.operation import Operation, Write
from obsidian_mcp.core.vault.vault import Vault
from tests.vaults import vault_on

NOTES = 6
FAILED = 70
"""The exit status when it dies of something else."""


def write_a_generation(vault: Vault) -> None:
    """Write the same line into all notes."""
    line = f"{os.getpid()}-{time.monotonic_ns()}".encode()
    with vault.lock_changes():
        operations: list[Operation] = []
        for number in range(NOTES):
            before = vault.files.read_file(f"{number}.md")
            operations.append(Write(f"{number}.md", before, b"\n".join([before.split(b"\n")[0], line, b""])))
        vault.commit("test", operations)


def move_with_links(vault: Vault) -> None:
    """Move the note `T0` to a folder as `T1`, and so on."""
    with vault.lock_changes():
        vault.refresh()
        (target,) = [entry for entry in vault.entries() if entry.path.rpartition("/")[2].startswith("T")]
        number = int(target.path.rpartition("T")[2].removesuffix(".md")) + 1
        plan = move.relocate(vault, target.path, f"/F{number % 3}/T{number}", update_links=True)
        vault.commit("move_note", plan.operations)


def main(folder: str, work: str) -> None:
    sys.excepthook = die
    vault = vault_on(Disk(Path(folder)))
    while True:
        os.write(1, b"!")
        {"write_a_generation": write_a_generation, "move_with_links": move_with_links}[work](vault)


def die(*error: Any) -> None:
    traceback.print_exception(*error)
    os._exit(FAILED)


if __name__ == "__main__":
    main(*sys.argv[1:])
