"""Start a configured server and see whether it answers, as a client would: one small JSON-RPC
exchange (INST-09).

An entry may look right and not start: another PATH, a folder that the system does not let the
client read, a package that is gone. Only a start in the client's own environment shows it.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obsidian_mcp import __version__, computer
from obsidian_mcp.core.files.settings import read_json

SECONDS = 30.0
"""Seconds that a server may take from its start to its answer; hosts wait 10 to 60."""
END_SECONDS = 5.0
"""Seconds that it may take to exit after its input was closed, before it is killed."""
LAST_SECONDS = 1.0
"""Seconds that its status and its last error are waited for when it has closed its output."""
EXCERPT_BYTES = 80
"""Of a line that is no message, quoted in a report."""
STDERR_CHARACTERS = 200
"""Of the last line on standard error, quoted in a report."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """A server's answer to `initialize` and `tools/list`."""

    seconds: float
    """Seconds from the start of the process to the answer to `initialize`."""
    name: str
    version: str
    tools: int


class NoAnswer(Exception):
    """The server did not answer; the message completes 'it …'."""


def probe_server(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    seconds: float = SECONDS,
    ending: float = END_SECONDS,
) -> ProbeAnswer:
    """Start `command` in `folder`, shake hands, list the tools, and end it with all it started.
    Raises: NoAnswer."""
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
            # no console window that flashes up
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError) as error:
        raise NoAnswer(f"cannot be started: {getattr(error, 'strerror', None) or error}") from error
    with process:
        conversation = _ProbeConversation(process, seconds, ending)
        try:
            client = {"name": "obsidian-mcp doctor", "version": __version__}
            params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
            greeting = conversation.ask(1, "initialize", params)
            answer_seconds = time.monotonic() - started
            conversation.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            listed = conversation.ask(2, "tools/list", {})
        finally:
            _end(process, ending)
            conversation.close()
    server = greeting.get("serverInfo")
    server = server if isinstance(server, dict) else {}
    tools = listed.get("tools")
    return ProbeAnswer(
        answer_seconds,
        str(server.get("name", "?")),
        str(server.get("version", "?")),
        len(tools) if tools else 0,
    )


class _ProbeConversation:
    """Messages to and from a process, which is ended when its time is over: no pipe is read with a
    time limit."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float, ending: float) -> None:
        self._process = process
        self._deadline = time.monotonic() + seconds
        self._timer = threading.Timer(seconds, _end, (process, ending))
        self._stderr_line = ""
        """The last line that it wrote to standard error."""
        self._stderr_reader = threading.Thread(target=self._keep_stderr, daemon=True)
        self._timer.start()
        self._stderr_reader.start()

    def send(self, message: Mapping[str, Any]) -> None:
        stdin = self._process.stdin
        with suppress(OSError, ValueError):  # it has ended; the missing answer tells
            if stdin is not None:
                stdin.write(json.dumps(message).encode() + b"\n")
                stdin.flush()

    def ask(self, number: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a request. Raises: NoAnswer."""
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self._read_message(method)
            if message.get("id") != number or "method" in message:
                continue
            if "error" in message:
                error = message["error"]
                reason = error.get("message") if isinstance(error, dict) else error
                raise NoAnswer(f"answers {method} with an error: {reason}")
            result = message.get("result")
            return result if isinstance(result, dict) else {}

    def close(self) -> None:
        self._timer.cancel()
        self._stderr_reader.join(END_SECONDS)

    def _read_message(self, method: str) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101  for the type checker
        line = self._process.stdout.readline()
        if time.monotonic() >= self._deadline:
            raise NoAnswer(f"does not answer {method} in time{self._last_words()}")
        if not line:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LAST_SECONDS)
            status = self._process.returncode
            how = "closes its output" if status is None else f"ends with status {status}"
            raise NoAnswer(f"{how} instead of answering {method}{self._last_words()}")
        message = read_json(line)
        if not isinstance(message, dict):
            excerpt = line[:EXCERPT_BYTES].decode("utf-8", "replace").strip()
            raise NoAnswer(
                f"writes {excerpt!r} to its output, where only protocol messages may stand"
            )
        return message

    def _last_words(self) -> str:
        self._stderr_reader.join(LAST_SECONDS if self._process.poll() is not None else 0.0)
        return f" ({self._stderr_line[:STDERR_CHARACTERS]})" if self._stderr_line else ""

    def _keep_stderr(self) -> None:
        with suppress(OSError, ValueError):
            for line in self._process.stderr or ():
                self._stderr_line = line.decode("utf-8", "replace").strip() or self._stderr_line


def _end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Close its input, which ends a good server; then kill it and what it started (uvx starts the
    server)."""
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        computer.kill_with_descendants(process)
        process.wait()
