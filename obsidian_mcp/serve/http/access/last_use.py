"""Notes when each key was used last, and by which program (specs/remote.md KEYS-03)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from obsidian_mcp import logger
from obsidian_mcp.core.grants.key_use import KeyUse
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.errors import StorageFailed
from obsidian_mcp.serve.dispatch import CLIENT_KEY, envelope
from obsidian_mcp.serve.http.request import HttpRequest

USE_SECONDS: Final = 60.0
"""A use is kept once in so many seconds: each request would write otherwise."""
MOST_APP: Final = 60
"""Characters of a program's name."""


class LastUses:
    """The uses of keys by one server. For the event loop's thread: a use is written at most once a
    minute and key."""

    def __init__(
        self, write: Callable[[str, KeyUse], None], now: Callable[[], float] = time.time
    ) -> None:
        """`write` keeps a use of the key with a name. Raises: StorageFailed where it cannot."""
        self._write = write
        self._now = now
        self._uses: dict[str, KeyUse] = {}

    def note(self, name: str, request: HttpRequest) -> None:
        """Keep that a request came with the key of a name.

        The name with which a program introduces itself counts more than its header User-Agent,
        which most requests of a session have alone. Where it cannot be kept, the log says so, and
        the request is served all the same.
        """
        use, now = self._uses.get(name), self._now()
        introduced = read_client_name(request)
        app = introduced or (use.app if use else "") or _user_agent(request)
        if use is not None and use.app == app and now - use.used < USE_SECONDS:
            return
        self._uses[name] = KeyUse(app, now)
        try:
            self._write(name, self._uses[name])
        except StorageFailed as error:
            logger(__name__).warning("The use of the key %s was not noted. %s", name, error.message)


def read_client_name(request: HttpRequest) -> str:
    """Return the name with which a program introduces itself in a message; empty where it does
    not."""
    message = request.message
    if message is None:
        return ""
    params = message.get("params")
    client = params.get("clientInfo") if isinstance(params, dict) else None
    if client is None and isinstance(params, dict):
        client = envelope(message).get(CLIENT_KEY)
    name = client.get("name") if isinstance(client, dict) else None
    return _plain_name(name) if isinstance(name, str) else ""


def _user_agent(request: HttpRequest) -> str:
    """Return the first program of User-Agent, without its version."""
    return _plain_name(request.headers.get("user-agent", "").partition(" ")[0].partition("/")[0])


def _plain_name(name: str) -> str:
    return cut_text(" ".join(to_printable(name).split()), MOST_APP)
