"""A client that costs as little as possible: bytes to a server's stdin, lines from its stdout, no threads."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import psutil

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"roots": {"listChanged": True}},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Refused(Exception):
    """A call was answered with an error."""


class Wire:
    """One server process, started on entering."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self.command = command
        self.env = {**os.environ, **(env or {})}
        self._ids = itertools.count(1)
        self._held = b""

    def __enter__(self) -> Self:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(  # noqa: S603  a server that somebody asked to measure
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.env,
            bufsize=0,
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise OSError("no pipes")
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stdin.close()
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._stdout.close()

    def since_start(self) -> float:
        return time.perf_counter() - self.started

    def send(self, method: str, params: Mapping[str, Any] | None = None, *, notification: bool = False) -> int:
        number = next(self._ids)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if not notification:
            message["id"] = number
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[self._stdin.write(data) or 0 :]
        return number

    def line(self) -> bytes:
        parts = [self._held]
        while b"\n" not in parts[-1]:
            data = os.read(self._stdout.fileno(), 1 << 20)
            if not data:
                raise EOFError(f"{self.command} ended")
            parts.append(data)
        line, _, self._held = b"".join(parts).partition(b"\n")
        return line

    def answer(self, number: int) -> bytes:
        """The raw answer to a request; everything before it is dropped."""
        mark = f'"id":{number}'.encode()
        while True:
            line = self.line()
            if mark in line and json.loads(line).get("id") == number:
                return line

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> bytes:
        return self.answer(self.send(method, params))

    def call(self, tool: str, **arguments: Any) -> bytes:
        line = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if b'"result"' not in line:
            raise Refused(f"{tool}: {line[:300]!r}")
        return line

    def initialize(self) -> None:
        self.ask("initialize", INITIALIZE)
        self.send("notifications/initialized", notification=True)

    def seconds(self) -> float:
        """Processor time of the process and what it has started."""
        process = psutil.Process(self.process.pid)
        times = [each.cpu_times() for each in [process, *process.children(recursive=True)]]
        return sum(each.user + each.system for each in times)

    def memory(self) -> int:
        """Resident bytes of the process and what it has started."""
        process = psutil.Process(self.process.pid)
        return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])
