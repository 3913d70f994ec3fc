"""Whether a request comes from a page of the console itself (UI-03): asked of every request, also
of those that only read."""

from __future__ import annotations

from typing import Final

from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest

OWN: Final = ("same-origin", "none")
"""Sec-Fetch-Site of a request by one of our pages, or by a person: typed, or from a bookmark.

`same-site` is not among them: all ports of a computer are one site.
"""


class ForeignVisit(Refusal):
    """A page of another origin asks, or leads a person here."""

    def __init__(self) -> None:
        super().__init__(
            Reason.FORBIDDEN,
            "Another page sent you here. The console opens for its own pages alone, so that no "
            "other page can do anything in your name.",
        )


def check_origin(request: HttpRequest, public: str = "", *, may_be_led_here: bool = False) -> None:
    """Check that no page of another origin asks.

    With `may_be_led_here` a person may come by a link of another page, as to a one-time address.
    `public` is the server's address for other computers, which a proxy may have in place of the
    Host header. What a browser does not say is not checked: cookie and form token suffice then.
    Raises: ForeignVisit.
    """
    host = request.headers.get("host", "")
    origin = request.headers.get("origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}", public or None):
        raise ForeignVisit
    is_own = request.headers.get("sec-fetch-site", OWN[0]) in OWN
    is_visit = request.headers.get("sec-fetch-dest", "document") == "document"
    if not (is_own or (may_be_led_here and is_visit)):
        raise ForeignVisit


def check_real_visit(request: HttpRequest) -> None:
    """Check that a browser does not only look at an address in advance: that would spend a token
    before the person comes. Raises: Refusal."""
    if "sec-purpose" in request.headers or "purpose" in request.headers:
        raise Refusal(Reason.FORBIDDEN, "This address is opened by a person alone.")
