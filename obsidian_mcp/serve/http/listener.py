"""Sockets, signals and patience of the HTTP server (specs/http.md LIFE-…)."""

from __future__ import annotations

import asyncio
import errno
import math
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from obsidian_mcp.errors import AppError

from .auth import Patience

MAX_CONNECTIONS: Final = 512
GRACE: Final = 5.0
"""Seconds between the end of serving and the end of the process, whatever still runs in a thread."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol, which waits for ever, with limits to its patience."""

    patience = Patience()
    _waiting: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None:
            # A peer that vanished without a word is noticed by the system.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            # Without it each answer took 44 ms; asyncio sets it only on sockets that name their protocol.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.more_body:  # answered before it was all there
            self._watch()

    def send_400_response(self, msg: str) -> None:
        """uvicorn's own fails, with a traceback in the log, where an answer was begun or is still being made."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(
                b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
                + f"content-length: {len(msg)}\r\n\r\n{msg}".encode("ascii")
            )
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._waiting, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self.patience.unread, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def _watch(self) -> None:
        if self._is_serving():
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.patience.head, self._lose_patience)

    def _lose_patience(self) -> None:
        self._waiting = None
        if not self._is_serving():
            self.transport.close()

    def _is_serving(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete


class Listener(uvicorn.Server):
    """Ends on the first SIGTERM or SIGINT after what was begun, at once on the second, both with a clean status."""

    def __init__(self, app: ASGIApp, *, drain: float, patience: Patience, on_stop: Callable[[], None]) -> None:
        """`drain`: seconds that calls in flight get at the end. `on_stop` is called when it begins."""
        super().__init__(
            uvicorn.Config(
                app,
                http=type("Protocol", (PatientProtocol,), {"patience": patience}),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=patience.idle,
                timeout_graceful_shutdown=math.ceil(drain),
            )
        )
        self._on_stop = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: Any) -> None:  # noqa: ARG002  the signature of a signal handler
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """uvicorn's own raises the signal once more at the end, and the process would die of it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)


def listen(host: str, ports: Sequence[int]) -> list[socket.socket]:
    """Sockets on these ports; port 0 is one that is free. Raises: AppError naming the port that cannot be had."""
    sockets: list[socket.socket] = []
    try:
        for port in ports:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            sockets.append(socket.create_server((host, port), family=family, backlog=1024))
    except (OSError, OverflowError) as error:
        for opened in sockets:
            opened.close()
        if getattr(error, "errno", 0) == errno.EADDRINUSE:
            reason = "another program listens there. Choose another one with --port."
        else:
            reason = f"{error}. Check --host and --port."
        raise AppError(f"Cannot listen on port {port} of {host}: {reason}", host=host, port=port) from error
    return sockets


def address(listening: socket.socket) -> str:
    """The URL of a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def end_process_after(seconds: float) -> None:
    """A tool that hangs in its thread shall not keep the process alive."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
