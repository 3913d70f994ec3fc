"""A client that knows bytes only: it starts a server as a subprocess and sees every line that comes back.

with RawServer([sys.executable, "-m", "obsidian_mcp"]) as server:
    server.initialize()
    assert server.call("tools/list")["result"]["tools"]
    assert server.close() == 0
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tests import forked

Message = dict[str, Any]

PATIENCE = 90.0
"""Seconds that anything may take on a busy machine before a test fails."""

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""The `_meta` of a request of the 2026-07-28 revision."""


class RawServer:
    """One server process. Leaving the context ends it, whatever state it is in."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: IO[bytes] | None = None,
        reading: bool = True,
    ) -> None:
        """`reading=False` leaves stdout unread until `start_reading`; `stdin` replaces the pipe."""
        self.process = forked.start(
            command,
            stdin=stdin or subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        """Raw lines of stdout in order, then b"" at its end."""
        self._stderr = b""
        self._logged = threading.Condition()
        self._next_id = 1000
        self._stdout_reader = threading.Thread(target=self._read_stdout, daemon=True)
        self._stderr_reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._stderr_reader.start()
        if reading:
            self.start_reading()

    def start_reading(self) -> None:
        self._stdout_reader.start()

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._logged:
                self._stderr += line
                self._logged.notify_all()

    # --- talking

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: Message) -> None:
        """Send messages, one line each, in one write."""
        self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def read(self, timeout: float = PATIENCE) -> Message:
        """The next message. Fails when the line is not one JSON object, at the end, and after `timeout` seconds."""
        line = self.line(timeout)
        assert line, f"the server closed stdout; stderr: {self.stderr()}"
        assert line.endswith(b"\n"), f"an unfinished line: {line[:200]!r}"
        message = json.loads(line)
        assert isinstance(message, dict), f"not an object: {line[:200]!r}"
        assert message.get("jsonrpc") == "2.0", f"not JSON-RPC: {line[:200]!r}"
        return message

    def line(self, timeout: float = PATIENCE) -> bytes:
        """The next raw line; b"" at the end of stdout."""
        try:
            return self.lines.get(timeout=timeout)
        except queue.Empty:
            raise AssertionError(f"nothing came for {timeout} s; stderr: {self.stderr()}") from None

    def read_answers(self, count: int) -> dict[Any, Message]:
        """The next `count` messages by id."""
        answers = [self.read() for _ in range(count)]
        by_id = {answer.get("id"): answer for answer in answers}
        assert len(by_id) == count, f"an id was answered twice: {[answer.get('id') for answer in answers]}"
        return by_id

    def call(self, method: str, params: Message | None = None, *, request_id: int | str | None = None) -> Message:
        """Send a request and wait for its answer; what comes before it must not be an answer."""
        if request_id is None:
            self._next_id += 1
            request_id = self._next_id
        self.send(request(request_id, method, params))
        while True:
            message = self.read()
            if "method" not in message:
                assert message["id"] == request_id, f"another request was answered: {message}"
                return message

    def initialize(self, version: str = "2025-11-25", capabilities: Message | None = None) -> Message:
        """The handshake of the revisions before 2026-07-28. Returns the answer to `initialize`."""
        answer = self.call("initialize", initialize_params(version, capabilities))
        self.send(notification("notifications/initialized"))
        return answer

    # --- ending

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def close_stdout(self) -> None:
        """Close our end of the server's stdout, as a client does that dies. Only with `reading=False`."""
        assert self.process.stdout is not None
        self.process.stdout.close()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self, timeout: float = PATIENCE) -> int:
        """The exit status."""
        return self.process.wait(timeout)

    def close(self) -> int:
        """Close stdin and return the exit status; nothing more may come on stdout."""
        self.close_stdin()
        status = self.wait()
        rest = self.line()
        assert rest == b"", f"unexpected: {rest[:200]!r}"
        return status

    def stderr(self) -> str:
        """What the server has logged so far; all of it once it has ended."""
        if self.process.poll() is not None:
            self._stderr_reader.join(PATIENCE)
        return self._stderr.decode(errors="replace")

    def wait_for_log(self, text: str) -> None:
        """Wait until the server has logged a text."""
        with self._logged:
            found = self._logged.wait_for(lambda: text.encode() in self._stderr, PATIENCE)
        assert found, f"{text!r} was not logged; stderr: {self.stderr()}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in (self._stdout_reader, self._stderr_reader):
            if reader.is_alive():
                reader.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def request(request_id: int | str, method: str, params: Message | None = None) -> Message:
    message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: Message | None = None) -> Message:
    message: Message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def tool_call(request_id: int | str, name: str, arguments: Message | None = None) -> Message:
    return request(request_id, "tools/call", {"name": name, "arguments": arguments or {}})


def initialize_params(version: str = "2025-11-25", capabilities: Message | None = None) -> Message:
    return {
        "protocolVersion": version,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
