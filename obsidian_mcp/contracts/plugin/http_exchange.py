"""One request to the plugin over HTTP, and its answer, within limits of time and size.

A limit of a socket holds for each piece of an answer, so that a body which comes in drips would
never end. A timer closes the connection when the time of the whole exchange is over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import AppCommandFailed

if TYPE_CHECKING:
    from http.client import HTTPResponse

LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes."""
_READ_BYTES = 65_536
"""Bytes that are read at a time."""
TimeLimits = tuple[float, float]
"""Seconds for connecting and for the answer."""
SendRequest = Callable[[str, str, bytes | None, Mapping[str, str], TimeLimits], tuple[int, bytes]]
"""Sends a request: method, path, body, headers and limits. Returns status and body."""


class Unreachable(OSError):
    """Nothing listens there: the request was not sent, and so nothing can have been changed."""


@dataclass(frozen=True, slots=True)
class PluginAddress:
    """Where the plugin listens."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def exchange(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        limits: TimeLimits,
    ) -> tuple[int, bytes]:
        """Send a request and return the status and the body of its answer.

        Each has a connection of its own: after a restart of the plugin one that was kept would
        lose the next call. Raises: Unreachable, TimeoutError, OSError, AppCommandFailed.
        """
        import socket
        from http.client import HTTPConnection, HTTPException  # a client's first messages need none

        to_connect, to_answer = limits
        connection = HTTPConnection(self.host, self.port, timeout=to_connect)
        try:
            connection.connect()
        except OSError as error:
            raise Unreachable(str(error)) from error
        sock, deadline = connection.sock, time.monotonic() + to_answer

        def give_up() -> None:  # a limit of the socket holds for each piece of an answer
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(to_answer, give_up)
        timer.daemon = True
        try:
            timer.start()
            sock.settimeout(None)
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            received = _read_body(response)
            if response.length or time.monotonic() >= deadline:
                raise ConnectionResetError("the answer is not complete")
            return response.status, received
        except (HTTPException, OSError) as error:
            if time.monotonic() >= deadline:
                raise TimeoutError from error
            if isinstance(error, OSError):
                raise
            raise ConnectionResetError(str(error)) from error
        finally:
            timer.cancel()
            connection.close()


def _read_body(response: HTTPResponse) -> bytes:
    """Return the body of an answer. Raises: AppCommandFailed for one over LARGEST_ANSWER."""
    received = bytearray()
    while chunk := response.read1(_READ_BYTES):
        received += chunk
        if len(received) > LARGEST_ANSWER:
            raise AppCommandFailed(
                f"The plugin's answer is larger than {LARGEST_ANSWER // 1024 // 1024} MiB. "
                "Ask for less."
            )
    return bytes(received)
