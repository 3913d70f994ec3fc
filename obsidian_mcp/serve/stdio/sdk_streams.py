"""The streams that the SDK's `Server.run` reads and writes, over a `Conversation` (specs/stdio.md, MSG-01, MSG-02)."""

from __future__ import annotations

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
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
from .conversation import Conversation


class ReadStream(ObjectReceiveStream[SessionMessage | Exception]):
    """The client's messages in order (the SDK's ReadStream protocol)."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises: anyio.EndOfStream at the end."""
        message = await self._conversation.for_sdk.get()
        if message is None:
            raise anyio.EndOfStream
        return SessionMessage(model(message))

    async def aclose(self) -> None:
        self._conversation.reader.stop()


class WriteStream(ObjectSendStream[SessionMessage]):
    """What the SDK writes (its WriteStream protocol)."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._closed = False

    async def send(self, item: SessionMessage, /) -> None:
        """Queue one message for the client. Raises: anyio.ClosedResourceError after `aclose`."""
        if self._closed:
            raise anyio.ClosedResourceError
        self._conversation.send(encode(item.message), members(item.message))

    async def aclose(self) -> None:
        self._closed = True


def model(message: jsonrpc.Message) -> JSONRPCMessage:
    """Return what the SDK's own transport makes of the line."""
    kind: type[JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError]
    if "method" in message:
        kind = JSONRPCRequest if "id" in message else JSONRPCNotification
    else:
        kind = JSONRPCError if "error" in message else JSONRPCResponse
    return kind.model_validate(message, by_name=False)


def encode(message: JSONRPCMessage) -> bytes:
    """Return the line that the SDK's own transport writes; where that fails, the one of `jsonrpc.encode`."""
    try:
        return jsonrpc_message_adapter.dump_json(message, by_alias=True, exclude_unset=True) + b"\n"
    except PydanticSerializationError:
        plain = members(message)
        if isinstance(message, JSONRPCError):
            plain["error"] = dict(message.error)
        return jsonrpc.encode(plain)


def members(message: JSONRPCMessage) -> jsonrpc.Message:
    """Return the message as a dict with its values unchanged."""
    return {name: getattr(message, name) for name in type(message).model_fields if name in message.model_fields_set}
