"""Threads share the C library's pools of memory."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, sqlite3, sys, threading
from obsidian_mcp.adapters.allocator import share_pools
if sys.argv[1] == "shared":
    share_pools()
together = threading.Barrier(12)
def work():
    together.wait()
    sqlite3.connect(":memory:").execute("CREATE TABLE t (x)")
    together.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such pools")
def test_threads_share_a_few_pools() -> None:
    def pools(how: str) -> int:
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True, encoding="utf-8"
        )
        return ran.stderr.count("Arena ")

    assert pools("each its own") > 2
    assert pools("shared") <= 2
