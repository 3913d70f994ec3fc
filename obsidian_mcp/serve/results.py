"""What a tool call sends back, in the words of the protocol; the same on every way to the client."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from obsidian_mcp.errors import AppError, InternalError
from obsidian_mcp.tools import Outcome

Result = Mapping[str, Any]
"""A CallToolResult as JSON, its members in the order in which the SDK writes them."""


def success(outcome: Outcome) -> Result:
    content = [{"text": text, "type": "text"} for text in outcome.contents()]
    if outcome.picture is not None:
        image = b64encode(outcome.picture.image).decode()
        content.append({"data": image, "mimeType": outcome.picture.mime, "type": "image"})
    return _result(content, outcome.structured, is_error=False)


def failure(error: AppError) -> Result:
    """An application error as a result, for hosts that hide JSON-RPC errors from the model."""
    data = {"success": False, "error": {"code": error.code, "message": error.message, "data": error.payload()}}
    return _result([{"text": error.told(), "type": "text"}], data, is_error=True)


def _result(content: list[dict[str, str]], structured: Mapping[str, Any] | None, *, is_error: bool) -> Result:
    beside = {} if structured is None else {"structuredContent": structured}
    return {"content": content, "isError": is_error, **beside}


def internal(method: str) -> InternalError:
    """The error for what nobody expected; its details are in the log alone (specs/stdio.md GUARD-04)."""
    return InternalError(f"Internal error: the server failed while serving {method}. Its log (stderr) has the details.")
