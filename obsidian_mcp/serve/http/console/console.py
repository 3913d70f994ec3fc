"""The console as pages of an HTTP server: who comes in, and which part answers (UI-01 to UI-09)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from starlette.responses import Response

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Client, call_with
from obsidian_mcp.errors import AppError, InvalidArguments
from obsidian_mcp.serve.call_thread import run_in_thread
from obsidian_mcp.serve.http.dialect import Dialect
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.tool_service import ToolService

from .fields import RequestFields
from .markup import Markup, element, join
from .origin_check import ForeignVisit, check_origin, check_real_visit
from .page import ASSETS, BELOW, OPEN, SIGN_IN, SIGN_OUT, write_asset, write_page, write_plain_page
from .part import CLIENT, ConsolePage, Part, Visit
from .sessions import SESSION_SECONDS, ConsoleSession, ConsoleSessions

if TYPE_CHECKING:
    from .owner_sign_in import OwnerSignIn

MOST_BYTES: Final = 1_048_576
"""Of a form: the paths of a large change."""
COOKIE: Final = "obsidian-mcp-console"
HOME: Final = "home"
_RUN_AGAIN: Final = join(
    "Run ",
    element("code", "obsidian-mcp ui"),
    " on the computer with the vault, or pick the prompt “Open the console” in your chat app.",
)
_NOT_SIGNED_IN: Final = "This page is shown only in the browser in which you opened the console."


class Console(Dialect):
    """Pages for one person, the owner. They need no key: every one of them asks who comes itself.

    No key and no token of a program opens them, whatever its limits, because an assistant has it.
    """

    below = BELOW
    is_open_before_sign_in = True

    def __init__(
        self,
        app: App,
        parts: Sequence[Part],
        sessions: ConsoleSessions,
        open_sign_in: Callable[[], OwnerSignIn] | None = None,
        public: str = "",
    ) -> None:
        """`open_sign_in` returns what asks who the owner is; without it the console is opened by
        one-time addresses alone, and has the server to itself. `public`: the server's address for
        other computers, empty where there is none."""
        super().__init__(MOST_BYTES)
        self._app = app
        self._parts = {part.name: part for part in parts}
        self._sessions = sessions
        self._open_sign_in = open_sign_in
        self._public = public
        if open_sign_in is None:
            self.pages = MappingProxyType({"/": HOME})

    def has_open_path(self, segments: tuple[str, ...]) -> bool:  # noqa: ARG002
        return True

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        match segments:
            case () | ("",) | ("home",) | ("open",):
                return ("GET",)
            case ("assets", name):
                return ("GET",) if name in ASSETS else ()
            case ("sign-in",):
                return ("GET", "POST") if self._open_sign_in is not None else ()
            case (_, "sign-out"):
                return ("POST",)
            case (_, name):
                return ("GET", "POST") if name in self._parts else ()
        return ()

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:
        again = None
        if isinstance(refusal, ForeignVisit) and request.method == "GET":
            again = element("a", "Open it all the same", href=_address_of(request))
        return write_plain_page(
            refusal.reason.error,
            element("p", refusal.message),
            element("p", again) if again else "",
            status=refusal.reason.status,
            headers=refusal.headers,
        )

    async def handle_request(
        self,
        request: HttpRequest,
        service: ToolService,  # noqa: ARG002  the owner's App serves it
    ) -> Response:
        segments = request.segments
        check_origin(request, self._public, may_be_led_here=segments == (OPEN,))
        match segments:
            case ("assets", name):
                return write_asset(name)
            case ("open",):
                return self._open(request)
            case ("sign-in",) if self._open_sign_in is not None:
                return await self._ask_owner(self._open_sign_in(), request)
            case (session_id, name):
                return await self._serve_session(request, session_id, name)
        return self._write_home()

    async def _ask_owner(self, sign_in: OwnerSignIn, request: HttpRequest) -> Response:
        if await sign_in.is_owner(request):
            return self._begin(self._sessions.begin(_host_of(request)))
        return sign_in.write_answer(request)

    def _open(self, request: HttpRequest) -> Response:
        """Exchange a one-time token for a session. Raises: Refusal."""
        check_real_visit(request)
        token = RequestFields(request.query).text("token")
        session = self._sessions.exchange_token(token, _host_of(request))
        if session is None:
            return write_plain_page(
                "This address is spent",
                element("p", "It opens the console once, within ten minutes. ", _RUN_AGAIN),
                status=403,
            )
        return self._begin(session)

    def _begin(self, session: ConsoleSession) -> Response:
        """Give the browser its cookie, and lead it to the first page.

        It is led by `Refresh`, not by a redirect: behind a link of another page, a redirect would
        be that page's request still, with which browsers send no cookie of `SameSite=Strict`. The
        address with the token is replaced in the history either way.
        """
        folder = f"{BELOW}/{session.id}"
        first = f"{folder}/{next(iter(self._parts))}"
        page = write_plain_page(
            "The console",
            element("p", element("a", "Open the console", href=first)),
            headers={"refresh": f"0; url={first}", "referrer-policy": "no-referrer"},
        )
        page.set_cookie(
            COOKIE,
            session.secret,
            max_age=int(SESSION_SECONDS),
            path=folder,
            secure=self._public.startswith("https://"),
            httponly=True,
            samesite="strict",
        )
        return page

    def _write_home(self) -> Response:
        """Return the page for somebody who comes without anything."""
        if self._open_sign_in is not None:
            return Response(status_code=303, headers={"location": f"{BELOW}/{SIGN_IN}"})
        return write_plain_page("The console of obsidian-mcp", element("p", _RUN_AGAIN), status=403)

    async def _serve_session(self, request: HttpRequest, session_id: str, name: str) -> Response:
        """Show a page of a part, do what its form says, or sign out. Raises: Refusal."""
        cookie = request.cookies.get(COOKIE, "")
        session = self._sessions.find_session(session_id, cookie, _host_of(request))
        if session is None:
            return self._write_signed_out()
        form = RequestFields(request.form)
        if request.method == "POST" and not session.takes_form(form.text("token")):
            raise Refusal(
                Reason.FORBIDDEN, "This form is of an older page. Go back, reload, and try again."
            )
        if name == SIGN_OUT:
            return self._sign_out(session)
        part = self._parts[name]
        visit = Visit(
            app=self._app,
            query=RequestFields(request.query),
            form=form,
            form_token=session.form_token,
        )
        serve = self._act if request.method == "POST" else self._show
        return await run_in_thread(
            self._app.config.timeout, partial(serve, part, visit), Client(CLIENT, session.id[:8])
        )

    def _show(self, part: Part, visit: Visit) -> Response:
        try:
            page = part.show(visit)
        except AppError as error:
            page = _write_problem(error, visit.link(part.name, vault=None))
        return self._write(page, part, visit)

    def _act(self, part: Part, visit: Visit) -> Response:
        try:
            with call_with(has_consent=True):  # the person pressed the button (POL-04)
                address = part.act(visit)
        except AppError as error:
            return self._write(_write_problem(error, visit.link(part.name)), part, visit)
        return Response(status_code=303, headers={"location": address, "cache-control": "no-store"})

    def _write(self, page: ConsolePage, part: Part, visit: Visit) -> Response:
        return write_page(page, list(self._parts.values()), part, visit)

    def _sign_out(self, session: ConsoleSession) -> Response:
        """End a session, for a person who leaves a computer that is not theirs (UI-12)."""
        self._sessions.end(session)
        page = write_plain_page("You are signed out", element("p", self._advise_to_open()))
        page.delete_cookie(COOKIE, path=f"{BELOW}/{session.id}")
        return page

    def _write_signed_out(self) -> Response:
        body = join(element("p", _NOT_SIGNED_IN), element("p", self._advise_to_open()))
        return write_plain_page("You are not signed in", body, status=403)

    def _advise_to_open(self) -> Markup:
        if self._open_sign_in is None:
            return _RUN_AGAIN
        return element("a", "Sign in", href=f"{BELOW}/{SIGN_IN}")


def _write_problem(error: AppError, back: str) -> ConsolePage:
    """Return the page of a failure, with a way back."""
    status = 400 if isinstance(error, InvalidArguments) else 409
    text = (element("p", line) for line in error.message.split("\n") if line.strip())
    body = join(
        element("div", *text, class_="fault", role="alert"),
        element("p", element("a", "Go on", href=back)),
    )
    return ConsolePage("This did not work", body, status)


def _host_of(request: HttpRequest) -> str:
    return request.headers.get("host", "")


def _address_of(request: HttpRequest) -> str:
    """Return the path of a request with its query, to ask for it once more."""
    query = urlencode(list(request.query))
    path = "/".join((BELOW, *request.segments))
    return f"{path}?{query}" if query else path
