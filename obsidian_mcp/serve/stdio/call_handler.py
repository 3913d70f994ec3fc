"""Plain calls of tools, answered past the SDK (specs/stdio.md, DIRECT-…).

A note is read in 0.1 ms, and the SDK's tasks, models and streams cost four times that; importing it costs more than the
first search. So what is plain in every respect is answered here, byte for byte as the SDK would have (a test compares).
Whatever is not is left to the SDK: other members, the 2026 revision, a call that a person has to agree to first.

    line ─▶ Calls.begin ─▶ Crew (a thread) ─▶ Desk.answer ─▶ line

`Calls` lives on the event loop like all of a conversation; of a `Desk` the answering runs in threads.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from obsidian_mcp.app import App
from obsidian_mcp.core.text import deadline, progress
from obsidian_mcp.errors import AppError, ConfirmationRequired
from obsidian_mcp.serve import results
from obsidian_mcp.serve.throttle import paced
from obsidian_mcp.tools import TOOLS, Tool, call

from . import jsonrpc
from .executor import Crew

log = logging.getLogger(__name__)

_REQUEST: Final = {"jsonrpc", "id", "method", "params"}
_PARAMS: Final = {"name", "arguments", "_meta"}
_RESERVED: Final = re.compile("mcp|modelcontextprotocol", re.IGNORECASE)


class Desk:
    """Answers one call."""

    def __init__(self, app: App, tools: Callable[[], Mapping[str, Tool]] = lambda: TOOLS) -> None:
        self._app = app
        self._tools = tools
        self.timeout = app.config.timeout
        """Seconds that a call may take."""

    def answer(self, message: jsonrpc.Message) -> bytes | None:
        """The line for a plain request; None where a person has to be asked, which is for the SDK. Never raises."""
        params = message["params"]
        try:
            outcome = call(self._app, params["name"], params.get("arguments") or {}, self._tools())
            return jsonrpc.encode(jsonrpc.result(message["id"], results.success(outcome)))
        except ConfirmationRequired:
            return None
        except AppError as error:
            return self.failed(message, error)
        except BaseException:  # as the guard of the SDK's calls
            log.exception("tools/call failed")
            return self.failed(message, results.internal("tools/call"))

    def failed(self, message: jsonrpc.Message, error: AppError) -> bytes:
        """The line that tells of an error, in the style that is configured."""
        if self._app.config.error_style == "result" and error.application:
            return jsonrpc.encode(jsonrpc.result(message["id"], results.failure(error)))
        return jsonrpc.encode(jsonrpc.error(message["id"], error.code, error.message, error.payload()))


def is_plain(message: jsonrpc.Message) -> bool:
    """Whether a valid request is one that `Desk` may answer, on a connection of a revision with a handshake."""
    if message["method"] != "tools/call" or message.keys() != _REQUEST:
        return False
    match message["params"]:
        case {"name": str(), **rest}:
            sound = rest.keys() <= _PARAMS and isinstance(rest.get("arguments"), dict | None)
            return sound and _is_plain_meta(rest.get("_meta", {}))
        case _:
            return False


def _is_plain_meta(meta: object) -> bool:
    """Members under a host's own name mean nothing to the SDK; those of the protocol may mean anything."""
    return isinstance(meta, dict) and all(
        jsonrpc.is_id(value) if key == "progressToken" else "/" in key and not _RESERVED.search(key)
        for key, value in meta.items()
    )


class _Job:
    """A call under way."""

    __slots__ = ("limit", "message", "over", "timer")

    timer: asyncio.TimerHandle

    def __init__(self, message: jsonrpc.Message, seconds: float) -> None:
        self.message = message
        self.limit = deadline.Deadline(seconds)
        self.over = False
        """Nothing more is to be sent about it."""


class Calls:
    """The plain calls of one conversation that are under way."""

    def __init__(
        self,
        desk: Desk,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[bytes], None],
        settle: Callable[[jsonrpc.RequestId], None],
        leave: Callable[[jsonrpc.Message], None],
    ) -> None:
        """`send` takes lines; `settle` is told of each call that is done with; `leave` gets those for the SDK."""
        self._desk = desk
        self._loop = loop
        self._send = send
        self._settle = settle
        self._leave = leave
        self._crew = Crew(loop)
        self._jobs: dict[jsonrpc.RequestId, deque[_Job]] = {}
        """By id: nothing keeps a client from using one twice."""
        self._answers: deque[tuple[_Job, bytes | None]] = deque()
        self._told = False

    def begin(self, message: jsonrpc.Message) -> None:
        """Answer a plain request in a thread."""
        job = _Job(message, self._desk.timeout)
        job.timer = self._loop.call_later(self._desk.timeout, self._expire, job)
        self._jobs.setdefault(jsonrpc.correlated(message["id"]), deque()).append(job)
        self._crew.submit(partial(self._work, job))

    def cancel(self, request_id: jsonrpc.RequestId) -> bool:
        """Stop a call, which is then not answered; whether there was one. Of several with this id, the last."""
        jobs = self._jobs.get(jsonrpc.correlated(request_id))
        if not jobs:
            return False
        self._end(jobs[-1])
        return True

    def give_up(self) -> None:
        """Stop all calls, and say so."""
        for job in [job for jobs in self._jobs.values() for job in jobs]:
            self._end(job)
            self._send(jsonrpc.encode(jsonrpc.error(job.message["id"], jsonrpc.CONNECTION_CLOSED, "Connection closed")))

    def _expire(self, job: _Job) -> None:
        if not job.limit.cancel():  # it is committing: the answer comes when it has finished (SAFE-19)
            return
        self._end(job)
        self._send(self._desk.failed(job.message, job.limit.error()))
        self._settle(job.message["id"])

    def _end(self, job: _Job) -> None:
        job.over = True
        job.timer.cancel()
        job.limit.cancel()
        key = jsonrpc.correlated(job.message["id"])
        jobs = self._jobs[key]
        jobs.remove(job)
        if not jobs:
            del self._jobs[key]

    def _collect(self) -> None:
        self._told = False
        lines = []
        ended = []
        while self._answers:
            job, line = self._answers.popleft()
            if job.over:
                continue
            self._end(job)
            if line is None:
                self._leave(job.message)
            else:
                lines.append(line)
                ended.append(job.message["id"])
        if lines:
            self._send(b"".join(lines))
        for request_id in ended:
            self._settle(request_id)

    # --- in a thread

    def _work(self, job: _Job) -> None:
        line = None
        if not job.over:
            deadline.current.set(job.limit)
            progress.current.set(self._teller(job))
            line = self._desk.answer(job.message)
        self._answers.append((job, line))
        if not self._told:
            self._told = True
            with suppress(RuntimeError):  # the loop has closed
                self._loop.call_soon_threadsafe(self._collect)

    def _teller(self, job: _Job) -> progress.Report | None:
        token = job.message["params"].get("_meta", {}).get("progressToken")
        if token is None:
            return None

        def tell(done: int, total: int, what: str) -> None:
            params: dict[str, Any] = {"progressToken": token, "progress": done}
            params |= ({"total": total} if total else {}) | {"message": what}
            line = jsonrpc.encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._tell, job, line)

        return paced(tell, job.limit)

    def _tell(self, job: _Job, line: bytes) -> None:
        if not job.over:
            self._send(line)
