"""The commands of the drop-in under a key: as of the tools, no answer tells of what lies outside (LIMIT-01)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from obsidian_mcp.cli import main
from obsidian_mcp.cli.headless.words import COMMANDS, DropInCommand
from tests.test_safety_grants import ELSEWHERE, INSIDE, MARKS, OUTSIDE, POLICY, TIME
from tests.vaults import contents, write_files

VALUES = ("Alpha", "Sesame", "Outside/Sesame.md", "Outside", "gneiss", "zygomorph")


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two vaults that are equal inside the folder of the key; for all commands, which change both alike."""
    made = []
    for name, outside in (("one", OUTSIDE), ("two", ELSEWHERE)):
        folder = tmp_path_factory.mktemp(name)
        made.append(write_files(folder / "vault", {**INSIDE, **outside}))
        for path in made[-1].rglob("*"):
            os.utime(path, (TIME, TIME))
        (folder / "policy").write_text(POLICY, encoding="utf-8")
    return made[0], made[1]


def lines_of(command: DropInCommand) -> Iterator[list[str]]:
    """Yield the words of a command: alone, with each of its keys, and with each value, as text and as JSON.

    The flags come with every second form: what they add is in both.
    """
    required = {key.name: "Alpha" for key in command.parameters if key.required}
    flags = [key.name for key in command.parameters if not key.placeholder]
    for changed in ({}, *({key.name: value} for key in command.parameters if key.placeholder for value in VALUES)):
        given: Mapping[str, str] = {**required, **changed}
        words = [command.name, *(f"{name}={value}" for name, value in given.items())]
        yield words
        if changed and flags:
            yield [*words, *flags, "--json"]
    if flags:
        yield [command.name, *(f"{name}={value}" for name, value in required.items()), *flags]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_no_command_of_the_drop_in_tells_of_or_changes_what_lies_outside(
    command: DropInCommand,
    roots: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LIMIT-01, POL-14"""
    monkeypatch.setattr(secrets, "choice", max)
    before = [contents(root) for root in roots]
    for words in lines_of(command):
        said = []
        for root in roots:
            for name in ("CACHE", "STATE", "POLICY"):
                monkeypatch.setenv(f"OBSIDIAN_MCP_{name}", str(root.parent / name.lower()))
            monkeypatch.setenv("OBSIDIAN_MCP_TODAY", "2026-11-24")
            main.run_command_line(["--vault", str(root), "--key", "phone", "obsidian", *words])
            said.append("".join(capsys.readouterr()).replace(str(root.parent), ""))
        assert said[0] == said[1], words
        told = [mark for mark in MARKS if mark in said[0] and mark not in " ".join(words)]
        assert not told, (words, said[0])
    for root, files in zip(roots, before, strict=True):
        after = contents(root)
        outside = [path for path in files.keys() - INSIDE.keys() if not path.startswith("Projects/")]
        assert [path for path in outside if after.get(path) != files[path]] == []
