"""MCP over stdin and stdout (specs/stdio.md).

    Reader ──bytes──▶ Conversation ──▶ Dispatcher ──lines──▶ Writer        initialize, ping, lists
                            ├─ calls ▶ Calls ──▶ Dispatcher, in threads ──▶┤
                            └─ rest ─▶ SdkLink ──▶ SDK, in a thread ──────▶┘

The reader begins before the rest of the program is imported, and the SDK is loaded when a message
needs it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from obsidian_mcp import TYPE_CHECKING

from .conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from obsidian_mcp.serve.dispatch import Dispatcher

    from .pipes import Writer
    from .sdk import SdkServer

SIGNAL_DRAIN_SECONDS: Final = 5.0
"""What work in flight gets after a first SIGTERM or SIGINT; hosts send SIGKILL soon after."""
GRACE_SECONDS: Final = 5.0
"""Time from the end of serving to the end of the process, whatever still runs."""
READ_FIRST_SECONDS: Final = 0.5
"""How long importing may wait for answers to what came before."""
IMPORT_SWITCH_SECONDS: Final = 0.001 if sys.platform == "win32" else 0.0005
"""How long importing may keep the thread waiting that answers first messages; below 1 ms it spins
on Windows."""


def serve_stdio(
    load: Callable[[], SdkServer],
    dispatcher: Dispatcher,
    *,
    prepare: Callable[[Conversation], None] = lambda _: None,
    drain_timeout: float = 30.0,
    grace: float = GRACE_SECONDS,
) -> int:
    """Serve on stdin and stdout until the input ends; return the exit status, 0.

    The `exit` notification, SIGTERM and SIGINT end it, too. `load`, called in a thread at most
    once, makes what serves the messages that the `dispatcher` does not answer. `prepare` is called
    when the first messages are answered; then what calls need is imported, and the default vault
    opened. Fd 0 becomes the null device and fd 1 stderr.

    At the end, calls in flight get `drain_timeout` seconds, the vaults are closed, and the process
    ends at most `grace` seconds later. A client that has closed our stdout ends everything at once,
    a second signal the process.

    Raises: what `load`, `prepare` or the server's lifespan raises; InvalidArguments for an account
    without a home folder where one is needed.
    """
    conversation = Conversation(dispatcher, load, drain_timeout)
    signals = _take_signals()
    conversation.reader.start()
    conversation.wait_until_answered(READ_FIRST_SECONDS)
    threading.Thread(
        target=_end_at_signals, args=(signals, conversation), name="signals", daemon=True
    ).start()
    try:
        _prepare(conversation, prepare, dispatcher)
        conversation.conclude()
    finally:
        conversation.reader.stop()
        _end_process_after(grace, conversation.writer, conversation.drain_timeout)
        conversation.writer.close()
        conversation.writer.join(conversation.patience)
        if dispatcher.app is not None:
            dispatcher.app.vaults.close()
    return 0


def _prepare(
    conversation: Conversation, prepare: Callable[[Conversation], None], dispatcher: Dispatcher
) -> None:
    """Import what calls need, and begin to open the default vault, while the first messages are
    answered."""
    import gc

    # whole first: `dataclasses` takes what another thread has of it from sys.modules
    import typing  # noqa: F401

    interval = sys.getswitchinterval()
    sys.setswitchinterval(IMPORT_SWITCH_SECONDS)
    try:
        prepare(conversation)
        conversation.wait_until_answered(READ_FIRST_SECONDS)
        if (app := dispatcher.app) is not None:
            app.config.require_folders()
            app.vaults.warm()
            from obsidian_mcp.tools import offer, registry  # noqa: F401  for the first call

            offer.published_entries()
        # What was imported stays: keeping it out of collections took the p99 of big answers from
        # 80-300 ms to 19 ms.
        gc.freeze()
        gc.enable()
    finally:
        sys.setswitchinterval(interval)


def _take_signals() -> int:
    """Return the pipe from which SIGTERM and SIGINT are read from now on, a byte each: on Windows
    the waiting main thread runs no handlers."""
    wake, woken = os.pipe()
    if sys.platform != "win32":  # where a full pipe does not stop the handler
        os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    numbers = [signal.SIGTERM, signal.SIGINT]
    if sys.platform == "win32":
        numbers.append(signal.SIGBREAK)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return wake


def _end_at_signals(signals: int, conversation: Conversation) -> None:
    """End the conversation at the first signal, and the process at the second."""
    number = os.read(signals, 1)[0]
    conversation.end(
        signal.Signals(number).name, min(SIGNAL_DRAIN_SECONDS, conversation.drain_timeout)
    )
    os._exit(128 + os.read(signals, 1)[0])


def _end_process_after(seconds: float, writer: Writer, patience: float) -> None:
    """End the process although a thread of a tool may hang, which keeps Python from exiting."""

    def end() -> None:
        writer.close()
        writer.join(patience)
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
