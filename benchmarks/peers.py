"""Other servers, to be measured side by side: `python -m benchmarks.peers` (`make bench-peers`) installs them once.

They come from their registries by npm and pip, in the versions named here, into a folder that git ignores. Nothing else
in this repository needs them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from .servers import Server, markdown_vault, mcpvault, npm_obsidian
from .vaults import copied

FOLDER = Path(__file__).parent.parent / ".bench"
NPM = ("@bitbonsai/mcpvault@0.16.0", "obsidian-mcp@2.0.1", "node@22.23.3")
"""Node itself too: `obsidian-mcp` needs 22 or later."""
PYPI = ("markdown-vault-mcp==5.1.0",)
LIMIT = 600
"""Seconds for each installation."""

NAMES = ("mcpvault", "npm obsidian-mcp", "markdown-vault-mcp")


def installed(vault: Path) -> tuple[list[Server], dict[str, str]]:
    """Those that are there, each on its own copy of the vault, and why the others are not."""
    modules = FOLDER / "node_modules"
    node = modules / ".bin" / "node"
    programs = {
        NAMES[0]: modules / ".bin" / "mcpvault",
        NAMES[1]: modules / "obsidian-mcp" / "dist" / "main.js",
        NAMES[2]: _python().with_name("markdown-vault-mcp"),
    }
    found = []
    for name, program in programs.items():
        if not program.exists() or (name == NAMES[1] and not node.exists()):
            continue
        copy = copied(vault, name.replace(" ", "-"))
        if name == NAMES[0]:
            found.append(mcpvault(program, copy))
        elif name == NAMES[1]:
            found.append(npm_obsidian(node, program, copy))
        else:
            found.append(markdown_vault(program, copy))
    missing = set(NAMES) - {server.name for server in found}
    return found, {name: "not installed (make bench-peers)" for name in NAMES if name in missing}


def _python() -> Path:
    return FOLDER / "python" / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def install() -> int:
    """The exit status: 0 where all of them are there."""
    FOLDER.mkdir(exist_ok=True)
    status = 0
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write("npm is not here: the peers that need it are left out.\n")
        status = 1
    else:
        (FOLDER / "package.json").write_text('{"name": "bench-peers", "private": true}\n', encoding="utf-8")
        status |= _run(npm, "install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", "--no-save", *NPM)
    status |= _run(sys.executable, "-m", "venv", str(FOLDER / "python"))
    status |= _run(str(_python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PYPI)
    return status


def _run(*command: str) -> int:
    sys.stderr.write(f"$ {' '.join(command)}\n")
    return subprocess.run(command, check=False, timeout=LIMIT).returncode  # noqa: S603  ours


if __name__ == "__main__":
    sys.exit(install())
