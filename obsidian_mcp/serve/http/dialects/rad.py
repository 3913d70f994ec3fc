"""The RAD gateway's tool API, `/mcp/v1/*` (contract 004; specs/http.md RAD-…)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from obsidian_mcp.errors import AppError, InternalError, UnknownTool

from .types import Asked, Desk, Reason, Refusal, Reply, json_reply

_KINDS = {dict: "object", list: "array", str: "string", bool: "bool", type(None): "null"}


class Rad:
    """`desk` offers the contract's own tools beside the others."""

    def __init__(self, max_body: int) -> None:
        self.max_body = max_body

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        match segments:
            case ("tools", "list") | ("health",):
                return ("GET",)
            case ("tools", "invoke") | ("stdio",):
                return ("POST",)
            case _:
                return ()

    def refuse(self, asked: Asked, refusal: Refusal) -> Reply:  # noqa: ARG002  the same for every request
        message = refusal.message[:1].lower() + refusal.message[1:]
        return json_reply(failure("", message), refusal.reason.value, refusal.headers)

    async def answer(self, asked: Asked, desk: Desk) -> Reply:
        match asked.segments:
            case ("health",):
                return json_reply({"status": "healthy", "service": "mcp", "executor": True, "timestamp": timestamp()})
            case ("tools", "list"):
                tools = [
                    {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.input_schema,
                        "inputSchema": tool.input_schema,
                    }
                    for tool in (await desk.listed()).values()
                ]
                return json_reply({"tools": tools, "count": len(tools)})
            case _:
                return await self._invoke(asked, desk)

    async def _invoke(self, asked: Asked, desk: Desk) -> Reply:
        started = time.perf_counter()
        try:
            request = members(asked)
        except ValueError as error:
            raise Refusal(Reason.INVALID, f"invalid request body: {error}") from error
        name, session = request.get("tool") or "", request.get("session") or ""
        if not name:
            return json_reply(failure("", "tool is required", session=session), 400)
        try:
            if name not in desk.tools():
                raise UnknownTool("", tool=name)
            outcome = await desk.call(name, request.get("input") or {})
        except AppError as error:
            return json_reply(failure(name, sentence(name, error), started, session))
        answer = {"success": True, "tool": name, "output": outcome.whole(), **_stamp(started, session)}
        return json_reply(answer)


def members(asked: Asked) -> dict[str, Any]:
    """The request's members; as in the original their names may be in any case. Raises: ValueError."""
    value = asked.json
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, got {_kind(value)}")
    request = {key.lower(): member for key, member in value.items()}
    for key, kind in (("tool", str), ("session", str), ("input", dict), ("metadata", dict)):
        if not isinstance(request.get(key), kind | None):
            raise ValueError(f"{key} must be {_KINDS[kind]}, got {_kind(request[key])}")
    return request


def sentence(name: str, error: AppError) -> str:
    match error:
        case UnknownTool():
            return f"tool not found: {name}"
        case InternalError():
            return "tool execution failed"
        case _:
            return error.message


def failure(name: str, message: str, started: float | None = None, session: str = "") -> dict[str, Any]:
    return {"success": False, "tool": name, "error": message, **_stamp(started, session)}


def timestamp() -> str:
    """RFC 3339 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _stamp(started: float | None, session: str) -> Mapping[str, Any]:
    milliseconds = 0 if started is None else round((time.perf_counter() - started) * 1000)
    return {"timestamp": timestamp(), "durationMs": milliseconds, **({"session": session} if session else {})}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "number")
