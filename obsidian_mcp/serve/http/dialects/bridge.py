"""The plugin's own API, `/bridge/v1/*` (contract 000; specs/http.md BRIDGE-…)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

from obsidian_mcp import __version__
from obsidian_mcp.errors import AppError, InvalidArguments, UnknownTool
from obsidian_mcp.tools import Tool

from .tool_hash import sort_by_name, tool_hash
from .types import WORDS, Asked, Desk, Reason, Refusal, Reply, content, json_reply, text_block, text_of

PROTOCOL_VERSION: Final = "1"
CORS: Final = {"access-control-allow-origin": "*"}
PREFLIGHT: Final = {
    **CORS,
    "access-control-allow-methods": "GET, POST, OPTIONS",
    "access-control-allow-headers": "Content-Type",
    "vary": "Access-Control-Request-Headers",
}
_KEY_HEADERS: Final = "Content-Type, Authorization, X-Api-Key, X-ObsiScripta-Api-Key"


class Bridge:
    def __init__(self, max_body: int, *, keyed: bool) -> None:
        self.max_body = max_body
        self._preflight = {**PREFLIGHT, "access-control-allow-headers": _KEY_HEADERS} if keyed else PREFLIGHT

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        match segments:
            case ("health",) | ("tools",):
                return ("GET", "HEAD", "OPTIONS")
            case ("tools", _, "call"):
                return ("POST", "OPTIONS")
            case _:
                return ()

    def refuse(self, asked: Asked, refusal: Refusal) -> Reply:
        if asked.method == "OPTIONS" and refusal.reason is Reason.NOT_FOUND:  # the original answers every preflight
            return Reply(204, headers=self._preflight)
        cors = {} if refusal.reason is Reason.FORBIDDEN else CORS
        return json_reply(
            {"error": WORDS[refusal.reason], "message": refusal.message},
            refusal.reason.value,
            {**cors, **refusal.headers},
        )

    async def answer(self, asked: Asked, desk: Desk) -> Reply:
        if asked.method == "OPTIONS":
            return Reply(204, headers=self._preflight)
        match asked.segments:
            case ("health",):
                answer: Mapping[str, Any] = {
                    "status": "ok",
                    "version": __version__,
                    "protocolVersion": PROTOCOL_VERSION,
                }
                return json_reply(answer, headers=CORS)
            case ("tools",):
                return json_reply(listing(tuple((await desk.listed()).values())), headers=CORS)
            case _:
                return await self._call(asked, desk)

    async def _call(self, asked: Asked, desk: Desk) -> Reply:
        name = text_of(asked.segments[1])
        if name is None or name not in desk.tools():
            return unknown(asked.segments[1] if name is None else name)
        try:
            arguments = arguments_of(asked)
        except ValueError as error:
            return invalid(f"Invalid request body: {error}.", str(error))
        try:
            outcome = await desk.call(name, arguments)
        except UnknownTool:  # unregistered in this moment
            return unknown(name)
        except InvalidArguments as error:
            return invalid(error.message, faults(error))
        except AppError as error:
            return json_reply({"success": False, "content": [text_block(error.told())], "isError": True}, headers=CORS)
        return json_reply({"success": True, "content": content(outcome)}, headers=CORS)


@lru_cache(maxsize=4)
def listing(tools: tuple[Tool, ...]) -> dict[str, Any]:
    """The tools in the order of the contract, and the hash that changes with them."""
    entries = [{"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in tools]
    return {"tools": sort_by_name(entries), "hash": tool_hash(entries)}


def arguments_of(asked: Asked) -> dict[str, Any]:
    """Raises: ValueError saying what is wrong with the body."""
    value = asked.json
    if not isinstance(value, dict) or not isinstance(value.get("arguments"), dict):
        raise ValueError('it must be an object with an object in "arguments"')
    return dict(value["arguments"])


def unknown(name: str) -> Reply:
    return error_reply(HTTPStatus.NOT_FOUND, "Tool not found", f"Tool '{name}' not found", "TOOL_NOT_FOUND")


def invalid(message: str, details: Any) -> Reply:
    return error_reply(HTTPStatus.BAD_REQUEST, "Invalid request body", message, "INVALID_ARGUMENTS", details)


def error_reply(status: HTTPStatus, word: str, message: str, code: str, details: Any = None) -> Reply:
    """Both contracts' words at once: 000's string in `error`, 002's in `code`, a sentence in `message`."""
    body = {"error": word, "message": message, **({"details": details} if details is not None else {}), "code": code}
    return json_reply(body, status, CORS)


def faults(error: InvalidArguments) -> dict[str, Any]:
    arguments = error.data.get("arguments", [])
    missing = [fault["argument"] for fault in arguments if fault.get("came") == "nothing"]
    return {**({"missing": missing} if missing else {}), "arguments": arguments}
