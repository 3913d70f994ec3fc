"""What the leader among the servers of a vault and those that follow it tell each other (WATCH-14).

A message is one byte that says what it is, a text where there is one, and END. No path has END
in it.
"""

from __future__ import annotations

from .file_identity import FileIdentity

VERSION = 1
"""Of these messages: programs that write others meet at another place."""
END = b"\0"

# of the leader
HELLO = b"h"
"""The leader is there; the text is the identity of the folder that it watches, or begins to."""
READY = b"r"
"""The watch has begun, perhaps anew: what changes from now on is reported."""
FILE = b"f"
FOLDER = b"d"
"""The text is the path below the vault's folder that may have changed, "" for the folder itself."""
LOST = b"l"
"""Reports were dropped: nobody knows of what."""
ANSWER = b"a"
"""To ASK: the leader runs."""

# of those that follow
ASK = b"q"
RENEW = b"n"
"""The leader does not report what happens in a folder: it is to watch anew."""


def identity_text(identity: FileIdentity | None) -> bytes:
    """Return the text of HELLO."""
    return b"" if identity is None else b"%d:%d" % identity
