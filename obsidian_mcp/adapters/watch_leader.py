"""The side of the server that watches a vault's folder and tells the others (WATCH-14)."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable

from obsidian_mcp import logger

from .file_identity import FileIdentity
from .watch_messages import (
    ANSWER,
    ASK,
    END,
    FILE,
    FOLDER,
    HELLO,
    LOST,
    READY,
    RENEW,
    identity_text,
)

MOST_MESSAGES = 20_000
"""More messages than this that wait for the thread are one: that reports were dropped."""
BACKLOG_BYTES = 1_000_000
"""A server that leaves more unread is let go; it looks at the whole folder, and comes again."""
GATHER_SECONDS = 0.005
"""From a report until it is sent: a file that is saved is reported four times, and files come in
bursts. 5 000 new files take 16 ms of a follower's processor time, where the system's own reports
take 310 ms; sent one by one they took 100 ms, and more in the leader."""
READ_BYTES = 4096
STOP_SECONDS = 1.0
"""How long `stop` waits for the thread, which waits for nothing itself."""


class WatchLeader:
    """Tells the servers that have connected what the system reports; one thread sends it all.

    Where that thread fails they see the connection end, and one of them leads.
    """

    def __init__(
        self,
        listening: socket.socket,
        identity: FileIdentity | None,
        renew: Callable[[], None],
    ) -> None:
        """Begin to accept connections at `listening`.

        `identity` is that of the folder that is watched. `renew` is called where a server misses
        reports.
        """
        self._listening = listening
        self._identity = identity
        self._lock = threading.Lock()
        self._messages: dict[bytes, None] = {}
        """To be sent, in order; one that is there already says nothing new."""
        self._is_ready = False
        self._is_ending = False
        self._followers: dict[socket.socket, bytearray] = {}
        """The connections, with what could not be sent yet."""
        self._waker, self._woken = socket.socketpair()
        self._renew = renew
        for end in (self._listening, self._waker, self._woken):
            end.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="watch-leader", daemon=True)
        self._thread.start()

    def note_ready(self) -> None:
        """Tell that the watch has begun, or has begun anew."""
        with self._lock:
            self._is_ready = True
        self._send(READY)

    def note_lost_events(self) -> None:
        """Tell that the system has dropped reports."""
        self._send(LOST)

    def report(self, path: str, *, is_folder: bool) -> None:
        """Tell that a file or folder may have changed; the path is that below the vault's."""
        self._send((FOLDER if is_folder else FILE) + os.fsencode(path))

    def stop(self) -> None:
        """End all connections, so that another server leads; nobody can connect any more then."""
        self._is_ending = True
        self._wake()
        self._thread.join(STOP_SECONDS)

    def _send(self, message: bytes) -> None:
        with self._lock:
            if not self._followers:
                return
            if len(self._messages) >= MOST_MESSAGES:
                self._messages = dict.fromkeys((READY, LOST) if self._is_ready else (LOST,))
            is_first = not self._messages
            self._messages[message] = None
        if is_first:
            self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # the thread is awake, or has ended
            self._waker.send(b"!")

    def _run(self) -> None:
        try:
            with selectors.DefaultSelector() as selector:
                for waiting in (self._listening, self._woken):
                    selector.register(waiting, selectors.EVENT_READ)
                while not self._is_ending:
                    for key, events in selector.select():
                        self._handle(selector, key.fileobj, events)
        except Exception:  # noqa: BLE001  the others do without this server
            logger(__name__).exception("Other servers are not told of changes any more.")
        finally:
            with self._lock:
                # the first one first: who sees a connection end meets here again
                ended = [self._listening, *self._followers, self._woken, self._waker]
                self._followers.clear()
            for end in ended:
                end.close()

    def _handle(self, selector: selectors.BaseSelector, ready: object, events: int) -> None:
        if ready is self._listening:
            self._accept(selector)
        elif ready is self._woken:
            time.sleep(GATHER_SECONDS)
            self._woken.recv(READ_BYTES)
            self._flush(selector)
        elif isinstance(ready, socket.socket) and ready in self._followers:
            if events & selectors.EVENT_READ:
                self._read(selector, ready)
            if ready in self._followers:
                self._deliver(selector, ready)

    def _accept(self, selector: selectors.BaseSelector) -> None:
        try:
            follower, _ = self._listening.accept()
        except (BlockingIOError, ConnectionAbortedError):  # it has left again
            return
        except OSError:  # no descriptor is free, now or at the next attempt: another server leads
            selector.unregister(self._listening)
            self._listening.close()
            return
        follower.setblocking(False)
        selector.register(follower, selectors.EVENT_READ)
        with self._lock:  # what is reported from here on is sent to it
            greeting = [HELLO + identity_text(self._identity), *([READY] * self._is_ready)]
            self._followers[follower] = bytearray(b"".join(part + END for part in greeting))
        self._deliver(selector, follower)

    def _flush(self, selector: selectors.BaseSelector) -> None:
        with self._lock:
            messages, self._messages = self._messages, {}
        data = b"".join(message + END for message in messages)
        for follower, backlog in list(self._followers.items()):
            backlog += data
            self._deliver(selector, follower)

    def _read(self, selector: selectors.BaseSelector, follower: socket.socket) -> None:
        try:
            data = follower.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._let_go(selector, follower)
            return
        if RENEW in data:
            self._renew()
        if ASK in data:
            self._followers[follower] += ANSWER + END

    def _deliver(self, selector: selectors.BaseSelector, follower: socket.socket) -> None:
        """Send what a follower has not had yet, as much as it takes now."""
        backlog = self._followers[follower]
        try:
            while backlog:
                del backlog[: follower.send(backlog)]
        except BlockingIOError:
            if len(backlog) > BACKLOG_BYTES:
                self._let_go(selector, follower)
                return
        except OSError:
            self._let_go(selector, follower)
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if backlog else 0)
        if events != selector.get_key(follower).events:
            selector.modify(follower, events)

    def _let_go(self, selector: selectors.BaseSelector, follower: socket.socket) -> None:
        selector.unregister(follower)
        with self._lock:
            del self._followers[follower]
        follower.close()
