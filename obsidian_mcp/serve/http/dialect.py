"""What all dialects share: requests, replies, refusals, JSON; and how the contract of another program is mounted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from starlette.responses import Response

from obsidian_mcp import json_codec
from obsidian_mcp.serve.http.tool_service import ToolService
from obsidian_mcp.tools.registry import Tool

JSON: Final = "application/json"
CORS: Final = {"access-control-allow-origin": "*"}


@dataclass(frozen=True)
class HttpRequest:
    """`segments` are the parts of its path below the dialect's own, still percent-encoded."""

    method: str
    segments: tuple[str, ...]
    headers: Mapping[str, str]
    """Names in lower case."""
    query: Mapping[str, str] = field(default_factory=dict)
    client: str = ""
    """Network address of the client."""
    body: bytes = b""

    @cached_property
    def json(self) -> Any:
        """The JSON value of the body. Raises: ValueError saying what is wrong with it."""
        if not self.body.strip():
            raise ValueError("the body is empty")
        return json_codec.decode(self.body, keeps_halves=True)

    @property
    def message(self) -> dict[str, Any] | None:
        """The JSON object of the body; None where it is anything else."""
        value = self._any_json()
        return value if isinstance(value, dict) else None

    @property
    def array(self) -> list[Any] | None:
        """The JSON array of the body; None where it is anything else."""
        value = self._any_json()
        return value if isinstance(value, list) else None

    def _any_json(self) -> object:
        with suppress(ValueError):
            return self.json
        return None


class Reason(Enum):
    """Why a request is refused before any tool is called: the HTTP status, and contract 000's error string."""

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
    """A request is refused; every dialect renders that in its own form."""

    def __init__(
        self, reason: Reason, message: str, *, limit: int = 0, headers: Mapping[str, str] | None = None
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


class Dialect(ABC):
    """One contract's requests and answers."""

    description: Path | None = None
    """The JSON file with its part of the OpenAPI document: operations, the schemas of bodies, and which of these
    answers under other statuses than 200."""
    allowed: tuple[str, ...] = ("GET", "HEAD")
    """HTTP methods of a dialect whose paths all have the same."""
    paths: Mapping[str, tuple[str, ...]] | None = None
    """HTTP methods by path, where they differ."""
    open_paths: Collection[tuple[str, ...]] = ()
    """The paths, by their segments, that need no key."""
    takes_key_from_query = False
    below: str = ""
    """The path below which a mounted dialect serves; empty for one that has only `pages`."""
    pages: Mapping[str, str] = MappingProxyType({})
    """Single paths of a mounted dialect, with the one segment that `answer` gets for each."""
    key_advice = "Send one in the header X-Api-Key, or as Authorization: Bearer KEY."
    """What a client is told that came without a key that fits."""
    open_to_bridge = False
    """Whether `--open-bridge` lets this machine in without a key."""

    def __init__(self, max_body: int = 0) -> None:
        """`max_body`: most bytes of a request's body."""
        self.max_body = max_body

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        """Return the HTTP methods of a path; none where there is nothing."""
        return self.allowed if self.paths is None else self.paths.get("/".join(segments), ())

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002  the same for every request
        """Return the answer to a request that is refused."""
        return json_reply(refusal.body, refusal.reason.status, refusal.headers)

    @abstractmethod
    async def answer(self, request: HttpRequest, service: ToolService) -> Response:
        """Serve a request to one of `methods`. Raises: Refusal."""


class Contract(Dialect):
    """The contract of another program: a dialect that `application` mounts, and the tools that it brings."""

    shares_mcp = False
    """Whether it answers the bodies at `/mcp` that are not JSON-RPC."""

    def claims(self, body: Any) -> bool:  # noqa: ARG002  nothing in general
        """Whether a JSON value without `jsonrpc` can only be of this contract, whatever the headers say."""
        return False

    def tools(self) -> Mapping[str, Tool]:
        """Return the present tools that all dialects offer."""
        return {}

    def own_tools(self) -> Mapping[str, Tool]:
        """Return the present tools that only this contract's paths offer."""
        return {}


class NotFound(Dialect):
    """Serves the paths that belong to no contract."""

    allowed = ()

    async def answer(self, request: HttpRequest, service: ToolService) -> Response:  # noqa: ARG002  always the same
        raise Refusal(Reason.NOT_FOUND, "Not found")


def text_of(segment: str) -> str:
    """Return a path segment decoded once; unchanged where its bytes are not UTF-8."""
    try:
        return unquote_to_bytes(segment).decode("utf-8")
    except UnicodeDecodeError:
        return segment


def tool_entry(tool: Tool) -> dict[str, Any]:
    """Return a tool as the contracts list it."""
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a reply with compact JSON (HTTP-06)."""
    body = json_codec.encode(value, default=dict, keeps_halves=True)
    return Response(body, status, {"content-type": JSON, **(headers or {})})
