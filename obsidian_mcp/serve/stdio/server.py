"""MCP over stdin and stdout (specs/stdio.md).

The SDK's own `stdio_server` drops malformed lines, loses answers in flight at end of input, hangs on SIGINT and ends at
a lone surrogate. This one answers every line, finishes what was begun, and keeps stdout for JSON-RPC alone.

    Reader ──bytes──▶ Conversation ──messages──▶ SDK (sdk_streams) ──lines──▶ Conversation ──bytes──▶ Writer   (pipes)
                            └──plain calls──▶ RunningCalls (call_handler) ──lines──▶┘

The SDK is loaded when a message needs it, or when the client is quiet.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .call_handler import CallHandler
from .conversation import Conversation
from .jsonrpc import Message, RequestId
from .pipes import Writer

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.models import InitializationOptions

COLLECT_OBJECTS: Final = 10_000
"""New objects after which Python looks for garbage: a table of 10 000 notes makes 60 000, nearly none of it garbage."""
SIGNAL_DRAIN_SECONDS: Final = 5.0
"""What work in flight gets after a first SIGTERM or SIGINT; hosts send SIGKILL soon after."""
GRACE_SECONDS: Final = 5.0
"""Time from the end of serving to the end of the process, whatever still runs."""


@dataclass(frozen=True, slots=True)
class SdkServer:
    """The SDK's side of a conversation."""

    server: Server[Any]
    options: InitializationOptions
    on_shutdown: Callable[[], None] | None = None
    """Called when the calls in flight have finished, to end subscriptions."""


def run(
    load: Callable[[], SdkServer],
    handler: CallHandler | None = None,
    *,
    writes: Callable[[Message], bool] | None = None,
    drain_timeout: float = 30.0,
    first: bytes = b"",
    answered: RequestId | None = None,
    grace: float = GRACE_SECONDS,
) -> int:
    """Serve on stdin and stdout until the client leaves. Returns the exit status of the process: 0.

    `load`, called in a thread and at most once, makes what serves the messages that are not plain calls; without a
    `handler` it serves all, and `writes` says which requests change a vault. From here on fd 0 is the null device and
    fd 1 is stderr, for this process and its children.

    Reading ends with end of input, the `exit` notification, SIGTERM or SIGINT; then the calls in flight are finished
    for at most `drain_timeout` seconds, and what the client has not read yet is written. A client that has closed our
    stdout ends everything at once. A second signal ends the process. It ends at most `grace` seconds after serving,
    even when a thread hangs.

    `first` holds bytes read from stdin before; `answered` is the id of an `initialize` among them that has its answer.
    Raises what `load` or the server's lifespan raises.
    """
    # What was imported stays: keeping it out of collections took the p99 of big answers from 80-300 ms to 19 ms.
    gc.freeze()
    gc.set_threshold(COLLECT_OBJECTS)
    gc.enable()

    async def serve() -> None:
        conversation = Conversation(
            handler, writes or (handler.writes if handler else lambda _: False), drain_timeout, answered
        )
        await _serve(conversation, load, first, grace)

    asyncio.run(serve())
    return 0


async def _serve(conversation: Conversation, load: Callable[[], SdkServer], first: bytes, grace: float) -> None:
    conversation.writer.start()
    if first:
        conversation.feed(first)
    conversation.reader.start()

    async def conclude() -> None:
        await conversation.conclude()
        _end_process_after(grace, conversation.writer, conversation.drain_timeout)

    with _signals(conversation):
        conclusion = asyncio.create_task(conclude())
        try:
            if await conversation.needs_sdk():
                sdk = await asyncio.to_thread(load)
                gc.freeze()
                from .sdk_streams import ReadStream, WriteStream

                conversation.on_shutdown = sdk.on_shutdown
                await sdk.server.run(ReadStream(conversation), WriteStream(conversation), sdk.options)
            await conclusion
        finally:
            conclusion.cancel()
            conversation.reader.stop()
            conversation.writer.close()
            await asyncio.shield(asyncio.to_thread(conversation.writer.join, conversation.patience))


@contextmanager
def _signals(conversation: Conversation) -> Iterator[None]:
    """SIGTERM and SIGINT end the conversation; the second one ends the process with the customary status."""
    loop = asyncio.get_running_loop()
    seen = False

    def on_signal(number: int) -> None:
        nonlocal seen
        if seen:
            os._exit(128 + number)
        seen = True
        conversation.end(signal.Signals(number).name, min(SIGNAL_DRAIN_SECONDS, conversation.drain_timeout))

    numbers = [signal.SIGTERM, signal.SIGINT]
    if sys.platform == "win32":  # whose event loop has no handlers of signals
        numbers.append(signal.SIGBREAK)
    previous = {
        number: signal.signal(number, lambda number, _: loop.call_soon_threadsafe(on_signal, number))
        for number in numbers
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _end_process_after(seconds: float, writer: Writer, patience: float) -> None:
    """End the process although a thread of a tool may hang, which keeps Python from exiting."""

    def end() -> None:
        writer.close()
        writer.join(patience)
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
