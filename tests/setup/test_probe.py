"""Starting a configured server and asking it (specs/install.md, DOC-03)."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from obsidian_mcp import __version__
from obsidian_mcp.setup.probe import NoAnswer, probe_server
from tests.system import needs

ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        {answer}
        print(json.dumps(answer), flush=True)
"""


def run(script: str, tmp_path: Path, seconds: float = 30.0) -> str:
    """How starting a Python script fails."""
    with pytest.raises(NoAnswer) as caught:
        probe_server([sys.executable, "-c", script], os.environ, tmp_path, seconds)
    return str(caught.value)


def test_our_own_server_answers_and_ends(basic: Path) -> None:
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(basic)]
    environment = {**os.environ, "HOME": str(basic.parent), "XDG_CACHE_HOME": "", "XDG_STATE_HOME": ""}

    answer = probe_server(command, environment, basic)

    assert (answer.name, answer.version) == ("obsidian-mcp", __version__)
    assert answer.tools > 5
    assert 0 < answer.seconds < 30
    assert not [child for child in psutil.Process().children() if "obsidian_mcp" in child.cmdline()]


def test_what_cannot_be_started_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NoAnswer, match="cannot be started: "):
        probe_server([str(tmp_path / "gone")], os.environ, tmp_path)


def test_a_server_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    assert run("import sys; sys.exit('no module named frontmatter')", tmp_path) == (
        "ends with status 1 instead of answering initialize (no module named frontmatter)"
    )


def test_a_server_that_says_nothing_is_ended_after_the_time_limit(tmp_path: Path) -> None:
    started = time.monotonic()

    script = "import sys, time; print('thinking', file=sys.stderr, flush=True); sys.stdin.read(); time.sleep(0)"
    assert run(script, tmp_path, seconds=1.0).startswith("does not answer initialize in time")
    assert time.monotonic() - started < 20


@needs("list of processes")
def test_a_server_that_does_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        "print(child.pid, file=sys.stderr, flush=True); time.sleep(600)"
    )
    with pytest.raises(NoAnswer) as caught:
        probe_server([sys.executable, "-c", script], os.environ, tmp_path, seconds=2.0, ending=0.1)

    child = int(str(caught.value).rpartition("(")[2].rstrip(")"))
    end = time.monotonic() + 20
    while not has_ended(child):
        assert time.monotonic() < end
        time.sleep(0.01)


def has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_server_that_prints_to_its_output_is_found_out(tmp_path: Path) -> None:
    assert run("print('Welcome!', flush=True); input()", tmp_path) == (
        "writes 'Welcome!' to its output, where only protocol messages may stand"
    )


def test_an_error_is_told_as_the_server_says_it(tmp_path: Path) -> None:
    script = ECHO.format(answer='answer = {"id": message["id"], "error": {"code": 1, "message": "not today"}}')

    assert run(script, tmp_path) == "answers initialize with an error: not today"


def test_a_server_that_answers_initialize_but_not_the_tools_is_found_out(tmp_path: Path) -> None:
    script = ECHO.format(
        answer='answer = {"id": message["id"], "result": {}} if message["method"] == "initialize" else sys.exit(3)'
    )

    assert run(script, tmp_path) == "ends with status 3 instead of answering tools/list"
