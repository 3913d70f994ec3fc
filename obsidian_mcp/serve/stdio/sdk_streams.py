"""What the SDK's `Server.run` reads and writes, over our own conversation (specs/stdio.md, MSG-01, MSG-02)."""

from __future__ import annotations

from typing import Protocol

import anyio
from anyio.abc import AsyncResource
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic_core import PydanticSerializationError

from . import jsonrpc


class Peer(Protocol):
    """The client, as the SDK meets it."""

    async def receive(self) -> jsonrpc.Message | None:
        """The next message for the SDK; None at the end."""

    def refuse(self) -> None:
        """Take no more."""

    def send(self, line: bytes, message: jsonrpc.Message) -> None:
        """Write a line. Of the message only the members beside `params` and the error's are looked at."""


class ReadStream(AsyncResource):
    """The client's messages in order, then the end (the SDK's ReadStream protocol)."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises anyio.EndOfStream at the end."""
        message = await self._peer.receive()
        if message is None:
            raise anyio.EndOfStream
        return SessionMessage(model(message))

    async def aclose(self) -> None:
        self._peer.refuse()

    def __aiter__(self) -> ReadStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class WriteStream(AsyncResource):
    """Where the SDK writes (its WriteStream protocol)."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._closed = False

    async def send(self, item: SessionMessage, /) -> None:
        """Queue one message for the client. Raises anyio.ClosedResourceError after `aclose`."""
        if self._closed:
            raise anyio.ClosedResourceError
        self._peer.send(encode(item.message), members(item.message))

    async def aclose(self) -> None:
        self._closed = True


def model(message: jsonrpc.Message) -> JSONRPCMessage:
    """Exactly what the SDK's own transport would have made of the line."""
    kind: type[JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError]
    if "method" in message:
        kind = JSONRPCRequest if "id" in message else JSONRPCNotification
    else:
        kind = JSONRPCError if "error" in message else JSONRPCResponse
    return kind.model_validate(message, by_name=False)


def encode(message: JSONRPCMessage) -> bytes:
    """The line that the SDK's own transport writes; where that fails, what `jsonrpc.encode` makes of it."""
    try:
        return jsonrpc_message_adapter.dump_json(message, by_alias=True, exclude_unset=True) + b"\n"
    except PydanticSerializationError:
        plain = members(message)
        if isinstance(message, JSONRPCError):
            plain["error"] = dict(message.error)
        return jsonrpc.encode(plain)


def members(message: JSONRPCMessage) -> jsonrpc.Message:
    """The message as a dict, its values as they are."""
    return {name: getattr(message, name) for name in type(message).model_fields if name in message.model_fields_set}
