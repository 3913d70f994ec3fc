"""The streams that the SDK's `Server.run` reads and writes (specs/stdio.md, MSG-01, MSG-02)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import ObjectSendStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
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

from obsidian_mcp.serve import jsonrpc

CAPACITY: Final = 100_000
"""Messages that the SDK has not taken yet."""


class WriteStream(ObjectSendStream[SessionMessage]):
    """What the SDK writes (its WriteStream protocol)."""

    def __init__(self, write: Callable[[bytes, jsonrpc.Message], None]) -> None:
        """`write` takes each line, and the message in it."""
        self._write = write
        self._closed = False

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message. Raises: anyio.ClosedResourceError after `aclose`."""
        if self._closed:
            raise anyio.ClosedResourceError
        self._write(encode(item.message), members(item.message))

    async def aclose(self) -> None:
        self._closed = True


def read_stream() -> tuple[
    MemoryObjectSendStream[SessionMessage | Exception],
    MemoryObjectReceiveStream[SessionMessage | Exception],
]:
    """Return where messages for the SDK are put, and its ReadStream with them."""
    return anyio.create_memory_object_stream[SessionMessage | Exception](CAPACITY)


def model(message: jsonrpc.Message) -> JSONRPCMessage:
    """Return what the SDK's own transport makes of the line."""
    kind: type[JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError]
    if "method" in message:
        kind = JSONRPCRequest if "id" in message else JSONRPCNotification
    else:
        kind = JSONRPCError if "error" in message else JSONRPCResponse
    return kind.model_validate(message, by_name=False)


def encode(message: JSONRPCMessage) -> bytes:
    """Return the line that the SDK's own transport writes; where that fails, the one of
    `jsonrpc.encode`."""
    try:
        return jsonrpc_message_adapter.dump_json(message, by_alias=True, exclude_unset=True) + b"\n"
    except PydanticSerializationError:
        plain = members(message)
        if isinstance(message, JSONRPCError):
            plain["error"] = dict(message.error)
        return jsonrpc.encode(plain)


def members(message: JSONRPCMessage) -> jsonrpc.Message:
    """Return the message as a dict with its values unchanged."""
    return {
        name: getattr(message, name)
        for name in type(message).model_fields
        if name in message.model_fields_set
    }
