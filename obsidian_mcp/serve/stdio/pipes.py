"""This process's stdin and stdout as a source of lines and a sink of lines (specs/stdio.md, PIPE-…).

On POSIX pipes and sockets the event loop reads and writes by itself as long as that cannot block; a hop to a thread
costs 30 to 60 µs a message, and up to 5 ms while a tool keeps the interpreter busy. Whatever may block (files,
terminals, Windows, a client that does not read) is left to a daemon thread.
"""

from __future__ import annotations

import asyncio
import os
import queue
import select
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TextIO

if sys.platform == "win32":
    import msvcrt

    _AT_ONCE = _GONE = 0  # never asked for: the thread does it all

    def _poll_writing_end(_fd: int) -> int:
        return 0

    def _room(_fd: int) -> int:
        return 0
else:
    import fcntl
    import termios

    _AT_ONCE = select.PIPE_BUF  # what a pipe takes without blocking when it polls as writable
    _GONE = select.POLLERR

    def _poll_writing_end(fd: int) -> int:
        """What can be done now with a pipe's writing end: 0 while a write might block, `_GONE` when nobody reads."""
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        return sum(events for _, events in poll.poll(0))

    def _room(fd: int) -> int:
        """Bytes that an empty pipe takes without blocking; 0 where that cannot be told, or something is in it."""
        if not hasattr(fcntl, "F_GETPIPE_SZ"):
            return 0
        try:
            unread = int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4), sys.byteorder)
            return 0 if unread else fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)
        except OSError:
            return 0


_READ_SIZE: Final = 256 * 1024
_WRITE_SIZE: Final = 256 * 1024
_READ_AHEAD: Final = 8
"""Reads that the thread may be ahead of the loop."""
_BOM: Final = b"\xef\xbb\xbf"


class LineSplitter:
    """Cuts a stream of bytes into lines without their ends; blank lines vanish, a line over `limit` bytes is None.

    A byte order mark before the first line is dropped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._first = True

    def feed(self, data: bytes) -> list[bytes | None]:
        """The lines that `data` completes."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        for end in ends:
            self._hold(end)
            lines += self.flush()
        self._hold(rest)
        return lines

    def flush(self) -> list[bytes | None]:
        """The line held, as if its end had come: at end of input a last line needs none."""
        line: bytes | None = None
        if self._size <= self._limit:
            line = b"".join(self._parts)
            if self._first:
                line = line.removeprefix(_BOM)
            line = line.strip()
        self._parts.clear()
        self._size = 0
        if line == b"":
            return []
        self._first = False
        return [line]

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._parts.clear()
        else:
            self._parts.append(part)


class Reader:
    """Calls `on_data` on the loop with what comes, and once with b"" at the end of input."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, on_data: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._loop = loop
        self._on_data = on_data
        self._by_loop = _is_pipe(fd)
        self._paused = False
        self._ended = False
        self._credit = threading.Semaphore(_READ_AHEAD)
        self._owed = 0

    def start(self) -> None:
        if self._by_loop:
            self._loop.add_reader(self._fd, self._on_readable)
        else:
            threading.Thread(target=self._run, name="stdio reader", daemon=True).start()

    def pause(self) -> None:
        """Read no further; a little that is on its way still comes."""
        if self._paused or self._ended:
            return
        self._paused = True
        if self._by_loop:
            self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        if not self._paused or self._ended:
            return
        self._paused = False
        if self._by_loop:
            self._loop.add_reader(self._fd, self._on_readable)
        while self._owed:
            self._owed -= 1
            self._credit.release()

    def stop(self) -> None:
        """Call `on_data` no more. The thread stays in its read; it is a daemon."""
        if self._by_loop and not self._paused and not self._ended:
            self._loop.remove_reader(self._fd)
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
            try:
                data = _read(self._fd)
            except OSError:
                data = b""
            with suppress(RuntimeError):  # the loop has closed; nobody is left to tell
                self._loop.call_soon_threadsafe(self._deliver_from_thread, data)

    def _deliver_from_thread(self, data: bytes) -> None:
        self._deliver(data)
        if self._paused:
            self._owed += 1
        else:
            self._credit.release()


class Writer:
    """Writes whole lines to the client. The methods are for the loop's thread; `drained` waits there too."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self.on_progress: Callable[[], None] | None = None
        """Called on the loop each time that `unsent` falls below `report_below`, which is then None."""
        self.report_below: int | None = None
        self.on_broken: Callable[[], None] | None = None
        """Called on the loop when the client has closed its end."""
        self.written = 0
        self._queued = 0
        self._fd = fd
        self._loop = loop
        self._broken = False
        self._queue: queue.SimpleQueue[bytes | memoryview | None] = queue.SimpleQueue()
        self._finished = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="stdio writer", daemon=True)
        self._by_loop = _is_pipe(fd)
        self._is_fifo = self._by_loop and stat.S_ISFIFO(os.fstat(fd).st_mode)

    @property
    def unsent(self) -> int:
        """Bytes accepted but not yet taken by the operating system."""
        return self._queued - self.written

    def start(self) -> None:
        self._thread.start()
        if self._is_fifo:
            # A pipe whose reader has gone becomes "readable" at its writing end: so an idle server notices, too.
            self._loop.add_reader(self._fd, self._on_hang_up)

    def put(self, line: bytes) -> None:
        """Send lines, line ends included. Never blocks."""
        if self._broken:
            return
        idle = self.unsent == 0
        self._queued += len(line)
        rest = self._write_at_once(line) if idle and self._by_loop else line
        if rest:
            self._queue.put(rest)

    def _on_hang_up(self) -> None:
        self._loop.remove_reader(self._fd)
        if _poll_writing_end(self._fd) & _GONE:
            self._break()

    def close(self) -> None:
        """Write what is queued, then end."""
        self._queue.put(None)

    async def drained(self, patience: float) -> None:
        """After `close`: wait for as long as the client takes something every `patience` seconds."""
        while not self._finished.is_set():
            before = self.written
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._finished.wait()
            if self.written == before:
                return

    def join(self, patience: float) -> None:
        """`drained` for another thread."""
        while self._thread.is_alive():
            before = self.written
            self._thread.join(patience)
            if self.written == before:
                return

    def _write_at_once(self, line: bytes) -> bytes | memoryview:
        """Write as much as cannot block; returns the rest. Only while the thread has nothing to do."""
        rest = memoryview(line)
        # Most clients have read all before: then a note of 20 KB is one write instead of five, and wakes them once.
        most = max(_AT_ONCE, _room(self._fd)) if self._is_fifo and len(line) > _AT_ONCE else _AT_ONCE
        while rest and _poll_writing_end(self._fd):
            try:
                count = os.write(self._fd, rest[:most])
                most = _AT_ONCE
            except BlockingIOError:
                break
            except OSError:
                self._break()
                return b""
            self.written += count
            rest = rest[count:]
        return rest

    def _break(self) -> None:
        if self._broken:
            return
        self._broken = True
        if self.on_broken is not None:
            self.on_broken()

    def _run(self) -> None:
        more = True
        while more:
            item = self._queue.get()
            batch: list[bytes | memoryview] = []
            size = 0
            while item is not None:
                batch.append(item)
                size += len(item)
                if size >= _WRITE_SIZE:
                    break
                try:
                    item = self._queue.get_nowait()
                except queue.Empty:
                    break
            else:
                more = False
            if not self._write(batch[0] if len(batch) == 1 else b"".join(batch)):
                self._tell(self._break)
                break
        self._tell(self._finished.set)

    def _write(self, data: bytes | memoryview) -> bool:
        """False when the client has gone."""
        rest = memoryview(data)
        while rest:
            try:
                count = os.write(self._fd, rest)
            except BlockingIOError:
                select.select([], [self._fd], [])
                continue
            except OSError:
                return False
            rest = rest[count:]
            self.written += count
            if self.report_below is not None and self.unsent < self.report_below:
                self.report_below = None
                self._tell(self.on_progress)
        return True

    def _tell(self, callback: Callable[[], None] | None) -> None:
        if callback is not None:
            with suppress(RuntimeError):  # the loop has closed
                self._loop.call_soon_threadsafe(callback)


def take_stdin() -> int:
    """A private descriptor of stdin; fd 0 becomes the null device, for this process and its children."""
    return _take(0, sys.__stdin__, lambda: os.open(os.devnull, os.O_RDONLY))


def take_stdout() -> int:
    """A private descriptor of stdout; fd 1 becomes stderr, so that no print and no child can touch the wire."""

    def stderr() -> int:
        return os.dup(2) if sys.__stderr__ is not None else os.open(os.devnull, os.O_WRONLY)

    return _take(1, sys.__stdout__, stderr)


def _take(fd: int, stream: TextIO | None, open_replacement: Callable[[], int]) -> int:
    if stream is None:
        # The process was started without it: nothing will come, or nobody listens. By now the number may belong to
        # something else, such as the event loop.
        return os.open(os.devnull, os.O_RDWR)
    private = _duplicate(fd)
    replacement = open_replacement()
    os.dup2(replacement, fd)
    os.close(replacement)
    if sys.platform == "win32":
        # Children inherit the Win32 handle, not the descriptor of the C runtime.
        from mcp.os.win32.utilities import rebind_std_handle_to_fd  # loads all of the SDK

        msvcrt.setmode(private, os.O_BINARY)
        with suppress(OSError):
            rebind_std_handle_to_fd(fd)
    return private


def _duplicate(fd: int) -> int:
    """A duplicate above the standard descriptors that children do not inherit."""
    if sys.platform == "win32":
        return os.dup(fd)
    else:  # noqa: RET505  (mypy understands platforms only in this form)
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def _read(fd: int) -> bytes:
    while True:
        try:
            return os.read(fd, _READ_SIZE)
        except BlockingIOError:
            # A parent that shares the descriptor made it non-blocking; that is not ours to undo.
            select.select([fd], [], [])


def _is_pipe(fd: int) -> bool:
    """Whether the loop can serve it: files cannot be waited for, and a terminal may block although it is ready."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
