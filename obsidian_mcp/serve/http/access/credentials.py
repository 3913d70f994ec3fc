"""What a request carries to say whose it is. Cookies are in `HttpRequest.cookies`."""

from __future__ import annotations

from typing import Final

from obsidian_mcp.serve.http.request import HttpRequest

KEY_HEADERS: Final = ("x-obsiscripta-api-key", "x-api-key", "x-goog-api-key")
"""Those of contracts 000, 001 and 004, in the order in which they count."""


def bearer_token(request: HttpRequest) -> str:
    """Return the token of `Authorization: Bearer TOKEN`; empty without one.

    What stands behind it is ignored, as the original of contract 000 does.
    """
    scheme, *words = request.headers.get("authorization", "").split(" ")
    return words[0] if scheme.lower() == "bearer" and words else ""


def carries_credentials(request: HttpRequest) -> bool:
    """Return whether a request says whose it is, rightly or wrongly."""
    return "authorization" in request.headers or bool(carried_key(request))


def carried_key(request: HttpRequest) -> str:
    """Return the first key that a request carries; empty without one.

    A wrong key is not made good by another header: a client that sends two is mistaken about one of
    them. On its own paths, contract 004 takes a key from the query, too.
    """
    for name in KEY_HEADERS:
        if key := request.headers.get(name, "").strip():
            return key
    if key := bearer_token(request):
        return key
    return dict(request.query).get("key", "") if request.takes_key_from_query else ""
