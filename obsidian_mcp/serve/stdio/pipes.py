"""This process's stdin and stdout: bytes in, lines out (specs/stdio.md, PIPE-…).

The event loop reads and writes POSIX pipes and sockets itself as long as that cannot block: a hop to a thread and back
costs a third of a small call. Whatever may block (files, terminals, Windows, a client that does not read) is left to
daemon threads.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import select
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TextIO

from .handshake import is_pipe

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_READ_SIZE: Final = 256 * 1024
_WRITE_SIZE: Final = 256 * 1024
_READ_AHEAD: Final = 8
"""Reads by which the thread may be ahead of the loop."""


class LineSplitter:
    """Splits bytes into lines without their ends; blank lines are dropped, a line over `limit` bytes becomes None.

    A byte order mark before the first line is dropped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        """The beginning of the next line, and of one that is too long no more than shows that."""
        self._first = True

    def feed(self, data: bytes) -> list[bytes | None]:
        """Return the lines that `data` completes."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        for end in ends:
            self._hold(end)
            lines += self.flush()
        self._hold(rest)
        return lines

    def flush(self) -> list[bytes | None]:
        """Return the held line as complete: the last line of the input needs no end."""
        line = bytes(self._held) if len(self._held) <= self._limit else None
        self._held.clear()
        if line is not None:
            line = (line.removeprefix(codecs.BOM_UTF8) if self._first else line).strip()
        if line == b"":
            return []
        self._first = False
        return [line]

    def _hold(self, part: bytes) -> None:
        self._held += part[: self._limit + 1 - len(self._held)]


class Reader:
    """Calls `on_data` on the loop with the bytes read, and once with b"" at the end of input."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, on_data: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._loop = loop
        self._on_data = on_data
        self._by_loop = _is_for_loop(fd)
        self._ended = False
        self._may_read = threading.Event()
        self._credit = threading.Semaphore(_READ_AHEAD)

    def start(self) -> None:
        self.resume()
        if not self._by_loop:
            threading.Thread(target=self._run, name="stdio reader", daemon=True).start()

    def pause(self) -> None:
        """Read no further; bytes already read are still delivered."""
        if self._may_read.is_set():
            self._may_read.clear()
            if self._by_loop:
                self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        if not self._may_read.is_set() and not self._ended:
            self._may_read.set()
            if self._by_loop:
                self._loop.add_reader(self._fd, self._on_readable)

    def stop(self) -> None:
        """Call `on_data` no more. A thread stays in its read; it is a daemon."""
        self.pause()
        self._ended = True

    def _on_readable(self) -> None:
        try:
            data = os.read(self._fd, _READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._deliver(data)

    def _deliver(self, data: bytes) -> None:
        if self._ended:
            return
        if not data:
            self.stop()
        self._on_data(data)

    def _run(self) -> None:
        data = b"-"
        while data:
            self._credit.acquire()
            self._may_read.wait()
            data = _read(self._fd)
            try:
                self._loop.call_soon_threadsafe(self._deliver_from_thread, data)
            except RuntimeError:  # the loop has closed
                return

    def _deliver_from_thread(self, data: bytes) -> None:
        self._credit.release()
        self._deliver(data)


class Writer:
    """Writes whole lines to the client. The methods are for the loop's thread."""

    def __init__(
        self,
        fd: int,
        loop: asyncio.AbstractEventLoop,
        on_progress: Callable[[], None],
        on_broken: Callable[[], None],
    ) -> None:
        """Call `on_progress` on the loop when less is `unsent`, and `on_broken` when the client has closed its end."""
        self._fd = fd
        self._loop = loop
        self._on_progress = on_progress
        self._on_broken = on_broken
        self._by_loop = _is_for_loop(fd)
        self._broken = False
        self._ready = threading.Condition()
        """For the two below, which the thread shares."""
        self._queued = bytearray()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="stdio writer", daemon=True)

    @property
    def unsent(self) -> int:
        """Bytes accepted but not yet taken by the operating system."""
        return len(self._queued)

    def start(self) -> None:
        self._thread.start()
        if sys.platform != "win32" and stat.S_ISFIFO(os.fstat(self._fd).st_mode):
            # A pipe whose reader has gone becomes "readable" at its writing end, so that an idle server notices.
            self._loop.add_reader(self._fd, self._on_hang_up)

    def put(self, line: bytes) -> None:
        """Send lines, line ends included. Never blocks."""
        if self._broken:
            return
        rest: bytes | memoryview = line
        if self._by_loop and not self._queued:  # the thread has nothing to write
            try:
                rest = _write_without_blocking(self._fd, line)
            except OSError:
                self._break()
                return
        if rest:
            with self._ready:
                self._queued += rest
                self._ready.notify()

    def close(self) -> None:
        """Write what is queued, then end."""
        with self._ready:
            self._closed = True
            self._ready.notify()

    def join(self, patience: float) -> None:
        """After `close`, not on the loop: wait for as long as the client takes something every `patience` seconds."""
        while self._thread.is_alive():
            before = self.unsent
            self._thread.join(patience)
            if self.unsent == before:
                return

    def _on_hang_up(self) -> None:
        self._loop.remove_reader(self._fd)
        if _poll_for_writing(self._fd) & select.POLLERR:
            self._break()

    def _break(self) -> None:
        if not self._broken:
            self._broken = True
            self._on_broken()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._queued or self._closed)
                chunk = self._queued[:_WRITE_SIZE]
            if not chunk:
                return
            try:
                count = os.write(self._fd, chunk)
            except BlockingIOError:
                select.select([], [self._fd], [])
                continue
            except OSError:
                self._notify(self._break)
                return
            with self._ready:
                del self._queued[:count]
            self._notify(self._on_progress)

    def _notify(self, callback: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(callback)


def take_stdin() -> int:
    """A private descriptor of stdin; fd 0 becomes the null device, for this process and its children."""
    return _take(0, sys.__stdin__, os.open(os.devnull, os.O_RDONLY))


def take_stdout() -> int:
    """A private descriptor of stdout; fd 1 becomes stderr, so that no print and no child can touch the wire."""
    stderr = os.dup(2) if sys.__stderr__ is not None else os.open(os.devnull, os.O_WRONLY)
    return _take(1, sys.__stdout__, stderr)


def _take(fd: int, stream: TextIO | None, replacement: int) -> int:
    if stream is None:
        # The process was started without it, and by now something else, such as the event loop, may have the number.
        os.close(replacement)
        return os.open(os.devnull, os.O_RDWR)
    private = _duplicate(fd)
    os.dup2(replacement, fd)
    os.close(replacement)
    if sys.platform == "win32":
        import ctypes

        msvcrt.setmode(private, os.O_BINARY)
        # Children inherit the Win32 handle, not the descriptor of the C runtime: STD_INPUT_HANDLE is -10, output -11.
        ctypes.windll.kernel32.SetStdHandle(-10 - fd, ctypes.c_void_p(msvcrt.get_osfhandle(fd)))
    return private


def _duplicate(fd: int) -> int:
    """A duplicate above the standard descriptors that children do not inherit."""
    if sys.platform == "win32":
        return os.dup(fd)
    else:  # noqa: RET505  (mypy understands platforms only in this form)
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def _is_for_loop(fd: int) -> bool:
    """Files cannot be waited for, a terminal may block although it is ready, and Windows has only these."""
    return sys.platform != "win32" and is_pipe(fd)


def _write_without_blocking(fd: int, line: bytes) -> memoryview:
    """Return what is left to write. Raises: OSError where the reader has gone."""
    rest = memoryview(line)
    # What polls as writable takes PIPE_BUF bytes without blocking.
    while rest and _poll_for_writing(fd):
        try:
            rest = rest[os.write(fd, rest[: select.PIPE_BUF]) :]
        except BlockingIOError:
            break
    return rest


def _poll_for_writing(fd: int) -> int:
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    return sum(events for _, events in poll.poll(0))


def _read(fd: int) -> bytes:
    """Return the next bytes; none at the end of input, and where reading fails."""
    while True:
        try:
            return os.read(fd, _READ_SIZE)
        except BlockingIOError:
            # A parent that shares the descriptor has made it non-blocking and may depend on that.
            select.select([fd], [], [])
        except OSError:
            return b""
