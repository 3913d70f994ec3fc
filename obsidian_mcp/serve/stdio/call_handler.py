"""Plain tool calls, answered without the SDK (specs/stdio.md, DIRECT-…).

A note is read in 0.1 ms; the SDK's tasks, models and streams take four times that, and importing it takes longer than
the first search. So a call that is plain in every respect is answered here, byte for byte as the SDK answers it (a test
compares). Every other request goes to the SDK.

    line ─▶ RunningCalls.begin ─▶ CallHandler.answer (in a thread) ─▶ line
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Final

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import UNNAMED, ProgressReport, set_call
from obsidian_mcp.core.text.deadline import Deadline
from obsidian_mcp.errors import AppError, ConfirmationRequired
from obsidian_mcp.serve import results
from obsidian_mcp.serve.call_order import changes_vault
from obsidian_mcp.serve.throttle import throttled
from obsidian_mcp.tools import TOOLS, Tool, call

from . import jsonrpc

log = logging.getLogger(__name__)

MAX_THREADS: Final = 40
QUICK_SECONDS: Final = 0.005
"""Time that a call may keep the calls behind it waiting. Threads that run Python side by side only hinder each other:
32 of them answered a quarter fewer short calls a second than one."""
IN_COMMIT: Final = (
    "Connection closed while a change was being made. It is finished, or taken back before the next change; read the "
    "notes to see which."
)
_REQUEST: Final = {"jsonrpc", "id", "method", "params"}
_PARAMS: Final = {"name", "arguments", "_meta"}
_RESERVED: Final = re.compile("mcp|modelcontextprotocol", re.IGNORECASE)


class CallHandler:
    """Answers single calls. Safe to share between threads."""

    def __init__(self, app: App, tools: Callable[[], Mapping[str, Tool]] = lambda: TOOLS) -> None:
        self._app = app
        self._tools = tools
        self.timeout = app.config.timeout
        """Seconds that a call may take."""

    def answer(self, message: jsonrpc.Message) -> bytes | None:
        """Return the line that answers a plain request; None where a person has to agree first. Never raises."""
        params = message["params"]
        try:
            outcome = call(self._app, params["name"], params.get("arguments") or {}, self._tools())
            return jsonrpc.encode(jsonrpc.result(message["id"], results.success(outcome)))
        except ConfirmationRequired:
            return None
        except AppError as error:
            return self.failure(message, error)
        except BaseException:  # sys.exit() in a tool, too
            log.exception("tools/call failed")
            return self.failure(message, results.internal("tools/call"))

    def failure(self, message: jsonrpc.Message, error: AppError) -> bytes:
        """Return the line that reports an error, in the configured style."""
        if self._app.config.error_style == "result" and error.application:
            return jsonrpc.encode(jsonrpc.result(message["id"], results.failure(error)))
        return jsonrpc.encode(jsonrpc.error(message["id"], error.code, error.message, error.payload()))

    def writes(self, message: jsonrpc.Message) -> bool:
        """Whether a request asks for a change of the vault."""
        return changes_vault(message, self._tools())


def is_plain(message: jsonrpc.Message) -> bool:
    """Whether `CallHandler` may answer a valid request, on a connection of a revision with a handshake."""
    if message["method"] != "tools/call" or message.keys() != _REQUEST:
        return False
    match message["params"]:
        case {"name": str(), **rest}:
            valid = rest.keys() <= _PARAMS and isinstance(rest.get("arguments"), dict | None)
            return valid and _is_plain_meta(rest.get("_meta", {}))
        case _:
            return False


def _is_plain_meta(meta: object) -> bool:
    """The SDK ignores members under a host's own prefix; those of the protocol may have any effect."""
    return isinstance(meta, dict) and all(
        jsonrpc.is_id(value) if key == "progressToken" else "/" in key and not _RESERVED.search(key)
        for key, value in meta.items()
    )


class _Call:
    """A call in flight."""

    __slots__ = ("deadline", "ended", "message", "timer")

    timer: asyncio.TimerHandle

    def __init__(self, message: jsonrpc.Message, seconds: float) -> None:
        self.message = message
        self.deadline = Deadline(seconds)
        self.ended = False
        """Nothing more is sent about it."""


class RunningCalls:
    """The plain calls of one conversation that are in flight. For the event loop's thread."""

    def __init__(
        self,
        handler: CallHandler,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[bytes], None],
        settle: Callable[[jsonrpc.RequestId], None],
        pass_on: Callable[[jsonrpc.Message], None],
    ) -> None:
        """`send` takes lines, `settle` the id of each call that has ended, `pass_on` the calls for the SDK."""
        self._handler = handler
        self.timeout = handler.timeout
        self._loop = loop
        self._send = send
        self._settle = settle
        self._pass_on = pass_on
        self.client = UNNAMED
        self._calls: dict[jsonrpc.RequestId, deque[_Call]] = {}
        """By id: a client may use one id twice."""
        self._threads = ThreadPoolExecutor(MAX_THREADS, "call")
        self._lock = threading.Lock()
        """For the three below."""
        self._waiting: deque[_Call] = deque()
        self._running = 0
        self._worker: object | None = None
        """The thread that takes the waiting calls one after another; a slow call makes another thread take over."""
        self._watching = False

    def begin(self, message: jsonrpc.Message, waited: float) -> None:
        """Answer a plain request in a thread. `waited`: seconds of its time that it has waited for its turn."""
        seconds = max(round(self.timeout - waited, 2), 0.01)
        running = _Call(message, seconds)
        running.timer = self._loop.call_later(seconds, self._expire, running)
        self._calls.setdefault(jsonrpc.correlated(message["id"]), deque()).append(running)
        with self._lock:
            self._waiting.append(running)
            if self._worker is None:
                self._start_worker()
            elif not self._watching:
                self._watching = True
                self._loop.call_later(QUICK_SECONDS, self._watch, self._waiting[0])

    def _start_worker(self) -> None:
        self._worker = object()
        self._threads.submit(self._work, self._worker)

    def _watch(self, first: _Call) -> None:
        """Let another thread take the waiting calls if `first` is still the next of them."""
        with self._lock:
            if self._waiting and self._waiting[0] is first and self._running < MAX_THREADS:
                self._start_worker()
            self._watching = bool(self._waiting)
            if self._watching:
                self._loop.call_later(QUICK_SECONDS, self._watch, self._waiting[0])

    def expired(self, message: jsonrpc.Message) -> bytes:
        """Return the answer to a call that has not begun in time."""
        return self._handler.failure(message, Deadline(self.timeout).error())

    def cancel(self, request_id: jsonrpc.RequestId) -> bool:
        """Stop a call without an answer; False if there is none. Of several with this id, the latest."""
        calls = self._calls.get(jsonrpc.correlated(request_id))
        if not calls:
            return False
        self._end(calls[-1])
        return True

    def abandon(self) -> None:
        """Stop all calls and answer that the connection ends (END-05)."""
        for running in [running for calls in self._calls.values() for running in calls]:
            stopped = running.deadline.cancel()
            self._end(running)
            reason = "Connection closed" if stopped else IN_COMMIT
            self._send(jsonrpc.encode(jsonrpc.error(running.message["id"], jsonrpc.CONNECTION_CLOSED, reason)))
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _expire(self, running: _Call) -> None:
        if not running.deadline.cancel():  # it is committing: the answer comes when it has finished (SAFE-19)
            return
        self._end(running)
        self._send(self._handler.failure(running.message, running.deadline.error()))
        self._settle(running.message["id"])

    def _end(self, running: _Call) -> None:
        running.ended = True
        running.timer.cancel()
        running.deadline.cancel()
        key = jsonrpc.correlated(running.message["id"])
        self._calls[key].remove(running)
        if not self._calls[key]:
            del self._calls[key]

    def _finish(self, running: _Call, line: bytes | None) -> None:
        """Send the answer that a thread has made; without one, leave the call to the SDK."""
        if running.ended:
            return
        self._end(running)
        if line is None:
            self._pass_on(running.message)
        else:
            self._send(line)
            self._settle(running.message["id"])

    # --- in a thread

    def _work(self, worker: object) -> None:
        while True:
            with self._lock:
                if self._worker is not worker:
                    return
                if not self._waiting:
                    self._worker = None
                    return
                running = self._waiting.popleft()
                self._running += 1
            try:
                self._run(running)
            finally:
                with self._lock:
                    self._running -= 1

    def _run(self, running: _Call) -> None:
        line = None
        if not running.ended:
            set_call(limit=running.deadline, client=self.client, progress=self._progress_report(running))
            line = self._handler.answer(running.message)
        with suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(self._finish, running, line)

    def _progress_report(self, running: _Call) -> ProgressReport | None:
        token = running.message["params"].get("_meta", {}).get("progressToken")
        if token is None:
            return None

        def report(done: int, total: int, activity: str) -> None:
            params: dict[str, Any] = {"progressToken": token, "progress": done}
            params |= ({"total": total} if total else {}) | {"message": activity}
            line = jsonrpc.encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(partial(self._send_progress, running, line))

        return throttled(report, running.deadline)

    def _send_progress(self, running: _Call, line: bytes) -> None:
        if not running.ended:
            self._send(line)
