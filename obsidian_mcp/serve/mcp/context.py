"""What the SDK knows of a request, in the terms of the rest of the program; and the outermost
middleware of its server, which gives every failure a code of the contract (specs/stdio.md,
GUARD-…)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio import from_thread
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import INVALID_PARAMS
from pydantic import ValidationError

from obsidian_mcp import logger
from obsidian_mcp.core.text.call import Client, ProgressReport
from obsidian_mcp.errors import AppError
from obsidian_mcp.serve import jsonrpc
from obsidian_mcp.serve.call_thread import run_in_thread
from obsidian_mcp.serve.dispatch import SESSION_KEY, Peer
from obsidian_mcp.serve.results import internal

T = TypeVar("T")
RequestContext = ServerRequestContext[Any, Any]


async def run_in_client_thread(
    context: RequestContext, seconds: float, work: Callable[[], T], *, kind: int | None = None
) -> T:
    """Run `work`, a call of this `kind`, in a thread for the client of a request, which the journal
    names (SAFE-20).

    Raises: what it raises; OperationTimeout.
    """
    client = Client(peer_of(context).name, session_of(context))
    return await run_in_thread(seconds, work, client, _progress_report(context), kind=kind)


def session_of(context: RequestContext) -> str:
    """Return what names the client's connection: the SDK makes a session object for each
    request."""
    return context.request.scope.get(SESSION_KEY, "") if context.request is not None else ""


def peer_of(context: RequestContext) -> Peer:
    """Return who sent the request."""
    introduced = context.session.client_params
    capabilities = context.session.client_capabilities
    return Peer(
        context.protocol_version,
        introduced.client_info.name if introduced is not None else "",
        capabilities.model_dump(by_alias=True, exclude_none=True)
        if capabilities is not None
        else {},
    )


def _progress_report(context: RequestContext) -> ProgressReport | None:
    """Return what sends progress from the thread, which waits until it is sent: none comes after
    the answer."""
    if context.meta is None or context.meta.get("progress_token") is None:
        return None

    def report(count: int, total: int, activity: str) -> None:
        with suppress(RuntimeError):  # the event loop is gone
            from_thread.run(
                partial(context.session.report_progress, count, total or None, activity)
            )

    return report


async def handle_errors(ctx: RequestContext, call_next: CallNext) -> HandlerResult:
    """Serve one message and turn every failure into an MCPError: an AppError with its code and
    data, -32602 with `data.fields` for params of the wrong shape, and -32603 for all else,
    `sys.exit()` too, which is logged. What comes before `initialize` is not for the SDK
    (`dispatch`)."""
    try:
        return await call_next(ctx)
    except (MCPError, anyio.get_cancelled_exc_class(), GeneratorExit):
        raise
    except AppError as exc:
        raise _as_mcp(exc) from exc
    except ValidationError as exc:
        # The SDK's models of what clients send are FooRequest and FooRequestParams; any other is a
        # fault of ours.
        if not exc.title.endswith(("Request", "RequestParams")):
            logger(__name__).exception("%s failed", ctx.method)
            raise _as_mcp(internal(ctx.method)) from exc
        raise _invalid_params(ctx.method, exc) from exc
    except BaseException as exc:  # SystemExit would end the event loop
        logger(__name__).exception("%s failed", ctx.method)
        raise _as_mcp(internal(ctx.method)) from exc


def _as_mcp(error: AppError) -> MCPError:
    return MCPError(error.code, error.message, error.payload())


def _invalid_params(method: str, error: ValidationError) -> MCPError:
    """Return the error for params of the wrong shape, with each field and what it must be."""
    problems = []
    for problem in error.errors(include_url=False):
        location = problem["loc"]
        if location[:1] == ("params",):
            location = location[1:]
        field = ".".join(map(str, location)) or "params"
        if problem["type"] == "missing":
            problems.append(jsonrpc.missing_param_fault(field))
        else:
            expected = problem["msg"].removeprefix("Input should be ")
            problems.append(jsonrpc.fault(field, expected, problem["input"]))
    text, data = jsonrpc.invalid_params(method, problems)
    return MCPError(INVALID_PARAMS, text, data)
