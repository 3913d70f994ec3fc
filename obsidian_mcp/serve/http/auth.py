"""Who may use the server, how often, and how much they may send (specs/http.md DOOR-…)."""

from __future__ import annotations

import hmac
import ipaddress
import re
import time
from collections import deque
from collections.abc import Callable, Collection
from typing import Final

import anyio
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from obsidian_mcp.config import HttpConfig
from obsidian_mcp.core.files.policy import digest, fits_header
from obsidian_mcp.errors import InvalidArguments

from .dialect import Dialect, HttpRequest, Reason, Refusal

APP_ORIGIN: Final = "app://obsidian.md"
_ORIGIN: Final = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
"""The origin of a web page, in lower case: a host, and a port or none."""
BODY_SECONDS: Final = 30.0
"""How long a body may take to arrive."""
MINUTE: Final = 60.0
_PROXIES: Final = ("forwarded", "x-real-ip", "via")
"""Headers of proxies, beside those that begin with `x-forwarded-`."""
MAX_ADDRESSES: Final = 10_000
"""Addresses whose requests are counted; when there are more, the counts begin anew."""


class AccessControl:
    """Checks requests before they are served. Every method raises Refusal; the order is admit, meter, unlock."""

    def __init__(
        self, config: HttpConfig, clock: Callable[[], float] = time.monotonic, *, named: Collection[bytes] = ()
    ) -> None:
        """`named`: the digests of the API keys that have a name. Raises: InvalidArguments for one that has none too,
        and for one that no header can carry."""
        if not all(map(fits_header, config.keys)):
            raise InvalidArguments(
                "A key of OBSIDIAN_MCP_API_KEY holds a character that no header can carry. Use ASCII letters, digits "
                "and signs, or make one with `obsidian-mcp keys add NAME`."
            )
        unnamed = [digest(key) for key in config.keys]
        if set(unnamed) & set(named):
            raise InvalidArguments(
                "A key of OBSIDIAN_MCP_API_KEY is in the policy file, too. Without a name it would open everything: "
                "take it out of one of them."
            )
        self._keys = [*unnamed, *named]
        self._named = frozenset(named)
        self._origins = {APP_ORIGIN, *(origin.rstrip("/").lower() for origin in config.allow_origins)}
        self._open_bridge = config.open_bridge
        self._rate_limit = config.rate_limit
        self._clock = clock
        self._requests: dict[str, deque[float]] = {}

    def admit(self, request: HttpRequest) -> None:
        """Without a key, serve only this machine's own names, and no foreign web page (DOOR-02, DOOR-03)."""
        if not self._keys:
            self._check_local_names(request)

    def _check_local_names(self, request: HttpRequest) -> None:
        if not is_loopback(_host_name(request.headers.get("host", ""))):
            raise Refusal(
                Reason.FORBIDDEN,
                "Without a key the server answers only to 127.0.0.1, localhost and [::1]. Use one of them, or set "
                "OBSIDIAN_MCP_API_KEY.",
            )
        origin = request.headers.get("origin")
        if origin is not None and not self._allows_origin(origin.lower()):
            raise Refusal(
                Reason.FORBIDDEN,
                "Web pages of this origin may not use the server. Allow it with --allow-origin, or set a key with "
                "OBSIDIAN_MCP_API_KEY.",
            )

    def meter(self, request: HttpRequest) -> None:
        """Count a request that may call a tool; more than the limit within a minute are refused (DOOR-07)."""
        if not self._rate_limit or request.method != "POST":
            return
        now = self._clock()
        if len(self._requests) >= MAX_ADDRESSES:
            self._requests.clear()
        times = self._requests.setdefault(request.client, deque())
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

    def unlock(self, request: HttpRequest, dialect: Dialect) -> bytes | None:
        """Where there are keys, ask for one in the words of a dialect (DOOR-04), whose paths may be open to this
        machine (DOOR-09); return the digest of a key that has a name (DOOR-10), else None."""
        if not self._keys:
            return None
        given = digest(_carried_key(request))
        if sum(hmac.compare_digest(given, key) for key in self._keys):  # a sum: every key is compared
            return given if given in self._named else None
        if dialect.open_to_bridge and self._open_bridge and _is_from_here(request):
            self._check_local_names(request)
            return None
        raise Refusal(
            Reason.UNAUTHORIZED,
            f"Invalid or missing MCP API key. {dialect.key_advice}",
            headers={"www-authenticate": "Bearer"},
        )

    def _allows_origin(self, origin: str) -> bool:
        if origin in self._origins:
            return True
        page = _ORIGIN.fullmatch(origin)
        return page is not None and is_loopback(page[1].strip("[]"))


def is_loopback(name: str) -> bool:
    """Whether a host name or address always means this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


async def read_body(receive: Receive, limit: int) -> bytes:
    """Return the whole body; of one over `limit` bytes a part, also over `limit`. Raises: Refusal when it takes longer
    than `BODY_SECONDS`, ClientDisconnect when the client leaves."""
    body = bytearray()
    try:
        with anyio.fail_after(BODY_SECONDS):
            while len(body) <= limit:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refusal(Reason.TOO_SLOW, f"The body did not arrive within {BODY_SECONDS:g} s.") from None
    return bytes(body)


def is_too_large(request: HttpRequest, limit: int) -> bool:
    """Whether the body has more bytes than the limit, by its headers or as far as it was read."""
    length = request.headers.get("content-length", "")
    declared = int(length) if length.isascii() and length.isdigit() else 0
    return max(declared, len(request.body)) > limit


def check_size(request: HttpRequest, limit: int) -> None:
    """Raises: Refusal."""
    if is_too_large(request, limit):
        raise Refusal(Reason.TOO_LARGE, "Request body too large", limit=limit)


def _carried_key(request: HttpRequest) -> str:
    """Return the first key that a request carries: a wrong one is not made good by another header. Contract 004 also
    takes Google's header and, on its own paths, the query."""
    headers = request.headers
    for name in ("x-obsiscripta-api-key", "x-api-key", "x-goog-api-key"):
        if key := headers.get(name, "").strip():
            return key
    scheme, *rest = headers.get("authorization", "").split(" ")
    if scheme.lower() == "bearer" and rest:
        return rest[0]
    return request.query.get("key", "")


def _is_from_here(request: HttpRequest) -> bool:
    """Whether a program of this machine sent the request, and no proxy on behalf of another one."""
    forwarded = any(name in _PROXIES or name.startswith("x-forwarded-") for name in request.headers)
    return is_loopback(request.client) and not forwarded


def _host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        return name if bracket and (not port or port.startswith(":")) else ""
    name, _, port = host.partition(":")
    return name.lower() if not port or port.isdigit() else ""
