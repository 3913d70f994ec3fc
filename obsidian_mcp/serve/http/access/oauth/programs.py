"""The programs that may ask the owner: those that registered here, and those that a document at
their own address describes (OAUTH-21, OAUTH-22)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from obsidian_mcp.core.grants.client_document import DocumentUnreachable, FetchedDocument
from obsidian_mcp.core.grants.registration import Registration

from .attempts import RateLimit
from .authorization_request import WrongAddress
from .client_document import (
    DocumentInvalid,
    is_document_address,
    list_built_in_documents,
    read_document,
)
from .ledger import Ledger
from .sign_in_log import log_event

FetchDocument = Callable[[str], Awaitable[FetchedDocument]]
"""Fetches the document at an address. Raises: DocumentUnreachable."""
SHORTEST_SECONDS: Final = 300.0
LONGEST_SECONDS: Final = 86_400.0
"""For how long a document is used, whatever its server says."""
FETCHES_PER_MINUTE: Final = 10
_MOST_DOCUMENTS: Final = 100


class Programs:
    """Finds programs by their `client_id`."""

    def __init__(
        self, ledger: Ledger, fetch: FetchDocument | None, clock: Callable[[], float]
    ) -> None:
        """`fetch`: None where the server must not fetch anything; the documents that are built in
        are all then."""
        self._ledger = ledger
        self._fetch = fetch
        self._clock = clock
        self._fetches = RateLimit(FETCHES_PER_MINUTE, FETCHES_PER_MINUTE, clock)
        self._documents: OrderedDict[str, tuple[Registration, float]] = OrderedDict()
        """Programs by address, and until when each document is good."""

    async def find_program(
        self, client: str, address: str, *, may_fetch: bool = True
    ) -> Registration:
        """Return the program of a request from an address; `may_fetch`: whether its document may
        be fetched, where it is not kept. Raises: WrongAddress."""
        if is_document_address(client):
            return await self._read_document(client, address, may_fetch=may_fetch)
        registered = self._ledger.find_registration(client)
        if registered is None:
            raise WrongAddress(
                "The app is not known here: it registered with another server, or so long ago that "
                "it was forgotten. Remove the connection in the app, and add it anew."
            )
        return registered

    def find_client(self, client: str) -> Registration | None:
        """Return a program at the token endpoint, where nothing is fetched: a document describes a
        public client. It is known if the owner has allowed it something, if it was here since the
        server began, or if its document is built in: a host whose connection has ended is then told
        so, not that it must register."""
        if not is_document_address(client):
            return self._ledger.find_registration(client)
        if client in self._documents or client in list_built_in_documents():
            return Registration(client, client, ())
        for grant in self._ledger.grants():
            if grant.client == client:
                return Registration(client, grant.app, ())
        return None

    async def _read_document(self, client: str, address: str, *, may_fetch: bool) -> Registration:
        program, until = self._documents.get(client, (None, 0.0))
        if program is not None and self._clock() < until:
            return program
        problem = self._reason_not_to_fetch(address, may_fetch=may_fetch)
        if self._fetch is not None and not problem:
            try:
                return await self._fetch_program(self._fetch, client)
            except (DocumentUnreachable, DocumentInvalid) as error:
                problem = str(error)
                log_event(
                    f"The app's document cannot be used, {problem}", client, address, warns=True
                )
        if (copy := list_built_in_documents().get(client)) is not None:
            return read_document(client, copy)
        raise WrongAddress(
            f"The app is described by the document at {client}, which cannot be used: {problem}."
        )

    def _reason_not_to_fetch(self, address: str, *, may_fetch: bool) -> str:
        """Return why nothing is fetched for a request from an address; empty where something is."""
        if self._fetch is None:
            return "this server fetches no documents"
        if not may_fetch:
            return "the request is not complete"
        if wait := self._fetches.wait(address):
            return f"too many documents were fetched within a minute; try again in {wait} s"
        return ""

    async def _fetch_program(self, fetch: FetchDocument, client: str) -> Registration:
        """Return the program of a document, which is kept for as long as its server says. Raises:
        DocumentUnreachable, DocumentInvalid."""
        document = await fetch(client)
        program = read_document(client, document.body)
        lives = min(max(document.max_age or 0, SHORTEST_SECONDS), LONGEST_SECONDS)
        self._documents.pop(client, None)
        while len(self._documents) >= _MOST_DOCUMENTS:
            self._documents.popitem(last=False)
        self._documents[client] = (program, self._clock() + lives)
        return program
