"""Results of tool calls in MCP's form, the same on every transport."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import AppError, InternalError

if TYPE_CHECKING:
    from obsidian_mcp.config import ErrorStyle
    from obsidian_mcp.tools.outcome import Outcome

Result = Mapping[str, Any]
"""A CallToolResult as JSON, its members in the SDK's order."""


def success(outcome: Outcome) -> Result:
    """Return the result of a call that succeeded."""
    return _result(content(outcome), outcome.structured, is_error=False)


def content(outcome: Outcome) -> list[dict[str, str]]:
    """Return the content blocks of a result; text is unchanged, with its lone surrogates."""
    blocks = [text_block(text) for text in outcome.contents()]
    if (picture := outcome.picture) is not None:
        from base64 import b64encode

        blocks.append(
            {"data": b64encode(picture.image).decode(), "mimeType": picture.mime, "type": "image"}
        )
    return blocks


def text_block(text: str) -> dict[str, str]:
    return {"text": text, "type": "text"}


def failure(error: AppError, style: ErrorStyle) -> Result | None:
    """Return an error of a tool as a result, for hosts that hide JSON-RPC errors from the model;
    None where it goes out as an error: in that style, and for faults of the request itself."""
    if style == "error" or not error.application:
        return None
    data = {
        "success": False,
        "error": {"code": error.code, "message": error.message, "data": error.payload()},
    }
    return _result([text_block(error.to_text())], data, is_error=True)


def _result(
    content: list[dict[str, str]], structured: Mapping[str, Any] | None, *, is_error: bool
) -> Result:
    result: dict[str, Any] = {"content": content, "isError": is_error}
    return result if structured is None else {**result, "structuredContent": structured}


def internal(method: str) -> InternalError:
    """Return the error for an unexpected failure, whose details are only in the log (GUARD-04)."""
    return InternalError(
        f"Internal error: the server failed while serving {method}. Its log (stderr) has the "
        "details."
    )
