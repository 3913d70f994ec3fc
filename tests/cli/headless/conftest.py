"""The vault of the cases, and a runner for command lines of the official program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from obsidian_mcp.cli import main

Run = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Ran:
    out: str
    err: str
    status: int


ALPHA = """\
---
tags: [foo, bar]
aliases: [A1, Shared]
status: draft
count: 2
empty:
---
# Alpha
#foo #baz
[[Beta]] [[Beta]] [[Missing]] ![[pic.png]]
- [ ] one
\t- [x] two
"""
BETA = """\
---
tags:
  - foo
aliases: Shared
done: false
---
# Beta
## Part A
### Deep
## Part B
body #qux #Baz
- [-] gone
"""


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "Cases"
    (root / ".obsidian").mkdir(parents=True)
    (root / "Folder").mkdir()
    (root / "Alpha.md").write_text(ALPHA, encoding="utf-8", newline="")
    (root / "Beta.md").write_text(BETA, encoding="utf-8", newline="")
    (root / "Folder" / "Gamma.md").write_text("plain body [[Alpha]] [[Ghost]]\n", encoding="utf-8", newline="")
    card = '{"nodes":[{"id":"1","type":"file","file":"Alpha.md","x":0,"y":0,"width":1,"height":1}],"edges":[]}'
    (root / "Board.canvas").write_text(card, encoding="utf-8")
    (root / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (root / "data.csv").write_text("a,b\n", encoding="utf-8", newline="\n")
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(tmp_path / kind.lower()))
    monkeypatch.setenv("OBSIDIAN_MCP_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.setenv("OBSIDIAN_MCP_TODAY", "2026-11-22T09:05")
    monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(root))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return root


@pytest.fixture
def ran(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Ran]:
    """Runs one command line: what it prints on both streams, and its exit status."""

    def run(*words: str) -> Ran:
        capfdbinary.readouterr()
        status = main.run_command_line(["obsidian", *words])
        printed = capfdbinary.readouterr()
        return Ran(printed.out.decode(), printed.err.decode(), status)

    return run


@pytest.fixture
def run(ran: Callable[..., Ran]) -> Run:
    """Runs one command line that ends with status 0, and returns what it prints."""

    def run_well(*words: str) -> str:
        result = ran(*words)
        assert result.status == 0
        return result.out

    return run_well
