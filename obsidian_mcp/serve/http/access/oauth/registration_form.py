"""What a program says about itself when it registers (RFC 7591; OAUTH-21)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, Final

from obsidian_mcp.core.grants.registration import Registration

from .client_name import readable_name
from .oauth_error import OAuthError
from .redirects import is_redirect

MOST_REDIRECTS: Final = 20
MOST_CHARACTERS: Final = 8_000
"""Of all redirects together: a thousand registrations are kept, and must not fill the disk."""
METHODS: Final = ("none", "client_secret_post", "client_secret_basic")
"""How a program may prove who it is at the token endpoint."""
GRANT_TYPES: Final = ("authorization_code", "refresh_token")
_REPEATED: Final = (
    "application_type",
    "client_name",
    "client_uri",
    "contacts",
    "logo_uri",
    "policy_uri",
    "scope",
    "software_id",
    "software_version",
    "tos_uri",
)
"""What the answer repeats of the request. Of it, only the name is shown; nothing is fetched."""


def read_registration(form: Any, now: float) -> tuple[Registration, dict[str, Any]]:
    """Return what is kept of a program that registers, and the answer that it gets.

    The answer names both grant types whatever was asked for: ChatGPT refuses one that lacks
    `refresh_token`. The scope of a registration does not bind what the program asks for later.
    Raises: OAuthError.
    """
    if not isinstance(form, Mapping):
        raise _invalid_metadata("The body must be a JSON object.")
    redirects = _read_redirects(form.get("redirect_uris"))
    method = form.get("token_endpoint_auth_method") or "client_secret_basic"
    if method not in METHODS:
        raise _invalid_metadata(f"token_endpoint_auth_method must be one of {', '.join(METHODS)}.")
    secret = "" if method == "none" else f"oms_{secrets.token_urlsafe(32)}"
    registration = Registration(
        client=f"omid_{secrets.token_urlsafe(16)}",
        name=readable_name(form.get("client_name")),
        redirects=redirects,
        method=method,
        secret=hashlib.sha256(secret.encode()).digest() if secret else b"",
        created=now,
    )
    answer = {
        **{name: form[name] for name in _REPEATED if name in form},
        "client_id": registration.client,
        "client_id_issued_at": int(now),
        "redirect_uris": list(redirects),
        "token_endpoint_auth_method": method,
        "grant_types": list(GRANT_TYPES),
        "response_types": ["code"],
        **({"client_secret": secret, "client_secret_expires_at": 0} if secret else {}),
    }
    return registration, answer


def _read_redirects(value: Any) -> tuple[str, ...]:
    """Return the redirects of a registration: one bad address refuses all. Raises: OAuthError."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_REDIRECTS:
        raise _invalid_redirect(f"redirect_uris must be a list of 1 to {MOST_REDIRECTS} addresses.")
    for address in value:
        if not isinstance(address, str) or not is_redirect(address):
            raise _invalid_redirect(
                f"{str(address)[:200]!r} is no redirect that can be registered: it must be https, "
                "http for localhost, 127.0.0.1 or [::1], or a scheme such as com.example.app, "
                "without fragment, user name and wildcard."
            )
    if sum(map(len, value)) > MOST_CHARACTERS:
        raise _invalid_redirect(f"redirect_uris may have {MOST_CHARACTERS} characters together.")
    return tuple(value)


def _invalid_metadata(description: str) -> OAuthError:
    return OAuthError("invalid_client_metadata", description)


def _invalid_redirect(description: str) -> OAuthError:
    return OAuthError("invalid_redirect_uri", description)
