"""What programs call: /register, /token and /revoke (RFC 7591, RFC 6749, RFC 7009)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from starlette.responses import Response

from obsidian_mcp.serve.http.dialect import CORS, Dialect, json_reply
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.tool_service import ToolService

from .attempts import RateLimit
from .client_authentication import authenticate, challenge_of
from .issuer import Caller
from .oauth_error import OAuthError, invalid_request, single_values
from .parts import SignInParts
from .preflight import PREFLIGHT
from .registration_form import read_registration
from .sign_in_log import log_event

MOST_BYTES: Final = 65_536
"""Bytes of a body."""
MOST_REGISTRATIONS: Final = 1_000
REGISTRATIONS_PER_MINUTE: Final = 20
"""From one address."""
ALL_REGISTRATIONS_PER_MINUTE: Final = 60
_TWICE_SECONDS: Final = 60.0
_HEADERS: Final = {**CORS, "cache-control": "no-store", "pragma": "no-cache"}
_FORM: Final = "application/x-www-form-urlencoded"


class ProgramPages(Dialect):
    """Answers programs in JSON, whatever is wrong."""

    pages = MappingProxyType({f"/{name}": name for name in ("register", "token", "revoke")})
    allowed = ("POST", "OPTIONS")
    open_paths = (("register",), ("token",), ("revoke",))
    is_open_before_sign_in = True

    def __init__(self, parts: SignInParts) -> None:
        super().__init__(MOST_BYTES)
        self._parts = parts
        self._registrations = RateLimit(
            REGISTRATIONS_PER_MINUTE, ALL_REGISTRATIONS_PER_MINUTE, parts.clock
        )

    def preflight_headers(self) -> Mapping[str, str]:
        return PREFLIGHT

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002
        error = "temporarily_unavailable" if refusal.reason is Reason.FAILED else "invalid_request"
        body = {"error": error, "error_description": refusal.message}
        return json_reply(body, refusal.reason.status, {**_HEADERS, **refusal.headers})

    async def handle_request(
        self,
        request: HttpRequest,
        service: ToolService,  # noqa: ARG002
    ) -> Response:
        try:
            match request.segments:
                case ("register",):
                    return self._register(request)
                case ("token",):
                    return json_reply(self._issue(request), 200, _HEADERS)
                case _:
                    self._revoke(request)
                    return json_reply({}, 200, _HEADERS)
        except OAuthError as error:
            challenge = challenge_of(error, request.headers.get("authorization", ""))
            return json_reply(error.body, error.status, {**_HEADERS, **challenge})

    def _register(self, request: HttpRequest) -> Response:
        if wait := self._registrations.wait(request.client):
            raise Refusal(
                Reason.TOO_MANY,
                f"Too many registrations within a minute. Try again in {wait} s.",
                headers={"retry-after": str(wait)},
            )
        try:
            form = request.json
        except ValueError as error:
            raise OAuthError("invalid_client_metadata", f"The body is no JSON: {error}.") from error
        now = self._parts.clock()
        registration, answer = read_registration(form, now)
        before = self._parts.ledger.count_registrations(registration.name, now - _TWICE_SECONDS)
        self._parts.ledger.add_registration(registration, MOST_REGISTRATIONS)
        event = "Registered twice within a minute" if before else "Registered"
        log_event(event, registration.name, request.client, warns=bool(before))
        return json_reply(answer, 201, _HEADERS)

    def _issue(self, request: HttpRequest) -> dict[str, Any]:
        form, caller = self._read_form(request)
        self._parts.resource.check(form.get("resource", ""))
        match form.get("grant_type"):
            case "authorization_code":
                code, redirect, verifier = (
                    _require(form, name) for name in ("code", "redirect_uri", "code_verifier")
                )
                return self._parts.issuer.redeem(caller, code, redirect, verifier).body
            case "refresh_token":
                token = _require(form, "refresh_token")
                return self._parts.issuer.refresh(caller, token, form.get("scope", "")).body
            case None | "":
                raise invalid_request("grant_type is missing.")
            case _:
                raise OAuthError(
                    "unsupported_grant_type",
                    "There are the grant types authorization_code and refresh_token.",
                )

    def _revoke(self, request: HttpRequest) -> None:
        form, caller = self._read_form(request)
        self._parts.issuer.revoke(caller, _require(form, "token"))

    def _read_form(self, request: HttpRequest) -> tuple[Mapping[str, str], Caller]:
        """Return the fields of a form, and which program sent it. Raises: OAuthError."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _FORM:
            raise invalid_request(f"The body must be {_FORM}.")
        form = single_values(request.form)
        authorization = request.headers.get("authorization", "")
        program = authenticate(form, authorization, self._parts.programs.find_client)
        return form, Caller(program.client, request.client)


def _require(form: Mapping[str, str], name: str) -> str:
    if not (value := form.get(name, "")):
        raise invalid_request(f"{name} is missing.")
    return value
