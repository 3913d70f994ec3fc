"""Which program is at the token endpoint (RFC 6749 2.3; OAUTH-31)."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Mapping
from urllib.parse import unquote_plus

from obsidian_mcp.core.grants.registration import Registration

from .issuer import secret_digest
from .oauth_error import OAuthError, invalid_client, invalid_request


def authenticate(
    form: Mapping[str, str], authorization: str, find: Callable[[str], Registration | None]
) -> Registration:
    """Return the program of a request, which has proved who it is as far as it can.

    A secret may come in the form or as Basic, whichever way was registered: claude.ai registers
    for one and uses it whatever the metadata says. Raises: OAuthError.
    """
    client, secret = form.get("client_id", ""), form.get("client_secret", "")
    if authorization:
        named, basic = _read_basic(authorization)
        if secret or client not in ("", named):
            raise invalid_request("The program names itself in two ways.")
        client, secret = named, basic
    if not client:
        raise invalid_client("client_id is missing.")
    program = find(client)
    if program is None:
        raise invalid_client("The program is not known here. It must register anew.")
    if program.secret and not hmac.compare_digest(secret_digest(secret), program.secret):
        raise invalid_client("The secret is missing or wrong.")
    return program


def challenge_of(error: OAuthError, authorization: str) -> dict[str, str]:
    """Return the header that a program gets which tried Basic in vain."""
    if error.status == 401 and authorization:
        return {"www-authenticate": 'Basic realm="obsidian-mcp"'}
    return {}


def _read_basic(authorization: str) -> tuple[str, str]:
    scheme, _, encoded = authorization.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise ValueError(scheme)
        text = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
    except ValueError:
        raise invalid_client("Authorization must be Basic with client_id and secret.") from None
    named, _, secret = text.partition(":")
    return unquote_plus(named), unquote_plus(secret)
