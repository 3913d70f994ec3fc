"""Writes the GitHub account that publishes, from owner.txt, wherever packages name it.

    python packaging/owner.py          write it
    python packaging/owner.py --check  exit with 1 where another is written

Until an account is chosen, owner.txt holds the placeholder OWNER.
"""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote, urlencode

ROOT = Path(__file__).resolve().parent.parent
OWNER = (ROOT / "packaging/owner.txt").read_text(encoding="utf-8").strip()
NAMED_IN = (
    "README.md",
    "glama.json",
    ".claude-plugin/marketplace.json",
    "packaging/Dockerfile",
    "packaging/bundle.py",
    "packaging/chatgpt-app-submission.json",
    "packaging/server.json",
)
PLACES = re.compile(
    r'((?:github\.com/|io\.github\.)|"maintainers": \["|"owner": \{"name": ")[\w-]+(/obsidian-mcp|"\]|"\})'
)
LINKS = re.compile(r"(?<=<!-- links -->\n).*?(?=<!-- /links -->)", re.DOTALL)


def command(owner: str) -> tuple[str, list[str]]:
    """Return the command and arguments that a client starts; without --vault the app's open vault is served."""
    return "uvx", ["--from", f"git+https://github.com/{owner}/obsidian-mcp", "obsidian-mcp"]


def links(owner: str) -> str:
    """Return the README's lines with the links that install into editors."""
    program, arguments = command(owner)
    server = {"type": "stdio", "command": program, "args": arguments}
    vscode = f"vscode:mcp/install?{quote(json.dumps({'name': 'obsidian', **server}), safe='')}"
    config = b64encode(json.dumps({"command": program, "args": arguments}).encode()).decode()
    cursor = f"https://cursor.com/link/mcp%2Finstall?{urlencode({'name': 'obsidian', 'config': config})}"
    return (
        f"[Install in VS Code](https://insiders.vscode.dev/redirect?url={quote(vscode, safe='')}) ·\n"
        f"[Install in Cursor]({cursor})\n"
    )


def filled(text: str, owner: str) -> str:
    """Return a file's text with the account in every place."""
    return LINKS.sub(lambda _: links(owner), PLACES.sub(rf"\g<1>{owner}\g<2>", text))


def main() -> int:
    """Write or check all files. Returns the exit status."""
    differing = []
    for name in NAMED_IN:
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after = filled(before, OWNER)
        if before != after:
            differing.append(name)
            if "--check" not in sys.argv:
                path.write_text(after, encoding="utf-8", newline="\n")
    sys.stdout.write("".join(f"{name}\n" for name in differing))
    return 1 if differing and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
