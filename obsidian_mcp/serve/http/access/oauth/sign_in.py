"""The sign-in of a server, put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from obsidian_mcp.serve.http.access.challenge import BearerChallenge
from obsidian_mcp.serve.http.dialect import Dialect

from .attempts import GuessLimit
from .authorize_pages import AuthorizePages
from .form_ticket import TicketOffice
from .issuer import Issuer, Lives
from .ledger import Ledger
from .metadata_pages import SignInDocuments
from .owner_check import OwnerCheck
from .page_texts import VaultChoice
from .parts import OwnerSide, SignInParts
from .password import SETTING, check_password
from .program_pages import ProgramPages
from .programs import FetchDocument, Programs
from .resource import ProtectedResource
from .scopes import scope_text, server_scopes
from .token_source import TokenSource


@dataclass(frozen=True, kw_only=True)
class SignInSettings:
    """What a sign-in needs to be told."""

    public: str
    """Scheme and host of the server as other computers reach it."""
    is_read_only: bool = False
    password: str = ""
    """Of the environment; empty where the one in the ledger counts."""
    lives: Lives


@dataclass(frozen=True, kw_only=True)
class OwnerPorts:
    """How the sign-in reaches the owner's computer."""

    list_vaults: Callable[[], Sequence[VaultChoice]]
    list_key_names: Callable[[], Sequence[str]]
    announce: Callable[[str], None]
    """Prints a line where only the owner reads it."""
    fetch: FetchDocument | None
    clock: Callable[[], float]


class SignIn:
    """A sign-in: another source of principals, pages to mount, and what a 401 says."""

    def __init__(self, settings: SignInSettings, ledger: Ledger, ports: OwnerPorts) -> None:
        """Raises: InvalidArguments for a password that can be guessed."""
        if settings.password:
            check_password(settings.password)
        self._ledger = ledger
        resource = ProtectedResource(settings.public)
        clock = ports.clock
        scopes = server_scopes(is_read_only=settings.is_read_only)
        self._issuer = Issuer(ledger, settings.lives, clock)
        office = TicketOffice(clock)
        check = OwnerCheck(
            office,
            lambda: ledger.setting(SETTING),
            GuessLimit(clock),
            ports.announce,
            settings.password,
        )
        parts = SignInParts(
            resource, ledger, self._issuer, Programs(ledger, ports.fetch, clock), clock
        )
        self.owner = OwnerSide(office, check, ports.list_vaults, ports.list_key_names, scopes)
        self.pages: Sequence[Dialect] = (
            SignInDocuments(resource, scopes),
            ProgramPages(parts),
            AuthorizePages(parts, self.owner),
        )
        self.challenge = BearerChallenge(resource.metadata_address, scope_text(scopes))
        self.source = TokenSource(ledger, resource.address, self.challenge, clock)
        self.public = settings.public

    def tidy(self) -> None:
        """Forget what is over, and log what never came."""
        self._issuer.tidy()

    def close(self) -> None:
        """Close what is kept."""
        self._ledger.close()
