"""Who may come in, how much they may bring, and how long they may take (specs/http.md DOOR-…)."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import anyio
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from obsidian_mcp.config import HttpConfig
from obsidian_mcp.serve.http.dialects.types import Asked, Reason, Refusal

APP_ORIGIN: Final = "app://obsidian.md"
MINUTE: Final = 60.0
MAX_ADDRESSES: Final = 10_000
"""Addresses whose requests are counted; when there are more, the counts begin anew."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a client may take, so that a slow one does not hold the server."""

    head: float = 10.0
    """For the head of a request to arrive, and for the rest of a body that was refused."""
    body: float = 30.0
    """For a whole body to arrive."""
    unread: float = 30.0
    """To leave an answer unread."""
    idle: int = 65
    """Between two requests; more than the pauses of a bridge that polls."""


class Doors:
    """Every method raises Refusal, in the order in which they are asked: admit, meter, unlock."""

    def __init__(self, config: HttpConfig, clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = [_digest(key) for key in config.keys]
        self._origins = {APP_ORIGIN, *(origin.rstrip("/").lower() for origin in config.allow_origins)}
        self._rate_limit = config.rate_limit
        self._clock = clock
        self._requests: dict[str, deque[float]] = {}

    def admit(self, asked: Asked) -> None:
        """Without a key, only this machine's own names are served, and no foreign web page (DOOR-02, DOOR-03)."""
        if self._keys:
            return
        if not is_loopback(_host_name(asked.headers.get("host", ""))):
            raise Refusal(
                Reason.FORBIDDEN,
                "Without a key the server answers only to 127.0.0.1, localhost and [::1]. Use one of them, or set "
                "OBSIDIAN_MCP_API_KEY.",
            )
        origin = asked.headers.get("origin")
        if origin is not None and not self._is_welcome(origin.lower()):
            raise Refusal(
                Reason.FORBIDDEN,
                "Web pages of this origin may not use the server. Allow it with --allow-origin, or set a key with "
                "OBSIDIAN_MCP_API_KEY.",
            )

    def meter(self, asked: Asked) -> None:
        """Count a request that may call a tool; more than the limit within a minute are refused (DOOR-07)."""
        if not self._rate_limit or asked.method != "POST":
            return
        now = self._clock()
        if asked.client not in self._requests and len(self._requests) >= MAX_ADDRESSES:
            self._requests.clear()
        times = self._requests.setdefault(asked.client, deque())
        while times and now - times[0] >= MINUTE:
            times.popleft()
        if len(times) >= self._rate_limit:
            wait = int(MINUTE - (now - times[0])) + 1
            raise Refusal(
                Reason.TOO_MANY,
                f"Too many requests: {self._rate_limit} per 1 minute. Try again in {wait} s.",
                limit=self._rate_limit,
                headers={"retry-after": str(wait)},
            )
        times.append(now)

    def unlock(self, asked: Asked) -> None:
        """Where there are keys, the request must carry one of them (DOOR-04)."""
        if not self._keys:
            return
        given = _digest(next(_carried(asked), ""))
        if not sum(hmac.compare_digest(given, key) for key in self._keys):  # a sum: every key is compared
            raise Refusal(
                Reason.UNAUTHORIZED,
                "Invalid or missing MCP API key. Pass OBSIDIAN_MCP_API_KEY from stdio bridge.",
                headers={"www-authenticate": "Bearer"},
            )

    def _is_welcome(self, origin: str) -> bool:
        if origin in self._origins:
            return True
        try:
            parts = urlsplit(origin)
            return parts.scheme in ("http", "https") and is_loopback(parts.hostname or "")
        except ValueError:
            return False


def is_loopback(name: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


async def read_body(receive: Receive, limit: int, seconds: float) -> bytes:
    """The whole body; of a longer one, what came until it was over `limit` bytes.

    Raises: Refusal when it takes longer than `seconds`, ClientDisconnect when the client leaves.
    """
    body = bytearray()
    try:
        with anyio.fail_after(seconds):
            while len(body) <= limit:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refusal(Reason.TOO_SLOW, f"The body did not arrive within {seconds:g} s.") from None
    return bytes(body)


def declared_length(asked: Asked) -> int:
    """Bytes of the body as the headers say; 0 where they do not."""
    length = asked.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def too_large(limit: int) -> Refusal:
    return Refusal(Reason.TOO_LARGE, "Request body too large", limit=limit)


def _carried(asked: Asked) -> Iterator[str]:
    """The keys a request carries; the first counts, so that a wrong one is not outvoted by another header.

    The original of contract 004 also takes them from Google's header and from the query (its own paths only).
    """
    headers = asked.headers
    for name in ("x-obsiscripta-api-key", "x-api-key", "x-goog-api-key"):
        if key := headers.get(name, "").strip():
            yield key
    scheme, *rest = headers.get("authorization", "").split(" ")
    if scheme.lower() == "bearer" and rest:
        yield rest[0]
    if key := asked.query.get("key", ""):
        yield key


def _digest(key: str) -> bytes:
    """Of equal length for all keys, so that comparing takes the same time."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        return name if bracket and (not port or port.startswith(":")) else ""
    name, _, port = host.partition(":")
    return name.lower() if not port or port.isdigit() else ""
