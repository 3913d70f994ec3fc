"""This process's stdin and stdout: bytes in, lines out (specs/stdio.md, PIPE).

A thread reads. Answers are written by the thread that made them as long as that cannot block, else
by another: a hop costs a third of a small call.
"""

from __future__ import annotations

import codecs
import os
import select
import stat
import sys
import threading
from collections import deque

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Final, TextIO

if sys.platform == "win32":
    import msvcrt

_READ_SIZE: Final = 256 * 1024
_WRITE_SIZE: Final = 256 * 1024
MAX_LINE: Final = 64 * 2**20
"""Longest line taken, in bytes."""
MAX_HELD: Final = 256 * 2**20
"""Bytes read but not yet served, above which reading pauses. Far above what a client pipelines
before it reads: a client that writes first and reads later must not come to a standstill."""


class LineSplitter:
    """Splits bytes into lines without their ends.

    Blank lines are dropped, and so is a byte order mark before the first one; a line over `limit`
    bytes becomes None.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        """The beginning of the next line; of one that is too long, one byte more than the limit."""
        self._first = True
        """No line has been returned yet: the next one may begin with a byte order mark."""

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
    """Reads in a thread of its own, and calls `on_data` with the bytes.

    At the end of input it does so once with b"".
    """

    def __init__(
        self, fd: int, on_data: Callable[[bytes], None], output: int, on_hang_up: Callable[[], None]
    ) -> None:
        """Call `on_hang_up` when the reader of the pipe `output` has gone, so that an idle server
        notices."""
        self._fd = fd
        self._on_data = on_data
        self._output = output
        self._on_hang_up = on_hang_up
        self._ended = False
        self._may_read = threading.Event()
        self._may_read.set()
        self._idle = threading.Event()
        """Nothing is there to be read, and what was read has been delivered."""

    def start(self) -> None:
        threading.Thread(target=self._run, name="stdio reader", daemon=True).start()

    def pause(self) -> None:
        """Read no further; bytes already read are still delivered."""
        self._may_read.clear()

    def resume(self) -> None:
        self._may_read.set()

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until everything that has come is delivered, at most so long."""
        self._idle.wait(seconds)

    def stop(self) -> None:
        """Call `on_data` no more. The thread may stay in its read; it is a daemon."""
        self._ended = True

    def _run(self) -> None:
        is_fifo = stat.S_ISFIFO(os.fstat(self._output).st_mode)
        wait = self._choose_wait() if is_fifo and takes_turns(self._fd) else None
        data = b"-"
        while data:
            self._may_read.wait()
            if wait is not None and not wait():
                self._on_hang_up()
                return
            data = _read(self._fd)
            self._idle.clear()
            if self._ended:
                return
            self._on_data(data)

    def _choose_wait(self) -> Callable[[], bool]:
        """Return what waits for input; it returns False once the reader of the output has gone."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._output, 0)

        def wait() -> bool:
            ready = dict(poll.poll(0))
            if not ready:
                self._idle.set()
                ready = dict(poll.poll())
            return self._fd in ready or not ready.get(self._output, 0) & select.POLLERR

        return wait


class LineQueue:
    """The lines that were read and are not yet served; while they hold too many bytes, reading
    pauses. Its owner's lock guards it, but for `split`, which the reading thread alone calls."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._splitter = LineSplitter(MAX_LINE)
        self._lines: deque[bytes | None] = deque()
        self._held = 0
        """Bytes of `_lines`."""

    def __bool__(self) -> bool:
        return bool(self._lines)

    def split(self, data: bytes) -> list[bytes | None]:
        """Return the lines that bytes complete; b"" is the end of input, and ends the last one."""
        return self._splitter.feed(data) if data else self._splitter.flush()

    def put(self, lines: Sequence[bytes | None]) -> None:
        """Append lines; None for one that is too long."""
        self._lines.extend(lines)
        self._held += sum(len(line or b"") for line in lines)
        if self._held > MAX_HELD:
            self._reader.pause()

    def pop(self) -> bytes | None:
        """Take the first line."""
        line = self._lines.popleft()
        self._held -= len(line or b"")
        if self._held < MAX_HELD:
            self._reader.resume()
        return line

    def clear(self) -> None:
        """Forget all lines, when no more are read."""
        self._lines.clear()


class Writer:
    """Writes whole lines to the client, one caller at a time."""

    def __init__(
        self, fd: int, on_progress: Callable[[], None], on_broken: Callable[[], None]
    ) -> None:
        """Call `on_progress` when less is `unsent`, and `on_broken` when the client has closed its
        end."""
        self.fd = fd
        self._on_progress = on_progress
        self._on_broken = on_broken
        self._takes_turns = takes_turns(fd)
        self._broken = False
        self._ready = threading.Condition()
        """Guards the two below, which the thread shares."""
        self._queued = bytearray()
        """Accepted, and not yet taken by the operating system."""
        self._closed = False
        self._thread: threading.Thread | None = None
        """Writes what would block; there is none before something does."""

    @property
    def unsent(self) -> int:
        """Bytes accepted but not yet taken by the operating system."""
        return len(self._queued)

    def put(self, line: bytes) -> None:
        """Send lines, line ends included. Never blocks."""
        if self._broken:
            return
        rest: bytes | memoryview = line
        if self._takes_turns and not self._queued:  # the thread has nothing to write
            try:
                rest = _write_without_blocking(self.fd, line)
            except OSError:
                self.hang_up()
                return
        if rest:
            with self._ready:
                self._queued += rest
                self._ready.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="stdio writer", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Write what is queued, then end."""
        with self._ready:
            self._closed = True
            self._ready.notify()

    def join(self, patience: float) -> None:
        """After `close`: wait for as long as the client takes something every `patience`
        seconds."""
        while self._thread is not None and self._thread.is_alive():
            before = self.unsent
            self._thread.join(patience)
            if self.unsent == before:
                return

    def hang_up(self) -> None:
        """Send nothing any more: the client has gone."""
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
                count = os.write(self.fd, chunk)
            except BlockingIOError:
                select.select([], [self.fd], [])
                continue
            except OSError:
                self.hang_up()
                return
            with self._ready:
                del self._queued[:count]
            self._on_progress()


def take_stdin() -> int:
    """Return a private descriptor of stdin; fd 0 becomes the null device, for this process and its
    children."""
    return _take(0, sys.__stdin__, os.open(os.devnull, os.O_RDONLY))


def take_stdout() -> int:
    """Return a private descriptor of stdout; fd 1 becomes stderr, so that no print and no child can
    touch the wire."""
    stderr = os.dup(2) if sys.__stderr__ is not None else os.open(os.devnull, os.O_WRONLY)
    return _take(1, sys.__stdout__, stderr)


def _take(fd: int, stream: TextIO | None, replacement: int) -> int:
    if stream is None:
        # The process was started without it, and by now something else, such as the event loop, may
        # have the number.
        os.close(replacement)
        return os.open(os.devnull, os.O_RDWR)
    # above the standard ones, because `replacement` has the first that was free
    private = os.dup(fd)
    os.dup2(replacement, fd)  # on Windows, the handle that children inherit, too
    os.close(replacement)
    if sys.platform == "win32":
        msvcrt.setmode(private, os.O_BINARY)
    return private


def takes_turns(fd: int) -> bool:
    """Return whether the system can say when reading or writing will not block.

    It can for pipes and sockets. A file is always ready, a terminal may block although it is ready,
    and Windows cannot wait for a pipe.
    """
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _write_without_blocking(fd: int, line: bytes) -> memoryview:
    """Return what is left to write. Raises: OSError where the reader has gone."""
    rest = memoryview(line)
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    # What polls as writable takes PIPE_BUF bytes without blocking.
    while rest and any(events for _, events in poll.poll(0)):
        try:
            rest = rest[os.write(fd, rest[: select.PIPE_BUF]) :]
        except BlockingIOError:
            break
    return rest


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
