"""`make bundle`: the Claude Desktop extension (.mcpb), made from the project's metadata and its tool registry.

    python packaging/bundle.py              build it into dist/, checked by the vendor's tool (npm @anthropic-ai/mcpb)
    python packaging/bundle.py --stage DIR  only lay its files out in DIR

The extension holds the package and a list of what it depends on; Claude Desktop brings its own uv, which fetches a
Python and the dependencies when the extension is installed. Nothing is asked of the user's computer.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from obsidian_mcp import __version__  # noqa: E402
from obsidian_mcp.tools.registry import TOOLS  # noqa: E402

HOMEPAGE = "https://github.com/OWNER/obsidian-mcp"
VENDOR = "@anthropic-ai/mcpb@2.1.2"
VENDOR_FOLDER = ROOT / "build/mcpb"
NO_VENDOR_TOOL = 3
"""Exit status when the vendor's tool cannot be had: no npm, or no network."""

SERVER = '''"""Starts the server. Run by uv in this folder."""

import os
from pathlib import Path

os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # the helper processes shall find the package, too

from obsidian_mcp.cli.main import main

if __name__ == "__main__":
    main()
'''


def manifest(project: dict[str, Any]) -> dict[str, Any]:
    """The extension's description, manifest 0.4."""
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": "Obsidian Vault",
        "version": __version__,
        "description": project["description"],
        "long_description": (
            "Search, read, link and edit the notes of an Obsidian vault, with the app open or closed. Notes stay on "
            "this computer; every change can be undone."
        ),
        "author": {"name": "The obsidian-mcp authors"},
        "homepage": HOMEPAGE,
        "documentation": f"{HOMEPAGE}#readme",
        "support": f"{HOMEPAGE}/issues",
        "privacy_policies": [f"{HOMEPAGE}#privacy-policy"],
        "icon": "icon.png",
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py", "--vault", "${user_config.vault}"],
                "env": {
                    "OBSIDIAN_MCP_READ_ONLY": "${user_config.read_only}",
                    "OBSIDIAN_MCP_HIDDEN": "${user_config.hidden}",
                    "OBSIDIAN_MCP_CONFIRM_DELETE": "${user_config.confirm_delete}",
                    "PYTHONUTF8": "1",
                },
            },
        },
        "user_config": {
            "vault": {
                "type": "directory",
                "title": "Vault folder",
                "description": "The folder of your vault: the one that holds your notes and a folder named .obsidian.",
                "required": True,
            },
            "read_only": {
                "type": "boolean",
                "title": "Read only",
                "description": "Refuse every change; notes can only be searched and read.",
                "required": False,
                "default": False,
            },
            "hidden": {
                "type": "string",
                "title": "Hide these",
                "description": "Folders and files that Claude never sees, with commas between: Private, Diary/2025, "
                "*.secret.md. Empty hides nothing.",
                "required": False,
                "default": "",
            },
            "confirm_delete": {
                "type": "boolean",
                "title": "Ask before deleting",
                "description": "Claude must ask you before it deletes a file. Without this, too, every deletion can be "
                "undone.",
                "required": False,
                "default": False,
            },
        },
        "tools": [{"name": tool.name, "description": tool.description.splitlines()[0]} for tool in TOOLS.values()],
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            # Desktop reads a range in npm's form, where blanks stand for the commas of Python's.
            "runtimes": {"python": project["requires-python"].replace(",", " ")},
        },
    }


def dependencies(project: dict[str, Any]) -> str:
    """The extension's pyproject.toml: what uv has to fetch. The package itself is not built, only run."""
    needed = "".join(f"  {json.dumps(one)},\n" for one in project["dependencies"])
    return (
        f'[project]\nname = "{project["name"]}"\nversion = "{__version__}"\n'
        f'requires-python = "{project["requires-python"]}"\ndependencies = [\n{needed}]\n\n[tool.uv]\npackage = false\n'
    )


def stage(folder: Path) -> None:
    """Lay the extension's files out in an empty folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / "obsidian_mcp", folder / "obsidian_mcp", ignore=shutil.ignore_patterns("__pycache__"))
    for source in (ROOT / "README.md", ROOT / "LICENSE", ROOT / "packaging/icon.png"):
        shutil.copyfile(source, folder / source.name)
    for name, text in {
        "manifest.json": json.dumps(manifest(project), ensure_ascii=False, separators=(",", ":")),
        "pyproject.toml": dependencies(project),
        "server.py": SERVER,
        ".mcpbignore": ".venv/\nuv.lock\n__pycache__/\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def vendor_tool() -> Path | None:
    """The vendor's packing tool, installed below build/ when it is not there yet; None when it cannot be had."""
    suffix = ".cmd" if sys.platform == "win32" else ""
    program = VENDOR_FOLDER / f"node_modules/.bin/mcpb{suffix}"
    if program.exists():
        return program
    npm = shutil.which("npm")
    if npm is None:
        say("npm was not found; it is needed once, to fetch the vendor's packing tool.")
        return None
    VENDOR_FOLDER.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--no-save", "--fetch-retries=1", VENDOR]
    done = subprocess.run(command, cwd=VENDOR_FOLDER, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    if done.returncode or not program.exists():
        say(f"npm could not install {VENDOR}: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
        return None
    return program


def build(output: Path) -> int:
    """Stage, validate, pack, and unpack again to compare. Returns the exit status."""
    tool = vendor_tool()
    if tool is None:
        return NO_VENDOR_TOOL
    with tempfile.TemporaryDirectory() as temporary:
        staged, unpacked = Path(temporary) / "extension", Path(temporary) / "unpacked"
        stage(staged)
        output.parent.mkdir(parents=True, exist_ok=True)
        for arguments in (["validate", staged], ["pack", staged, output], ["unpack", output, unpacked]):
            command = [str(tool), *map(str, arguments)]
            done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
            if done.returncode:
                say(f"mcpb {arguments[0]} failed:\n{done.stdout}{done.stderr}")
                return 1
        if missing := differences(staged, unpacked):
            say(f"The packed extension differs from what was packed: {', '.join(missing)}")
            return 1
    say(f"{output.relative_to(ROOT) if output.is_relative_to(ROOT) else output}: {output.stat().st_size:,} bytes")
    return 0


def differences(staged: Path, unpacked: Path) -> list[str]:
    """Staged files that are not the same in the extension."""
    names = [str(path.relative_to(staged)) for path in staged.rglob("*") if path.is_file()]
    names.remove(".mcpbignore")
    _, changed, missing = filecmp.cmpfiles(staged, unpacked, names, shallow=False)
    return sorted(changed + missing)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the Claude Desktop extension.")
    parser.add_argument("--stage", type=Path, metavar="DIR", help="only lay its files out in DIR")
    parser.add_argument("--output", type=Path, default=ROOT / f"dist/obsidian-mcp-{__version__}.mcpb")
    given = parser.parse_args(arguments)
    if given.stage:
        stage(given.stage)
        return 0
    return build(given.output.absolute())


if __name__ == "__main__":
    sys.exit(main())
