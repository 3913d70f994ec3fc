"""Other people's programs from npm: installed into tests/foreign on demand, never committed."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

FOREIGN = Path(__file__).parent
MODULES = FOREIGN / "node_modules"
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


def missing() -> str:
    """Install the packages unless they are there; empty when they are, else why they are not."""
    written_last = MODULES / ".package-lock.json"  # so that an installation cut short is seen
    if written_last.exists() and written_last.stat().st_mtime >= (FOREIGN / "package.json").stat().st_mtime:
        return ""
    problem = problem_of(INSTALL, FOREIGN)
    return f"the packages of {FOREIGN.name} could not be installed from npm: {problem}" if problem else ""
