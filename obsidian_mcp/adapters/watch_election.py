"""Which of the servers of a vault watches its folder for all (WATCH-14)."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from obsidian_mcp import TYPE_CHECKING, logger

from .file_identity import FileIdentity
from .file_lock import acquire_lock
from .filesystems import REMOTE, filesystem_of
from .watch_messages import VERSION

if TYPE_CHECKING:
    import socket

    from .watch_follower import WatchFollower
    from .watch_leader import WatchLeader

IS_SHARED = sys.platform == "linux"
"""Whether watches are counted for each folder, so that there is something to share."""
PLACE = f"watch-{VERSION}.sock"
LOCK = f"watch-{VERSION}.lock"
ELECTION_SECONDS = 2.0
"""How long a server waits for others that elect; they take less than a millisecond."""


def elect(
    folder: Path, identity: FileIdentity | None, renew: Callable[[], None]
) -> WatchLeader | WatchFollower | None:
    """Return the part that this server has: it leads where nobody does, else it follows.

    The servers meet at a socket in `folder`, which only their user may open. Who ends, or is
    killed, loses its connections at once; a socket that refuses them is one that was left behind.
    `identity` is that of the vault's folder; `renew` is called in the leader where another server
    misses reports. None where they cannot meet, as on a network drive: then each watches for
    itself.
    """
    if not IS_SHARED or filesystem_of(str(folder)) in REMOTE:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with acquire_lock(folder / LOCK, ELECTION_SECONDS):
                return _follow(descriptor, identity) or _lead(descriptor, identity, renew)
        finally:
            os.close(descriptor)
    except OSError as error:
        logger(__name__).info("this server watches for itself: %s", error)
        return None


def _address(descriptor: int) -> str:
    """Return the path of the socket in a folder: its own may be longer than the 107 bytes that an
    address of a socket has."""
    return f"/proc/self/fd/{descriptor}/{PLACE}"


def _follow(descriptor: int, identity: FileIdentity | None) -> WatchFollower | None:
    """Connect to the leader; None where there is none. Raises: OSError."""
    from .watch_follower import WatchFollower

    connection = _new_socket()
    try:
        connection.setblocking(False)  # one that is stopped may have too many waiting
        connection.connect(_address(descriptor))
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError:
        connection.close()
        raise
    return WatchFollower(connection, identity)


def _lead(descriptor: int, identity: FileIdentity | None, renew: Callable[[], None]) -> WatchLeader:
    """Let others connect. Raises: OSError."""
    from .watch_leader import WatchLeader

    listening = _new_socket()
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(PLACE, dir_fd=descriptor)
        listening.bind(_address(descriptor))
        os.chmod(PLACE, 0o600, dir_fd=descriptor)
        listening.listen()
    except OSError:
        listening.close()
        raise
    return WatchLeader(listening, identity, renew)


def _new_socket() -> socket.socket:
    import socket  # in the thread that begins to watch: a server's first answers do not wait for it

    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
