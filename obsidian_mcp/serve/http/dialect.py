"""What all dialects share: how one is mounted, how it answers and refuses, and JSON replies.

A dialect is one contract's requests and answers on its paths: MCP's, those of other programs, and
the pages and documents that the server has for people and their browsers. All of them are mounted
from one list (`server.application`), by the path that they name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from starlette.responses import Response

from obsidian_mcp import json_codec
from obsidian_mcp.tools.registry import Tool

from .refusal import Reason, Refusal
from .request import HttpRequest
from .tool_service import ToolService

JSON: Final = "application/json"
CORS: Final = {"access-control-allow-origin": "*"}
"""Lets a page of any origin read an answer."""


class Dialect(ABC):
    """One contract's requests and answers."""

    description: Path | None = None
    """The JSON file with its part of the OpenAPI document: operations, the schemas of bodies, and
    which of these answers under other statuses than 200."""
    allowed: tuple[str, ...] = ("GET", "HEAD")
    """HTTP methods of a dialect whose paths all have the same."""
    paths: Mapping[str, tuple[str, ...]] | None = None
    """HTTP methods by path, where they differ."""
    open_paths: Collection[tuple[str, ...]] = ()
    """The paths, by their segments, that need no key.

    What they answer says nothing of the vault, or they ask for a password themselves.
    """
    is_open_before_sign_in = False
    """Whether `open_paths` are open on a server with a sign-in, too, because they belong to it."""
    takes_key_from_query = False
    """Whether a client may write its key into the query, as contract 004 allows."""
    below: str = ""
    """The path below which a mounted dialect serves; empty for one that has only `pages`."""
    pages: Mapping[str, str] = MappingProxyType({})
    """Single paths of a mounted dialect, exactly as a client sends them, such as
    `/.well-known/security.txt`; with the one segment that `handle_request` gets for each."""
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

    def has_open_path(self, segments: tuple[str, ...]) -> bool:
        """Return whether a path needs no key."""
        return segments in self.open_paths

    # some dialects answer by what the request asks for
    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002
        """Return the answer to a request that is refused."""
        return json_reply(refusal.body, refusal.reason.status, refusal.headers)

    def preflight_headers(self) -> Mapping[str, str] | None:
        """Return the headers that answer OPTIONS, by which a browser asks what a page of another
        origin may send (CORS): at every path, also where there is nothing.

        None where such pages may send nothing; OPTIONS is then refused as any other method.
        """
        return None

    def own_tools(self) -> Mapping[str, Tool]:
        """Return the present tools that only this dialect's paths offer."""
        return {}

    @abstractmethod
    async def handle_request(self, request: HttpRequest, service: ToolService) -> Response:
        """Serve a request to one of `methods`. Raises: Refusal."""


class RpcDialect(Dialect):
    """Answers JSON-RPC at `/mcp` that belongs to no session."""

    @abstractmethod
    def is_message(self, value: object) -> bool:
        """Return whether a JSON value is a message; what is none is answered here, also in a
        session."""


class Contract(Dialect):
    """The contract of another program: a dialect, and the tools that it brings."""

    shares_mcp = False
    """Whether it answers the bodies at `/mcp` that are not JSON-RPC."""
    rpc: RpcDialect | None = None
    """Answers JSON-RPC at `/mcp` that belongs to no session."""

    def claims(self, body: Any) -> bool:  # noqa: ARG002  nothing in general
        """Whether a JSON value without `jsonrpc` can only be of this contract, whatever the headers
        say."""
        return False

    def tools(self) -> Mapping[str, Tool]:
        """Return the present tools that all dialects offer."""
        return {}


class NotFound(Dialect):
    """Serves the paths that belong to no contract."""

    allowed = ()

    async def handle_request(
        self,
        request: HttpRequest,  # noqa: ARG002
        service: ToolService,  # noqa: ARG002
    ) -> Response:
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
