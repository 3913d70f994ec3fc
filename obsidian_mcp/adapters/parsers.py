"""Notes parsed in processes of their own, so that a first build uses every core and no question waits for it.

A helper is this program's Python with one function; it ends when its standard input does, so it never outlives the
server. Where none can be started, or one dies, the notes are parsed in this process: slower, never wrong.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any

from obsidian_mcp.core import facts
from obsidian_mcp.core.facts import Facts, Job

SERVE = "from obsidian_mcp.adapters.parsers import serve; serve()"
_LENGTH = struct.Struct("<Q")
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)

log = logging.getLogger(__name__)


class Helper:
    """One process that parses. For one thread at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._given_up = getattr(sys, "frozen", False)  # then the executable is no Python

    def parse(self, jobs: Sequence[Job]) -> Sequence[Facts]:
        """As `facts.parse`."""
        if not self._given_up and jobs:
            try:
                return self._ask(jobs)
            except (OSError, EOFError, pickle.UnpicklingError, struct.error) as error:
                log.info("The helper process for the index is gone (%r); this process goes on alone.", error)
                self._given_up = True
                self.rest()
        return facts.parse(jobs)

    def _ask(self, jobs: Sequence[Job]) -> Sequence[Facts]:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-P", "-c", SERVE],  # -P: nothing is imported from the folder of a vault
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=_NO_WINDOW,
            )
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise EOFError
        _send(process.stdin, jobs)
        answer: Sequence[Facts] = _receive(process.stdout)
        return answer

    def rest(self) -> None:
        """End the process; the next notes start another."""
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.kill()
            process.wait()


def serve() -> None:
    """What a helper does: parse what comes on standard input, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(5)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            _send(sys.stdout.buffer, facts.parse(_receive(sys.stdin.buffer)))


def _send(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return pickle.loads(pipe.read(_LENGTH.unpack(head)[0]))  # noqa: S301 - from a process that we started
