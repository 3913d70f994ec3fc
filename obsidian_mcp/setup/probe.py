"""Start a configured server and see whether it answers, as a client would: one small JSON-RPC exchange (INST-09)."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from obsidian_mcp import __version__

SECONDS = 30.0
"""Seconds a server may take from its start to its answer; hosts wait 10 to 60."""
ENDING = 5.0
"""Seconds it may take to exit after its input was closed, before it is killed."""
_STDERR_KEPT = 4096


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer to `initialize` and `tools/list`."""

    seconds: float
    """Seconds from the start of the process to the answer to `initialize`."""
    name: str
    version: str
    tools: int


class NoAnswer(Exception):
    """The server did not answer; the message completes 'it …'."""


def initialize(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    seconds: float = SECONDS,
    ending: float = ENDING,
) -> Answer:
    """Start `command` in `folder`, shake hands, list the tools, and end it. Leaves no process behind.

    Raises: NoAnswer.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 (a list, never a shell)
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # no console window that flashes up
        )
    except (OSError, ValueError) as error:
        raise NoAnswer(f"cannot be started: {getattr(error, 'strerror', None) or error}") from error
    with process:
        conversation = _Conversation(process, started + seconds)
        try:
            client = {"name": "obsidian-mcp doctor", "version": __version__}
            params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
            greeting = conversation.ask(1, "initialize", params)
            answered = time.monotonic() - started
            conversation.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            listed = conversation.ask(2, "tools/list", {})
        finally:
            _end(process, ending)
            conversation.close()
    about = greeting.get("serverInfo")
    server = about if isinstance(about, dict) else {}
    tools = listed.get("tools")
    return Answer(answered, str(server.get("name", "?")), str(server.get("version", "?")), len(tools) if tools else 0)


class _Conversation:
    """Messages to and from one process. Threads read its pipes: no system lets a pipe be read with a time limit."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self._process = process
        self._deadline = deadline
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._stderr = bytearray()
        self._threads = [
            threading.Thread(target=self._read_lines, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._keep_stderr, args=(process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, message: Mapping[str, Any]) -> None:
        stdin = self._process.stdin
        with suppress(OSError):  # it has ended; the missing answer tells
            if stdin is not None:
                stdin.write(json.dumps(message).encode() + b"\n")
                stdin.flush()

    def ask(self, number: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a request. Raises: NoAnswer."""
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self._next(method)
            if message.get("id") != number or "method" in message:
                continue
            if "error" in message:
                error = message["error"]
                reason = error.get("message") if isinstance(error, dict) else error
                raise NoAnswer(f"answers {method} with an error: {reason}")
            result = message.get("result")
            return result if isinstance(result, dict) else {}

    def close(self) -> None:
        for thread in self._threads:
            thread.join(ENDING)

    def _next(self, method: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=max(self._deadline - time.monotonic(), 0.0))
        except queue.Empty:
            raise NoAnswer(f"does not answer {method} in time{self._last_words()}") from None
        if not line:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            status = self._process.returncode
            how = "closes its output" if status is None else f"ends with status {status}"
            raise NoAnswer(f"{how} instead of answering {method}{self._last_words()}")
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            shown = line[:80].decode("utf-8", "replace").strip()
            raise NoAnswer(f"writes {shown!r} to its output, where only protocol messages may stand")
        return message

    def _last_words(self) -> str:
        self._threads[1].join(1.0 if self._process.poll() is not None else 0.0)
        lines = bytes(self._stderr).decode("utf-8", "replace").strip().splitlines()
        return f" ({lines[-1].strip()[:200]})" if lines else ""

    def _read_lines(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            for line in pipe:
                self._lines.put(line)
        self._lines.put(b"")

    def _keep_stderr(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            for line in pipe:
                self._stderr += line
                del self._stderr[:-_STDERR_KEPT]


def _end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Close its input, which ends a good server; then kill it and what it started (uvx starts the server)."""
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        if sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
