"""/authorize: the owner's browser, from the request of a program to the answer (OAUTH-13 to
OAUTH-26)."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from anyio import CapacityLimiter, to_thread
from starlette.responses import Response

from obsidian_mcp.core.grants.grant import Grant, choose_name
from obsidian_mcp.errors import AppError
from obsidian_mcp.serve.http.dialect import Dialect
from obsidian_mcp.serve.http.refusal import Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.tool_service import ToolService

from .attempts import RateLimit
from .authorization_request import (
    AuthorizationRequest,
    WrongAddress,
    from_fields,
    is_well_formed,
    read_errand,
    read_request,
    requested_client,
    to_fields,
)
from .form_ticket import TICKET_SECONDS, Ticket, TicketInvalid
from .oauth_error import OAuthError, single_values
from .owner_check import PRINTS_PER_MINUTE, TooManyGuesses
from .page_texts import (
    ALL_VAULTS,
    VaultChoice,
    choice_value,
    consent_page,
    problem_page,
    sign_in_page,
)
from .parts import OwnerSide, SignInParts
from .redirects import destination
from .scopes import READ, WRITE, scope_text
from .sign_in_log import log_event

COOKIE: Final = "obsidian-mcp-sign-in-"
MOST_BYTES: Final = 65_536
_ANSWERED: Final = 100
"""Answers that are remembered, because people click twice."""
_WRONG_LINES: Final = 10
_ALL_WRONG_LINES: Final = 30
"""Lines of the log about wrong secrets within a minute, from one address and from all."""
_DENIED: Final = OAuthError("access_denied", "The owner of the vault said no.")
_STALE: Final = (
    "This page is more than ten minutes old, or the browser takes no cookies from this server. "
    "Begin again in the app that sent you here."
)


class AuthorizePages(Dialect):
    """Pages for one person. No other site may show them, send their forms, or read them."""

    pages = MappingProxyType({"/authorize": "authorize"})
    allowed = ("GET", "POST")
    open_paths = (("authorize",),)
    is_open_before_sign_in = True

    def __init__(self, parts: SignInParts, owner: OwnerSide) -> None:
        super().__init__(MOST_BYTES)
        self._parts = parts
        self._owner = owner
        self._prints = RateLimit(*PRINTS_PER_MINUTE, parts.clock)
        self._log_lines = RateLimit(_WRONG_LINES, _ALL_WRONG_LINES, parts.clock)
        self._one_at_a_time = CapacityLimiter(1)
        """Secrets are checked in turn: of a hundred guesses at once all would be free otherwise,
        and each would keep a thread that calls of tools need."""
        self._answered: OrderedDict[str, str] = OrderedDict()
        """Where the browser went with an answer, by ticket."""

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002
        page = problem_page(refusal.reason.error, refusal.message, status=refusal.reason.status)
        page.headers.update(refusal.headers)
        return page

    async def handle_request(
        self,
        request: HttpRequest,
        service: ToolService,  # noqa: ARG002
    ) -> Response:
        try:
            if request.method == "POST":
                return await self._take_form(request)
            return await self._open_request(request)
        except WrongAddress as problem:
            return problem_page("This cannot be answered", str(problem))
        except TicketInvalid:
            return problem_page("Begin again", _STALE)
        except TooManyGuesses as many:
            return problem_page(
                "Too many wrong tries",
                f"Wait {many.seconds} s. What is connected already goes on working.",
                status=429,
                wait=many.seconds,
            )

    # --- the request of a program

    async def _open_request(self, request: HttpRequest) -> Response:
        """Show the page for a request. Raises: WrongAddress."""
        program = await self._parts.programs.find_program(
            requested_client(request.query),
            request.client,
            may_fetch=is_well_formed(request.query, self._parts.resource, self._owner.scopes),
        )
        errand = read_errand(request.query, program, self._parts.resource)
        try:
            authorization = read_request(
                request.query, errand, self._parts.resource, self._owner.scopes
            )
        except OAuthError as error:
            # not redirected at once: whoever registers could then send people anywhere
            text = f"{errand.app} asks in a way that this server does not take: {error}"
            return problem_page("This request is not taken", text, back=errand.refusal(error))
        ticket = self._owner.office.new_ticket(to_fields(authorization))
        cookie = secrets.token_urlsafe(32)
        page = self._sign_in(request, ticket, cookie)
        if page.status_code < 400 or page.status_code == 429:
            self._set_cookie(page, ticket, cookie, int(TICKET_SECONDS))
        return page

    def _sign_in(
        self, request: HttpRequest, ticket: Ticket, cookie: str, *, fault: str = ""
    ) -> Response:
        """Return the page that asks for the password, or for a code where none helps."""
        check, wait = self._owner.check, self._owner.check.wait(request.client)
        asks_code = not check.has_password or bool(wait)
        if asks_code and (too_many := self._prints.wait(request.client)):
            raise TooManyGuesses(too_many)
        errand = self._request_of(ticket).errand
        if asks_code:
            check.print_code(ticket, errand.app)
        status = 403 if fault else 200
        if wait and check.has_password:
            fault, status = (
                (
                    f"Too many wrong passwords came from your network. Wait {wait} s and reload, "
                    "or type the code that the server has printed where it runs."
                ),
                429,
            )
        sealed = self._owner.office.seal(ticket, cookie)
        page = sign_in_page(errand, sealed, asks_code=asks_code, fault=fault, status=status)
        if status == 429:
            page.headers["retry-after"] = str(wait)
        return page

    # --- the forms of the owner

    async def _take_form(self, request: HttpRequest) -> Response:
        """Do what a form says. Raises: TicketInvalid, TooManyGuesses."""
        if not self._is_own_form(request):
            return problem_page(
                "Not from here", "Another site sent this form. Nothing was done.", status=403
            )
        try:
            form = single_values(request.form)
        except OAuthError:
            raise TicketInvalid from None
        ticket, cookie = self._owner.office.open(
            form.get("ticket", ""), self._browser_cookies(request)
        )
        if ticket.id in self._answered:
            return self._leave(ticket, self._answered[ticket.id])
        if form.get("answer") == "deny":
            return self._deny(request, ticket)
        if form.get("step") == "consent" and ticket.is_owner:
            return await self._take_consent(request, ticket, cookie, form)
        return await self._take_secret(request, ticket, cookie, form.get("secret", ""))

    def _is_own_form(self, request: HttpRequest) -> bool:
        """Whether a form comes from a page of this server, as far as the browser says."""
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "same-origin")
        return origin in (None, self._parts.resource.public) and site in ("same-origin", "none")

    async def _take_secret(
        self, request: HttpRequest, ticket: Ticket, cookie: str, secret: str
    ) -> Response:
        app = self._request_of(ticket).errand.app
        try:
            is_owner = await to_thread.run_sync(
                self._owner.check.is_owner,
                ticket,
                secret,
                request.client,
                limiter=self._one_at_a_time,
            )
        except TooManyGuesses:
            self._log_wrong("Too many wrong secrets", app, request.client)
            if self._owner.check.wait(request.client):
                return self._sign_in(request, ticket, cookie)
            raise
        if not is_owner:
            self._log_wrong("Wrong secret", app, request.client)
            return self._sign_in(request, ticket, cookie, fault="That is not right. Try again.")
        log_event("The owner signed in", app, request.client)
        return await self._ask_consent(ticket.with_owner(), cookie)

    def _log_wrong(self, event: str, app: str, address: str) -> None:
        """Log a wrong secret, unless so many came that they would fill the log."""
        if not self._log_lines.wait(address):
            log_event(event, app, address, warns=True)

    async def _ask_consent(self, ticket: Ticket, cookie: str, *, fault: str = "") -> Response:
        authorization = self._request_of(ticket)
        try:
            vaults = await to_thread.run_sync(self._owner.list_vaults)
        except AppError as error:
            return problem_page("The vault cannot be opened", error.message, status=503)
        return consent_page(
            authorization.errand,
            self._owner.office.seal(ticket, cookie),
            vaults,
            may_write=WRITE in authorization.scopes,
            fault=fault,
        )

    async def _take_consent(
        self, request: HttpRequest, ticket: Ticket, cookie: str, form: dict[str, str]
    ) -> Response:
        authorization = self._request_of(ticket)
        try:
            vaults = await to_thread.run_sync(self._owner.list_vaults)
        except AppError as error:
            return problem_page("The vault cannot be opened", error.message, status=503)
        place = _find_place(list(vaults), form.get("place", ""))
        access = form.get("access")
        if place is None or access not in ("read", "write"):
            return await self._ask_consent(
                ticket, cookie, fault="That folder is not there any more. Choose again."
            )
        writes = access == "write" and WRITE in authorization.scopes
        grant = self._new_grant(authorization, place, writes=writes)
        code = self._parts.issuer.issue_code(
            grant,
            authorization.errand.redirect,
            authorization.challenge,
            scope_text((READ, WRITE) if writes else (READ,)),
        )
        rights = "read and write" if writes else "read only"
        log_event(
            f"The owner allowed {rights}, as {grant.name}", authorization.errand.app, request.client
        )
        return self._leave(ticket, authorization.errand.address(code=code))

    def _new_grant(
        self, authorization: AuthorizationRequest, place: tuple[str, str], *, writes: bool
    ) -> Grant:
        now, ledger = self._parts.clock(), self._parts.ledger
        names = {*self._owner.list_key_names(), *(grant.name for grant in ledger.grants())}
        vault, folder = place
        return Grant(
            id=secrets.token_hex(16),
            name=choose_name(authorization.errand.app, names),
            app=authorization.errand.app,
            host=destination(authorization.errand.redirect),
            client=authorization.errand.client,
            resource=self._parts.resource.address,
            vault=vault,
            folder=folder,
            is_read_only=not writes,
            created=now,
            used=now,
            asked_less=WRITE in self._owner.scopes and WRITE not in authorization.scopes,
        )

    def _deny(self, request: HttpRequest, ticket: Ticket) -> Response:
        errand = self._request_of(ticket).errand
        log_event("The owner said no", errand.app, request.client)
        return self._leave(ticket, errand.refusal(_DENIED))

    def _leave(self, ticket: Ticket, address: str) -> Response:
        """Send the browser back to the program: 303, because 307 would hand the form on, password
        included."""
        while len(self._answered) >= _ANSWERED:
            self._answered.popitem(last=False)
        self._answered[ticket.id] = address
        headers = {
            "location": address,
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
        }
        response = Response(status_code=303, headers=headers)
        self._set_cookie(response, ticket, "", 0)
        return response

    def _request_of(self, ticket: Ticket) -> AuthorizationRequest:
        return from_fields(ticket.request, self._parts.resource.public)

    # --- cookies

    @property
    def _cookie_prefix(self) -> str:
        is_secure = self._parts.resource.public.startswith("https://")
        return f"__Host-{COOKIE}" if is_secure else COOKIE

    def _set_cookie(self, page: Response, ticket: Ticket, value: str, seconds: int) -> None:
        page.set_cookie(
            self._cookie_prefix + ticket.id,
            value,
            max_age=seconds,
            path="/",
            secure=self._cookie_prefix.startswith("__Host-"),
            httponly=True,
            samesite="strict",
        )

    def _browser_cookies(self, request: HttpRequest) -> Iterator[str]:
        """Yield the cookies of the pages that are open in the browser: one for each, so that two
        sign-ins side by side do not end each other."""
        for name, value in request.cookies.items():
            if name.startswith(self._cookie_prefix) and value:
                yield value


def _find_place(vaults: list[VaultChoice], value: str) -> tuple[str, str] | None:
    """Return the folder on disk of the vault that was chosen, empty for all, and the folder in it;
    None for what is not there."""
    if value == ALL_VAULTS and len(vaults) > 1:
        return "", ""
    for vault in vaults:
        for folder in ("", *vault.folders):
            if value == choice_value(vault.name, folder):
                return vault.path, folder
    return None
