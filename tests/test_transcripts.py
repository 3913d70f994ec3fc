"""What a person sees on the command line: each file in transcripts/ is a session in a copy of the vault `basic`.

A line `$ obsidian-mcp …` is run, the lines `> …` below are what it prints, and `! status` an exit status that is not 0.
`make update` rewrites the answers; the difference is the review.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.generated import check_text

FOLDER = Path(__file__).parent / "transcripts"
NOWHERE = Path("/nowhere/at/all")
"""On Windows it has backslashes and a drive."""
VARIES = [
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\b"), "<time>"),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b"), "<local time>    "),
    (re.compile(r"\b[0-9a-f]{16}\b(?=$|\")", re.MULTILINE), "<etag>"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(?=, yesterday or )"), "<today>"),
    (re.compile(r"\d+ bytes"), "<n> bytes"),
]
"""What differs from run to run."""


def run(command: str, vault: Path) -> str:
    beside = vault.parent
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("OBSIDIAN", "PYTHON"))},
        "OBSIDIAN_VAULT_PATH": str(vault),
        "OBSIDIAN_MCP_CACHE": str(beside / "cache"),
        "OBSIDIAN_MCP_STATE": str(beside / "state"),
        "OBSIDIAN_MCP_POLICY": str(beside / "policy.toml"),
    }
    name, *arguments = shlex.split(command)
    assert name == "obsidian-mcp"
    done = forked.run([sys.executable, "-m", "obsidian_mcp", *arguments], env=environment)
    text = (done.stdout + done.stderr).decode().replace(str(vault), "<vault>")
    text = text.replace(str(NOWHERE.absolute()), NOWHERE.as_posix())
    for pattern, shown in VARIES:
        text = pattern.sub(shown, text)
    lines = [f"> {line}".rstrip() for line in text.splitlines()]
    return "".join(f"{line}\n" for line in [*lines, *([f"! {done.returncode}"] if done.returncode else [])])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_the_command_line_answers_as_in_the_transcript(path: Path, basic: Path, update: bool) -> None:
    written = path.read_text(encoding="utf-8")
    played = ""
    for line in written.splitlines():
        if line.startswith("$ "):
            played += f"{line}\n{run(line[2:], basic)}"
        elif not line.startswith(("> ", "! ")) and line != ">":
            played += f"{line}\n"
    assert "$ obsidian-mcp" in played
    check_text(path, played, update=update)
