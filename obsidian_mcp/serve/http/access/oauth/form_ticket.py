"""What a form of the sign-in carries from page to page, so that nothing has to be kept for it
(OAUTH-25).

The server keeps nothing for a request that the owner has not allowed: a flood of requests fills
nothing and displaces nobody. A ticket is sealed with a key that only this process has, and bound to
a cookie of the browser that got the page.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from obsidian_mcp import json_codec

TICKET_SECONDS: Final = 600.0
_MAC_BYTES: Final = 32


class TicketInvalid(Exception):
    """A ticket is too old, was changed, or came from another browser."""


@dataclass(frozen=True)
class Ticket:
    """One request in the hands of one browser."""

    id: str
    request: Mapping[str, str | None]
    expires: float
    is_owner: bool = False
    """Whether the owner has signed in with it."""

    def with_owner(self) -> Ticket:
        """Return the ticket of an owner who has signed in."""
        return replace(self, is_owner=True)


class TicketOffice:
    """Makes and reads tickets."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)

    def new_ticket(self, request: Mapping[str, str | None]) -> Ticket:
        """Return a ticket for a request."""
        return Ticket(secrets.token_hex(8), request, self._clock() + TICKET_SECONDS)

    def seal(self, ticket: Ticket, cookie: str) -> str:
        """Return a ticket as a text for a form, bound to a cookie."""
        payload = json_codec.encode(
            [ticket.id, dict(ticket.request), ticket.expires, ticket.is_owner]
        )
        return base64.urlsafe_b64encode(self._mac(payload, cookie) + payload).decode()

    def open(self, sealed: str, cookies: Iterable[str]) -> tuple[Ticket, str]:
        """Return the ticket of a text, and which of the browser's cookies it is bound to. Raises:
        TicketInvalid."""
        try:
            raw = base64.b64decode(sealed.encode("ascii"), altchars=b"-_", validate=True)
        except ValueError:
            raise TicketInvalid from None
        mac, payload = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        bound = [
            cookie for cookie in cookies if hmac.compare_digest(mac, self._mac(payload, cookie))
        ]
        if not bound:
            raise TicketInvalid
        ticket_id, request, expires, is_owner = json_codec.decode(payload)
        ticket = Ticket(ticket_id, request, expires, is_owner)
        if ticket.expires <= self._clock():
            raise TicketInvalid
        return ticket, bound[0]

    def seconds_left(self, ticket: Ticket) -> int:
        """Return for how long a ticket is good."""
        return max(1, int(ticket.expires - self._clock()))

    def derive_bytes(self, ticket: Ticket, purpose: bytes) -> bytes:
        """Return bytes that only this process can compute for a ticket."""
        message = purpose + b"\0" + ticket.id.encode()
        return hmac.digest(self._key, message, "sha256")

    def _mac(self, payload: bytes, cookie: str) -> bytes:
        bound = hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).digest()
        return hmac.digest(self._key, b"ticket\0" + bound + payload, "sha256")
