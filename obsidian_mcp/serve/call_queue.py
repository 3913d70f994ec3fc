"""The queue of calls over HTTP, in which short calls pass long ones (specs/http.md HTTP-13).

kind ─▶ CallQueue.turn ─▶ short one of the last two times: begins at once
             │
             └─ long, or not known yet ─▶ waits until fewer than COMPUTING of these compute
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from anyio.lowlevel import RunVar

LONG_SECONDS: Final = 0.005
"""Processor time from which on a call is long."""
COMPUTING: Final = 4
"""Long calls that run side by side.

Threads that compute share one interpreter, so more of them finish no earlier. Each makes a short
call beside them wait up to 5 ms, the interpreter's switch interval, whenever that has read a file.
"""
PLACE_SECONDS: Final = 2.0
"""Time after which a call gives up its place among those that compute.

A call that takes so long probably waits for something else: a lock, the index, the app. Without
this limit, four calls that wait for the app would hold up all long ones.
"""
OLDEST_EVERY: Final = 5
"""Every so many starts, the call that has waited longest begins, so that none waits for ever."""
MOST_KINDS: Final = 4096
"""Kinds of call whose time is remembered."""

_SUBJECTS: Final = ("name", "path", "names", "note", "query", "id", "folder")
"""The arguments that say what a call is about, in the tools of all contracts."""
_SUBJECT_CHARACTERS: Final = 1000


def kind_of_call(tool: str, arguments: Mapping[str, Any]) -> int:
    """Return what calls have in common that probably take equally long: the tool and the note, or
    whatever else they are about."""
    subject = next((arguments[name] for name in _SUBJECTS if arguments.get(name)), "")
    return hash((tool, str(subject)[:_SUBJECT_CHARACTERS]))


def kind_of_message(message: Mapping[str, Any]) -> int | None:
    """Return the kind of call that a request is; None where it calls no tool."""
    match message:
        case {"method": "tools/call", "params": {"name": str(tool), **others}}:
            arguments = others.get("arguments")
            return kind_of_call(tool, arguments if isinstance(arguments, dict) else {})
        case _:
            return None


class QueuedCall:
    """One call's place in the queue."""

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.took: float | None = None
        """Processor time that it took; its thread sets it."""
        self.begun = asyncio.Event()
        self.timer: asyncio.TimerHandle | None = None
        """Takes its place back after PLACE_SECONDS."""


class CallQueue:
    """Starts long calls a few at a time, of those that wait the shortest first. For the event
    loop's thread."""

    def __init__(self) -> None:
        self._costs: dict[int, tuple[float, float]] = {}
        """Processor seconds of the last two calls of each kind, the kind that was called last at
        the end."""
        self._waiting: list[QueuedCall] = []
        """In the order of arrival."""
        self._computing: set[QueuedCall] = set()
        self._starts = 0

    @asynccontextmanager
    async def turn(self, kind: int) -> AsyncIterator[QueuedCall]:
        """Wait until a call may begin; the block is the call.

        Of a kind that is not known, the first call begins at once. Those beside it count as long
        until it has ended: otherwise the first fifty reads of a large note would all begin at once.
        """
        turn = QueuedCall(kind)
        is_long = self._expect(turn) >= LONG_SECONDS
        if kind not in self._costs:
            self._costs[kind] = LONG_SECONDS, LONG_SECONDS
        try:
            if is_long:
                self._waiting.append(turn)
                self._start_waiting()
                await turn.begun.wait()
            yield turn
        finally:
            if turn.took is not None:
                self._remember(kind, turn.took)
            if turn in self._waiting:
                self._waiting.remove(turn)
            self._free_place(turn)

    def _expect(self, turn: QueuedCall) -> float:
        """Return the processor time that a call is expected to take, in seconds: the shorter of the
        last two of its kind. It is asked anew at each start, because calls of its kind have ended
        meanwhile."""
        return min(self._costs.get(turn.kind, (0.0, 0.0)))

    def _remember(self, kind: int, seconds: float) -> None:
        """Remember what a call took beside the one before it, so that one call that loads modules
        or an index does not make its kind long."""
        _, before = self._costs.pop(kind, (LONG_SECONDS, LONG_SECONDS))
        self._costs[kind] = before, seconds
        while len(self._costs) > MOST_KINDS:
            del self._costs[next(iter(self._costs))]

    def _start_waiting(self) -> None:
        """Start as many of the waiting calls as there are free places."""
        while self._waiting and len(self._computing) < COMPUTING:
            self._starts += 1
            if self._starts % OLDEST_EVERY == 0:
                turn = self._waiting[0]
            else:
                turn = min(self._waiting, key=self._expect)  # of equally short ones the first
            self._waiting.remove(turn)
            self._computing.add(turn)
            loop = asyncio.get_running_loop()
            turn.timer = loop.call_later(PLACE_SECONDS, self._free_place, turn)
            turn.begun.set()

    def _free_place(self, turn: QueuedCall) -> None:
        if turn.timer is not None:
            turn.timer.cancel()
        self._computing.discard(turn)
        self._start_waiting()


_queue: RunVar[CallQueue] = RunVar("call_queue")


def current_queue() -> CallQueue:
    """Return the queue of the running event loop, which all clients of a server share."""
    try:
        return _queue.get()
    except LookupError:
        queue = CallQueue()
        _queue.set(queue)
        return queue
