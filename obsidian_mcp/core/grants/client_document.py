"""The document of a program as it was fetched from the address that is its `client_id`."""

from __future__ import annotations

from dataclasses import dataclass


class DocumentUnreachable(Exception):
    """A document cannot be fetched, or must not be. The text says why."""


@dataclass(frozen=True)
class FetchedDocument:
    """What came, and for how long it may be used."""

    body: bytes
    max_age: float | None
    """Seconds, as its server says; None where it says nothing."""
