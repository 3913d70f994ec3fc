"""A request as the dialects see it: its parts, and the body in the forms that clients and pages
send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import cookie_parser

from obsidian_mcp import json_codec


@dataclass(frozen=True)
class HttpRequest:
    """`segments` are the parts of its path below the dialect's own, still percent-encoded."""

    method: str
    segments: tuple[str, ...]
    headers: Mapping[str, str]
    """Names in lower case."""
    query: Sequence[tuple[str, str]] = ()
    """Names and values, as often as each was sent: a sign-in refuses what comes twice."""
    client: str = ""
    """Network address of the client."""
    body: bytes = b""
    takes_key_from_query: bool = False
    """Whether its dialect lets a client write its key into the query, where logs and proxies keep
    it."""
    takes_tokens: bool = False
    """Whether tokens of a sign-in open what it asks for: they are issued for one address."""

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

    @property
    def form(self) -> Sequence[tuple[str, str]]:
        """The fields of a form that a page has sent, empty ones too, as often as each came.

        What is not UTF-8 is replaced by U+FFFD.
        """
        return parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True)

    @property
    def cookies(self) -> Mapping[str, str]:
        """The cookies by name."""
        return cookie_parser(self.headers.get("cookie", ""))

    def _any_json(self) -> object:
        with suppress(ValueError):
            return self.json
        return None
