"""What a dialect is given and gives back."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import unquote_to_bytes

from pydantic_core import PydanticSerializationError, from_json, to_json

from obsidian_mcp.tools import Outcome, Tool

JSON: Final = "application/json"
_DEEPEST: Final = 200
"""Levels of nesting, as in the parser that is tried first."""


@dataclass(frozen=True)
class Asked:
    """A request. `segments` are the parts of its path below the dialect's own, still percent-encoded."""

    method: str
    segments: tuple[str, ...]
    headers: Mapping[str, str]
    """Names in lower case."""
    query: Mapping[str, str] = field(default_factory=dict)
    client: str = ""
    """Network address of the other side."""
    body: bytes = b""

    @cached_property
    def json(self) -> Any:
        """The JSON value of the body. Raises: ValueError with a sentence that says what is wrong."""
        return parse(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Reason(Enum):
    """Why a request is turned away before any tool is looked at, with the HTTP status that says so."""

    INVALID = 400
    UNAUTHORIZED = 401
    FORBIDDEN = 403
    NOT_FOUND = 404
    METHOD = 405
    TOO_SLOW = 408
    TOO_LARGE = 413
    TOO_MANY = 429
    FAILED = 500


WORDS: Final = {
    Reason.INVALID: "Invalid request body",
    Reason.UNAUTHORIZED: "Unauthorized",
    Reason.FORBIDDEN: "Forbidden",
    Reason.NOT_FOUND: "Not found",
    Reason.METHOD: "Method not allowed",
    Reason.TOO_SLOW: "Request timeout",
    Reason.TOO_LARGE: "Request body too large",
    Reason.TOO_MANY: "Too many requests",
    Reason.FAILED: "Internal server error",
}
"""Contract 000's error strings."""


class Refusal(Exception):
    """A request is turned away; every dialect has words of its own for it."""

    def __init__(
        self, reason: Reason, message: str, *, limit: int = 0, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.limit = limit
        """What was exceeded: bytes of a body, or requests per minute."""
        self.headers = headers or {}

    @property
    def body(self) -> dict[str, str]:
        """What contract 000 says, and contract 001's `detail` beside it (wire rows 5 and 30)."""
        phrase = HTTPStatus(self.reason.value).phrase
        return {"error": WORDS[self.reason], "message": self.message, "detail": phrase}


class Desk(Protocol):
    """Where dialects have their calls done."""

    def tools(self) -> Mapping[str, Tool]:
        """The tools that can be called at this moment, by name."""
        ...

    async def listed(self) -> Mapping[str, Tool]:
        """Those of them that are of use here and now."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Raises: AppError and nothing else."""
        ...

    async def vaults(self) -> list[str]:
        """Names of the vaults; none where there is none."""
        ...

    async def ready(self) -> bool:
        """Whether the vault can be used."""
        ...


class Dialect(Protocol):
    """One contract's way to ask and to answer."""

    max_body: int
    """Bytes."""

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        """The HTTP methods of a path; none where there is nothing."""
        ...

    def refuse(self, asked: Asked, refusal: Refusal) -> Reply: ...

    async def answer(self, asked: Asked, desk: Desk) -> Reply: ...


def content(outcome: Outcome) -> list[dict[str, str]]:
    """MCP's content blocks; text goes out as the tool gave it, lone surrogates too."""
    blocks = [text_block(text) for text in outcome.contents()]
    if (picture := outcome.picture) is not None:
        blocks.append({"type": "image", "data": b64encode(picture.image).decode(), "mimeType": picture.mime})
    return blocks


def text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def text_of(segment: str) -> str | None:
    """A path segment decoded once; None where its bytes are not UTF-8."""
    try:
        return unquote_to_bytes(segment).decode("utf-8")
    except UnicodeDecodeError:
        return None


def parse(body: bytes) -> Any:
    """The JSON value of a body. Raises: ValueError with a sentence that says what is wrong."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    if not body.strip():
        raise ValueError("the body is empty")
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        if b"\\ud" not in body.lower():
            raise
        first = error
    try:  # what the fast parser refuses and this one takes: the escape of half a surrogate pair
        value = json.loads(body, parse_constant=_refuse_constant)
        _check_depth(value)
    except (ValueError, RecursionError):
        raise first from None
    return value


def dump(value: Any) -> bytes:
    """Compact JSON in UTF-8. A lone surrogate leaves as an escape, NaN and infinity as null."""
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        return json.dumps(_finite(value), separators=(",", ":")).encode("ascii")


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, dump(value), {"content-type": JSON, **(headers or {})})


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _check_depth(value: Any, depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(item, depth + 1)


def _finite(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            return {key: _finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case _:
            return value
