"""This process's stdin and stdout: bytes in, lines out (specs/stdio.md, PIPE-…).

Two daemon threads read and write, because files, terminals, Windows pipes and clients that do not read may block.
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
else:
    import fcntl

_READ_SIZE: Final = 256 * 1024
_WRITE_SIZE: Final = 256 * 1024
_READ_AHEAD: Final = 8
"""Reads by which the thread may be ahead of the loop."""
_BOM: Final = b"\xef\xbb\xbf"


class LineSplitter:
    """Splits bytes into lines without their ends; blank lines are dropped, a line over `limit` bytes becomes None.

    A byte order mark before the first line is dropped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
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
    """Calls `on_data` on the loop with the bytes read, and once with b"" at the end of input."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, on_data: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._loop = loop
        self._on_data = on_data
        self._ended = False
        self._may_read = threading.Event()
        self._may_read.set()
        self._credit = threading.Semaphore(_READ_AHEAD)

    def start(self) -> None:
        threading.Thread(target=self._run, name="stdio reader", daemon=True).start()

    def pause(self) -> None:
        """Read no further; bytes already read are still delivered."""
        self._may_read.clear()

    def resume(self) -> None:
        self._may_read.set()

    def stop(self) -> None:
        """Call `on_data` no more. The thread stays in its read; it is a daemon."""
        self._ended = True

    def _deliver(self, data: bytes) -> None:
        self._credit.release()
        if not self._ended:
            self._ended = not data
            self._on_data(data)

    def _run(self) -> None:
        data = b"-"
        while data:
            self._credit.acquire()
            self._may_read.wait()
            try:
                data = _read(self._fd)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._deliver, data)
            except RuntimeError:  # the loop has closed
                return


class Writer:
    """Writes whole lines to the client. The methods are for the loop's thread."""

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
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._finished = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="stdio writer", daemon=True)

    @property
    def unsent(self) -> int:
        """Bytes accepted but not yet taken by the operating system."""
        return self._queued - self.written

    def start(self) -> None:
        self._thread.start()
        if sys.platform != "win32" and stat.S_ISFIFO(os.fstat(self._fd).st_mode):
            # A pipe whose reader has gone becomes "readable" at its writing end, so that an idle server notices.
            self._loop.add_reader(self._fd, self._on_hang_up)

    def put(self, line: bytes) -> None:
        """Send lines, line ends included. Never blocks."""
        if not self._broken:
            self._queued += len(line)
            self._queue.put(line)

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

    def _on_hang_up(self) -> None:
        self._loop.remove_reader(self._fd)
        poll = select.poll()
        poll.register(self._fd, select.POLLOUT)
        if any(event & select.POLLERR for _, event in poll.poll(0)):
            self._break()

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
            batch: list[bytes] = []
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
                self._notify(self._break)
                break
        self._notify(self._finished.set)

    def _write(self, data: bytes) -> bool:
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
                self._notify(self.on_progress)
        return True

    def _notify(self, callback: Callable[[], None] | None) -> None:
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
        # The process was started without it, and by now something else, such as the event loop, may have the number.
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
            # A parent that shares the descriptor has made it non-blocking and may depend on that.
            select.select([fd], [], [])
