"""A command of a script, from the start of its process to its end, beside Python doing nothing and beside ripgrep."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .figures import PYTHON, RIPGREP, Samples
from .servers import Server
from .vaults import RARE

READ = "obsidian read file=…, a process"
SEARCH = "obsidian search query=…, a process"
ROWS = (READ, SEARCH)
RUNS = 8
"""Of each command in a round."""


def one_shots(ours: Server, notes: Sequence[str], rounds: int, samples: Samples) -> None:
    """Each command in turn with the others. The index is there, and the first run of each is not counted."""
    ran = {
        (READ, ours.name): [*_obsidian(), "read", f"file={Path(notes[0]).stem}"],
        (SEARCH, ours.name): [*_obsidian(), "search", f"query={RARE}"],
    }
    for row in ROWS:
        ran[row, PYTHON] = [sys.executable, "-c", "pass"]
    if ripgrep := shutil.which("rg"):
        ran[SEARCH, RIPGREP] = [ripgrep, "--files-with-matches", RARE, "."]
    for number in range(1 + RUNS * rounds):
        for (row, name), command in ran.items():
            begun = time.perf_counter()
            subprocess.run(  # noqa: S603  ours
                command,
                cwd=ours.vault,
                env={**os.environ, **ours.env},
                capture_output=True,  # else `run` looks for the end up to 50 ms late: it polls when there is no pipe
                check=True,
                timeout=60,
            )
            if number:
                samples.add(row, name, time.perf_counter() - begun)


def _obsidian() -> list[str]:
    """The command as it is installed, or else as a module."""
    installed = Path(sys.executable).with_name("obsidian-mcp")
    return [str(installed), "obsidian"] if installed.exists() else [sys.executable, "-m", "obsidian_mcp", "obsidian"]
