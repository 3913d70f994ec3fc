"""The RAD gateway's tool API, `/mcp/v1/*` (contract 004; specs/http.md RAD-…).

The original is written in Go: names of members are read in any case, and a failed call is a 200
with `success: false`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from starlette.responses import Response

from obsidian_mcp.errors import AppError, InternalError, UnknownTool
from obsidian_mcp.serve.http.dialect import Contract, json_reply, tool_entry
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.tool_service import ToolService
from obsidian_mcp.tools.registry import Tool

from .tools import Bridge

_KINDS = {dict: "object", list: "array", str: "string", bool: "bool", type(None): "null"}
"""What errors call the types of JSON, as Go's decoder does; all others are numbers."""


class Rad(Contract):
    """The routes of contract 004."""

    below = "/mcp/v1"
    description = Path(__file__).with_name("openapi.json")
    takes_key_from_query = True
    open_paths = (("health",),)
    paths = MappingProxyType(
        {"health": ("GET",), "tools/list": ("GET",), "stdio": ("POST",), "tools/invoke": ("POST",)}
    )

    def __init__(self, max_body: int, own: Bridge, registered: Bridge | None = None) -> None:
        """`own`: the tools that only this contract has; `registered`: those of another program, for
        all dialects."""
        super().__init__(max_body)
        self._own = own
        self._registered = registered

    def tools(self) -> Mapping[str, Tool]:
        return self._registered.served if self._registered is not None else {}

    def own_tools(self) -> Mapping[str, Tool]:
        return self._own.served

    # what is refused is answered the same, whatever the request is
    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002
        message = refusal.message[:1].lower() + refusal.message[1:]
        return json_reply(failure("", message), refusal.reason.status, refusal.headers)

    async def handle_request(self, request: HttpRequest, service: ToolService) -> Response:
        match request.segments:
            case ("health",):
                return json_reply(
                    {
                        "status": "healthy",
                        "service": "mcp",
                        "executor": True,
                        "timestamp": timestamp(),
                    }
                )
            case ("tools", "list"):
                tools = [
                    {**tool_entry(tool), "parameters": tool.input_schema}
                    for tool in await service.list_tools()
                ]
                return json_reply({"tools": tools, "count": len(tools)})
            case _:
                return await self._invoke(request, service)

    async def _invoke(self, request: HttpRequest, service: ToolService) -> Response:
        started = time.perf_counter()
        try:
            given = members(request)
        except ValueError as error:
            raise Refusal(Reason.INVALID, f"invalid request body: {error}") from error
        name, session = given.get("tool") or "", given.get("session") or ""
        if not name:
            return json_reply(failure("", "tool is required", session=session), 400)
        try:
            if service.find(name) is None:
                raise UnknownTool("", tool=name)
            outcome = await service.call(name, given.get("input") or {})
        except UnknownTool:
            problem = f"tool not found: {name}"
        except InternalError:
            problem = "tool execution failed"
        except AppError as error:
            problem = error.message
        else:
            return json_reply(
                {
                    "success": True,
                    "tool": name,
                    "output": outcome.to_full_data(),
                    **_stamp(started, session),
                }
            )
        return json_reply(failure(name, problem, started, session))


def members(request: HttpRequest) -> dict[str, Any]:
    """Return the request's members, whose names may be in any case as in the original. Raises:
    ValueError."""
    value = request.json
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, got {_kind(value)}")
    given = {key.lower(): member for key, member in value.items()}
    for key, kind in (("tool", str), ("session", str), ("input", dict), ("metadata", dict)):
        if not isinstance(given.get(key), kind | None):
            raise ValueError(f"{key} must be {_KINDS[kind]}, got {_kind(given[key])}")
    return given


def failure(
    name: str, message: str, started: float | None = None, session: str = ""
) -> dict[str, Any]:
    """Return the body of a failed call; `started`: a value of `time.perf_counter`, None where no
    call was begun."""
    return {"success": False, "tool": name, "error": message, **_stamp(started, session)}


def timestamp() -> str:
    """Return the time in UTC to the second, as in RFC 3339."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _stamp(started: float | None, session: str) -> Mapping[str, Any]:
    milliseconds = 0 if started is None else round((time.perf_counter() - started) * 1000)
    return {
        "timestamp": timestamp(),
        "durationMs": milliseconds,
        **({"session": session} if session else {}),
    }


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "number")
