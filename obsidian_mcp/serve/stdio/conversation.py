"""One conversation with one client: its lines, what of them is in flight, and how it ends (specs/stdio.md)."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from obsidian_mcp.core.text.call import Client
from obsidian_mcp.serve.call_order import UNORDERED, CallOrder, Turn

from . import jsonrpc
from .call_handler import CallHandler, RunningCalls, is_plain
from .jsonrpc import Message, Refusal, RequestId
from .pipes import LineSplitter, Reader, Writer, take_stdin, take_stdout

logger = logging.getLogger(__name__)

MAX_LINE: Final = 64 * 2**20
"""Longest line taken, in bytes."""
MAX_HELD: Final = 256 * 2**20
"""Bytes read but not yet served, above which reading pauses. Far above what a client pipelines before it reads: a
client that writes first and reads later must not come to a standstill."""
MAX_UNSENT: Final = 16 * 2**20
"""Bytes of answers the client has not read, above which no further request is begun."""
MAX_IN_FLIGHT: Final = 1000
"""Requests, above which no further one is begun."""
FAREWELL_SECONDS: Final = 1.0
"""What subscriptions get for their last message."""
QUIET_SECONDS: Final = 1.0
"""Time without a call after which the SDK is loaded although nothing has needed it."""
LINES_AT_ONCE: Final = 200
"""Lines after which other tasks get a turn on the event loop."""


class _InFlight(NamedTuple):
    request_id: RequestId
    turn: Turn | None
    """Its place in the order of calls; None for a request that needs none."""


class Conversation:
    """Reads lines, has them served by `RunningCalls` or by the SDK, and writes the answers.

    All methods are for the event loop's thread, so nothing here needs a lock.
    """

    def __init__(
        self,
        handler: CallHandler | None,
        writes: Callable[[Message], bool],
        drain_timeout: float,
        answered: RequestId | None,
    ) -> None:
        """`handler` answers plain calls; without one the SDK gets every request. `writes`: whether a request changes a
        vault.
        """
        self._loop = asyncio.get_running_loop()
        self.reader = Reader(take_stdin(), self._loop, self.feed)
        self.writer = Writer(take_stdout(), self._loop, self._proceed, self._hang_up)
        self.drain_timeout = drain_timeout
        self.patience = drain_timeout
        """Seconds to wait for a client that does not take its answers."""
        self.on_shutdown: Callable[[], None] | None = None
        self._writes = writes
        self._calls: RunningCalls | None = None
        if handler is not None:
            self._calls = RunningCalls(handler, self._loop, self.writer.put, self._settle, self._pass_on)
        self._initializing: RequestId | None = None
        """The `initialize` that the SDK has to answer before any call."""
        self._initialized = False
        self._answered = answered
        self._splitter = LineSplitter(MAX_LINE)
        self._lines: deque[bytes | None] = deque()
        self._held = 0
        """Bytes of `_lines`."""
        self._scheduled = False
        self._taking = False
        self.for_sdk: asyncio.Queue[Message | None] = asyncio.Queue()
        """The messages for the SDK; None when the conversation is over."""
        self._sdk_needed: asyncio.Future[bool] = self._loop.create_future()
        self._progress = asyncio.Event()
        """Set whenever `conclude` has to look again."""
        self._in_flight: dict[RequestId, deque[_InFlight]] = {}
        """By id: the SDK lets a client use one id twice."""
        self._order = CallOrder()
        self._subscriptions: set[RequestId] = set()
        self._questions: dict[RequestId, RequestId] = {}
        """Requests to the client that it has not answered."""
        self._ending = False
        self._deadline = math.inf
        if handler is None:
            self._decide_sdk(needed=True)

    # --- reading

    def feed(self, data: bytes) -> None:
        """Take bytes from stdin; b"" is the end of input."""
        lines = self._splitter.feed(data) if data else self._splitter.flush()
        self._lines.extend(lines)
        self._held += sum(len(line or b"") for line in lines)
        if self._held > MAX_HELD:
            self.reader.pause()
        if not data:
            self.end("end of input", self.drain_timeout)
        elif not self._scheduled:
            self._take_lines()

    def _take_lines(self) -> None:
        if self._taking:  # ending one request may make room for the next
            return
        self._taking = True
        self._scheduled = False
        try:
            for _ in range(LINES_AT_ONCE):
                if not self._lines or len(self._in_flight) >= MAX_IN_FLIGHT or self.writer.unsent > MAX_UNSENT:
                    return
                line = self._lines.popleft()
                self._held -= len(line or b"")
                if self._held < MAX_HELD:
                    self.reader.resume()
                self._take(jsonrpc.refuse_long_line(MAX_LINE) if line is None else jsonrpc.decode(line))
        finally:
            self._taking = False
        if self._lines:
            self._scheduled = True
            self._loop.call_soon(self._proceed)

    def _take(self, message: Message | Refusal) -> None:
        if isinstance(message, Refusal):
            logger.warning("refused a line: %s", message.reason)
            if message.answer is not None:
                self.writer.put(jsonrpc.encode(message.answer))
        elif "method" not in message:
            if message["id"] is not None:
                self._questions.pop(jsonrpc.correlated(message["id"]), None)
            self._pass_on(message)
        elif message.get("id") is None:
            self._take_notification(message)
        elif message["method"] == "subscriptions/listen":
            self._subscriptions.add(jsonrpc.correlated(message["id"]))
            self._pass_on(message)
        else:
            self._take_request(message)

    def _take_request(self, message: Message) -> None:
        method, request_id = message["method"], message["id"]
        if method == "initialize":
            match message.get("params"):
                case {"clientInfo": {"name": str(name)}} if self._calls is not None:
                    self._calls.client = Client(name)
            if not self._initialized and request_id == self._answered:
                self._initialized = True
                self.for_sdk.put_nowait(message)
                return
            self._initializing = request_id
        start = partial(self._begin, message, self._loop.time())
        turn = None
        if method in UNORDERED:
            start()
        else:
            turn = self._order.begin(start, writes=self._writes(message))
            if not turn.begun and self._calls is not None:
                self._loop.call_later(self._calls.timeout, self._expire, turn, message)
        self._in_flight.setdefault(jsonrpc.correlated(request_id), deque()).append(_InFlight(request_id, turn))

    def _begin(self, message: Message, arrived: float) -> None:
        if self._calls is not None and self._initialized and self._initializing is None and is_plain(message):
            self._calls.begin(message, waited=self._loop.time() - arrived)
        else:
            self._pass_on(message)

    def _expire(self, turn: Turn, message: Message) -> None:
        """Answer a call whose time was over before its turn came."""
        if self._calls is not None and not turn.begun:
            self.writer.put(self._calls.expired(message))
            self._settle(message["id"])

    def _take_notification(self, message: Message) -> None:
        if message["method"] == "exit":
            self._lines.clear()
            self.end("exit notification", self.drain_timeout)
            return
        if message["method"] == "notifications/cancelled":
            cancelled = (message.get("params") or {}).get("requestId")
            if jsonrpc.is_id(cancelled) and self._cancel(cancelled):
                return
        self.for_sdk.put_nowait(message)

    def _cancel(self, request_id: RequestId) -> bool:
        """Stop a request; False where the SDK has to stop it."""
        requests = self._in_flight.get(jsonrpc.correlated(request_id))
        turn = requests[-1].turn if requests else None
        waiting = turn is not None and not turn.begun
        ours = waiting or (self._calls is not None and self._calls.cancel(request_id))
        self._settle(request_id, latest=True)
        return ours

    def _pass_on(self, message: Message) -> None:
        """Leave a message to the SDK, which now has to be loaded."""
        self.for_sdk.put_nowait(message)
        self._decide_sdk(needed=True)

    # --- the SDK

    async def needs_sdk(self) -> bool:
        """Wait until the SDK is needed, or the client is quiet; False where the conversation ends before."""
        self._loop.call_later(QUIET_SECONDS, self._load_sdk_when_quiet)
        return await self._sdk_needed

    def _load_sdk_when_quiet(self) -> None:
        if self._in_flight:
            self._loop.call_later(QUIET_SECONDS, self._load_sdk_when_quiet)
        else:
            self._decide_sdk(needed=True)

    def _decide_sdk(self, *, needed: bool) -> None:
        if not self._sdk_needed.done():
            self._sdk_needed.set_result(needed)

    def send(self, line: bytes, message: Message) -> None:
        """Write a line of the SDK's; `message` is its content."""
        if "method" not in message:
            if message["id"] is not None:
                self._send_answer(line, message["id"], succeeded="result" in message)
            return
        if "id" in message:
            self._questions[jsonrpc.correlated(message["id"])] = message["id"]
            self._order.release()  # later calls do not wait for the person
            self._progress.set()
        elif self.writer.unsent > 4 * MAX_UNSENT:
            logger.warning("dropped %s: the client does not read", message["method"])
            return
        self.writer.put(line)

    def _send_answer(self, line: bytes, request_id: RequestId, *, succeeded: bool) -> None:
        if self._answered is not None and request_id == self._answered:
            self._answered = None
            return
        if request_id == self._initializing:
            self._initializing = None
            self._initialized = self._initialized or succeeded
        self.writer.put(line)
        self._settle(request_id)

    def _settle(self, request_id: RequestId, *, latest: bool = False) -> None:
        """A request has ended: of several under its id the first, or the `latest`."""
        key = jsonrpc.correlated(request_id)
        self._subscriptions.discard(key)
        if requests := self._in_flight.get(key):
            ended = requests.pop() if latest else requests.popleft()
            if not requests:
                del self._in_flight[key]
            if ended.turn is not None:
                self._order.end(ended.turn)
        if self._lines or self._ending:
            self._proceed()

    def _proceed(self) -> None:
        if self._lines:
            self._take_lines()
        if self._ending:
            self._progress.set()

    # --- ending

    def end(self, reason: str, patience: float) -> None:
        """Take no more lines and finish what was begun within `patience` seconds. A second call can only hasten it."""
        self.reader.stop()
        if not self._ending:
            logger.info("shutting down: %s", reason)
        self._ending = True
        self._deadline = min(self._deadline, self._loop.time() + patience)
        self.patience = min(self.patience, patience)
        self._loop.call_at(self._deadline, self._progress.set)
        self._proceed()

    def _hang_up(self) -> None:
        """End at once: the client is gone."""
        self._lines.clear()
        self._in_flight.clear()
        self._subscriptions.clear()
        self._questions.clear()
        self.end("the client closed our stdout", 0)

    async def conclude(self) -> None:
        """Wait for the end of the conversation, and end it in order."""
        try:
            while not self._ending or self._lines or self._in_flight:
                if self._loop.time() >= self._deadline:
                    break
                if self._ending:
                    self._answer_questions()
                await self._wait_for_progress()
            self._lines.clear()
            self._abandon_calls()
            await self._end_subscriptions()
        finally:
            self.for_sdk.put_nowait(None)
            self._decide_sdk(needed=False)

    async def _wait_for_progress(self) -> None:
        await self._progress.wait()
        self._progress.clear()

    def _answer_questions(self) -> None:
        """Answer our requests for the client, which is gone, so that no call waits for it in vain (END-08)."""
        while self._questions:
            _, request_id = self._questions.popitem()
            reason = "The client closed the connection without an answer."
            self._pass_on(jsonrpc.error(request_id, jsonrpc.CONNECTION_CLOSED, reason))

    def _abandon_calls(self) -> None:
        """Answer what is still in flight when the time is over (END-05)."""
        waiting = [request for requests in self._in_flight.values() for request in requests]
        if waiting:
            logger.warning("gave up %d calls in flight at shutdown", len(waiting))
        self._in_flight.clear()
        for request in waiting:
            if request.turn is not None and not request.turn.begun:
                error = jsonrpc.error(request.request_id, jsonrpc.CONNECTION_CLOSED, "Connection closed")
                self.writer.put(jsonrpc.encode(error))
        if self._calls is not None:
            self._calls.abandon()

    async def _end_subscriptions(self) -> None:
        """Let subscriptions send their last message, within `FAREWELL_SECONDS`."""
        if self.on_shutdown is None:
            return
        self.on_shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                while self._subscriptions:
                    await self._wait_for_progress()
