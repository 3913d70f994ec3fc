"""MCP over stdin and stdout: the transport handed to the SDK's `Server.run` (specs/stdio.md).

The SDK's own `stdio_server` drops malformed lines, loses the answers in flight at end of input, hangs on SIGINT and
dies of one lone surrogate (spec: mcp.md 1.1, 1.2). This one answers every line, finishes what was begun, and keeps
stdout for JSON-RPC alone.

    Reader ──bytes──▶ _Connection.receive ──▶ SDK ──▶ _Connection.send ──bytes──▶ Writer     (pipes.py)
                      parse, refuse, count            encode, count

All of this file runs on the event loop, so nothing here needs a lock.
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
from types import FrameType, TracebackType
from typing import Any, Final, Self

import anyio
import anyio.lowlevel
from mcp.server.lowlevel import Server
from mcp.server.models import InitializationOptions
from mcp.shared.dispatcher import as_request_id, coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from .jsonrpc import Refusal, decode, encode, refuse_long_line
from .pipes import LineSplitter, Reader, Writer, take_stdin, take_stdout

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

ShutdownHook = Callable[[], Awaitable[None] | None]


@asynccontextmanager
async def stdio_transport(
    *,
    drain_timeout: float = 30.0,
    on_shutdown: ShutdownHook | None = None,
    first: bytes = b"",
    answered: RequestId | None = None,
) -> AsyncIterator[tuple[ReadStream, WriteStream]]:
    """The streams for `Server.run`, over this process's stdin and stdout, which are taken over for good.

    From here on fd 0 is the null device and fd 1 is stderr, for this process and its children.

    Reading ends with end of input, the `exit` notification, SIGTERM or SIGINT; then the calls in flight are finished
    for at most `drain_timeout` seconds, `on_shutdown` is called (to end subscriptions), and the read stream ends, so
    that `Server.run` returns. Leaving the context waits until the client has read the answers. A client that has
    closed our stdout ends everything at once. A second signal ends the process.

    `first` holds bytes read from stdin before; `answered` is the id of a request among them that has its answer.
    """
    async with _connect(drain_timeout, on_shutdown, first, answered) as connection:
        yield ReadStream(connection), WriteStream(connection)


def run(
    server: Server[Any],
    options: InitializationOptions,
    *,
    drain_timeout: float = 30.0,
    on_shutdown: ShutdownHook | None = None,
    first: bytes = b"",
    answered: RequestId | None = None,
    grace: float = GRACE,
) -> int:
    """Serve on stdin and stdout until the client leaves. Returns the exit status of the process: 0.

    The process ends at most `grace` seconds after serving, even when a thread hangs. The other arguments are those of
    `stdio_transport`. Raises what the server's lifespan raises.
    """

    async def serve() -> None:
        async with _connect(drain_timeout, on_shutdown, first, answered) as connection:
            connection.on_end = lambda: _end_process_after(grace, connection.writer, drain_timeout)
            await server.run(ReadStream(connection), WriteStream(connection), options)

    # What was imported stays: keeping it out of collections took the p99 of big answers from 80-300 ms to 19 ms.
    gc.freeze()
    gc.enable()
    anyio.run(serve)
    return 0


class ReadStream:
    """What `Server.run` reads: the client's messages in order, then the end (the SDK's ReadStream protocol)."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises anyio.EndOfStream at the end."""
        return await self._connection.receive()

    async def aclose(self) -> None:
        self._connection.reader.stop()

    def __aiter__(self) -> ReadStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self._connection.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class WriteStream:
    """Where `Server.run` writes (the SDK's WriteStream protocol)."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self._closed = False

    async def send(self, item: SessionMessage, /) -> None:
        """Queue one message for the client. Raises anyio.ClosedResourceError after `aclose`."""
        if self._closed:
            raise anyio.ClosedResourceError
        self._connection.send(item.message)

    async def aclose(self) -> None:
        self._closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class _Connection:
    """The client's lines, what of them is in flight, and how the conversation ends. For the event loop's thread."""

    def __init__(self, drain_timeout: float, on_shutdown: ShutdownHook | None, answered: RequestId | None) -> None:
        self._loop = asyncio.get_running_loop()
        self.reader = Reader(take_stdin(), self._loop, self.feed)
        self.writer = Writer(take_stdout(), self._loop)
        self.writer.on_progress = self._wake
        self.writer.on_broken = self._hang_up
        self.drain_timeout = drain_timeout
        self.patience = drain_timeout
        """Seconds to wait for a client that does not take its answers."""
        self.on_end: Callable[[], None] | None = None
        self._on_shutdown = on_shutdown
        self._answered = answered
        self._splitter = LineSplitter(MAX_LINE)
        self._lines: deque[bytes | None] = deque()
        self._held = 0
        self._waiter: asyncio.Future[None] | None = None
        self._stalled = False
        # The SDK correlates "7" and 7 and lets a client use one id twice; so ids are coerced and counted.
        self._busy: dict[RequestId, int] = {}
        self._subscriptions: set[RequestId] = set()
        self._asked: dict[RequestId, RequestId] = {}
        self._ending = False
        self._deadline = 0.0
        self._said_farewell = False

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
        elif lines:
            self._wake()

    async def receive(self) -> SessionMessage:
        """The next message for the SDK. Raises anyio.EndOfStream when the conversation is over."""
        while True:
            if self._past_deadline():
                self._lines.clear()
            if self._lines:
                self._stalled = self._crowded()
                if self._stalled:
                    await self._news()
                    continue
                line = self._lines.popleft()
                self._held -= _weight(line)
                if self._held < MAX_HELD:
                    self.reader.resume()
                message = self._accept(line)
            elif self._ending:
                message = await self._finish()
            else:
                await self._news()
                continue
            if message is not None:
                return SessionMessage(message)
            await anyio.lowlevel.checkpoint()

    def _accept(self, line: bytes | None) -> JSONRPCMessage | None:
        message = refuse_long_line(MAX_LINE) if line is None else decode(line)
        match message:
            case Refusal():
                logger.warning("refused a line: %s", message.reason)
                if message.answer is not None:
                    self.writer.put(encode(message.answer))
                return None
            case JSONRPCRequest(method="subscriptions/listen"):
                self._subscriptions.add(coerce_request_id(message.id))
            case JSONRPCRequest():
                key = coerce_request_id(message.id)
                self._busy[key] = self._busy.get(key, 0) + 1
            case JSONRPCNotification(method="exit"):
                self._lines.clear()
                self.end("exit notification", self.drain_timeout)
                return None
            case JSONRPCNotification(method="notifications/cancelled"):
                cancelled = as_request_id((message.params or {}).get("requestId"))
                if cancelled is not None:
                    self._settle(cancelled)
            case JSONRPCResponse() | JSONRPCError():
                if message.id is not None:
                    self._asked.pop(coerce_request_id(message.id), None)
        return message

    def _crowded(self) -> bool:
        if len(self._busy) >= MAX_BUSY:
            return True
        # The writer reports back only when asked to, and asks are made before the look.
        self.writer.report_below = MAX_UNSENT // 2
        if self.writer.unsent > MAX_UNSENT:
            return True
        self.writer.report_below = None
        return False

    # --- writing

    def send(self, message: JSONRPCMessage) -> None:
        """Queue one message for the client."""
        match message:
            case JSONRPCResponse() | JSONRPCError():
                if message.id is not None:
                    if self._answered is not None and message.id == self._answered:
                        self._answered = None
                    else:
                        self.writer.put(encode(message))
                    self._settle(message.id)
                return
            case JSONRPCRequest():
                self._asked[coerce_request_id(message.id)] = message.id
                self._wake()
            case JSONRPCNotification() if self.writer.unsent > 4 * MAX_UNSENT:
                logger.warning("dropped %s: the client does not read", message.method)
                return
        self.writer.put(encode(message))

    def _settle(self, request_id: RequestId) -> None:
        key = coerce_request_id(request_id)
        self._subscriptions.discard(key)
        count = self._busy.pop(key, 0)
        if count > 1:
            self._busy[key] = count - 1
        if self._stalled or self._ending:
            self._wake()

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
        self._loop.call_at(self._deadline, self._wake)
        self._wake()

    def _hang_up(self) -> None:
        """The client is gone: nothing can be answered any more."""
        self._lines.clear()
        self._busy.clear()
        self._subscriptions.clear()
        self._asked.clear()
        self.end("the client closed our stdout", 0)

    async def _finish(self) -> JSONRPCMessage | None:
        """One step towards the end: a last message for the SDK, or None after news. Raises anyio.EndOfStream."""
        if self._asked:
            # Nobody can answer our questions any more; a call that waits for one shall not wait in vain.
            _, request_id = self._asked.popitem()
            error = ErrorData(code=CONNECTION_CLOSED, message="The client closed the connection without an answer.")
            return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        if self._busy and not self._past_deadline():
            await self._news()
            return None
        if not self._said_farewell:
            self._said_farewell = True
            if self._busy:
                logger.warning("gave up %d calls in flight at shutdown", len(self._busy))
                self._busy.clear()
            await self._say_farewell()
            return None
        if self._subscriptions and not self._past_deadline():
            await self._news()
            return None
        if self.on_end is not None:
            self.on_end()
        raise anyio.EndOfStream

    async def _say_farewell(self) -> None:
        if self._on_shutdown is None:
            self._subscriptions.clear()
            return
        self._deadline = self._loop.time() + FAREWELL
        self._loop.call_at(self._deadline, self._wake)
        try:
            with anyio.move_on_after(FAREWELL):
                pending = self._on_shutdown()
                if pending is not None:
                    await pending
        except Exception:
            logger.exception("the shutdown hook failed")

    def _past_deadline(self) -> bool:
        return self._ending and self._loop.time() >= self._deadline

    async def _news(self) -> None:
        """Wait until something happened that may let `receive` go on."""
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _weight(line: bytes | None) -> int:
    return 0 if line is None else len(line)


@asynccontextmanager
async def _connect(
    drain_timeout: float, on_shutdown: ShutdownHook | None, first: bytes, answered: RequestId | None
) -> AsyncIterator[_Connection]:
    connection = _Connection(drain_timeout, on_shutdown, answered)
    connection.writer.start()
    if first:
        connection.feed(first)
    connection.reader.start()
    with _signals(connection):
        try:
            yield connection
        finally:
            connection.reader.stop()
            connection.writer.close()
            with anyio.CancelScope(shield=True):
                await connection.writer.drained(connection.patience)


# --- signals and the end of the process


@contextmanager
def _signals(connection: _Connection) -> Iterator[None]:
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
        connection.end(signal.Signals(number).name, min(SIGNAL_DRAIN, connection.drain_timeout))

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
