"""Commands of a script, from the start of a process to its end: beside Python doing nothing, ripgrep, and each other.

`make bench-cli` measures every command beside the drop-in's for the same work, and beside ripgrep where that can do it,
on a vault of 1 500 notes, and writes commands.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from . import servers
from .figures import PYTHON, RIPGREP, Samples
from .servers import Server
from .vaults import RARE, paths, prepared

READ = "obsidian read file=…, a process"
SEARCH = "obsidian search query=…, a process"
ROWS = (READ, SEARCH)
RUNS = 8
"""Of each command in a round."""
NOTES, ROUNDS = 1_500, 6
"""Of the table of all commands."""
MOST_RATIO, MOST_MILLISECONDS = 1.5, 80
"""A command beside the drop-in's; help and completion, where Python alone takes 16."""
SAME_WORK = {
    "read {note}": "read file={note}",
    "read {note} --view outline": "outline file={note}",
    "search {word} --match exact --show paths": "search query={word}",
    "search {word} --match exact": "search:context query={word}",
    "list --recursive --limit 10": "files",
    "info": "vault",
    "links {note}": "links file={note}",
    "graph orphans": "orphans",
    "graph unresolved": "unresolved verbose",
    "tags": "tags counts",
    "properties": "properties counts",
    "properties {note}": "properties file={note}",
    "tasks": "tasks verbose",
    "bookmarks": "bookmarks",
    "templates": "templates",
    "create Made-{number} text": "create name=Also-{number} content=text",
    "edit {note} append text": "append file={note} content=text",
    "set-properties key={number} --names {note}": "property:set name=key value={number} file={note}",
    "move Made-{number} Moved/": "move file=Also-{number} to=Moved/",
    "delete Made-{number}": "delete file=Also-{number}",
    "daily 2026-11-20 text": "daily:append date=2026-11-20 content=text",
}
"""Our commands, and the drop-in's that do the same; both in the order in which they change the vault."""
SAME_SEARCH = {
    "read {note}": ["", "{path}"],
    "read {note} --view outline": ["^#+ ", "{path}"],
    "search {word} --match exact --show paths": ["--files-with-matches", "{word}"],
    "search {word} --match exact": ["--line-number", "{word}"],
    "list --recursive --limit 10": ["--files"],
    "links {note}": ["--files-with-matches", r"\[\[{note}"],
    "tags": ["--only-matching", "--no-filename", r"#[\w/-]+"],
    "tasks": ["--line-number", r"^\s*[-*+] \[ \]"],
}
"""What ripgrep is given to find about the same: lines of text, without a vault's rules for links, tags and tasks."""
ALONE = ("--help", "search --help", "completion bash", "sea⇥")
"""Commands that open no vault; the last one is a completion."""


def one_shots(ours: Server, notes: Sequence[str], rounds: int, samples: Samples) -> None:
    """Each command in turn with the others. The index is there, and the first run of each is not counted."""
    ran = {
        (READ, ours.name): [*_program(), "obsidian", "read", f"file={Path(notes[0]).stem}"],
        (SEARCH, ours.name): [*_program(), "obsidian", "search", f"query={RARE}"],
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


def _program() -> list[str]:
    """The program as it is installed, or else as a module."""
    installed = Path(sys.executable).with_name("obsidian-mcp")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "obsidian_mcp"]


def compare(folder: Path) -> str:
    """Measure every command beside the drop-in's in one run, in turn; return the table."""
    server = prepare_server(folder)
    path = paths(NOTES)[0]
    note = Path(path).stem
    figures: dict[str, list[float]] = {}
    for number in range(ROUNDS + 1):
        words = {"note": note, "path": path, "word": RARE, "number": number}
        commands = {PYTHON: [sys.executable, "-c", "pass"]}
        for mine, theirs in SAME_WORK.items():
            pair = [mine, f"obsidian {theirs}"]
            for name in pair if number % 2 else reversed(pair):
                commands[name] = [*_program(), *(word.format(**words) for word in name.split())]
        if ripgrep := shutil.which("rg"):
            for mine, expression in SAME_SEARCH.items():
                commands[f"rg {mine}"] = [ripgrep, *(word.format(**words) for word in expression)]
        commands |= {f"obsidian-mcp {alone}": [*_program(), *alone.split()] for alone in ALONE}
        for name, command in commands.items():
            is_completion = name.endswith("⇥")
            asked = {"_OBSIDIAN_MCP_COMPLETE": "bash_complete", "COMP_WORDS": "obsidian-mcp sea", "COMP_CWORD": "1"}
            seconds = _seconds(command, server, asked if is_completion else {})
            if number:
                figures.setdefault(name, []).append(seconds)
    best = {name: min(samples) * 1e3 for name, samples in figures.items()}
    rows = []
    for mine, theirs in SAME_WORK.items():
        ours, other = best[mine], best[f"obsidian {theirs}"]
        search = f"{best[f'rg {mine}']:.0f}" if f"rg {mine}" in best else ""
        rows.append(f"| `{mine}` | {ours:.0f} | `{theirs}` | {other:.0f} | {ours / other:.2f} | {search} |")
    alone = [f"| `{name}` | {best[f'obsidian-mcp {name}']:.0f} |" for name in ALONE]
    return f"""# Commands beside those of the drop-in

Written by `make bench-cli`: milliseconds of the processor for whole processes on a vault of
{NOTES} notes, each command in turn with the others, the best of {ROUNDS}. Of a pair each runs first in every other
round, because the first one also indexes what the commands before have changed. `{PYTHON}` takes {best[PYTHON]:.0f} ms.
Promised: at most {MOST_RATIO} of the drop-in's for the same work, and at most {MOST_MILLISECONDS} ms for help and
completion on a machine where Python alone takes 16. The last column is ripgrep looking for about the same in the lines
of all notes, without an index and without the vault's rules.

| command | ms | drop-in | ms | ratio | ripgrep, ms |
|---|--:|---|--:|--:|--:|
{chr(10).join(rows)}

| alone | ms |
|---|--:|
{chr(10).join(alone)}
"""


def _seconds(command: Sequence[str], server: Server, environment: Mapping[str, str]) -> float:
    """Seconds of the processor, which other work of the machine does not change as it does the time of day."""
    import resource  # not on Windows, where reports are read all the same

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603  ours
        command,
        cwd=server.vault,
        env={**os.environ, **server.env, **environment},
        stdin=subprocess.DEVNULL,  # ripgrep searches a pipe in place of the folder
        capture_output=True,
        check=False,  # 1 where nothing is found
        timeout=60,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def prepare_server(folder: Path) -> Server:
    """The generated vault, with an index, a cache and a state of its own."""
    server = servers.ours(prepared(folder, NOTES))
    env = {**server.env, "OBSIDIAN_VAULT_PATH": str(server.vault)}
    return replace(server, env=env)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(__file__).with_name("commands.md").write_text(compare(Path(folder)), encoding="utf-8", newline="\n")
