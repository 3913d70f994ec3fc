"""Processes that parse notes for the index: the same facts, and none of them outlives its use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from obsidian_mcp.adapters.parsers import Helper
from obsidian_mcp.core import facts

JOBS = [
    ("a.md", b"---\ntags: [x]\n---\n[[b|c]] #t\n- [ ] task", 40),
    ("broken.md", b"---\nx: [\n---\n\xff", 10),
    ("c.canvas", b'{"nodes": [{"id": "1", "type": "file", "file": "a.md"}]}', 60),
]


# INDEX-29
def test_a_helper_gives_the_facts_that_this_process_would() -> None:
    helper = Helper()
    assert helper.parse(JOBS) == facts.parse(JOBS)
    assert helper.parse(JOBS[:1]) == facts.parse(JOBS[:1])
    helper.rest()
    assert helper.parse(JOBS) == facts.parse(JOBS)
    helper.rest()


def test_a_helper_ends_when_it_may_rest() -> None:
    helper = Helper()
    helper.parse(JOBS)
    process = helper._process
    assert process is not None
    assert process.poll() is None
    helper.rest()
    assert process.poll() is not None


def test_a_helper_ends_with_its_server() -> None:
    helper = Helper()
    helper.parse(JOBS)
    process = helper._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0
    helper.rest()


# INDEX-29
def test_when_a_helper_dies_its_notes_are_parsed_here() -> None:
    helper = Helper()
    helper.parse(JOBS)
    assert helper._process is not None
    helper._process.kill()
    helper._process.wait()

    assert helper.parse(JOBS) == facts.parse(JOBS)
    assert helper.parse(JOBS) == facts.parse(JOBS)
    assert helper._process is None


def test_where_no_process_can_be_started_notes_are_parsed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert Helper().parse(JOBS) == facts.parse(JOBS)


def test_a_helper_imports_nothing_from_the_folder_it_is_started_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "struct.py").write_text("raise SystemExit", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    helper = Helper()
    assert helper.parse(JOBS) == facts.parse(JOBS)
    assert helper._process is not None
    helper.rest()
