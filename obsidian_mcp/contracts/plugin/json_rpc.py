"""JSON-RPC at `/mcp` without sessions, for the `curl` examples of contract 000 (specs/http.md
RPC-…).

The dispatcher answers messages, as it does in a session; the dialect has the original's words for
what is none, and for a method that it does not know. MCP in full is in `serve/http/sessions.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
from starlette.responses import Response

from obsidian_mcp.errors import MOST_NAME, OperationTimeout, shorten
from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.call_order import CallOrder
from obsidian_mcp.serve.call_queue import kind_of_message
from obsidian_mcp.serve.call_thread import run_in_thread
from obsidian_mcp.serve.http.dialect import CORS, JSON, RpcDialect, json_reply
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.tool_service import ToolService
from obsidian_mcp.serve.jsonrpc import Message

from .rpc_dispatcher import NOBODY, RpcDispatcher


class JsonRpc(RpcDialect):
    """What is posted to `/mcp` without a session and is JSON-RPC."""

    key_advice = (
        "Put one into this server's entry in the settings of the client, as the header "
        "Authorization: Bearer KEY; `obsidian-mcp keys` on the server's computer makes one."
    )

    def is_message(self, value: object) -> bool:
        return not fault_of(value)

    # what is refused is answered the same, whatever the request is
    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002
        cors = {} if refusal.reason is Reason.FORBIDDEN else CORS
        if refusal.reason is Reason.INVALID:
            failed = jsonrpc.error(
                None, jsonrpc.PARSE_ERROR, "Parse error", {"detail": refusal.message}
            )
            return json_reply(failed, 400, cors)
        return json_reply(refusal.body, refusal.reason.status, {**cors, **refusal.headers})

    async def handle_request(self, request: HttpRequest, service: ToolService) -> Response:
        try:
            value = request.json
        except ValueError as problem:
            raise Refusal(Reason.INVALID, str(problem)) from problem
        dispatcher = RpcDispatcher(service)
        if isinstance(value, list):
            return await self._batch(value, dispatcher)
        if fault := fault_of(value):
            return json_reply(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, fault), 400, CORS)
        return _reply(await _serve(value, dispatcher))

    async def _batch(self, values: list[Any], dispatcher: RpcDispatcher) -> Response:
        """Answer in the order of the requests, as in the revision 2025-03-26."""
        if (refused := jsonrpc.refuse_batch(values)) is not None:
            return json_reply(refused.answer, 400, CORS)
        answers: list[bytes] = [b""] * len(values)
        order = CallOrder()

        async def serve(place: int, value: Any) -> None:
            if fault := fault_of(value):
                answers[place] = dispatcher.encode(
                    jsonrpc.error(None, jsonrpc.INVALID_REQUEST, fault)
                )
                return
            try:
                async with order.turn(writes=dispatcher.writes(value), seconds=dispatcher.timeout):
                    answers[place] = await _serve(value, dispatcher)
            except OperationTimeout as late:  # before its turn
                answers[place] = dispatcher.encode(dispatcher.failure(value, NOBODY, late))

        async with anyio.create_task_group() as group:
            for place, value in enumerate(values):
                group.start_soon(serve, place, value)
        due = b",".join(filter(None, answers))
        return _reply(b"[" + due + b"]" if due else b"")


async def _serve(message: Message, dispatcher: RpcDispatcher) -> bytes:
    """Return the answer to a well-formed message; empty where none is due."""
    if "id" not in message or "method" not in message:
        return b""
    method, params = message["method"], message.get("params")
    if not dispatcher.serves(message):
        problem = f"Method not found: {shorten(method, MOST_NAME)}"
        return dispatcher.encode(jsonrpc.error(message["id"], jsonrpc.METHOD_NOT_FOUND, problem))
    if method == "tools/call" and not isinstance(params, dict | None):
        problem, data = jsonrpc.invalid_params(
            method, [jsonrpc.fault("params", "an object", params)]
        )
        return dispatcher.encode(
            jsonrpc.error(message["id"], jsonrpc.INVALID_PARAMS, problem, data)
        )
    if method == "tools/list" or not isinstance(params, dict):  # the contract's list has no pages
        message = {**message, "params": None}
    try:
        work = partial(dispatcher.answer_message, message, NOBODY)
        line = await run_in_thread(dispatcher.timeout, work, kind=kind_of_message(message))
    except OperationTimeout as error:
        return dispatcher.encode(dispatcher.failure(message, NOBODY, error))
    return line or b""  # it is empty only for a client that can be asked


def _reply(line: bytes) -> Response:
    return (
        Response(line, headers={"content-type": JSON, **CORS})
        if line
        else Response(status_code=202, headers=CORS)
    )


def fault_of(value: Any) -> str:
    """Return, in the original's words, why a value is no request, notification or response; nothing
    if it is one."""
    if not isinstance(value, dict):
        return "Request body must be a JSON object"
    if value.get("jsonrpc") != "2.0":
        return "Invalid JSON-RPC version (must be '2.0')"
    if "method" not in value and ("result" in value or "error" in value):
        return ""
    method = value.get("method")
    if not isinstance(method, str):
        return "Missing or invalid 'method' field"
    if "id" not in value:
        if not method.startswith("notifications/"):
            return "Missing 'id' field (notifications not supported)"
    elif isinstance(value["id"], bool) or not isinstance(value["id"], str | int | float | None):
        return "Invalid 'id' field (must be string, number, or null)"
    return ""
