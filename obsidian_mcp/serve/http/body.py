"""Reads the body of a request, within limits of time and size (specs/http.md DOOR-06, LIFE-03)."""

from __future__ import annotations

from typing import Final

import anyio
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from .refusal import Reason, Refusal
from .request import HttpRequest

BODY_SECONDS: Final = 30.0
"""How long a body may take to arrive."""


async def read_body(receive: Receive, limit: int) -> bytes:
    """Return the whole body; of one over `limit` bytes a part, also over `limit`.

    Raises: Refusal when it takes longer than `BODY_SECONDS`, ClientDisconnect when the client
    leaves.
    """
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
        raise Refusal(
            Reason.TOO_SLOW, f"The body did not arrive within {BODY_SECONDS:g} s."
        ) from None
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
