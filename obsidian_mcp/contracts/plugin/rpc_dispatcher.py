"""Answers JSON-RPC as contract 000's plugin does: four methods, nothing remembered, errors of tools
as results.

It is the vault's dispatcher with the plugin's order and words, so that arguments, limits and the
policy hold as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from obsidian_mcp import __version__, json_codec
from obsidian_mcp.errors import MOST_NAME, AppError, UnknownTool, shorten
from obsidian_mcp.serve import dispatch, jsonrpc, results
from obsidian_mcp.serve.dispatch import HANDSHAKE_VERSIONS, MODERN_VERSIONS, Dispatcher, Peer
from obsidian_mcp.serve.http.tool_service import ToolService
from obsidian_mcp.serve.jsonrpc import Message
from obsidian_mcp.tools.registry import unknown_tool_error

from .tool_hash import sort_by_name

NOBODY: Final = Peer(HANDSHAKE_VERSIONS[-1])
"""A client without a session introduces itself in vain: nothing is remembered."""
DISCOVER: Final = "server/discover"


class RpcDispatcher(Dispatcher):
    """Offers the tools of a service in the plugin's order, and none that only hosts with views can
    use."""

    server = {"name": "obsidian-mcp", "version": __version__}  # noqa: RUF012  as in the base class
    handshake_methods = frozenset(("initialize", "ping", "tools/list", "tools/call"))

    def __init__(self, service: ToolService) -> None:
        super().__init__(service.dispatcher.config)
        self._service = service
        self._vault = service.dispatcher

    def tools(self, peer: Peer) -> list[Mapping[str, Any]]:
        return sort_by_name(self._vault.tools(peer))

    def call(self, name: str, arguments: Mapping[str, Any]) -> results.Result:
        if self._service.find(name) is None:
            raise unknown_tool_error(name, self._service.offer)
        return results.success(self._service.run_tool(name, arguments))

    def instructions(self) -> str:
        return self._vault.instructions()

    def capabilities(self, *, is_modern: bool) -> dict[str, Any]:  # noqa: ARG002  it is never
        return {"tools": {"listChanged": False}}

    def list_can_change(self) -> bool:
        return self._vault.list_can_change()

    def writes(self, message: object) -> bool:
        return self._vault.writes(message)

    def serves(self, message: Message) -> bool:
        return message["method"] in self.handshake_methods or message["method"] == DISCOVER

    def answer_message(self, message: Message, peer: Peer) -> bytes | None:
        if message["method"] != DISCOVER:
            return super().answer_message(message, peer)
        # hosts send it first; of one that hears of no such method, nothing more comes (RPC-08)
        version = dispatch.envelope(message).get(dispatch.VERSION_KEY, MODERN_VERSIONS[-1])
        if version in MODERN_VERSIONS:
            return self._vault.answer_message(message, Peer(MODERN_VERSIONS[-1]))
        return self.encode(
            dispatch.unsupported_version_answer(message, str(version), MODERN_VERSIONS)
        )

    def failure(self, message: Message, peer: Peer, error: AppError) -> Message:
        if isinstance(error, UnknownTool):  # the original's words
            problem = f"Unknown tool: {shorten(error.data.get('tool', ''), MOST_NAME)}"
            if "successors" in error.data:
                problem = error.message
            return jsonrpc.error(
                message["id"], error.code, problem, {"errorCode": error.error_code}
            )
        if message["method"] != "tools/call" or error.code == jsonrpc.INVALID_PARAMS:
            return super().failure(message, peer, error)
        return jsonrpc.result(
            message["id"], {"content": [results.text_block(error.to_text())], "isError": True}
        )

    def encode(self, message: Message) -> bytes:
        """Return an answer as JSON over HTTP: half of a character stays what it is (HTTP-06)."""
        return json_codec.encode(message, default=dict, keeps_halves=True)
