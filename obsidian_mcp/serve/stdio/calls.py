"""The calls of tools of one conversation that are in flight (specs/stdio.md, CALL-…).

Calls.begin ─▶ Dispatcher.answer in a thread ─▶ the line, or None: a person has to agree, which
takes the SDK
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from obsidian_mcp.core.text.call import (
    CallRecord,
    Client,
    Deadline,
    ProgressReport,
    current_call,
    throttle,
)
from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.dispatch import Dispatcher, Peer, progress_token
from obsidian_mcp.serve.jsonrpc import Message, RequestId

MAX_THREADS: Final = 40
QUICK_SECONDS: Final = 0.005
"""Time that a call may keep the calls behind it waiting. Threads that run Python side by side only
hinder each other: 32 of them answered a quarter fewer short calls a second than one."""
IN_COMMIT: Final = (
    "Connection closed while a change was being made. It is finished, or taken back before the "
    "next change; read the notes to see which."
)
STALE: Final = 1000
"""Timers that may stand in the queue although they were cancelled."""
_CALLED: Final = object()
"""The worker is a thread that has been woken or started and has not taken a call yet."""


class Timer:
    """One piece of work; `cancel` takes it back."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], None]) -> None:
        self.work: Callable[[], None] | None = work

    def cancel(self) -> None:
        self.work = None


class Timers:
    """The work that is due. The caller's lock is held for every method."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """`wake` is called when work is due earlier than the waiting thread knows."""
        self._wake = wake
        self._number = itertools.count()
        self._queue: list[tuple[float, int, Timer]] = []
        self._most = STALE

    def call_after(self, seconds: float, work: Callable[[], None]) -> Timer:
        """Have work done so many seconds from now."""
        timer = Timer(work)
        moment = time.monotonic() + seconds
        if len(self._queue) > self._most:
            self._queue = [entry for entry in self._queue if entry[2].work is not None]
            heapq.heapify(self._queue)
            self._most = STALE + 2 * len(self._queue)
        heapq.heappush(self._queue, (moment, next(self._number), timer))
        if self._queue[0][2] is timer:
            self._wake()
        return timer

    def run_due(self) -> float | None:
        """Do what is due. Return the seconds until something else is, None where nothing is."""
        while self._queue:
            moment, _, timer = self._queue[0]
            rest = moment - time.monotonic()
            if rest > 0:
                return rest
            heapq.heappop(self._queue)
            if timer.work is not None:
                timer.work()
        return None


class _CallInFlight:
    """A call in flight."""

    __slots__ = ("ended", "limit", "message", "peer", "timer")

    timer: Timer

    def __init__(self, message: Message, peer: Peer, seconds: float) -> None:
        self.message = message
        self.peer = peer
        self.limit = Deadline(seconds)
        self.ended = False
        """Nothing more is sent about it."""


class Calls:
    """The calls in flight, each with its thread, time limit and progress.

    The lock of the conversation is held for every method but those that threads of calls run.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        lock: threading.RLock,
        *,
        wake: Callable[[], None],
        send: Callable[[bytes], None],
        answer: Callable[[RequestId, bytes], None],
        pass_on: Callable[[Message, Peer], None],
    ) -> None:
        """`wake` is for the timers; `send` takes reports of progress, `answer` the id of each call
        that has ended and its answer, `pass_on` the calls for the SDK."""
        self._dispatcher = dispatcher
        self._lock = lock
        self.timers = Timers(wake)
        self._send = send
        self._answer = answer
        self._pass_on = pass_on
        self._calls: dict[RequestId, deque[_CallInFlight]] = {}
        """By id: a client may use one id twice."""
        self._waiting: deque[_CallInFlight] = deque()
        self._worker: object | None = None
        """The thread that takes the waiting calls one after another; a slow call makes another
        thread take over."""
        self._called = threading.Condition(lock)
        """Wakes an idle thread to be the worker."""
        self._idle = 0
        self._threads = 0
        self._watching = False

    def begin(self, message: Message, peer: Peer, waited: float) -> None:
        """Answer a call in a thread. `waited`: seconds of its time that it has waited for its
        turn."""
        seconds = max(round(self._dispatcher.timeout - waited, 2), 0.01)
        running = _CallInFlight(message, peer, seconds)
        running.timer = self.timers.call_after(seconds, partial(self._expire, running))
        self._calls.setdefault(jsonrpc.correlation_key(message["id"]), deque()).append(running)
        self._waiting.append(running)
        if self._worker is None:
            self._call_worker()
        elif not self._watching:
            self._watching = True
            self.timers.call_after(QUICK_SECONDS, partial(self._watch, running))

    def _call_worker(self) -> None:
        if self._idle:
            self._worker = _CALLED
            self._called.notify()
        elif self._threads < MAX_THREADS:
            self._worker = _CALLED
            self._threads += 1
            threading.Thread(target=self._work, name="call", daemon=True).start()

    def _watch(self, first: _CallInFlight) -> None:
        """Let another thread take the waiting calls if `first` is still the next of them."""
        if self._waiting and self._waiting[0] is first and self._worker is not _CALLED:
            self._call_worker()
        self._watching = bool(self._waiting)
        if self._watching:
            self.timers.call_after(QUICK_SECONDS, partial(self._watch, self._waiting[0]))

    def expired_answer(self, message: Message, peer: Peer) -> bytes:
        """Return the answer to a call that has not begun in time."""
        return jsonrpc.encode(
            self._dispatcher.failure(message, peer, Deadline(self._dispatcher.timeout).error())
        )

    def cancel(self, request_id: RequestId) -> bool:
        """Stop a call without an answer; False if there is none. Of several with this id, the
        latest."""
        calls = self._calls.get(jsonrpc.correlation_key(request_id))
        if not calls:
            return False
        self._end(calls[-1])
        return True

    def abandon(self) -> None:
        """Stop all calls and answer that the connection ends (END-05)."""
        for running in [running for calls in self._calls.values() for running in calls]:
            stopped = running.limit.cancel()
            self._end(running)
            reason = "Connection closed" if stopped else IN_COMMIT
            request_id = running.message["id"]
            self._answer(
                request_id,
                jsonrpc.encode(jsonrpc.error(request_id, jsonrpc.CONNECTION_CLOSED, reason)),
            )
        self._waiting.clear()

    def _expire(self, running: _CallInFlight) -> None:
        if running.ended or not running.limit.cancel():  # in its commit it is waited for (SAFE-19)
            return
        self._end(running)
        late = self._dispatcher.failure(running.message, running.peer, running.limit.error())
        self._answer(running.message["id"], jsonrpc.encode(late))

    def _end(self, running: _CallInFlight) -> None:
        running.ended = True
        running.timer.cancel()
        running.limit.cancel()
        key = jsonrpc.correlation_key(running.message["id"])
        self._calls[key].remove(running)
        if not self._calls[key]:
            del self._calls[key]

    # --- in a thread

    def _work(self) -> None:
        this = object()
        with self._lock:
            while True:
                while self._worker is not _CALLED:
                    self._idle += 1
                    self._called.wait()
                    self._idle -= 1
                self._worker = this
                while self._worker is this and self._waiting:
                    running = self._waiting.popleft()
                    self._lock.release()
                    try:
                        line = None if running.ended else self._run(running)
                    finally:
                        self._lock.acquire()
                    self._finish(running, line)
                if self._worker is this:
                    self._worker = None

    def _run(self, running: _CallInFlight) -> bytes | None:
        client = Client(running.peer.name)
        current_call.set(CallRecord(running.limit, self._progress_report(running), client))
        return self._dispatcher.answer_message(running.message, running.peer)

    def _finish(self, running: _CallInFlight, line: bytes | None) -> None:
        """Send the answer; without one, leave the call to the SDK."""
        if running.ended:
            return
        self._end(running)
        if line is None:
            self._pass_on(running.message, running.peer)
        else:
            self._answer(running.message["id"], line)

    def _progress_report(self, running: _CallInFlight) -> ProgressReport | None:
        token = progress_token(running.message)
        if token is None:
            return None

        def report(done: int, total: int, activity: str) -> None:
            line = jsonrpc.progress(token, done, total, activity)
            with self._lock:
                if not running.ended:
                    self._send(line)

        return throttle(report, running.limit)
