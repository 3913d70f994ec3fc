"""Other people's programs from npm: installed into a folder of tests/foreign on demand, never committed."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

FOREIGN = Path(__file__).parents[1] / "foreign"
INSTALL_SECONDS = 300
INSTALL = ("npm", "install", "--no-package-lock", "--no-audit", "--no-fund")


@functools.cache
def problem_of(command: tuple[str, ...], folder: Path) -> str:
    """Run a command that installs something; empty when all went well, else why not."""
    program = shutil.which(command[0])
    if program is None:
        return f"{command[0]} is not installed"
    try:
        done = subprocess.run(
            (program, *command[1:]),
            cwd=folder,
            capture_output=True,
            timeout=INSTALL_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} took longer than {INSTALL_SECONDS} s"
    if done.returncode:
        return f"{' '.join(command)}: {done.stderr.decode(errors='replace').strip()[-300:]}"
    return ""


def missing(folder: Path) -> str:
    """Install the packages of a folder unless they are there; empty when they are, else why they are not."""
    written_last = folder / "node_modules" / ".package-lock.json"  # so that an installation cut short is seen
    if written_last.exists() and written_last.stat().st_mtime >= (folder / "package.json").stat().st_mtime:
        return ""
    problem = problem_of(INSTALL, folder)
    return f"the packages of {folder.name} could not be installed from npm: {problem}" if problem else ""
