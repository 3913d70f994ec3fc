"""A helper process that takes what a test asks for: `python -m tests.adapters.helper_of_tests`."""

from __future__ import annotations

import os
import threading
from typing import Any

from obsidian_mcp.adapters.helper_loop import HelperMessage, answer_requests

UNLIMITED = 2**40
"""As on systems that limit no address space: the program that asks has to look."""


def answer(request: Any, body: bytes) -> HelperMessage:
    match request:
        case "memory":
            taken = bytearray(300 * 2**20)
            threading.Event().wait()
            return len(taken), b""
        case "crash":
            os._exit(3)
        case "error":
            raise ValueError("a library stumbles")
        case "wait":
            threading.Event().wait()
    return request, body


if __name__ == "__main__":
    answer_requests(answer, UNLIMITED)
