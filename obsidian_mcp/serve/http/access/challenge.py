"""The answer 401, which is written here alone (specs/http.md DOOR-04)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from obsidian_mcp.serve.http.refusal import Reason, Refusal


@dataclass(frozen=True)
class BearerChallenge:
    """What the header WWW-Authenticate asks of a client without a key or token that fits."""

    resource_metadata: str = ""
    """Address of the document that tells a client where to sign in (RFC 9728); empty where there is
    no sign-in."""
    scope: str = ""
    """What a client should ask for when it signs in, in words with spaces between."""

    @property
    def has_sign_in(self) -> bool:
        """Whether a client can sign in."""
        return bool(self.resource_metadata)

    def header(self, error: str = "", description: str = "") -> str:
        """Return the value of WWW-Authenticate.

        Without credentials it has no `error` (RFC 6750 3.1): nothing was wrong with them.
        """
        if not self.has_sign_in:
            return "Bearer"
        parts = {
            "error": error,
            "error_description": description,
            "resource_metadata": self.resource_metadata,
            "scope": self.scope,
        }
        return "Bearer " + ", ".join(f'{name}="{text}"' for name, text in parts.items() if text)

    def refuse(self, advice: str, *, is_wrong: bool = False) -> Refusal:
        """Return the refusal; `advice` tells the client at hand where its key goes, `is_wrong` says
        whether one came that opens nothing."""
        header = self.header(*(_WRONG if is_wrong else ()))
        sentence = (
            "Sign in at the address that WWW-Authenticate leads to, or use an API key."
            if self.has_sign_in
            else "Invalid or missing MCP API key."
        )
        return Refusal(
            Reason.UNAUTHORIZED,
            f"{sentence} {advice}",
            headers={"www-authenticate": header, **(_READABLE if self.has_sign_in else {})},
        )

    def refuse_scope(self) -> Refusal:
        """Return the refusal of a call for which a client has asked too little when it signed in.

        It names all scopes: some clients forget what they had when they ask for more.
        """
        sentence = "The sign-in was for reading alone. Sign in again, and ask for writing."
        header = self.header("insufficient_scope", sentence)
        return Refusal(
            Reason.FORBIDDEN, sentence, headers={"www-authenticate": header, **_READABLE}
        )


_WRONG: Final = ("invalid_token", "The token is unknown, has expired, or was revoked.")
_READABLE: Final = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "WWW-Authenticate, Mcp-Session-Id",
}
"""Lets a program in a browser read where to sign in."""
WITHOUT_SIGN_IN: Final = BearerChallenge()
"""A key is all that helps."""
