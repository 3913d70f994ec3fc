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

    @property
    def header(self) -> str:
        """The value of WWW-Authenticate."""
        if not self.resource_metadata:
            return "Bearer"
        return f'Bearer resource_metadata="{self.resource_metadata}"'

    def refuse(self, advice: str) -> Refusal:
        """Return the refusal; `advice` tells the client at hand where its key goes."""
        return Refusal(
            Reason.UNAUTHORIZED,
            f"Invalid or missing MCP API key. {advice}",
            headers={"www-authenticate": self.header},
        )


WITHOUT_SIGN_IN: Final = BearerChallenge()
"""A key is all that helps."""
