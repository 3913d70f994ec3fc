"""What a program asks of the owner, as its browser window brings it to /authorize (OAUTH-13 to
OAUTH-16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from obsidian_mcp.core.grants.registration import Registration

from .oauth_error import OAuthError, single_values
from .proof_key import is_challenge
from .redirects import is_redirect, is_registered, with_parameters
from .resource import ProtectedResource
from .scopes import requested_scopes


class WrongAddress(Exception):
    """Nobody may be answered: the program or its redirect is not known. The text is for people."""


@dataclass(frozen=True)
class Errand:
    """To whom an answer goes: the part of a request that is checked first."""

    client: str
    app: str
    """What the program calls itself."""
    redirect: str
    state: str | None
    """Comes back unchanged, and not at all where none came."""
    issuer: str

    def address(self, **answer: str) -> str:
        """Return where the browser goes with an answer. Every answer names the issuer (RFC
        9207)."""
        state = [] if self.state is None else [("state", self.state)]
        return with_parameters(self.redirect, [*answer.items(), *state, ("iss", self.issuer)])

    def refusal(self, error: OAuthError) -> str:
        """Return where the browser goes with a refusal."""
        return self.address(error=error.error, error_description=error.description)


@dataclass(frozen=True)
class AuthorizationRequest:
    """A request that the owner may be asked about."""

    errand: Errand
    challenge: str
    scopes: tuple[str, ...]


def requested_client(query: Iterable[tuple[str, str]]) -> str:
    """Return the `client_id` of a request. Raises: WrongAddress for none or two."""
    return _only_value(query, "client_id")


def read_errand(
    query: Iterable[tuple[str, str]], program: Registration, resource: ProtectedResource
) -> Errand:
    """Return to whom the answer goes. Raises: WrongAddress."""
    pairs = list(query)
    redirect = _only_value(pairs, "redirect_uri")
    if not is_registered(redirect, program.redirects):
        raise WrongAddress(
            "The app wants the answer at an address that it has not registered. It may be another "
            "app that pretends to be this one."
        )
    states = [value for name, value in pairs if name == "state"]
    state = states[0] if len(states) == 1 else None
    return Errand(program.client, program.name, redirect, state, resource.public)


def is_well_formed(
    query: Iterable[tuple[str, str]], resource: ProtectedResource, offered: tuple[str, ...]
) -> bool:
    """Return whether a request is right in all that can be seen before its program is known.

    Only then is anything fetched for it (OAUTH-42).
    """
    pairs = list(query)
    try:
        redirect = _only_value(pairs, "redirect_uri")
        read_request(pairs, Errand("", "", redirect, None, ""), resource, offered)
    except (WrongAddress, OAuthError):
        return False
    return is_redirect(redirect)


def read_request(
    query: Iterable[tuple[str, str]],
    errand: Errand,
    resource: ProtectedResource,
    offered: tuple[str, ...],
) -> AuthorizationRequest:
    """Return the request. Raises: OAuthError, which may go back to the program."""
    values = single_values(query)
    if values.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "response_type must be code.")
    # a challenge without a method is a plain one, which anybody who sees the request can answer
    if values.get("code_challenge_method") != "S256" or not is_challenge(
        values.get("code_challenge", "")
    ):
        raise OAuthError(
            "invalid_request",
            "code_challenge of 43 characters and code_challenge_method=S256 are needed.",
        )
    resource.check(values.get("resource", ""))
    scopes = requested_scopes(values.get("scope", ""), offered)
    return AuthorizationRequest(errand, values["code_challenge"], scopes)


def to_fields(request: AuthorizationRequest) -> dict[str, str | None]:
    """Return a request as texts by name, for a form that brings it back."""
    errand = request.errand
    return {
        "client": errand.client,
        "app": errand.app,
        "redirect": errand.redirect,
        "state": errand.state,
        "challenge": request.challenge,
        "scopes": " ".join(request.scopes),
    }


def from_fields(fields: Mapping[str, str | None], issuer: str) -> AuthorizationRequest:
    """Return the request that `to_fields` made texts of."""
    text = {name: value or "" for name, value in fields.items()}
    errand = Errand(text["client"], text["app"], text["redirect"], fields["state"], issuer)
    return AuthorizationRequest(errand, text["challenge"], tuple(text["scopes"].split()))


def _only_value(query: Iterable[tuple[str, str]], name: str) -> str:
    values = [value for key, value in query if key == name]
    if len(values) != 1 or not values[0]:
        raise WrongAddress(
            f"The address of this page names {'no' if not values else 'no single'} {name}. Begin "
            "again in the app that sent you here."
        )
    return values[0]
