"""The keys that open the server, as they are now (specs/http.md DOOR-04, DOOR-10, DOOR-13)."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from obsidian_mcp import logger
from obsidian_mcp.errors import AppError, InvalidArguments
from obsidian_mcp.serve.http.request import HttpRequest

from .credentials import carried_key
from .keys import ApiKey, digest, fits_header
from .last_use import LastUses
from .principal import OWNER, Principal


class KeyRing:
    """Keys without a name, from the environment, and keys with one, from the policy file.

    The file is read again when it has changed, so that a key that is removed from it opens nothing
    any more, and a new one opens at once. A mistake in it leaves the keys as they were, and the log
    says so: an editor that saves half of a file would end every session.
    """

    def __init__(
        self,
        unnamed: Iterable[str],
        read_named: Callable[[], Sequence[ApiKey]],
        stamp: Callable[[], object],
        uses: LastUses | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`read_named` returns the keys of the file, `stamp` what is another value after each
        change of the file, `now` the seconds since 1970; `uses` notes who came. Raises:
        InvalidArguments for a key without a name that has one too, and for one that no header can
        carry; what `read_named` raises."""
        if not all(map(fits_header, keys := list(unnamed))):
            raise InvalidArguments(
                "A key of OBSIDIAN_MCP_API_KEY holds a character that no header can carry. Use "
                "ASCII letters, digits and signs, or make one with `obsidian-mcp keys add NAME`."
            )
        self._unnamed = [(digest(key), OWNER) for key in keys]
        self._read_named = read_named
        self._stamp = stamp
        self._uses = uses
        self._now = now
        self._read_at = stamp()
        self._named = read_named()
        if {key_hash for key_hash, _ in self._unnamed} & {key.digest for key in self._named}:
            raise InvalidArguments(
                "A key of OBSIDIAN_MCP_API_KEY is in the policy file, too. Without a name it would "
                "open everything: take it out of one of them."
            )
        self._is_locked = bool(self._unnamed or self._named)

    @property
    def is_locked(self) -> bool:
        """Whether nobody comes in without a key: from the moment when there is one.

        It stays so when the last one is removed, because the server may listen to other machines.
        """
        if not self._is_locked:
            self._refresh()
        return self._is_locked

    def find(self, request: HttpRequest) -> Principal | None:
        """Return who comes in with the key that a request carries; None for a wrong one or none."""
        self._refresh()
        presented = digest(carried_key(request))
        # Every key is compared, each in the same time. A name counts first: its limits hold.
        matches = [
            principal
            for key_hash, principal in self._entries()
            if hmac.compare_digest(presented, key_hash)
        ]
        principal = matches[0] if matches else None
        if principal is not None and principal.name and self._uses is not None:
            self._uses.note(principal.name, request)
        return principal

    def is_current(self, principal: Principal) -> bool:
        """Return whether a principal that came in with a key still does."""
        self._refresh()
        return principal in (holder for _, holder in self._entries())

    def _entries(self) -> Iterator[tuple[bytes, Principal | None]]:
        """Yield the hash of every key, and who comes in with it; None where it has expired, which
        is not made good by the same key without a name."""
        now = self._now()
        for key in self._named:
            yield key.digest, None if key.is_over(now) else key.principal
        yield from self._unnamed

    def _refresh(self) -> None:
        stamp = self._stamp()
        if stamp == self._read_at:
            return
        self._read_at = stamp
        try:
            self._named = self._read_named()
        except AppError as error:
            logger(__name__).warning(
                "%s Until it is corrected, the keys stay as they were.", error.message
            )
        self._is_locked = self._is_locked or bool(self._named)
