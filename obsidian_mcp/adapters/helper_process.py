"""A process of this package that does one kind of work on files that may take any memory and time.

A PDF of 136 kB can take 1.3 GB and minutes, and nothing stops a library in the middle of a page. A
process can be stopped: it has a limit of memory, and ends with the call or the program.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Self

from .helper_loop import HelperMessage, read_message, write_message
from .processes import memory_of

LOOK_SECONDS: Final = 0.05
"""Interval at which the memory of the process is measured, and `look` is called."""


class HelperEnded(Exception):
    """A helper has ended without an answer: it took too much memory, or somebody ended it."""


def can_start() -> bool:
    """Return whether there is a Python to start: a program that is one executable has none."""
    return not getattr(sys, "frozen", False)


class HelperProcess:
    """A running helper. As a context it ends the process. One thread asks; `end` is for any."""

    def __init__(self, module: str, *arguments: str, memory_bytes: int) -> None:
        """`module` calls `answer_requests`. Raises: OSError."""
        self._memory_bytes = memory_bytes
        self._answers: queue.SimpleQueue[HelperMessage | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603  our own module
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        self._receiver = threading.Thread(target=self._receive, name="helper", daemon=True)
        self._receiver.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.end()

    def ask(self, header: Any, body: bytes = b"", *, look: Callable[[], None]) -> HelperMessage:
        """Return the answer to one request.

        `look` is called several times a second, and may raise what ends the waiting. Raises:
        HelperEnded; whatever `look` raises. The process has to be ended after either.
        """
        assert self._process.stdin is not None  # noqa: S101  for the type checker
        try:
            write_message(self._process.stdin, header, body)
        except (OSError, ValueError) as error:  # it has ended, or is ended by another thread
            raise HelperEnded from error
        while True:
            look()
            with suppress(queue.Empty):
                answer = self._answers.get(timeout=LOOK_SECONDS)
                if answer is None:
                    raise HelperEnded
                return answer
            if memory_of(self._process.pid) > self._memory_bytes:
                raise HelperEnded

    @property
    def has_ended(self) -> bool:
        """Whether the process is no longer there."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End the process without waiting, so that the thread that asks it goes on."""
        self._process.kill()

    def end(self) -> None:
        """End the process and what belongs to it."""
        self._process.kill()
        self._process.wait()
        self._receiver.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # what was not sent yet is not sent any more
                    stream.close()

    def _receive(self) -> None:
        assert self._process.stdout is not None  # noqa: S101  for the type checker
        with suppress(OSError, ValueError):  # the process, or the answer that it began, was cut off
            while (message := read_message(self._process.stdout)) is not None:
                self._answers.put(message)
        self._answers.put(None)
