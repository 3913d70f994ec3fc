"""Codes and tokens of grants: issued, redeemed, rotated, revoked (OAUTH-30 to OAUTH-34)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from obsidian_mcp.core.grants.credential import Code, Token
from obsidian_mcp.core.grants.grant import Grant

from .ledger import Ledger
from .oauth_error import invalid_grant
from .proof_key import proves
from .scopes import narrowed_scopes
from .sign_in_log import log_event

CODE_SECONDS: Final = 120.0
DAY: Final = 86_400.0
ACCESS: Final = "oma_"
REFRESH: Final = "omr_"
CODE: Final = "omc_"
"""Beginnings by which people, and programs that look for leaked secrets, know what one is."""
_RANDOM_BYTES: Final = 32


@dataclass(frozen=True)
class Lives:
    """How long things live, in seconds."""

    access: float = 28_800.0
    """Hosts refresh badly: an hour would mean a new sign-in every hour for some."""
    refresh: float = 60 * DAY
    """From its last use on; there is no absolute end."""
    grace: float = 120.0
    """Hosts refresh from several machines at once, and lose answers: for so long a spent refresh
    token gives further tokens."""


@dataclass(frozen=True)
class Issued:
    """New tokens in clear text, for the one answer that holds them."""

    access: str
    refresh: str
    scope: str
    lives: float

    @property
    def body(self) -> dict[str, Any]:
        """The JSON answer of the token endpoint."""
        return {
            "access_token": self.access,
            "token_type": "Bearer",
            "expires_in": int(self.lives),
            "refresh_token": self.refresh,
            "scope": self.scope,
        }


@dataclass(frozen=True)
class Caller:
    """The program at the token endpoint, which has proved who it is as far as it can."""

    client: str
    address: str = ""
    """Where its request came from, for the log."""


class Issuer:
    """Issues what opens grants. Each method is one step of the ledger, so that of two programs with
    one code only one gets tokens."""

    def __init__(self, ledger: Ledger, lives: Lives, clock: Callable[[], float]) -> None:
        self._ledger = ledger
        self._lives = lives
        self._clock = clock

    def issue_code(self, grant: Grant, redirect: str, challenge: str, scope: str) -> str:
        """Keep a grant that the owner has just allowed, and return the code that opens it."""
        code = CODE + secrets.token_urlsafe(_RANDOM_BYTES)
        expires = self._clock() + CODE_SECONDS
        with self._ledger.transaction():
            self._ledger.add_grant(grant)
            self._ledger.add_code(
                Code(
                    secret_digest(code), grant.id, grant.client, redirect, challenge, scope, expires
                )
            )
        return code

    def redeem(self, caller: Caller, code: str, redirect: str, verifier: str) -> Issued:
        """Return tokens for a code.

        A code that comes a second time was stolen, or its answer was: the grant ends. Raises:
        OAuthError `invalid_grant`.
        """
        now, replayed = self._clock(), None
        with self._ledger.transaction():
            entry = self._ledger.find_code(secret_digest(code))
            grant = None if entry is None else self._ledger.find_grant(entry.grant)
            if entry is None or grant is None or entry.client != caller.client:
                raise invalid_grant("The code is not known, or was issued to another program.")
            if entry.redeemed:
                replayed = grant
                self._ledger.end_grant(grant.id)
            elif entry.expires <= now:
                raise invalid_grant("The code has expired.")
            elif entry.redirect != redirect:
                raise invalid_grant("redirect_uri is not the one that the code was sent to.")
            elif not proves(verifier, entry.challenge):
                raise invalid_grant("code_verifier is not the one that code_challenge was made of.")
            else:
                self._ledger.mark_redeemed(entry.digest, now)
                issued = self._issue(grant, entry.scope, entry.scope, now)
        if replayed is not None:
            _warn("A code came twice, the connection has ended", replayed, caller)
            raise invalid_grant("The code was used before.")
        log_event("Connected", grant.app, caller.address)
        return issued

    def refresh(self, caller: Caller, token: str, scope: str) -> Issued:
        """Return new tokens for a refresh token, which is spent then.

        A token that was spent longer ago than the grace was stolen, or its successor was: the grant
        ends. It is found by its hash alone, so that a thief with another `client_id` shows up, too.
        Raises: OAuthError.
        """
        now, replayed = self._clock(), None
        with self._ledger.transaction():
            entry = self._ledger.find_token(secret_digest(token))
            grant = None if entry is None else self._ledger.find_grant(entry.grant)
            if entry is None or grant is None or not entry.is_refresh or entry.expires <= now:
                raise invalid_grant("The refresh token is not known, or has expired.")
            if entry.spent and now - entry.spent > self._lives.grace:
                replayed = grant
                self._ledger.end_grant(grant.id)
            elif grant.client != caller.client:
                raise invalid_grant("The refresh token is not known, or has expired.")
            else:
                access_scope = narrowed_scopes(scope, entry.scope)
                if not entry.spent:
                    self._ledger.mark_spent(entry.digest, now)
                self._ledger.note_use(grant, now)
                issued = self._issue(grant, access_scope, entry.scope, now)
        if replayed is not None:
            _warn("A spent refresh token came again, the connection has ended", replayed, caller)
            raise invalid_grant("The refresh token is not known, or has expired.")
        log_event("Refreshed", grant.app, caller.address)
        return issued

    def revoke(self, caller: Caller, token: str) -> None:
        """End the grant of a token, whichever of its tokens it is; nothing for what is unknown or
        another program's (RFC 7009)."""
        ended = None
        with self._ledger.transaction():
            entry = self._ledger.find_token(secret_digest(token))
            grant = None if entry is None else self._ledger.find_grant(entry.grant)
            if grant is not None and grant.client == caller.client:
                ended = grant
                self._ledger.end_grant(grant.id)
        if ended is not None:
            log_event("Disconnected by the app", ended.app, caller.address)

    def tidy(self) -> None:
        """Forget what is over, and say which program never came for its code."""
        now = self._clock()
        for grant in self._ledger.list_unredeemed(now):
            if self._ledger.end_grant(grant.id):
                log_event(
                    f"Code issued, never redeemed: {grant.host} did not come to /token within "
                    f"{CODE_SECONDS:g} s",
                    grant.app,
                    warns=True,
                )
        self._ledger.forget_expired(now, now - self._lives.refresh, now - DAY)

    def _issue(self, grant: Grant, scope: str, refresh_scope: str, now: float) -> Issued:
        access = ACCESS + secrets.token_urlsafe(_RANDOM_BYTES)
        refresh = REFRESH + secrets.token_urlsafe(_RANDOM_BYTES)
        lives = self._lives
        for token, is_refresh, words, seconds in (
            (access, False, scope, lives.access),
            (refresh, True, refresh_scope, lives.refresh),
        ):
            self._ledger.add_token(
                Token(secret_digest(token), grant.id, is_refresh, words, now + seconds)
            )
        return Issued(access, refresh, scope, lives.access)


def _warn(event: str, grant: Grant, caller: Caller) -> None:
    log_event(event, grant.app, caller.address, warns=True)


def secret_digest(secret: str) -> bytes:
    """Return the hash under which a code or token is kept."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
