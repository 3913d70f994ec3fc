"""What lies around a command: the vault that is meant, undo, the policy, the clipboard, standard input, the app."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.cli import main
from tests.system import needs

from .conftest import Ran, Run


def test_undo_takes_back_a_change_with_all_its_files(vault: Path, run: Run) -> None:
    """HEADLESS-18"""
    before = (vault / "Alpha.md").read_bytes()
    assert run("rename", "file=Beta", "name=Gamma") == "Renamed: Beta.md -> Gamma.md\n"
    assert b"[[Gamma]] [[Gamma]]" in (vault / "Alpha.md").read_bytes()
    assert main.run_command_line(["undo"]) == 0
    assert (vault / "Alpha.md").read_bytes() == before
    assert (vault / "Beta.md").exists()
    types = vault / ".obsidian" / "types.json"
    types.write_text('{"types": {"count": "number"}}', encoding="utf-8")
    assert run("property:set", "name=count", "value=many", "path=Alpha.md") == "Set count: many\n"
    assert "text" in types.read_text(encoding="utf-8")
    assert main.run_command_line(["undo"]) == 0
    assert (vault / "Alpha.md").read_bytes() == before
    assert types.read_text(encoding="utf-8") == '{"types": {"count": "number"}}'


def test_the_policy_holds(vault: Path, run: Run, tmp_path: Path) -> None:
    """HEADLESS-18"""
    policy = '[vaults.Cases]\nhidden = ["Folder/"]\nwrite = ["Alpha.md"]\n'
    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    assert run("files", "folder=Folder") == ""
    assert run("read", "file=Gamma") == 'Error: File "Gamma" not found.\n'
    before = (vault / "Beta.md").read_bytes()
    assert run("append", "path=Beta.md", "content=x").startswith("Error: ")
    assert run("property:set", "name=when", "value=2026-01-02T03:04", "type=datetime", "path=Alpha.md") == (
        "Set when: 2026-01-02T03:04\n"
    )
    assert not (vault / ".obsidian" / "types.json").exists()
    assert run("theme:set", "name=").startswith("Error: ")
    assert (vault / "Beta.md").read_bytes() == before


def test_a_very_long_line_is_printed_once_for_all_its_matches(vault: Path, run: Run) -> None:
    """HEADLESS-14"""
    drawing = "quagga " * 2_000
    (vault / "Drawing.md").write_text(f"quagga quagga\n{drawing}\nquagga\n", encoding="utf-8")
    short = "Drawing.md:1: quagga quagga\n"
    assert run("search:context", "query=quagga") == (
        f"{short}{short}Drawing.md:2: {drawing.strip()}\nDrawing.md:3: quagga\n"
    )


def test_the_facts_of_a_file_have_its_times(vault: Path, run: Run) -> None:
    """HEADLESS-10"""
    os.utime(vault / "Beta.md", ns=(0, 1_700_000_001_234_567_890))
    lines = run("file", "file=Beta").splitlines()
    assert lines[:4] == ["path\tBeta.md", "name\tBeta", "extension\tmd", f"size\t{(vault / 'Beta.md').stat().st_size}"]
    assert lines[4].partition("\t")[0] == "created"
    assert lines[4].partition("\t")[2].isdigit()
    assert lines[5:] == ["modified\t1700000001234"]


def test_content_comes_from_standard_input_as_it_is(
    vault: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-06, HEADLESS-20"""
    given = tmp_path / "given.txt"
    given.write_bytes(rb"\times \n" + "日本\n".encode())
    with given.open(encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert run("create", "path=In.md", "stdin") == "Created: In.md\n"
    assert (vault / "In.md").read_bytes() == given.read_bytes()


def test_the_output_is_copied_where_there_is_a_clipboard(
    vault: Path, ran: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-19: the stand-in for a program of the system is a script; Windows finds the batch file that runs it."""
    program, copied = tmp_path / "bin" / "xsel", tmp_path / "copied"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent))
    answer = ran("read", "path=Folder/Gamma.md", "--copy")
    assert answer == Ran("plain body [[Alpha]] [[Ghost]]\n", "There is no clipboard here; nothing was copied.\n", 0)
    script = f"import pathlib, sys\npathlib.Path({str(copied)!r}).write_bytes(sys.stdin.buffer.read())\n"
    program.write_text(f"#!{sys.executable}\n{script}", encoding="utf-8", newline="\n")
    program.chmod(stat.S_IRWXU)
    program.with_suffix(".cmd").write_text(f'@"{sys.executable}" "{program}"\n', encoding="utf-8")
    assert ran("read", "path=Folder/Gamma.md", "--copy").err == ""
    assert copied.read_text(encoding="utf-8") == "plain body [[Alpha]] [[Ghost]]\n"
    assert vault.exists()


def test_the_vault_is_found_by_name_id_or_folder(
    vault: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-04"""
    other, third = tmp_path / "Other", tmp_path / "Third"
    (other / ".obsidian").mkdir(parents=True)
    (other / "Deep").mkdir()
    (other / "Only.md").write_text("x", encoding="utf-8")
    third.mkdir()
    register(tmp_path, {"0123456789abcdef": {"path": str(third), "ts": 5}, "f" * 16: {"path": str(other), "ts": 9}})
    assert run("vault=Cases", "vault", "info=name") == "Cases\n"
    assert run("vault=Third", "vault", "info=name") == "Third\n"
    assert run("vault=0123456789abcdef", "vault", "info=name") == "Third\n"
    assert run(f"vault={vault}", "files") == "Vault not found.\n"
    assert run("vaults") == "Third\nOther\n"
    monkeypatch.chdir(other / "Deep")
    assert run("files") == "Only.md\n"
    assert run("files", "total", "vault=Cases") == "6\n"
    monkeypatch.chdir(third)
    assert run("vault", "info=name") == "Third\n"
    monkeypatch.chdir(tmp_path)
    assert run("vault", "info=name") == "Cases\n"
    monkeypatch.delenv("OBSIDIAN_VAULT_PATH")
    assert run("vault", "info=name") == "Other\n"
    register(tmp_path, {})
    assert run("files") == "Vault not found.\n"


def test_names_are_found_in_either_form_of_their_accents(vault: Path, run: Run) -> None:
    """HEADLESS-05: a terminal on macOS completes a name in the form that the disk has."""
    (vault / "Ordner").mkdir()
    (vault / "Ordner" / "Caf\u00e9 \u304c.md").write_text("x", encoding="utf-8")
    apart = "Ordner/Cafe\u0301 \u304b\u3099.md"
    assert run("read", f"path={apart}") == "x\n"
    assert run("read", f"file={apart.rpartition('/')[2]}") == "x\n"
    assert run("files", "folder=Ordner") == "Ordner/Caf\u00e9 \u304c.md\n"
    assert run("move", f"path={apart}", "to=/") == "Moved: Ordner/Caf\u00e9 \u304c.md -> Caf\u00e9 \u304c.md\n"


@needs("names that differ in their normal form")
def test_of_two_files_that_differ_in_normal_form_the_one_whose_path_is_given_is_meant(vault: Path, run: Run) -> None:
    """NAME-06"""
    for path, word in {"Folder/\u00e9.md": "composed", "Folder/e\u0301.md": "decomposed"}.items():
        (vault / path).write_text(word, encoding="utf-8")
    for path, word in {"Folder/\u00e9.md": "composed", "Folder/e\u0301.md": "decomposed"}.items():
        assert run("read", f"path={path}") == f"{word}\n"
        assert run("append", f"path={path}", "content=more") == f"Appended to: {path}\n"
        assert (vault / path).read_text(encoding="utf-8") == f"{word}\nmore"
    assert run("rename", "path=Folder/e\u0301.md", "name=Apart").endswith("Folder/Apart.md\n")
    assert (vault / "Folder/Apart.md").read_text(encoding="utf-8") == "decomposed\nmore"


def test_cards_are_added_to_a_canvas_and_connected(vault: Path, run: Run) -> None:
    """HEADLESS-20"""
    assert run("create", "path=New.canvas") == "Created: New.canvas\n"
    first = run("canvas:add", "file=New", r"text=one\ntwo", "color=2").removeprefix("Added: ").strip()
    second = run("canvas:add", "path=New.canvas", "note=Beta", f"beside={first}", "side=below")
    edge = run("canvas:connect", "file=New", f"from={first}", "to=Beta.md", "label=to")
    group = run("canvas:add", "file=New", "label=G", "x=-500", "y=-500", "width=100", "height=100")
    assert [message.partition(": ")[0] for message in (second, edge, group)] == ["Added", "Connected", "Added"]
    canvas = json.loads((vault / "New.canvas").read_text(encoding="utf-8"))
    assert [node["type"] for node in canvas["nodes"]] == ["group", "text", "file"]
    assert canvas["nodes"][1]["text"] == "one\ntwo"
    assert canvas["nodes"][2]["file"] == "Beta.md"
    assert [edge["label"] for edge in canvas["edges"]] == ["to"]
    assert run("backlinks", "file=Beta") == "Alpha.md\nNew.canvas\n"


def register(home: Path, vaults: dict[str, object]) -> None:
    """Write the app's registry where each system has it."""
    for folder in (home / "config" / "obsidian", home / "Library" / "Application Support" / "obsidian"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "obsidian.json").write_text(json.dumps({"vaults": vaults}), encoding="utf-8")


def test_a_command_of_the_app_is_handed_to_it_where_it_runs(
    vault: Path, ran: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEADLESS-09, APP-TOOL-03"""
    program = tmp_path / "official.py"
    program.write_text("import sys; print(*sys.argv[1:], sep='|'); sys.exit(3)\n", encoding="utf-8", newline="\n")
    register(tmp_path, {"0123456789abcdef": {"path": str(vault), "ts": 1, "open": True}})
    monkeypatch.setenv("OBSIDIAN_MCP_CLI", f'"{sys.executable}" "{program}"')
    monkeypatch.setenv("OBSIDIAN_MCP_ASSUME_RUNNING", "1")
    assert ran("eval", "code=1+1").status == 1
    monkeypatch.setenv("OBSIDIAN_MCP_BACKEND", "auto")
    refused = ran("eval", "code=1+1")
    assert "--allow-eval or OBSIDIAN_MCP_ALLOW_EVAL=1" in refused.out
    assert ran("dev:cdp", "method=Runtime.evaluate").out == refused.out
    assert ran("commands").status == 3
    monkeypatch.setenv("OBSIDIAN_MCP_ALLOW_EVAL", "1")
    handed = ran("eval", "code=1+1")
    assert (handed.out.splitlines(), handed.status) == (["vault=0123456789abcdef|eval|code=1+1"], 3)
    policy = tmp_path / "policy.toml"
    monkeypatch.setenv("OBSIDIAN_MCP_POLICY", str(policy))
    policy.write_text('write = ["Inbox/"]\n', encoding="utf-8", newline="\n")
    assert "The user's policy limits what may be read or changed" in ran("eval", "code=1+1").out
    assert ran("commands").status == 3
    policy.write_text('scope = "Deep"\n', encoding="utf-8", newline="\n")
    assert "The user's policy limits" in ran("history:read", "path=Home.md").out
    policy.write_text('confirm = ["edit"]\n', encoding="utf-8", newline="\n")
    assert "The user wants to confirm this: run the app's command 'plugin:enable'" in ran("plugin:enable", "id=x").out
    policy.unlink()
    monkeypatch.setenv("OBSIDIAN_MCP_READ_ONLY", "1")
    assert ran("eval", "code=1+1").out == "Error: This session only reads.\n"
    assert ran("commands").status == 3
    monkeypatch.setenv("OBSIDIAN_MCP_DROP_IN", "1")
    assert ran("commands").status == 1
