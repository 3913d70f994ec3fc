"""The plugin's own API, `/bridge/v1/*` (contract 000; specs/http.md V1-…).

A bridge that was written for the plugin in the app works with this server in its place. It sends no
key, so calls from this machine may be let in without one (`--open-bridge`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from starlette.responses import Response

from obsidian_mcp import __version__
from obsidian_mcp.errors import AppError, InvalidArguments, UnknownTool
from obsidian_mcp.serve.http import dialect
from obsidian_mcp.serve.http.dialect import CORS, json_reply, tool_entry
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.tool_service import ToolService
from obsidian_mcp.serve.results import content, text_block
from obsidian_mcp.tools.registry import Tool

from .json_rpc import JsonRpc
from .table import PLUGIN_TOOLS
from .tool_hash import sort_by_name, tool_hash

PROTOCOL_VERSION: Final = "1"
PREFLIGHT: Final = {
    **CORS,
    "access-control-allow-methods": "GET, POST, OPTIONS",
    "access-control-allow-headers": "Content-Type",
    "vary": "Access-Control-Request-Headers",
}
KEY_ADVICE: Final = (
    "The bridge sends it only with OBSIDIAN_MCP_TRANSPORT=mcp. A server started with "
    "--open-bridge asks programs of its own machine for none here."
)
_KEY_HEADERS: Final = "Content-Type, Authorization, X-Api-Key, X-ObsiScripta-Api-Key"


class BridgeContract(dialect.Contract):
    """The routes of contract 000, with JSON-RPC at `/mcp` in `rpc`."""

    below = "/bridge/v1"
    open_to_bridge = True
    key_advice = "Pass OBSIDIAN_MCP_API_KEY from stdio bridge."
    description = Path(__file__).with_name("openapi.json")

    def __init__(self, max_body: int, is_locked: Callable[[], bool]) -> None:
        """`is_locked` says whether requests need a key: then a page may send the headers that carry
        it."""
        super().__init__(max_body)
        self._is_locked = is_locked
        self.rpc = JsonRpc(max_body)

    def tools(self) -> Mapping[str, Tool]:
        return PLUGIN_TOOLS

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        match segments:
            case ("health",) | ("tools",):
                return ("GET", "HEAD", "OPTIONS")
            case ("tools", _, "call"):
                return ("POST", "OPTIONS")
            case _:
                return ()

    def preflight_headers(self) -> Mapping[str, str]:
        if self._is_locked():
            return {**PREFLIGHT, "access-control-allow-headers": _KEY_HEADERS}
        return PREFLIGHT

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002
        cors = {} if refusal.reason is Reason.FORBIDDEN else CORS
        message = refusal.message
        if refusal.reason is Reason.UNAUTHORIZED:
            message += f" {KEY_ADVICE}"
        return json_reply(
            {"error": refusal.reason.error, "message": message},
            refusal.reason.status,
            {**cors, **refusal.headers},
        )

    async def handle_request(self, request: HttpRequest, service: ToolService) -> Response:
        match request.segments:
            case ("health",):
                health = {
                    "status": "ok",
                    "version": __version__,
                    "protocolVersion": PROTOCOL_VERSION,
                }
                return json_reply(health, headers=CORS)
            case ("tools",):
                return json_reply(listing(await service.list_tools()), headers=CORS)
            case _:
                return await self._call(request, service)

    async def _call(self, request: HttpRequest, service: ToolService) -> Response:
        name = dialect.text_of(request.segments[1])
        if service.find(name) is None:
            return unknown_tool_response(name)
        try:
            value = request.json
            if not isinstance(value, dict) or not isinstance(value.get("arguments"), dict):
                raise ValueError('it must be an object with an object in "arguments"')
        except ValueError as error:
            return invalid_arguments_response(f"Invalid request body: {error}.", str(error))
        try:
            outcome = await service.call(name, dict(value["arguments"]))
        except UnknownTool:  # unregistered in this moment
            return unknown_tool_response(name)
        except InvalidArguments as error:
            wrong = error.data.get("arguments", [])
            missing = [fault["argument"] for fault in wrong if fault.get("came") == "nothing"]
            return invalid_arguments_response(
                error.message, {**({"missing": missing} if missing else {}), "arguments": wrong}
            )
        except AppError as error:
            result = {"success": False, "content": [text_block(error.to_text())], "isError": True}
        else:
            result = {"success": True, "content": content(outcome)}
        return json_reply(result, headers=CORS)


@lru_cache(maxsize=16)
def listing(tools: tuple[Tool, ...]) -> dict[str, Any]:
    """Return the tools in the contract's order, and the hash that changes with them."""
    entries = list(map(tool_entry, tools))
    return {"tools": sort_by_name(entries), "hash": tool_hash(entries)}


def unknown_tool_response(name: str) -> Response:
    """Return an error of both contracts: 000's string in `error`, 002's in `code`, a sentence in
    `message`."""
    body = {
        "error": "Tool not found",
        "message": f"Tool '{name}' not found",
        "code": "TOOL_NOT_FOUND",
    }
    return json_reply(body, 404, CORS)


def invalid_arguments_response(message: str, details: Any) -> Response:
    error = Reason.INVALID.error
    body = {"error": error, "message": message, "details": details, "code": "INVALID_ARGUMENTS"}
    return json_reply(body, 400, CORS)
