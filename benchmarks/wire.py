"""A client that costs as little as possible: bytes to a server's stdin, lines from its stdout."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import psutil

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"roots": {"listChanged": True}},
    "clientInfo": {"name": "bench", "version": "1"},
}
CLAUDE_DESKTOP = {**INITIALIZE, "clientInfo": {"name": "claude-ai", "version": "0.1.0"}}
"""How Claude Desktop introduces itself."""
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""`_meta` of every request of the revision without a handshake."""
PATIENCE = 60.0
"""Seconds that an answer may take; hosts give up no later."""
ENDING = 3.0
"""Seconds that a server has to end once its stdin is closed."""


class Refused(Exception):
    """A call was answered with an error."""


class Ended(Exception):
    """The server ended, or was ended because it took too long."""


FAILURES = (Refused, Ended, OSError, subprocess.SubprocessError)
"""What can go wrong with a server that is none of ours."""


class Wire:
    """One server process, started on entering. It is killed when an answer takes longer than `patience` seconds."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, patience: float = PATIENCE
    ) -> None:
        self.command = command
        self.env = {**os.environ, **(env or {})}
        self.patience = patience
        self._ids = itertools.count(1)
        self._held = b""
        self._waiting_until = float("inf")
        self._closed = threading.Event()
        self._too_slow = False

    def __enter__(self) -> Self:
        self._errors = tempfile.TemporaryFile()
        self.started = time.perf_counter()
        self.process = subprocess.Popen(  # noqa: S603  a server that somebody asked to measure
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=self.env,
            bufsize=0,
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise OSError("no pipes")
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self.process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self._kill()
            self.process.wait()
        self._stdout.close()
        self._errors.close()

    def _watch(self) -> None:
        while not self._closed.wait(0.5):
            if time.monotonic() > self._waiting_until:
                self._too_slow = True
                self._kill()
                return

    def _kill(self) -> None:
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self.process.pid).children(recursive=True):
                process.kill()
        self.process.kill()

    def since_start(self) -> float:
        return time.perf_counter() - self.started

    def encoded(self, method: str, params: Mapping[str, Any] | None = None) -> tuple[int, bytes]:
        """A request with an id of its own, to be given to `put` later."""
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        return number, json.dumps(message).encode() + b"\n"

    def put(self, data: bytes) -> None:
        self._waiting_until = time.monotonic() + self.patience
        try:
            while data:
                data = data[self._stdin.write(data) or 0 :]
        except BrokenPipeError:
            raise self._ended() from None

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        number, data = self.encoded(method, params)
        self.put(data)
        return number

    def line(self) -> bytes:
        parts = [self._held]
        while b"\n" not in parts[-1]:
            data = os.read(self._stdout.fileno(), 1 << 20)
            if not data:
                raise self._ended()
            parts.append(data)
        line, _, self._held = b"".join(parts).partition(b"\n")
        self._waiting_until = float("inf")
        return line

    def _ended(self) -> Ended:
        if self._too_slow:
            return Ended(f"no answer in {self.patience:.0f} s")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDING)
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return Ended(f"ended with {self.process.returncode}: {said[-1] if said else 'nothing said'}")

    def answer(self, number: int) -> bytes:
        """The raw answer to a request; everything before it is dropped."""
        mark = f'"id":{number}'.encode()
        while True:
            line = self.line()
            if mark in line and json.loads(line).get("id") == number:
                return line
            self._waiting_until = time.monotonic() + self.patience

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> bytes:
        return self.answer(self.send(method, params))

    def call(self, tool: str, **arguments: Any) -> bytes:
        """Raises: Refused for an error in either form."""
        line = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if is_error(line):
            raise Refused(f"{tool}: {line[:300].decode('utf-8', 'replace')}")
        return line

    def timed(self, tool: str, arguments: Mapping[str, Any], *, may_fail: bool = False) -> float:
        """Seconds of one call, encoding and decoding on our side aside. Raises: Refused."""
        number, data = self.encoded("tools/call", {"name": tool, "arguments": arguments})
        mark = f'"id":{number}'.encode()
        begun = time.perf_counter()
        self.put(data)
        line = self.line()
        while mark not in line:
            line = self.line()
        seconds = time.perf_counter() - begun
        if not may_fail and is_error(line):
            raise Refused(f"{tool}: {line[:300].decode('utf-8', 'replace')}")
        return seconds

    def together(
        self, calls: Iterable[tuple[str, Mapping[str, Any]]], at_once: int, *, may_fail: bool = False
    ) -> float:
        """Seconds that many calls take with so many of them under way at any time. Raises: Refused."""
        messages = [self.encoded("tools/call", {"name": tool, "arguments": given})[1] for tool, given in calls]
        open_, done, answers = 0, 0, []
        begun = time.perf_counter()
        while done < len(messages):
            while open_ < at_once and done + open_ < len(messages):
                self.put(messages[done + open_])
                open_ += 1
            line = self.line()
            if b'"id":' in line[:60] or b'"id":' in line[-60:]:  # anything else is news
                answers.append(line if len(line) < 1000 else line[:500] + line[-60:])
                open_, done = open_ - 1, done + 1
        seconds = time.perf_counter() - begun
        if not may_fail and (failed := [line for line in answers if is_error(line)]):
            raise Refused(f"{len(failed)} of {done} calls: {failed[0][:300].decode('utf-8', 'replace')}")
        return seconds

    def initialize(self) -> None:
        self.ask("initialize", INITIALIZE)
        self.notify_initialized()

    def notify_initialized(self) -> None:
        self.put(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self._waiting_until = float("inf")

    def _processes(self) -> list[psutil.Process]:
        process = psutil.Process(self.process.pid)
        return [process, *process.children(recursive=True)]

    def seconds(self) -> float:
        """Processor time of the process and what it has started."""
        times = [process.cpu_times() for process in self._processes()]
        return sum(process.user + process.system for process in times)

    def memory(self) -> int:
        """Resident bytes of the process and what it has started."""
        return sum(process.memory_info().rss for process in self._processes())


def is_error(answer: bytes) -> bool:
    return b'"result"' not in answer or b'"isError":true' in answer
