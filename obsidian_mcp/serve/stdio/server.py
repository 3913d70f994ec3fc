"""MCP over stdin and stdout: one conversation with one client (specs/stdio.md).

The SDK's own `stdio_server` drops malformed lines, loses the answers in flight at end of input, hangs on SIGINT and
dies of one lone surrogate (spec: mcp.md 1.1, 1.2). This one answers every line, finishes what was begun, and keeps
stdout for JSON-RPC alone.

    Reader ──bytes──▶ Conversation ──messages──▶ SDK (streams.py) ──lines──▶ Conversation ──bytes──▶ Writer   (pipes.py)
                            └──plain calls──▶ Calls (direct.py) ──lines──▶┘

The SDK is loaded when something comes that needs it, or when the client is quiet. All of this file runs on the event
loop, so nothing here needs a lock.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from . import jsonrpc
from .call_handler import Calls, Desk, is_plain
from .jsonrpc import Message, Refusal, RequestId
from .pipes import LineSplitter, Reader, Writer, take_stdin, take_stdout

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.models import InitializationOptions

logger = logging.getLogger(__name__)

MAX_LINE: Final = 64 * 2**20
"""Longest line taken, in bytes."""
MAX_HELD: Final = 256 * 2**20
"""Bytes read but not yet served, above which reading pauses. Far above what a client pipelines before it reads, as a
client that writes first and reads later must not be brought to a standstill."""
MAX_UNSENT: Final = 16 * 2**20
"""Bytes of answers the client has not read, above which no further request is begun."""
MAX_BUSY: Final = 1000
"""Requests in flight, above which no further one is begun."""
SIGNAL_DRAIN: Final = 5.0
"""Seconds that work in flight gets after a first SIGTERM or SIGINT; hosts follow up with SIGKILL soon."""
FAREWELL: Final = 1.0
"""Seconds that subscriptions get for their last message."""
GRACE: Final = 5.0
"""Seconds between the end of serving and the end of the process, whatever still runs."""

QUIET: Final = 1.0
"""Seconds without a call after which the SDK is loaded although nobody has asked for it."""
LINES_AT_ONCE: Final = 200
"""Lines after which others get a turn on the event loop."""

ShutdownHook = Callable[[], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class Served:
    """The SDK's side of a conversation."""

    server: Server[Any]
    options: InitializationOptions
    on_shutdown: ShutdownHook | None = None
    """Called when the calls in flight are finished, to end subscriptions."""


def run(
    load: Callable[[], Served],
    desk: Desk | None = None,
    *,
    drain_timeout: float = 30.0,
    first: bytes = b"",
    answered: RequestId | None = None,
    grace: float = GRACE,
) -> int:
    """Serve on stdin and stdout until the client leaves. Returns the exit status of the process: 0.

    `load`, called in a thread and at most once, gives what serves the messages that are not plain calls; without a
    `desk` it serves all. From here on fd 0 is the null device and fd 1 is stderr, for this process and its children.

    Reading ends with end of input, the `exit` notification, SIGTERM or SIGINT; then the calls in flight are finished
    for at most `drain_timeout` seconds, and what the client has not read yet is written. A client that has closed our
    stdout ends everything at once. A second signal ends the process. It ends at most `grace` seconds after serving,
    even when a thread hangs.

    `first` holds bytes read from stdin before; `answered` is the id of an `initialize` among them that has its answer.
    Raises what `load` or the server's lifespan raises.
    """
    # What was imported stays: keeping it out of collections took the p99 of big answers from 80-300 ms to 19 ms.
    gc.freeze()
    gc.enable()
    asyncio.run(_serve(load, desk, drain_timeout, first, answered, grace))
    return 0


async def _serve(
    load: Callable[[], Served],
    desk: Desk | None,
    drain_timeout: float,
    first: bytes,
    answered: RequestId | None,
    grace: float,
) -> None:
    async with _connect(desk, drain_timeout, first, answered) as conversation:
        conversation.on_end = lambda: _end_process_after(grace, conversation.writer, drain_timeout)
        conclusion = asyncio.create_task(conversation.conclude())
        try:
            if await conversation.needs_sdk():
                served = await asyncio.to_thread(_loaded, load)
                from .sdk_streams import ReadStream, WriteStream

                conversation.on_shutdown = served.on_shutdown
                await served.server.run(ReadStream(conversation), WriteStream(conversation), served.options)
            await conclusion
        finally:
            conclusion.cancel()


def _loaded(load: Callable[[], Served]) -> Served:
    gc.disable()
    try:
        return load()
    finally:
        gc.freeze()
        gc.enable()


class Conversation:
    """The client's lines, what of them is in flight, and how the conversation ends. For the event loop's thread."""

    def __init__(self, desk: Desk | None, drain_timeout: float, answered: RequestId | None) -> None:
        self._loop = asyncio.get_running_loop()
        self.reader = Reader(take_stdin(), self._loop, self.feed)
        self.writer = Writer(take_stdout(), self._loop)
        self.writer.on_progress = self._go_on
        self.writer.on_broken = self._hang_up
        self.drain_timeout = drain_timeout
        self.patience = drain_timeout
        """Seconds to wait for a client that does not take its answers."""
        self.on_end: Callable[[], None] | None = None
        self.on_shutdown: ShutdownHook | None = None
        self._calls = None if desk is None else Calls(desk, self._loop, self.writer.put, self._settle, self._pass_on)
        self._greeting: RequestId | None = None
        """The `initialize` that the SDK has to answer before any call."""
        self._greeted = False
        self._answered = answered
        self._splitter = LineSplitter(MAX_LINE)
        self._lines: deque[bytes | None] = deque()
        self._held = 0
        self._scheduled = False
        self._taking = False
        self._for_sdk: deque[Message] = deque()
        self._more_for_sdk = _Bell(self._loop)
        self._sdk_needed: asyncio.Future[bool] = self._loop.create_future()
        self._events = _Bell(self._loop)
        # The SDK lets a client use one id twice; so ids are counted.
        self._busy: dict[RequestId, int] = {}
        self._subscriptions: set[RequestId] = set()
        self._asked: dict[RequestId, RequestId] = {}
        self._ending = False
        self._over = False
        self._deadline = 0.0
        if desk is None:
            self._decide(needed=True)

    # --- reading

    def feed(self, data: bytes) -> None:
        """Take what came from stdin; b"" is the end of input."""
        lines = self._splitter.feed(data) if data else self._splitter.flush()
        self._lines.extend(lines)
        self._held += sum(map(_weight, lines))
        if self._held > MAX_HELD:
            self.reader.pause()
        if not data:
            self.end("end of input", self.drain_timeout)
        elif not self._scheduled:
            self._take_lines()

    def _take_lines(self) -> None:
        if self._taking:  # what is done with one line may make room for the next
            return
        self._taking = True
        try:
            self._take_some_lines()
        finally:
            self._taking = False

    def _take_some_lines(self) -> None:
        self._scheduled = False
        for _ in range(LINES_AT_ONCE):
            if not self._lines or self._crowded():
                return
            line = self._lines.popleft()
            self._held -= _weight(line)
            if self._held < MAX_HELD:
                self.reader.resume()
            message = jsonrpc.refuse_long_line(MAX_LINE) if line is None else jsonrpc.decode(line)
            if isinstance(message, Refusal):
                logger.warning("refused a line: %s", message.reason)
                if message.answer is not None:
                    self.writer.put(jsonrpc.encode(message.answer))
            elif "method" in message:
                self._accept(message)
            else:
                if message["id"] is not None:
                    self._asked.pop(jsonrpc.correlated(message["id"]), None)
                self._pass_on(message)
        if self._lines:
            self._scheduled = True
            self._loop.call_soon(self._go_on)

    def _accept(self, message: Message) -> None:
        """Take a request or a notification."""
        method, request_id = message["method"], message.get("id")
        if request_id is None:
            self._note(method, message)
            return
        if method == "subscriptions/listen":
            self._subscriptions.add(jsonrpc.correlated(request_id))
            self._pass_on(message)
            return
        key = jsonrpc.correlated(request_id)
        self._busy[key] = self._busy.get(key, 0) + 1
        if method == "initialize":
            if not self._greeted and request_id == self._answered:
                self._greeted = True
                self._for_sdk.append(message)
                self._settle(request_id)
                return
            self._greeting = request_id
        if self._calls is not None and self._greeted and self._greeting is None and is_plain(message):
            self._calls.begin(message)
        else:
            self._pass_on(message)

    def _note(self, method: str, message: Message) -> None:
        if method == "exit":
            self._lines.clear()
            self.end("exit notification", self.drain_timeout)
            return
        if method == "notifications/cancelled":
            cancelled = (message.get("params") or {}).get("requestId")
            if jsonrpc.is_id(cancelled):
                was_plain = self._calls is not None and self._calls.cancel(cancelled)
                self._settle(cancelled)
                if was_plain:
                    return
        self._for_sdk.append(message)
        self._more_for_sdk.ring()

    def _pass_on(self, message: Message) -> None:
        """Leave a message to the SDK, which now has to be there."""
        self._for_sdk.append(message)
        self._more_for_sdk.ring()
        self._decide(needed=True)

    def _crowded(self) -> bool:
        if len(self._busy) >= MAX_BUSY:
            return True
        # The writer reports back only when asked to, and asks are made before the look.
        self.writer.report_below = MAX_UNSENT // 2
        if self.writer.unsent > MAX_UNSENT:
            return True
        self.writer.report_below = None
        return False

    # --- the SDK

    async def needs_sdk(self) -> bool:
        """Wait until the SDK is needed, or would not be in the way; False where the conversation is over before."""
        self._loop.call_later(QUIET, self._when_quiet)
        return await self._sdk_needed

    def _when_quiet(self) -> None:
        if self._busy:
            self._loop.call_later(QUIET, self._when_quiet)
        else:
            self._decide(needed=True)

    def _decide(self, *, needed: bool) -> None:
        if not self._sdk_needed.done():
            self._sdk_needed.set_result(needed)

    async def receive(self) -> Message | None:
        """The next message for the SDK; None when the conversation is over."""
        while not self._for_sdk:
            if self._over:
                return None
            await self._more_for_sdk.rung()
        return self._for_sdk.popleft()

    def refuse(self) -> None:
        """The SDK takes no more."""
        self.reader.stop()

    def send(self, line: bytes, message: Message) -> None:
        """Queue a line of the SDK's for the client; `message` is what it says."""
        if "method" not in message:
            if message["id"] is not None:
                self._send_answer(line, message["id"], greeted="result" in message)
            return
        if "id" in message:
            self._asked[jsonrpc.correlated(message["id"])] = message["id"]
            self._events.ring()
        elif self.writer.unsent > 4 * MAX_UNSENT:
            logger.warning("dropped %s: the client does not read", message["method"])
            return
        self.writer.put(line)

    def _send_answer(self, line: bytes, request_id: RequestId, *, greeted: bool) -> None:
        if self._answered is not None and request_id == self._answered:
            self._answered = None
            return
        if request_id == self._greeting:
            self._greeting = None
            self._greeted = self._greeted or greeted
        self.writer.put(line)
        self._settle(request_id)

    def _settle(self, request_id: RequestId) -> None:
        """A request is done with."""
        key = jsonrpc.correlated(request_id)
        self._subscriptions.discard(key)
        count = self._busy.pop(key, 0)
        if count > 1:
            self._busy[key] = count - 1
        if self._lines or self._ending:
            self._go_on()

    def _go_on(self) -> None:
        if self._lines:
            self._take_lines()
        if self._ending:
            self._events.ring()

    # --- ending

    def end(self, reason: str, patience: float) -> None:
        """Take no more lines; finish what was begun within `patience` seconds. A second call can only hasten it."""
        deadline = self._loop.time() + patience
        self.reader.stop()
        if not self._ending:
            logger.info("shutting down: %s", reason)
            self._ending = True
            self._deadline = deadline
        self._deadline = min(self._deadline, deadline)
        self.patience = min(self.patience, patience)
        self._loop.call_at(self._deadline, self._events.ring)
        self._go_on()

    def _hang_up(self) -> None:
        """The client is gone: nothing can be answered any more."""
        self._lines.clear()
        self._busy.clear()
        self._subscriptions.clear()
        self._asked.clear()
        self.end("the client closed our stdout", 0)

    async def conclude(self) -> None:
        """Wait for the end of the conversation, and end it in order."""
        try:
            while not self._ending or self._lines or self._busy:
                if self._ending and self._loop.time() >= self._deadline:
                    break
                if self._ending:
                    self._answer_for_the_client()
                await self._events.rung()
            self._lines.clear()
            if self._busy:
                logger.warning("gave up %d calls in flight at shutdown", len(self._busy))
                self._busy.clear()
            if self._calls is not None:
                self._calls.give_up()
            await self._say_farewell()
            while self._subscriptions and self._loop.time() < self._deadline:
                await self._events.rung()
            if self.on_end is not None:
                self.on_end()
        finally:
            self._over = True
            self._more_for_sdk.ring()
            self._decide(needed=False)

    def _answer_for_the_client(self) -> None:
        """Nobody can answer our questions any more; a call that waits for one shall not wait in vain."""
        while self._asked:
            _, request_id = self._asked.popitem()
            reason = "The client closed the connection without an answer."
            self._pass_on(jsonrpc.error(request_id, jsonrpc.CONNECTION_CLOSED, reason))

    async def _say_farewell(self) -> None:
        if self.on_shutdown is None:
            self._subscriptions.clear()
            return
        self._deadline = self._loop.time() + FAREWELL
        self._loop.call_at(self._deadline, self._events.ring)
        try:
            async with asyncio.timeout(FAREWELL):
                pending = self.on_shutdown()
                if pending is not None:
                    await pending
        except Exception:
            logger.exception("the shutdown hook failed")


class _Bell:
    """Wakes one waiting task; what rings while nobody waits is heard by the next who does."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiter: asyncio.Future[None] | None = None
        self._rang = False

    def ring(self) -> None:
        self._rang = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def rung(self) -> None:
        if not self._rang:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        self._rang = False


def _weight(line: bytes | None) -> int:
    return 0 if line is None else len(line)


@asynccontextmanager
async def _connect(
    desk: Desk | None, drain_timeout: float, first: bytes, answered: RequestId | None
) -> AsyncIterator[Conversation]:
    conversation = Conversation(desk, drain_timeout, answered)
    conversation.writer.start()
    if first:
        conversation.feed(first)
    conversation.reader.start()
    with _signals(conversation):
        try:
            yield conversation
        finally:
            conversation.reader.stop()
            conversation.writer.close()
            await asyncio.shield(conversation.writer.drained(conversation.patience))


# --- signals and the end of the process


@contextmanager
def _signals(conversation: Conversation) -> Iterator[None]:
    """SIGTERM and SIGINT end the conversation; the second one ends the process with the customary status."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    seen = False

    def on_signal(number: int) -> None:
        nonlocal seen
        if seen:
            os._exit(128 + number)
        seen = True
        conversation.end(signal.Signals(number).name, min(SIGNAL_DRAIN, conversation.drain_timeout))

    numbers = [signal.SIGTERM, signal.SIGINT]
    if sys.platform == "win32":

        def handler(number: int, _frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(on_signal, number)

        before = {number: signal.signal(number, handler) for number in [*numbers, signal.SIGBREAK]}
        try:
            yield
        finally:
            for number, previous in before.items():
                signal.signal(number, previous)
    else:
        for number in numbers:
            loop.add_signal_handler(number, on_signal, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)


def _end_process_after(seconds: float, writer: Writer, patience: float) -> None:
    """Make sure that the process ends although a thread of a tool hangs: it keeps Python from exiting by itself."""

    def wait_and_end() -> None:
        time.sleep(seconds)
        writer.close()
        writer.join(patience)
        os._exit(0)

    threading.Thread(target=wait_and_end, name="end of process", daemon=True).start()
