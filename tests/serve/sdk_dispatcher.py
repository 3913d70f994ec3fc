"""A dispatcher that leaves requests to the SDK, for tests of the conversation with servers of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obsidian_mcp.errors import UnknownTool
from obsidian_mcp.serve.dispatch import HANDSHAKE_VERSIONS, MODERN_VERSIONS, Dispatcher, Peer, is_modern
from obsidian_mcp.serve.jsonrpc import Message
from obsidian_mcp.serve.vault_dispatcher import VaultDispatcher


class SdkDispatcher(Dispatcher):
    """The SDK answers everything; nothing is offered here."""

    def tools(self, peer: Peer) -> list[Mapping[str, Any]]:  # noqa: ARG002
        return []

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
        raise UnknownTool(f"There is no tool {name!r} here.", tool=name)

    def instructions(self) -> str:
        return ""

    def capabilities(self, *, is_modern: bool) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def list_can_change(self) -> bool:
        return False

    def peer(self, message: Message, introduced: Peer | None) -> Peer | Message:
        return Peer((MODERN_VERSIONS if is_modern(message, introduced) else HANDSHAKE_VERSIONS)[-1])

    def serves(self, message: Message) -> bool:  # noqa: ARG002
        return False

    def writes(self, message: object) -> bool:  # noqa: ARG002
        return False


class SdkCalls(VaultDispatcher):
    """The SDK answers calls of tools."""

    def serves(self, message: Message) -> bool:
        return message["method"] != "tools/call" and super().serves(message)
