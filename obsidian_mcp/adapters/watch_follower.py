"""The side of a server that another one tells what happens in a vault's folder (WATCH-14)."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time

from obsidian_mcp import TYPE_CHECKING

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

if TYPE_CHECKING:
    from typing import Protocol

    class FollowersReceiver(Protocol):
        """Takes what the leader tells, in the thread that reads it."""

        def note_ready(self, source: WatchFollower) -> None:
            """Note that all changes are reported from now on."""

        def note_change(self, path: str, *, is_folder: bool) -> None:
            """Note that a file or folder may have changed, by its path below the vault's."""

        def note_lost_events(self) -> None:
            """Note that reports were dropped."""


HELLO_SECONDS = 5.0
"""A leader that runs says so within this time, however long its watch takes to begin."""
HEARD_SECONDS = 1.0
"""A leader that was heard of so lately runs."""
ANSWER_SECONDS = 1.0
"""A leader that runs answers within this time on a busy machine, else within a millisecond."""
READ_BYTES = 65_536


class WatchFollower:
    """A connection to the leader."""

    def __init__(self, connection: socket.socket, identity: FileIdentity | None) -> None:
        """`identity` is that of the folder of which changes are to be told."""
        self.identity = identity
        self._connection = connection
        self._heard = time.monotonic()
        self._has_answered = threading.Event()
        self._has_ended = False
        self._is_stopped = False
        self._unread = b""
        """The beginning of a message."""

    @property
    def is_alive(self) -> bool:
        """Whether the leader has neither ended nor left a question without an answer."""
        return not self._has_ended

    def wait_for_leader(self) -> bool:
        """Wait until the leader has said that it watches, or begins to watch, the same folder.

        It is asked to begin anew where its folder is another: it may not have noticed yet that the
        vault's folder was replaced. Return False where it ends, and where it says nothing, as a
        process that is stopped does.
        """
        end = time.monotonic() + HELLO_SECONDS
        while (seconds := end - time.monotonic()) > 0:
            self._connection.settimeout(seconds)
            try:
                message = self._read_message()
            except TimeoutError:
                break
            except OSError:
                self.stop()
                break
            if message == HELLO + identity_text(self.identity):
                self._connection.settimeout(None)
                return True
            if message[:1] == HELLO:
                self.ask_to_renew()
        return False

    def receive(self, receiver: FollowersReceiver) -> bool:
        """Pass on what the leader tells; return whether it has ended, False after `stop`."""
        try:
            while True:
                self._take(self._read_message(), receiver)
        except OSError:
            has_leader_ended = not self._is_stopped
        self.stop()
        return has_leader_ended

    def _read_message(self) -> bytes:
        """Return the next message without its end. Raises: OSError, also where the leader has
        ended."""
        while END not in self._unread:
            data = self._connection.recv(READ_BYTES)
            if not data:
                raise ConnectionResetError
            self._heard = time.monotonic()
            self._unread += data
        message, _, self._unread = self._unread.partition(END)
        return message

    def _take(self, message: bytes, receiver: FollowersReceiver) -> None:
        kind, text = message[:1], message[1:]
        if kind in (FILE, FOLDER):
            receiver.note_change(os.fsdecode(text), is_folder=kind == FOLDER)
        elif kind == READY:
            receiver.note_ready(self)
        elif kind == LOST:
            receiver.note_lost_events()
        elif kind == ANSWER:
            self._has_answered.set()

    def answers(self) -> bool:
        """Return whether the leader runs: else nothing would be told of what has changed.

        A process that is stopped (Ctrl-Z in a terminal, a container on pause) keeps its
        connections. It counts as ended when it has left one question without an answer.
        """
        if self._has_ended or time.monotonic() - self._heard < HEARD_SECONDS:
            return self.is_alive
        self._has_answered.clear()
        self._say(ASK)
        if not self._has_answered.wait(ANSWER_SECONDS):
            self._has_ended = True
        return self.is_alive

    def ask_to_renew(self) -> bool:
        """Ask the leader to watch anew: it has lost sight of a folder, or has another one."""
        self._say(RENEW)
        return True

    def _say(self, message: bytes) -> None:
        with contextlib.suppress(OSError):  # it has ended, which is seen when it is read
            self._connection.send(message + END, socket.MSG_DONTWAIT)

    def stop(self) -> None:
        """End the connection; `receive` returns."""
        self._has_ended = self._is_stopped = True
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
