"""What a program may ask for: reading, or reading and writing (OAUTH-14)."""

from __future__ import annotations

from typing import Final

from .oauth_error import OAuthError

READ: Final = "vault:read"
WRITE: Final = "vault:write"
OFFLINE: Final = "offline_access"
"""Asks for a refresh token. Every program gets one, asked for or not."""


def server_scopes(*, is_read_only: bool) -> tuple[str, ...]:
    """Return what a server offers."""
    return (READ,) if is_read_only else (READ, WRITE)


def requested_scopes(text: str, offered: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a program asks for, of what is offered; without a word, all of it.

    Unknown words are left out. Writing includes reading. Raises: OAuthError `invalid_scope` where
    nothing remains.
    """
    words = set(text.split())
    if WRITE in words or not words - {OFFLINE}:
        return offered
    if READ in words:
        return (READ,)
    if OFFLINE in words:
        return offered
    raise OAuthError("invalid_scope", f"There are the scopes {scope_text(offered)}.")


def narrowed_scopes(text: str, granted: str) -> str:
    """Return what a refreshed token is for: what was granted, or less if the program asks for less.

    Raises: OAuthError `invalid_scope` for more than was granted.
    """
    words = [word for word in text.split() if word != OFFLINE]
    if not words:
        return granted
    if beyond := [word for word in words if word not in granted.split()]:
        raise OAuthError("invalid_scope", f"{beyond[0][:40]!r} was not granted.")
    return granted if WRITE in words else READ


def scope_text(scopes: tuple[str, ...]) -> str:
    """Return scopes as one text."""
    return " ".join(scopes)
