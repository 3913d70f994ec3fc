"""Tokens of a sign-in as a way to come in (OAUTH-37; DOOR-14)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from obsidian_mcp import logger
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.grants.grant import Grant
from obsidian_mcp.core.text.vault_path import parse_folder
from obsidian_mcp.errors import StorageFailed
from obsidian_mcp.serve.http.access.challenge import BearerChallenge
from obsidian_mcp.serve.http.access.credentials import bearer_token
from obsidian_mcp.serve.http.access.principal import Limits, Principal
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.tools.offer import table

from .issuer import ACCESS, secret_digest
from .ledger import Ledger
from .scopes import WRITE

_GRANT: Final = b"grant "
"""Beginning of the credential of a principal that came with a token."""


class TokenSource:
    """Finds whose an access token is. The ledger is asked each time: a grant that has ended, ended
    by another process perhaps, opens nothing from that moment on."""

    is_locked = True
    """With a sign-in nobody comes in without a token or key, from this machine neither: what a
    proxy passes on looks local."""

    def __init__(
        self,
        ledger: Ledger,
        resource: str,
        challenge: BearerChallenge,
        clock: Callable[[], float],
    ) -> None:
        """`resource`: the audience that tokens must have; servers at other addresses may use the
        same ledger."""
        self._ledger = ledger
        self._resource = resource
        self._challenge = challenge
        self._clock = clock

    def find(self, request: HttpRequest) -> Principal | None:
        """Return whose the token of a request is; None for a wrong one, none, or a request for
        something else than the resource.

        Raises: Refusal with status 403 for a call that writes, where the program itself asked for
        reading alone: the owner might allow more. What the owner has narrowed is an unknown tool.
        """
        token = bearer_token(request)
        if not request.takes_tokens or not token.startswith(ACCESS):
            return None
        try:
            return self._find_bearer(token, request)
        except StorageFailed as error:
            logger(__name__).warning("%s", error.message)
            raise Refusal(
                Reason.FAILED, "Who may come in cannot be looked up. The server's log says why."
            ) from error

    def _find_bearer(self, token: str, request: HttpRequest) -> Principal | None:
        """Return whose a token is. Raises: StorageFailed, Refusal."""
        entry = self._ledger.find_token(secret_digest(token))
        grant = None if entry is None else self._ledger.find_grant(entry.grant)
        now = self._clock()
        if entry is None or grant is None or entry.is_refresh or entry.expires <= now:
            return None
        if grant.resource != self._resource or 0 < grant.expires <= now:
            return None
        self._ledger.note_use(grant, now)
        writes = WRITE in entry.scope.split()
        asked_less = grant.asked_less or not (writes or grant.is_read_only)
        if asked_less and _calls_writing_tool(request):
            raise self._challenge.refuse_scope()
        return grant_principal(grant, writes=writes)

    def is_current(self, principal: Principal) -> bool:
        """Return whether a principal that came with a token may still come in."""
        if not principal.credential.startswith(_GRANT):
            return False
        grant = self._ledger.find_grant(principal.credential[len(_GRANT) :].decode())
        return grant is not None and not 0 < grant.expires <= self._clock()


def _calls_writing_tool(request: HttpRequest) -> bool:
    """Return whether a message of a request calls a tool that changes the vault."""
    for message in request.array or [request.message]:
        match message:
            case {"method": "tools/call", "params": {"name": str(name)}}:
                entry = table().tools.get(name)
                if entry is not None and not entry.read_only:
                    return True
    return False


def grant_principal(grant: Grant, *, writes: bool) -> Principal:
    """Return who comes in with a token of a grant; `writes`: whether the token is for writing,
    too."""
    folder = parse_folder(grant.folder) if grant.folder else None
    scopes = () if folder is None else (folder,)
    policy = Policy(read_only=grant.is_read_only or not writes, scopes=scopes, common_scopes=scopes)
    vaults = (grant.vault,) if grant.vault else ()
    return Principal(grant.name, Limits(vaults, "", policy), _GRANT + grant.id.encode())
