"""What programs are told that asked for something wrong (RFC 6749 5.2, RFC 7591 3.2.2)."""

from __future__ import annotations

from collections.abc import Iterable


class OAuthError(Exception):
    """A request is refused: one of the protocol's words, and a sentence for developers."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status

    @property
    def body(self) -> dict[str, str]:
        """The JSON answer."""
        return {"error": self.error, "error_description": self.description}


def invalid_request(description: str) -> OAuthError:
    """Return the refusal of a request that lacks something, or says it twice."""
    return OAuthError("invalid_request", description)


def invalid_grant(description: str) -> OAuthError:
    """Return the refusal of a code or token that opens nothing for this program."""
    return OAuthError("invalid_grant", description)


def invalid_client(description: str) -> OAuthError:
    """Return the refusal of a program that is not known or does not prove who it is: it registers
    anew then."""
    return OAuthError("invalid_client", description, 401)


def single_values(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values of a query or form by name. Raises: OAuthError for one that comes twice:
    two readers could read two things."""
    values: dict[str, str] = {}
    for name, value in pairs:
        if name in values:
            raise invalid_request(f"The parameter {name[:40]!r} comes twice.")
        values[name] = value
    return values
