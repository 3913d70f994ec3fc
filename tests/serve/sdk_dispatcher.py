"""A dispatcher that leaves requests to the SDK, for tests of the conversation with servers of their own."""

from __future__ import annotations

from obsidian_mcp.serve.dispatch import (
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    Dispatcher,
    Peer,
    VaultDispatcher,
    is_modern,
)
from obsidian_mcp.serve.jsonrpc import Message


class SdkDispatcher(Dispatcher):
    """The SDK answers everything."""

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
