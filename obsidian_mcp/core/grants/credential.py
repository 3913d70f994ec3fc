"""Codes and tokens as they are kept: by their hashes (specs/remote.md OAUTH-30)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Code:
    """An authorization code. It opens a grant once, for the program and the redirect that it was
    issued to."""

    digest: bytes = field(repr=False)
    grant: str
    client: str
    redirect: str
    challenge: str
    """The program's PKCE challenge, S256."""
    scope: str
    """What the owner allowed, in words with spaces between."""
    expires: float
    redeemed: float = 0.0
    """When it was exchanged for tokens; 0 = not yet."""


@dataclass(frozen=True)
class Token:
    """An access or a refresh token of a grant."""

    digest: bytes = field(repr=False)
    grant: str
    is_refresh: bool
    scope: str
    expires: float
    spent: float = 0.0
    """When a refresh token was exchanged for another one; 0 = not yet."""
