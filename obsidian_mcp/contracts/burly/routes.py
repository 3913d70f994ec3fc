"""BurlyMCP's envelope at `/mcp` and `/v1/mcp`, and its `/health` (contract 001; specs/http.md
BURLY-…).

The answer to a POST is always 200: the envelope says what went wrong. It says so twice, in the
canonical members of the contract and in the older ones at its top, because clients of both kinds
exist. Words such as "MCP engine" are the original's, and the contract pins them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from starlette.responses import Response

from obsidian_mcp import TYPE_CHECKING, __version__
from obsidian_mcp.errors import (
    AppError,
    InternalError,
    ObsidianNotRunning,
    OperationTimeout,
    ToolFailed,
    UnknownTool,
)
from obsidian_mcp.serve.http.dialect import JSON, Contract, json_reply, tool_entry
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.tool_service import ToolService
from obsidian_mcp.tools.offer import CONFIRM

from . import METHODS

if TYPE_CHECKING:
    from .envelope_request import EnvelopeRequest

FAILED, TIMED_OUT, LIMITED = 1, 124, 429
"""Exit codes of the envelope: any failure, one by time (as `timeout` of the shell), too many
requests."""
MAX_TEXT: Final = 10_000
"""Characters of `stdout` and `stderr`; `data.content` has the whole text of a note."""
TRUNCATED: Final = "\n[truncated: output too long]"
SMALL_BODY: Final = 10_240
"""The contract's own limit in bytes; a server that takes more also takes longer strings."""
MAX_STRING: Final = 10_000
"""Characters of one text in the arguments."""
MAX_DEPTH: Final = 5
"""Lists and objects inside one another."""
MAX_ITEMS: Final = 100
"""Entries of one list or object, and of the problems that an answer lists."""
MAX_KEY: Final = 100
"""Characters of a member's name."""
CONFIRMED: Final = (True, 1, "true", "1", "yes", "y")
"""Values of `_confirm` that mean yes; of texts in any case."""
SIMPLER: Final = {"suggestion": "Check request format and reduce complexity"}
_JSON_TYPE: Final = re.compile(r"application/(?:[^/\s]+\+)?json")
_SHOWN: Final = 200
"""Characters of a value that an error repeats."""


Envelope = dict[str, Any]
"""The canonical members, and the older ones beside them (openapi.json)."""
META: Final = {"api_version": "v1", "container_version": __version__, "git_sha": "unknown"}


class TooComplex(Exception):
    """Arguments beyond the contract's limits."""


class Burly(Contract):
    """`segments` are `("mcp",)` or `("health",)`."""

    pages = MappingProxyType(
        {
            f"{path}{end}": segment
            for path, segment in (
                ("/v1/mcp", "mcp"),
                ("/health", "health"),
                ("/v1/health", "health"),
            )
            for end in ("", "/")
        }
    )
    paths = MappingProxyType({"health": ("GET",), "mcp": ("POST",)})
    shares_mcp = True
    description = Path(__file__).with_name("openapi.json")

    def __init__(self, max_body: int) -> None:
        super().__init__(max_body)
        self._max_string = MAX_STRING if max_body <= SMALL_BODY else max_body
        self._started = time.monotonic()

    def claims(self, body: Any) -> bool:
        return isinstance(body, dict) and body.get("method") in METHODS

    # what is refused is answered the same, whatever the request is
    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002
        status, exit_code, code, details = 200, FAILED, None, None
        summary, message = "Request processing failed", refusal.message
        match refusal.reason:
            case Reason.METHOD | Reason.NOT_FOUND:
                return json_reply(refusal.body, refusal.reason.status, refusal.headers)
            case Reason.UNAUTHORIZED:
                summary, message, code = (
                    "Authentication required",
                    "Missing or invalid API key",
                    "AUTH_REQUIRED",
                )
            case Reason.FORBIDDEN:
                status, code = refusal.reason.status, "FORBIDDEN"
            case Reason.TOO_LARGE:
                summary, message = (
                    "Request too large",
                    f"Request body exceeds maximum size of {refusal.limit} bytes",
                )
                details = {
                    "max_size_bytes": refusal.limit,
                    "suggestion": "Reduce request payload size",
                }
            case Reason.FAILED:
                summary, code = "MCP engine process failed", "INTERNAL_ERROR"
            case Reason.TOO_MANY:
                summary, message = (
                    "Rate limit exceeded",
                    f"Too many requests: {refusal.limit} per 1 minute",
                )
                exit_code, code = LIMITED, "RATE_LIMITED"
        return json_reply(
            failure_envelope(summary, message, exit_code=exit_code, code=code, details=details),
            status,
            refusal.headers,
        )

    async def handle_request(self, request: HttpRequest, service: ToolService) -> Response:
        if request.segments == ("health",):
            return json_reply(await self._health(service))
        started = time.perf_counter()
        envelope = await self._envelope(request, service)
        envelope["metrics"]["elapsed_ms"] = round((time.perf_counter() - started) * 1000)
        return json_reply(envelope)

    async def _health(self, service: ToolService) -> dict[str, Any]:
        ready = await service.is_ready()
        return {
            "status": "ok" if ready else "degraded",
            "server_name": "burlymcp",
            "version": __version__,
            "tools_available": len(await service.list_tools()),
            "notifications_enabled": False,
            "docker_available": False,
            "strict_security_mode": True,
            "policy_loaded": ready,
            "uptime_seconds": int(time.monotonic() - self._started),
        }

    async def _envelope(self, request: HttpRequest, service: ToolService) -> Envelope:
        try:
            parsed = self._request(request)
        except TooComplex as error:
            return failure_envelope(
                "Invalid request format", f"Request validation failed: {error}", details=SIMPLER
            )
        except ValueError as error:
            return not_json(str(error), request)
        if isinstance(parsed, list):
            return not_valid(parsed)
        if parsed.method == "list_tools":
            tools = list(map(tool_entry, await service.list_tools()))
            return success_envelope(f"Available tools: {len(tools)} tools found", {"tools": tools})
        if parsed.name is None:
            return failure_envelope("Missing tool name", "Tool name is required for call_tool")
        return await self._call(parsed.name, dict(parsed.args or {}), service)

    def _request(self, request: HttpRequest) -> EnvelopeRequest | list[Mapping[str, Any]]:
        """Return a request, or pydantic's problems with its shape. Raises: TooComplex, ValueError
        where the body is no JSON."""
        if not _JSON_TYPE.fullmatch(
            request.headers.get("content-type", "").partition(";")[0].strip().lower()
        ):
            raise ValueError(f"Content-Type must be {JSON}")
        value = request.json
        if isinstance(value, dict):
            self._check(value)
        from .envelope_request import read_request  # takes pydantic, which nothing else here needs

        return read_request(value)

    def _check(self, value: Any, depth: int = -1) -> None:
        """Raises: TooComplex. The request itself is not counted as a level."""
        if depth > MAX_DEPTH:
            raise TooComplex(f"Arguments too deeply nested (max depth: {MAX_DEPTH})")
        if isinstance(value, str) and len(value) > self._max_string:
            raise TooComplex(f"String values too long (max: {self._max_string} characters)")
        if isinstance(value, dict):
            if len(value) > MAX_ITEMS:
                raise TooComplex(f"Too many dictionary items (max: {MAX_ITEMS})")
            if any(len(key) > MAX_KEY for key in value):
                raise TooComplex(f"Dictionary keys must be strings with max {MAX_KEY} characters")
        elif isinstance(value, list) and len(value) > MAX_ITEMS:
            raise TooComplex(f"Too many list items (max: {MAX_ITEMS})")
        for item in (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        ):
            self._check(item, depth + 1)

    async def _call(self, name: str, arguments: dict[str, Any], service: ToolService) -> Envelope:
        tool = service.find(name)
        if tool is None:
            return await unknown_tool_envelope(name, service)
        confirmation = arguments.pop("_confirm", None)
        confirmed = confirmation.lower() if isinstance(confirmation, str) else confirmation
        if tool.would_write(arguments):
            if confirmed not in CONFIRMED:
                return not_confirmed(name)
            if not tool.is_registered:  # the user's own policy may ask for it as well
                arguments[CONFIRM] = True
        try:
            outcome = await service.call(name, arguments)
        except UnknownTool:  # unregistered in this moment
            return await unknown_tool_envelope(name, service)
        except AppError as error:
            return tool_failed(name, error)
        return success_envelope(
            outcome.summary or f"{tool.title} completed",
            outcome.to_full_data(),
            outcome.text,
            outcome.stderr,
        )


def success_envelope(
    summary: str, data: Mapping[str, Any], stdout: str | None = None, stderr: str = ""
) -> Envelope:
    """Return the envelope of a call that was made, with its data and texts twice, as the contract
    has them."""
    output = {
        stream: text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + TRUNCATED
        for stream, text in (("stdout", stdout), ("stderr", stderr))
        if text
    }
    envelope: Envelope = {
        "ok": True,
        "result": {"summary": summary, "data": data, **output},
        "metrics": {"elapsed_ms": 0, "exit_code": 0},
        "meta": META,
        "summary": summary,
        "data": data,
    }
    return envelope | output


def failure_envelope(
    summary: str,
    message: str,
    *,
    exit_code: int = FAILED,
    code: str | None = None,
    details: Any = None,
) -> Envelope:
    detail = {"summary": summary, "message": message, "code": code, "details": details}
    envelope: Envelope = {
        "ok": False,
        "metrics": {"elapsed_ms": 0, "exit_code": exit_code},
        "meta": META,
        "error_detail": {key: value for key, value in detail.items() if value is not None},
        "error": message,
        "summary": summary,
    }
    if details is not None:
        envelope["data"] = details
    return envelope


def not_confirmed(name: str) -> Envelope:
    """Return the envelope that asks for `_confirm`, which every change needs in this contract."""
    summary, message = (
        f"{name} requires confirmation",
        "Confirmation required for mutating operation",
    )
    details = {
        "required_arg": "_confirm",
        "required_value": True,
        "suggestion": f"Add '_confirm': true to {name} arguments",
        "tool": name,
    }
    envelope = failure_envelope(summary, message, details=details)
    need = {
        "required": True,
        "message": message,
        "code": "CONFIRMATION_REQUIRED",
        "details": details,
    }
    envelope["result"] = {"summary": summary, "need_confirm": need}
    envelope["error_detail"] = {"summary": summary, "message": message}
    envelope["need_confirm"] = True
    return envelope


async def unknown_tool_envelope(name: str, service: ToolService) -> Envelope:
    """Return the error for a tool that does not exist, with the names that `list_tools` has."""
    details = {"available_tools": [tool.name for tool in await service.list_tools()]}
    return failure_envelope(
        f"Unknown tool: {name}", f"Tool '{name}' not found", code="UNKNOWN_TOOL", details=details
    )


def tool_failed(name: str, error: AppError) -> Envelope:
    """Return the envelope of a tool's error, in the original's words where it has some."""
    code, exit_code, message = error.error_code, FAILED, error.message
    match error:
        case OperationTimeout():
            summary, exit_code = "MCP engine timeout", TIMED_OUT
            message = "MCP engine did not respond within timeout period"
            if seconds := error.data.get("seconds"):
                message += f" ({seconds:g}s)"
        case ObsidianNotRunning():
            summary = f"{name} unavailable"
        case InternalError():
            summary = "MCP engine process failed"
        case ToolFailed():
            summary = error.summary or f"{name} failed"
        case _:
            summary = f"{name} failed"
    return failure_envelope(
        summary, message, exit_code=exit_code, code=code, details=error.data or None
    )


def not_valid(problems: Sequence[Mapping[str, Any]]) -> Envelope:
    """Return the envelope for a request of the wrong shape, in the original's words; `problems` are
    pydantic's."""
    envelope = malformed_envelope(
        [
            {
                "type": problem["type"],
                "location": ["body", *problem["loc"]],
                "message": problem["msg"],
                "input": str(problem["input"])[:_SHOWN],
            }
            for problem in problems[:MAX_ITEMS]
        ]
    )
    wrong_method = next(
        (problem["msg"] for problem in problems if problem["loc"] == ("method",)), ""
    )
    # wire row 15: the document's text outside, the original's inside
    if "must be one of" in wrong_method:
        message = f"HTTP bridge error: {wrong_method.removeprefix('Value error, ')}"
        envelope["summary"], envelope["error"] = "Request processing failed", message
        envelope["error_detail"]["message"] = message
    return envelope


def not_json(problem: str, request: HttpRequest) -> Envelope:
    found = {
        "type": "json_invalid",
        "location": ["body"],
        "message": f"JSON decode error: {problem}",
        "input": "{}",
    }
    if not request.body:
        found |= {"type": "missing", "message": "Field required", "input": "None"}
    return malformed_envelope([found])


def malformed_envelope(problems: list[dict[str, Any]]) -> Envelope:
    details = {
        "validation_errors": problems,
        "suggestion": "Check request format and parameter types",
    }
    return failure_envelope(
        "Request validation failed", "Invalid request format or parameters", details=details
    )
