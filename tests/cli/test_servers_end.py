"""A server ends with the status of its end, whatever runs in the background (specs/stdio.md, END-09)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from obsidian_mcp.errors import InvalidArguments
from tests.serve import plain_http
from tests.serve.raw import RawServer
from tests.system import EndingSignal, ending_signals

BUSY = """
import sys, threading, time
from typing import Annotated
from pydantic import AfterValidator, TypeAdapter

def rest(value):
    time.sleep(0.001)
    return value

numbers = TypeAdapter(list[Annotated[int, AfterValidator(rest)]])

def work():
    while True:
        numbers.validate_python([1] * 50)

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

slow_to_dismantle = Slow()
threading.Thread(target=work, daemon=True).start()
from obsidian_mcp.cli.main import main
main(sys.argv[1:])
"""
"""A server with a thread in compiled code, to which each millisecond of Python's own end is deadly."""


@pytest.mark.parametrize("command", [[], ["bridge", "--port", "1"]], ids=["vault", "plugin"])
def test_a_server_on_stdio_ends_in_order_around_a_thread_in_compiled_code(basic: Path, command: list[str]) -> None:
    """END-09"""
    with RawServer([sys.executable, "-c", BUSY, "--vault", str(basic), *command]) as server:
        server.initialize()
        assert server.close() == 0


@pytest.mark.parametrize("sig", ending_signals()[:1])
def test_a_server_over_http_ends_in_order_around_a_thread_in_compiled_code(basic: Path, sig: EndingSignal) -> None:
    """END-09"""
    with RawServer([sys.executable, "-c", BUSY, "http", "--port", "0", "--vault", str(basic)]) as server:
        server.wait_for_log("listening on")
        url = server.stderr().split()[-1]
        assert plain_http.get(f"{url}/health").json()["status"] == "ok"  # it has said so before it handles signals
        server.signal(sig.sent)
        assert server.wait() == 0


def test_a_server_that_cannot_start_ends_with_the_status_of_its_error(tmp_path: Path) -> None:
    """END-09"""
    with RawServer([sys.executable, "-c", BUSY, "--tools", "none-such", "--vault", str(tmp_path)]) as server:
        assert server.wait() == InvalidArguments.exit_status
        assert "none-such" in server.stderr()
