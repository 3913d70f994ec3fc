"""The files in `cases`: what is printed and what becomes of the files, rule by rule (HEADLESS-01 to HEADLESS-20).

Every part of a file begins with `== ` and a title, and has a vault of its own: the one of `conftest`. Its lines are
    @ path "text"     write a file, whose text is a JSON string; `@ path/` makes a folder
    % NAME=value      set an environment variable
    $ command line    run `obsidian-mcp obsidian …`; quotes as in a shell
    |text             a line that it prints; ⇥ stands for a tab, <vault> for the folder, <version> for our version
    !text             a line on standard error
    [1]               its exit status, where that is not 0
    = path "text"     the text of a file now; `= path -` for one that is not there
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from obsidian_mcp import __version__

from .conftest import Ran

FOLDER = Path(__file__).parent / "cases"


@dataclass
class Step:
    """One line to do, and what is expected of it."""

    kind: str
    text: str
    out: str = ""
    err: str = ""
    status: int = 0


@dataclass
class Part:
    title: str
    steps: list[Step] = field(default_factory=list)


def parts() -> Iterator[Part]:
    for path in sorted(FOLDER.glob("*.txt")):
        part = None
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line.startswith("== "):
                if part is not None:
                    yield part
                part = Part(f"{path.stem}: {line[3:]}")
                continue
            if part is None or not line.strip() or line.startswith("# "):
                continue
            if line[0] in "@%$=":
                part.steps.append(Step(line[0], line[2:]))
            elif line[0] == "|":
                part.steps[-1].out += line[1:].replace("⇥", "\t") + "\n"
            elif line[0] == "!":
                part.steps[-1].err += line[1:] + "\n"
            elif line[0] == "[":
                part.steps[-1].status = int(line.strip("[]"))
            else:
                raise ValueError(f"{path.name}:{number}: {line!r}")
        if part is not None:
            yield part


PARTS = list(parts())


@pytest.mark.parametrize("part", PARTS, ids=[part.title for part in PARTS])
def test_commands_print_and_change_what_the_rules_say(
    part: Part, vault: Path, ran: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-01 to HEADLESS-20, BASE-92"""
    for step in part.steps:
        name, quote, text = step.text.partition(' "')
        match step.kind:
            case "@" if name.endswith("/"):
                (vault / name).mkdir(parents=True)
            case "@":
                (vault / name).parent.mkdir(parents=True, exist_ok=True)
                (vault / name).write_bytes(json.loads(quote[1:] + text).encode())
            case "%":
                variable, _, setting = step.text.partition("=")
                monkeypatch.setenv(variable, setting)
            case "=" if not quote:
                assert not (vault / name.removesuffix(" -")).exists(), name
            case "=":
                assert (vault / name).read_bytes().decode() == json.loads(quote[1:] + text), name
            case _:
                out = step.out.replace("<vault>", str(vault)).replace("<version>", __version__)
                assert ran(*shlex.split(step.text)) == Ran(out, step.err, step.status), step.text
