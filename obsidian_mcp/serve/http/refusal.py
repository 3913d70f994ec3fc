"""Why a request is refused before any tool is called; each dialect renders that in its form."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from http import HTTPStatus


class Reason(Enum):
    """Why a request is refused: the HTTP status, and contract 000's error string."""

    INVALID = 400, "Invalid request body"
    UNAUTHORIZED = 401, "Unauthorized"
    FORBIDDEN = 403, "Forbidden"
    NOT_FOUND = 404, "Not found"
    METHOD = 405, "Method not allowed"
    TOO_SLOW = 408, "Request timeout"
    TOO_LARGE = 413, "Request body too large"
    TOO_MANY = 429, "Too many requests"
    FAILED = 500, "Internal server error"

    def __init__(self, status: int, error: str) -> None:
        self.status = status
        self.error = error


class Refusal(Exception):
    """A request is refused, with a sentence for who sent it."""

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        limit: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.limit = limit
        """The limit that was exceeded: bytes of a body, or requests per minute."""
        self.headers = headers or {}

    @property
    def body(self) -> dict[str, str]:
        """Contract 000's error with contract 001's `detail` (wire rows 5 and 30)."""
        phrase = HTTPStatus(self.reason.status).phrase
        return {"error": self.reason.error, "message": self.message, "detail": phrase}
