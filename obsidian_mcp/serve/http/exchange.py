"""One HTTP request of MCP and its answer, as ASGI has them: plain JSON, or a stream of events."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from obsidian_mcp.serve import jsonrpc

from .dialect import JSON, json_reply

SESSION: Final = "mcp-session-id"
EVENTS: Final = "text/event-stream"
UNHELD: Final = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
"""Lets a proxy pass each event on when it comes: nginx collects answers otherwise (HTTP-15)."""
EXPOSED: Final = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "Mcp-Session-Id",
}
"""Headers that let a web page read an answer, and the id of its session."""


class Exchange(NamedTuple):
    """One HTTP request and its answer, as ASGI has them."""

    scope: Scope
    body: bytes
    receive: Callable[[], Any]
    """What comes behind the body."""
    send: Send
    asks: bool = True
    """Whether a question for a person can be sent before the answer."""


class Caught:
    """What is sent for one message of a batch."""

    def __init__(self) -> None:
        self._body = b""

    async def __call__(self, message: Message) -> None:
        self._body += message.get("body", b"")

    def last_answer(self) -> bytes:
        """Return the answer, which is the last event where it came as a stream."""
        events = [line[5:].strip() for line in self._body.splitlines() if line.startswith(b"data:")]
        return events[-1] if events else self._body


class Events:
    """An event stream, which begins with its first event."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def put(self, line: bytes) -> None:
        if not self._begun:
            self._begun = True
            headers = {"content-type": EVENTS, **UNHELD, **EXPOSED}
            encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
            await self._send(
                {"type": "http.response.start", "status": HTTPStatus.OK, "headers": encoded}
            )
        event = b"event: message\r\ndata: " + line.rstrip() + b"\r\n\r\n"
        await self._send({"type": "http.response.body", "body": event, "more_body": True})

    async def end(self, line: bytes = b"") -> bool:
        """End the stream, with a last event; False where it has not begun."""
        if self._begun:
            if line:
                await self.put(line)
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        return self._begun


def reply_line(
    line: bytes, status: int = HTTPStatus.OK, headers: Mapping[str, str] = {}
) -> Response:
    """Return the answer that has one line of JSON-RPC."""
    return Response(line, status, {"content-type": JSON, **EXPOSED, **headers})


def reply_accepted() -> Response:
    """Return the answer to what gets none in JSON-RPC."""
    return Response(status_code=HTTPStatus.ACCEPTED, headers=EXPOSED)


def reply_without_session() -> Response:
    """Return the answer to a request of a session that is not there."""
    return json_reply(
        jsonrpc.refusal(jsonrpc.INVALID_REQUEST, "Session not found", None), 404, EXPOSED
    )


def replay_body(body: bytes, receive: Callable[[], Any]) -> Receive:
    """Return a `receive` for a request whose body was read already, without a byte order mark."""
    first: list[Message] = [
        {"type": "http.request", "body": body.removeprefix(codecs.BOM_UTF8), "more_body": False}
    ]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay
