"""What the pages of a sign-in share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .form_ticket import TicketOffice
from .issuer import Issuer
from .ledger import Ledger
from .owner_check import OwnerCheck
from .page_texts import VaultChoice
from .programs import Programs
from .resource import ProtectedResource


@dataclass(frozen=True)
class SignInParts:
    """What is kept, what issues, and who asks."""

    resource: ProtectedResource
    ledger: Ledger
    issuer: Issuer
    programs: Programs
    clock: Callable[[], float]
    """Seconds since 1970."""


@dataclass(frozen=True)
class OwnerSide:
    """Who the owner is, and what the owner can open."""

    office: TicketOffice
    check: OwnerCheck
    list_vaults: Callable[[], Sequence[VaultChoice]]
    """Reads the vaults; called in a thread. Raises: AppError."""
    list_key_names: Callable[[], Sequence[str]]
    """Names of keys, which no grant may have."""
    scopes: tuple[str, ...]
    """What the server offers."""
