"""A program that asks for access: registered here, or described by a document of its own."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Registration:
    """What is known of a program before anybody has allowed it anything."""

    client: str
    """Its `client_id`: random where it registered here, an address for a metadata document."""
    name: str
    """What it calls itself: cut, and without characters that could mislead a reader."""
    redirects: tuple[str, ...]
    """Addresses to which the browser may go with an answer."""
    method: str = "none"
    """How it authenticates at the token endpoint: `none`, `client_secret_post` or
    `client_secret_basic`."""
    secret: bytes = field(default=b"", repr=False)
    """SHA-256 of its secret; empty for a public client."""
    created: float = 0.0

    @property
    def is_document(self) -> bool:
        """Whether its `client_id` is the address of its metadata document."""
        return self.client.startswith("https://")
