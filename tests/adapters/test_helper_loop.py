"""The side of a helper process, as the program that started it sees it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from obsidian_mcp.adapters.helper_loop import HelperMessage, read_message, write_message

_HELPER = """
import os, stat
from obsidian_mcp.adapters.helper_loop import answer_requests

def answer(request, body):
    if request == "end":
        os._exit(0)
    if request == "print":
        print("a library says something", flush=True)
    is_pipe = stat.S_ISFIFO(os.fstat(0).st_mode)
    return {"input is the pipe": is_pipe and request == "input"}, body

answer_requests(answer, 10**10)
"""


@pytest.mark.parametrize("request_", ["input", "print"])
def test_what_a_helper_works_with_shares_no_stream_with_its_messages(request_: str) -> None:
    """ATT-12: else loading pdfium waits for ever on Windows, and what a library prints is read as an answer."""
    assert _ask(request_) == ({"input is the pipe": False}, b"body")


def _ask(request: str) -> HelperMessage | None:
    """Return the answer to one request of a helper that ends at the next one."""
    command = [sys.executable, "-c", _HELPER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as helper:
        assert helper.stdin is not None
        assert helper.stdout is not None
        write_message(helper.stdin, request, b"body")
        write_message(helper.stdin, "end")
        return read_message(helper.stdout)
