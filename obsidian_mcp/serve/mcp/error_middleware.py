"""The outermost middleware of the SDK server: gives every failure a code of the contract (specs/stdio.md, GUARD-…)."""

from __future__ import annotations

import logging
from typing import Any

import anyio
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import INVALID_PARAMS
from pydantic import ValidationError

from obsidian_mcp.errors import AppError
from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.results import internal

logger = logging.getLogger(__name__)


async def handle_errors(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Serve one message and turn every failure into an MCPError: an AppError with its code and data, -32602 with
    `data.fields` for params of the wrong shape, and -32603 for all else, `sys.exit()` too, which is logged. What comes
    before `initialize` is not for the SDK (`dispatch`)."""
    try:
        return await call_next(ctx)
    except (MCPError, anyio.get_cancelled_exc_class(), GeneratorExit):
        raise
    except AppError as exc:
        raise _as_mcp(exc) from exc
    except ValidationError as exc:
        # The SDK's models of what clients send are FooRequest and FooRequestParams; any other is a fault of ours.
        if not exc.title.endswith(("Request", "RequestParams")):
            logger.exception("%s failed", ctx.method)
            raise _as_mcp(internal(ctx.method)) from exc
        raise _invalid_params(ctx.method, exc) from exc
    except BaseException as exc:  # SystemExit would end the event loop
        logger.exception("%s failed", ctx.method)
        raise _as_mcp(internal(ctx.method)) from exc


def _as_mcp(error: AppError) -> MCPError:
    return MCPError(error.code, error.message, error.payload())


def _invalid_params(method: str, error: ValidationError) -> MCPError:
    found = []
    for problem in error.errors(include_url=False):
        loc = problem["loc"]
        field = ".".join(str(part) for part in (loc[1:] if loc[:1] == ("params",) else loc)) or "params"
        if problem["type"] == "missing":
            found.append(jsonrpc.missing(field))
        else:
            expected = problem["msg"].removeprefix("Input should be ")
            found.append(jsonrpc.fault(field, expected, problem["input"]))
    text, data = jsonrpc.invalid_params(method, found)
    return MCPError(INVALID_PARAMS, text, data)
