"""Whether the owner is at the browser: a password, or a code that the server prints where only the
owner reads it (OAUTH-20)."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from .attempts import GuessLimit
from .form_ticket import Ticket, TicketOffice
from .password import is_password

TRIES: Final = 5
"""Wrong codes for one page; then it is spent."""
PRINTS_PER_MINUTE: Final = (20, 60)
"""Codes that a page may have printed, for one address and for all."""
_ALPHABET: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Without characters that look like another one."""
_CODE_LENGTH: Final = 8
_MOST_PAGES: Final = 1_000
"""Pages whose wrong codes are counted."""


class TooManyGuesses(Exception):
    """Nobody may guess from an address for some seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class OwnerCheck:
    """Asks for the password where there is one, else for a code.

    Guessing the password costs waits, by address. While an address has to wait, the code of the
    terminal opens all the same: a stranger who guesses behind the same proxy must not lock the
    owner out. A code has 40 random bits and five tries, so that it needs no such wait.
    """

    def __init__(
        self,
        office: TicketOffice,
        read_hash: Callable[[], str],
        guesses: GuessLimit,
        announce: Callable[[str], None],
        fixed_password: str = "",
    ) -> None:
        """`read_hash` returns the hash of the password, empty where none was set; `announce` prints
        a line for the owner; `fixed_password`: of the environment, counts before the hash."""
        self._office = office
        self._read_hash = read_hash
        self._guesses = guesses
        self._announce = announce
        self._fixed = fixed_password
        self._wrong: OrderedDict[str, int] = OrderedDict()
        """Wrong codes by page."""
        self._printed: OrderedDict[str, int] = OrderedDict()
        """Pages whose code was printed."""

    @property
    def has_password(self) -> bool:
        """Whether there is a password."""
        return bool(self._fixed or self._read_hash())

    def wait(self, address: str) -> int:
        """Return the seconds for which no password is taken from an address."""
        return self._guesses.wait(address)

    def print_code(self, ticket: Ticket, app: str) -> None:
        """Print the code of a page, once."""
        if ticket.id not in self._printed:
            _count(self._printed, ticket.id)
            code = self.code_of(ticket)
            self._announce(
                f"{app!r} wants to sign in. The code for the page in the browser is {code[:4]}-"
                f"{code[4:]}, for 10 minutes. If you did not open that page, do nothing."
            )

    def code_of(self, ticket: Ticket) -> str:
        """Return the code of a page."""
        number = int.from_bytes(self._office.derive_bytes(ticket, b"code"))
        characters = []
        for _ in range(_CODE_LENGTH):
            number, place = divmod(number, len(_ALPHABET))
            characters.append(_ALPHABET[place])
        return "".join(characters)

    def is_owner(self, ticket: Ticket, secret: str, address: str) -> bool:
        """Return whether a secret is the password, or the page's code. Takes a tenth of a second
        where there is a password. Raises: TooManyGuesses."""
        if self._wrong.get(ticket.id, 0) >= TRIES:
            raise TooManyGuesses(self._office.seconds_left(ticket))
        if self._is_code(ticket, secret):
            return True
        if self.has_password and not self._guesses.wait(address):
            return self._is_password(secret, address)
        _count(self._wrong, ticket.id)
        if self.has_password:
            raise TooManyGuesses(self._guesses.wait(address))
        if self._wrong[ticket.id] >= TRIES:
            raise TooManyGuesses(self._office.seconds_left(ticket))
        return False

    def _is_code(self, ticket: Ticket, secret: str) -> bool:
        typed = "".join(secret.upper().split()).replace("-", "")
        return hmac.compare_digest(typed.encode("utf-8", "replace"), self.code_of(ticket).encode())

    def _is_password(self, secret: str, address: str) -> bool:
        password = secret.strip("\r\n")
        if self._fixed:
            is_right = hmac.compare_digest(
                password.encode("utf-8", "replace"), self._fixed.encode("utf-8", "replace")
            )
        else:
            is_right = is_password(password, self._read_hash())
        if is_right:
            self._guesses.reset(address)
            return True
        self._guesses.count_wrong(address)
        if wait := self._guesses.wait(address):
            raise TooManyGuesses(wait)
        return False


def _count(counts: OrderedDict[str, int], page: str) -> None:
    while len(counts) >= _MOST_PAGES:
        counts.popitem(last=False)
    counts[page] = counts.get(page, 0) + 1
