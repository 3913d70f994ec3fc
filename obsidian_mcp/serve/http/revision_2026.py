"""What HTTP adds to a message of 2026: headers that repeat what it says, and a status that repeats
its answer."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from starlette.types import Scope

from obsidian_mcp.serve import dispatch, jsonrpc

from .request import HttpRequest

HEADER_MISMATCH: Final = -32020
_NAMING: Final = ("mcp-protocol-version", "mcp-method", "mcp-name")
"""Headers that repeat what a message says."""
_STATUS: Final = {
    jsonrpc.PARSE_ERROR: HTTPStatus.BAD_REQUEST,
    jsonrpc.INVALID_REQUEST: HTTPStatus.BAD_REQUEST,
    jsonrpc.INVALID_PARAMS: HTTPStatus.BAD_REQUEST,
    HEADER_MISMATCH: HTTPStatus.BAD_REQUEST,
    dispatch.UNSUPPORTED_VERSION: HTTPStatus.BAD_REQUEST,
    jsonrpc.METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND,
}
_ERROR_CODE: Final = re.compile(
    rb'\{"jsonrpc":"2\.0","id":(?:"(?:[^"\\]|\\.)*"|[-0-9]+|null),"error":\{"code":(-?[0-9]+)'
)


def header_fault(request: HttpRequest, scope: Scope, message: jsonrpc.Message) -> str | None:
    """Return how the headers of a request contradict its message; None where they do not."""
    names = [name.decode("latin-1") for name, _ in scope["headers"]]
    if twice := next((name for name in _NAMING if names.count(name) > 1), None):
        return f"{twice} header appears more than once"
    version, params = (
        dispatch.envelope(message).get(dispatch.VERSION_KEY),
        message.get("params") or {},
    )
    if not isinstance(version, str):
        return None
    if request.headers.get("mcp-protocol-version") != version:
        return "mcp-protocol-version header does not match the request envelope's protocol version"
    if request.headers.get("mcp-method") != message["method"]:
        return "mcp-method header does not match the request body's method"
    named = params.get("name") if message["method"] == "tools/call" else None
    if named is not None and request.headers.get("mcp-name") != named:
        return "mcp-name header does not match the request body's 'name' parameter"
    return None


def status_of(line: bytes) -> int:
    """Return the status with which a line of JSON-RPC is answered: that of its error, 200 for a
    result."""
    error = _ERROR_CODE.match(line)
    return HTTPStatus.OK if error is None else _STATUS.get(int(error[1]), HTTPStatus.OK)
