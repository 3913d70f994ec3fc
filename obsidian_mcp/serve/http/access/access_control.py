"""Who may use the server, and how often (specs/http.md DOOR-…)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol
from urllib.parse import urlsplit

from obsidian_mcp.config import HttpConfig
from obsidian_mcp.serve.http.dialect import Dialect
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest

from .challenge import WITHOUT_SIGN_IN, BearerChallenge
from .credentials import carries_credentials
from .principal import BRIDGE, OWNER, VISITOR, Principal
from .this_machine import host_name, is_from_here, is_local_page, is_loopback

APP_ORIGIN: Final = "app://obsidian.md"
MINUTE: Final = 60.0
MAX_ADDRESSES: Final = 10_000
"""Addresses whose requests are counted; when there are more, the counts begin anew."""


class PrincipalSource(Protocol):
    """One way to come in: the keys, or the tokens of a sign-in."""

    @property
    def is_locked(self) -> bool:
        """Whether, because of it, nobody comes in without saying who it is."""

    def find(self, request: HttpRequest) -> Principal | None:
        """Return whose request it is, by a header, a token or a cookie; None where it does not
        know."""

    def is_current(self, principal: Principal) -> bool:
        """Return whether a principal that it has found may still come in."""


class AccessControl:
    """Checks requests before they are served; the order is admit, meter, resolve."""

    def __init__(
        self,
        config: HttpConfig,
        sources: Sequence[PrincipalSource],
        challenge: BearerChallenge = WITHOUT_SIGN_IN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sources = tuple(sources)
        self._challenge = challenge
        self._origins = {
            APP_ORIGIN,
            *(origin.rstrip("/").lower() for origin in config.allow_origins),
        }
        self._open_bridge = config.open_bridge
        self._trusted_proxy = config.trusted_proxy
        self._public_host = urlsplit(config.public_url).hostname if challenge.has_sign_in else None
        self._rate_limit = config.rate_limit
        self._clock = clock
        self._requests: dict[str, deque[float]] = {}

    @property
    def is_locked(self) -> bool:
        """Whether requests have to say whose they are."""
        return any(source.is_locked for source in self._sources)

    def admit(self, request: HttpRequest) -> None:
        """Without a key, serve only this machine's own names, and no foreign web page (DOOR-02,
        DOOR-03); with a sign-in, those names and the public one (OAUTH-38). Raises: Refusal."""
        if not self.is_locked:
            self._check_local_names(request)
        elif self._public_host is not None:
            host = host_name(request.headers.get("host", ""))
            if host != self._public_host and not is_loopback(host):
                raise Refusal(
                    Reason.FORBIDDEN,
                    f"The server answers to {self._public_host} and to names of its own machine. "
                    "Have the proxy pass on the Host header, or leave it to its upstream's name.",
                )

    @property
    def has_sign_in(self) -> bool:
        """Whether programs can sign in: then nothing is answered without a token or key but what
        belongs to that (OAUTH-38)."""
        return self._challenge.has_sign_in

    def is_open(self, request: HttpRequest, dialect: Dialect) -> bool:
        """Return whether a path of a dialect is served to everybody."""
        if self.has_sign_in and not dialect.is_open_before_sign_in:
            return False
        return dialect.has_open_path(request.segments)

    def client_address(self, peer: str, headers: Mapping[str, str]) -> str:
        """Return where a request came from: the peer, or what a trusted proxy of this machine says.

        That is the last entry of X-Forwarded-For, which the proxy has added itself; what stands
        before it the stranger may have written (OAUTH-43).
        """
        forwarded = headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
        return forwarded if forwarded and self._trusted_proxy and is_loopback(peer) else peer

    def meter(self, request: HttpRequest) -> None:
        """Count a request that may call a tool.

        Raises: Refusal for more than the limit within a minute (DOOR-07).
        """
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

    def resolve(self, request: HttpRequest, dialect: Dialect) -> Principal:
        """Return whose request it is, whatever it carries to say so (DOOR-04, DOOR-10).

        The paths of a dialect may be open to this machine (DOOR-09). Raises: Refusal in words for
        the clients of the dialect.
        """
        if not self.is_locked:
            return OWNER
        for source in self._sources:
            if (principal := source.find(request)) is not None:
                return principal
        if dialect.open_to_bridge and self._open_bridge and is_from_here(request):
            self._check_local_names(request)
            return BRIDGE
        raise self._challenge.refuse(dialect.key_advice, is_wrong=carries_credentials(request))

    def is_still_admitted(self, principal: Principal) -> bool:
        """Return whether a principal that was resolved before may still come in (DOOR-13)."""
        if principal == VISITOR:
            return True
        if principal == BRIDGE:
            return self._open_bridge
        if principal == OWNER and not self.is_locked:
            return True
        return any(source.is_current(principal) for source in self._sources)

    def _check_local_names(self, request: HttpRequest) -> None:
        if not is_loopback(host_name(request.headers.get("host", ""))):
            raise Refusal(
                Reason.FORBIDDEN,
                "Without a key the server answers only to 127.0.0.1, localhost and [::1]. Use one "
                "of them, or set OBSIDIAN_MCP_API_KEY.",
            )
        origin = request.headers.get("origin")
        if origin is not None and not self._allows_origin(origin.lower()):
            raise Refusal(
                Reason.FORBIDDEN,
                "Web pages of this origin may not use the server. Allow it with --allow-origin, or "
                "set a key with OBSIDIAN_MCP_API_KEY.",
            )

    def _allows_origin(self, origin: str) -> bool:
        return origin in self._origins or is_local_page(origin)
