"""The page on which the owner of an HTTP server shows who they are (UI-08): by the password of the
server, or by a code that it prints where only the owner reads it.

An API key does not help, not even one without limits: assistants have it, and the console decides
what assistants may see.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from anyio import CapacityLimiter, to_thread
from starlette.responses import Response

from obsidian_mcp.serve.http.access.oauth.attempts import RateLimit
from obsidian_mcp.serve.http.access.oauth.form_ticket import (
    TICKET_SECONDS,
    Ticket,
    TicketInvalid,
    TicketOffice,
)
from obsidian_mcp.serve.http.access.oauth.owner_check import (
    PRINTS_PER_MINUTE,
    OwnerCheck,
    TooManyGuesses,
)
from obsidian_mcp.serve.http.request import HttpRequest

from .fields import RequestFields
from .markup import Markup, element, join
from .page import BELOW, SIGN_IN, write_plain_page

PATH: Final = f"{BELOW}/{SIGN_IN}"
COOKIE: Final = "obsidian-mcp-console-sign-in"
_APP: Final = "The console in a browser"
_WRONG: Final = {
    False: "That is not right. Try again.",
    True: "That is not right. A new code has been printed.",
}
"""What is said of a wrong secret, by whether a code is asked for."""


class OwnerSignIn:
    """Asks for the password or a code. It keeps nothing for a page that was only opened."""

    def __init__(
        self,
        office: TicketOffice,
        check: OwnerCheck,
        clock: Callable[[], float],
        *,
        is_secure: bool,
    ) -> None:
        """`is_secure`: browsers reach the server by https."""
        self._prints = RateLimit(*PRINTS_PER_MINUTE, clock)
        self._office = office
        self._check = check
        self._is_secure = is_secure
        self._one_at_a_time = CapacityLimiter(1)
        """Secrets are checked in turn, so that each wrong one counts before the next."""

    async def is_owner(self, request: HttpRequest) -> bool:
        """Return whether a request brings the right password or code."""
        if request.method != "POST":
            return False
        try:
            ticket = self._open_ticket(request)
            return await to_thread.run_sync(
                self._check.is_owner,
                ticket,
                RequestFields(request.form).text("secret"),
                request.client,
                limiter=self._one_at_a_time,
            )
        except (TicketInvalid, TooManyGuesses):
            return False

    def write_answer(self, request: HttpRequest) -> Response:
        """Return the page that asks, and says that the last try was wrong.

        Each page has a ticket and a code of its own, so that a code can be tried once.
        """
        is_wrong = request.method == "POST"
        wait = self._check.wait(request.client)
        asks_code = not self._check.has_password or bool(wait)
        if asks_code and (pause := self._prints.wait(request.client)):
            text = f"Too many codes were printed. Wait {pause} s, and reload this page."
            headers = {"retry-after": str(pause)}
            return write_plain_page("Sign in", element("p", text), status=429, headers=headers)
        ticket, cookie = self._office.new_ticket({}), secrets.token_urlsafe(32)
        if asks_code:
            self._check.print_code(ticket, _APP)
        fault = _WRONG[asks_code] if is_wrong else ""
        if wait:
            fault = f"Too many wrong passwords. Wait {wait} s, or type the code."
        form = _write_form(self._office.seal(ticket, cookie), fault, asks_code=asks_code)
        page = write_plain_page("Sign in", form, status=429 if wait else 403 if is_wrong else 200)
        if wait:
            page.headers["retry-after"] = str(wait)
        page.set_cookie(
            COOKIE,
            cookie,
            max_age=int(TICKET_SECONDS),
            path=PATH,
            secure=self._is_secure,
            httponly=True,
            samesite="strict",
        )
        return page

    def _open_ticket(self, request: HttpRequest) -> Ticket:
        """Raises: TicketInvalid."""
        sealed = RequestFields(request.form).text("ticket")
        ticket, _ = self._office.open(sealed, [request.cookies.get(COOKIE, "")])
        return ticket


def _write_form(ticket: str, fault: str, *, asks_code: bool) -> Markup:
    """Return the form; `asks_code`: there is no password, or it may not be tried now."""
    command = element("code", "obsidian-mcp http password")
    help_text = (
        join("The server has printed a code where it runs. ", command, " sets a password.")
        if asks_code
        else join("The password of this server, set with ", command, ".")
    )
    return element(
        "form",
        element("p", fault, class_="fault", role="alert", id="fault") if fault else None,
        element("input", type="hidden", name="ticket", value=ticket),
        element(
            "p",
            element("label", "Code" if asks_code else "Password", for_="secret"),
            element(
                "input",
                id="secret",
                name="secret",
                type="text" if asks_code else "password",
                autocomplete="one-time-code" if asks_code else "current-password",
                autocapitalize="off",
                spellcheck="false",
                required=True,
                autofocus=True,
                aria_describedby="help",
                aria_invalid="true" if fault else None,
            ),
        ),
        element("p", help_text, class_="hint", id="help"),
        element("p", element("button", "Sign in", class_="main")),
        method="post",
        action=PATH,
        class_="sign-in",
    )
