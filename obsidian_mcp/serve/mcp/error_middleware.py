"""The outermost middleware of the SDK server: gives every failure a code of the contract (specs/stdio.md, GUARD-…)."""

from __future__ import annotations

import logging
from typing import Any

import anyio
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from obsidian_mcp.errors import AppError
from obsidian_mcp.serve import params
from obsidian_mcp.serve.results import internal

logger = logging.getLogger(__name__)


async def handle_errors(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Serve one message and turn every failure into an MCPError: an AppError with its code and data, -32600 before
    `initialize`, -32602 with `data.fields` for params of the wrong shape, and -32603 for all else, `sys.exit()` too,
    which is logged."""
    try:
        return await call_next(ctx)
    except MCPError as exc:
        # The SDK's gate says "Invalid request parameters" and nothing else.
        if exc.code == INVALID_PARAMS and exc.data == "" and _before_initialize(ctx):
            raise _not_initialized(ctx.method) from exc
        raise
    except AppError as exc:
        raise MCPError(exc.code, exc.message, exc.payload()) from exc
    except ValidationError as exc:
        # The SDK's models of what clients send are FooRequest and FooRequestParams; any other is a fault of ours.
        if not exc.title.endswith(("Request", "RequestParams")):
            logger.exception("%s failed", ctx.method)
            raise _internal_error(ctx.method) from exc
        # Over HTTP a connection may do without a handshake (stateless mode); a pipe may not.
        if ctx.request is None and _before_initialize(ctx):
            raise _not_initialized(ctx.method) from exc
        raise _invalid_params(ctx.method, exc) from exc
    except (anyio.get_cancelled_exc_class(), GeneratorExit):
        raise
    except BaseException as exc:  # SystemExit would end the event loop
        logger.exception("%s failed", ctx.method)
        raise _internal_error(ctx.method) from exc


def _internal_error(method: str) -> MCPError:
    error = internal(method)
    return MCPError(error.code, error.message, error.payload())


def _before_initialize(ctx: ServerRequestContext[Any, Any]) -> bool:
    return (
        ctx.method != "initialize"
        and ctx.session.client_params is None
        and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS
    )


def _not_initialized(method: str) -> MCPError:
    return MCPError(
        INVALID_REQUEST,
        f"Invalid Request: Server not initialized. Send initialize and notifications/initialized before {method}.",
        {"errorCode": "NOT_INITIALIZED"},
    )


def _invalid_params(method: str, error: ValidationError) -> MCPError:
    found = []
    for problem in error.errors(include_url=False):
        loc = problem["loc"]
        field = ".".join(str(part) for part in (loc[1:] if loc[:1] == ("params",) else loc)) or "params"
        if problem["type"] == "missing":
            found.append(params.missing(field))
        else:
            expected = problem["msg"].removeprefix("Input should be ")
            found.append(params.Fault(field, expected, params.describe(problem["input"])))
    text, data = params.invalid(method, found)
    return MCPError(INVALID_PARAMS, text, data)
