"""Sockets and signals of the HTTP server (specs/http.md LIFE-…)."""

from __future__ import annotations

import asyncio
import errno
import math
import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from email.utils import formatdate
from typing import Any, Final

import h11
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from obsidian_mcp.errors import AppError

MAX_CONNECTIONS: Final = 512
IDLE_SECONDS: Final = 65
"""How long a connection is kept between two requests; longer than the pauses of a bridge that
polls."""
GRACE_SECONDS: Final = 5.0
"""Time from the end of serving to the end of the process, whatever still runs in a thread."""


HEAD_SECONDS: Final = 10.0
"""How long the head of a request may take from its first byte, the first of a connection from its
opening."""
ACCEPT_SECONDS: Final = 0.02
"""From the last connection that is accepted until uvicorn closes all that there are: asyncio leaves
one open that it has accepted and not yet made known."""
STALL_SECONDS: Final = 30.0
"""How long a client may take nothing of an answer that waits for it."""
PIECE_BYTES: Final = 256 * 1024
"""Bytes of an answer that the system gets at once. asyncio on Windows counts what it got as unread
until all of it is sent: a large answer in one piece would look like one of which a slow client
takes nothing."""


class _Protocol(H11Protocol):
    """uvicorn's protocol with limits for clients that send or read slowly (LIFE-03), and without a
    traceback for bytes which are no HTTP."""

    cycle: RequestResponseCycle | None  # type: ignore[assignment]  # None before the first request
    _head: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    @property
    def _is_serving(self) -> bool:
        """Whether a request whose head has come waits for its answer."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Else each answer takes 44 ms, and up to 200 on Windows, where asyncio does not do it.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        self._expect_head()
        date = formatdate(usegmt=True).encode()
        self.server_state.default_headers = [(b"date", date)]  # of the answer to this
        super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        if self._is_serving and {b"content-length", b"transfer-encoding"} <= {
            name for name, _ in self.headers
        }:
            # Two lengths (RFC 9112 6.1): with this header, uvicorn closes the connection.
            self.scope["headers"] = [*self.scope["headers"], (b"connection", b"close")]
        if self._head is None:
            return
        # Idle again: the rest of a body that was answered before it had come.
        is_idle = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if self._is_serving or is_idle:
            self._head.cancel()
            self._head = None
        if is_idle:
            idle, handler = self.timeout_keep_alive, self.timeout_keep_alive_handler
            self.timeout_keep_alive_task = self.loop.call_later(idle, handler)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head, self._stall):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()

    def _expect_head(self) -> None:
        if self._head is None and not self._is_serving:
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _watch_reader(self, before: int | None = None) -> None:
        """Drop a client that has taken nothing since this many bytes waited for it."""
        unread = self.transport.get_write_buffer_size()
        if before is not None and unread >= before:
            self.transport.abort()
        else:
            self._stall = self.loop.call_later(STALL_SECONDS, self._watch_reader, unread)

    def send_400_response(self, msg: str) -> None:
        if self.cycle is None or self.cycle.response_complete:
            super().send_400_response(msg)
        else:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self.transport.close()


def send_in_pieces(app: ASGIApp) -> ASGIApp:
    """Return an application whose answers are sent piece by piece, each when the client has taken
    the one before."""

    async def serve_in_pieces(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_pieces(message: Message) -> None:
            body = message.get("body", b"")
            last = max(len(body) - 1, 0) // PIECE_BYTES * PIECE_BYTES
            for start in range(0, last, PIECE_BYTES):
                await send(
                    {**message, "body": body[start : start + PIECE_BYTES], "more_body": True}
                )
            await send({**message, "body": body[last:]} if last else message)

        await app(scope, receive, send_pieces)

    return serve_in_pieces


class Listener(uvicorn.Server):
    """Stops on the first SIGTERM or SIGINT when calls in flight have ended, at once on the second;
    exit status 0.

    uvicorn's own server wakes ten times a second to see whether it is to stop, and to keep the date
    of its answers; this one waits (LIFE-08).
    """

    _loop: asyncio.AbstractEventLoop | None = None
    """That waits for the end."""

    def __init__(self, app: ASGIApp, *, drain: float, on_stop: Callable[[], None]) -> None:
        """`drain`: seconds that calls in flight get at the end.

        `on_stop` is called when it begins.
        """
        super().__init__(
            uvicorn.Config(
                send_in_pieces(app),
                http=_Protocol,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=math.ceil(drain),
            )
        )
        self._on_stop = on_stop
        self._has_to_exit = asyncio.Event()

    @property
    def should_exit(self) -> bool:
        """Whether the server is to stop, or stops; may be set in any thread."""
        return self._should_exit

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        self._should_exit = value
        if value and self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._has_to_exit.set)

    async def main_loop(self) -> None:
        """Wait until the server is to stop."""
        self._loop = asyncio.get_running_loop()
        if not self.should_exit:
            await self._has_to_exit.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        for listening in sockets or ():
            with suppress(NotImplementedError):  # Windows' loop accepts by other means
                asyncio.get_running_loop().remove_reader(listening)
        await asyncio.sleep(ACCEPT_SECONDS)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: Any) -> None:  # noqa: ARG002
        """End in order: uvicorn's own handler ends the process by the signal."""
        self.force_exit = self.should_exit
        self.should_exit = True


def listen(host: str, ports: Sequence[int]) -> list[socket.socket]:
    """Return listening sockets; port 0 takes a free one.

    Raises: AppError naming the port that cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sockets: list[socket.socket] = []
    try:
        for port in ports:
            listening = socket.socket(family, socket.SOCK_STREAM)
            sockets.append(listening)
            if os.name == "posix":  # on Windows the option would share the port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family is socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            listening.bind((host, port))
            listening.listen(1024)
    except (OSError, OverflowError) as error:
        for opened in sockets:
            opened.close()
        if getattr(error, "errno", 0) == errno.EADDRINUSE:
            reason = "another program listens there. Choose another one with --port."
        else:
            reason = f"{error}. Check --host and --port."
        raise AppError(
            f"Cannot listen on port {port} of {host}: {reason}", host=host, port=port
        ) from error
    return sockets


def address(listening: socket.socket) -> str:
    """Return the URL of a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def end_process_after(seconds: float) -> None:
    """End the process although a tool may hang in its thread."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
