"""JSON-RPC at `/mcp` without sessions, for the `curl` examples of contract 000 (specs/http.md RPC-…); MCP in full is in
`sessions`."""

from __future__ import annotations

from typing import Any, Final

import anyio
from anyio import to_thread
from starlette.responses import Response

from obsidian_mcp import __version__
from obsidian_mcp.errors import MOST_NAME, AppError, OperationTimeout, shorten
from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.call_order import CallOrder
from obsidian_mcp.serve.dispatch import HANDSHAKE_VERSIONS, Peer, given_version
from obsidian_mcp.serve.http.tool_service import ToolService
from obsidian_mcp.serve.results import content, text_block

from .dialect import CORS, Contract, Dialect, json_reply
from .refusal import Reason, Refusal
from .request import HttpRequest
from .tool_service import sort_by_name

NOBODY: Final = Peer(HANDSHAKE_VERSIONS[-1])
"""A client without a session introduces itself in vain: nothing is remembered."""
PREFLIGHT: Final = {
    **CORS,
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "Content-Type, Mcp-Session-Id, Authorization, X-ObsiScripta-Api-Key, X-Api-Key, "
    "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, Accept",
    "access-control-expose-headers": "Mcp-Session-Id",
    "vary": "Access-Control-Request-Headers",
}
_BY_HEADER: Final = ("x-obsiscripta-api-key", "mcp-session-id", "mcp-protocol-version")


def speaks(request: HttpRequest, other: Contract) -> bool:
    """Whether a request at `/mcp` is JSON-RPC and not of the contract that shares the path (wire rows 1 and 2): by a
    body that can only be one of them, else the headers, else the bytes of what is no JSON."""
    by_header = any(name in request.headers for name in _BY_HEADER)
    try:
        value = request.json
    except ValueError:
        return by_header or b'"jsonrpc"' in request.body
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict) and "jsonrpc" in item for item in items):
        return True
    return by_header and not other.claims(value)


class JsonRpc(Dialect):
    key_advice = (
        "Put one into this server's entry in the settings of the client, as the header Authorization: Bearer KEY; "
        "`obsidian-mcp keys` on the server's computer makes one."
    )

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002  the same for every request
        cors = {} if refusal.reason is Reason.FORBIDDEN else CORS
        if refusal.reason is Reason.INVALID:
            failed = jsonrpc.error(None, jsonrpc.PARSE_ERROR, "Parse error", {"detail": refusal.message})
            return json_reply(failed, 400, cors)
        return json_reply(refusal.body, refusal.reason.status, {**cors, **refusal.headers})

    async def answer(self, request: HttpRequest, service: ToolService) -> Response:
        try:
            value = request.json
        except ValueError as problem:
            raise Refusal(Reason.INVALID, str(problem)) from problem
        if isinstance(value, list):
            return await self._batch(value, service)
        if fault := fault_of(value):
            return json_reply(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, fault), 400, CORS)
        answer = await self._serve(value, service)
        return Response(status_code=202, headers=CORS) if answer is None else json_reply(answer, headers=CORS)

    async def _batch(self, values: list[Any], service: ToolService) -> Response:
        """Answer in the order of the requests, as in the revision 2025-03-26."""
        if (refused := jsonrpc.refuse_batch(values)) is not None:
            return json_reply(refused.answer, 400, CORS)
        answers: list[dict[str, Any] | None] = [None] * len(values)
        order = CallOrder()

        async def serve(place: int, value: Any) -> None:
            if fault := fault_of(value):
                answers[place] = jsonrpc.error(None, jsonrpc.INVALID_REQUEST, fault)
                return
            try:
                async with order.turn(writes=service.dispatcher.writes(value), seconds=service.timeout):
                    answers[place] = await self._serve(value, service)
            except OperationTimeout as late:  # before its turn
                answers[place] = failure(value.get("id"), late)

        async with anyio.create_task_group() as group:
            for place, value in enumerate(values):
                group.start_soon(serve, place, value)
        due = [answer for answer in answers if answer is not None]
        return json_reply(due, headers=CORS) if due else Response(status_code=202, headers=CORS)

    async def _serve(self, message: dict[str, Any], service: ToolService) -> dict[str, Any] | None:
        """Return the answer to a well-formed message; None where none is due."""
        if "id" not in message or "method" not in message:
            return None
        request_id, method, params = message["id"], message["method"], message.get("params")
        match method:
            case "initialize":
                answer: dict[str, Any] = {
                    "protocolVersion": given_version(params),
                    "capabilities": {"tools": {"listChanged": False}},
                    "serverInfo": {"name": "obsidian-mcp", "version": __version__},
                    "instructions": service.dispatcher.instructions(),
                }
            case "ping":
                answer = {}
            case "tools/list":
                answer = {"tools": sort_by_name(await to_thread.run_sync(service.dispatcher.tools, NOBODY))}
            case "tools/call":
                return await self._call(request_id, params, service)
            case _:
                problem = f"Method not found: {shorten(method, MOST_NAME)}"
                return jsonrpc.error(request_id, jsonrpc.METHOD_NOT_FOUND, problem)
        return jsonrpc.result(request_id, answer)

    async def _call(self, request_id: Any, params: Any, service: ToolService) -> dict[str, Any]:
        if not isinstance(params, dict) or not isinstance(params.get("name"), str):
            problem = 'Invalid params: tools/call needs an object with "name", the name of a tool'
            return jsonrpc.error(request_id, jsonrpc.INVALID_PARAMS, problem)
        name, arguments = params["name"], params.get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            return jsonrpc.error(request_id, jsonrpc.INVALID_PARAMS, 'Invalid params: "arguments" must be an object')
        if service.find(name) is None:
            unknown = f"Unknown tool: {shorten(name, MOST_NAME)}"
            return jsonrpc.error(request_id, jsonrpc.INVALID_PARAMS, unknown, {"errorCode": "UNKNOWN_TOOL"})
        try:
            outcome = await service.call(name, arguments or {})
        except AppError as problem:
            return failure(request_id, problem)
        structured = {"structuredContent": outcome.structured} if outcome.structured is not None else {}
        return jsonrpc.result(request_id, {"content": content(outcome), **structured, "isError": False})


def failure(request_id: Any, problem: AppError) -> dict[str, Any]:
    """Return the answer to a call that failed."""
    if problem.code == jsonrpc.INVALID_PARAMS:
        return jsonrpc.error(request_id, problem.code, problem.message, problem.payload())
    return jsonrpc.result(request_id, {"content": [text_block(problem.to_text())], "isError": True})


def fault_of(value: Any) -> str:
    """Return, in the original's words, why a value is no request, notification or response; nothing if it is one."""
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
