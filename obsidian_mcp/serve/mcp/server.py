"""MCP over the official SDK: the registry's tools, its errors, and the contract's codes.

Here, too, is the question to a person before a change that the policy wants confirmed (POL-04). The
rules are in specs/errors.md and specs/policy.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import mcp_types as types
from anyio import to_thread
from mcp.server.apps import EXTENSION_ID
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import NoBackChannelError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from obsidian_mcp import __version__
from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, ConfirmationRequired, PermissionDenied
from obsidian_mcp.serve import results
from obsidian_mcp.serve.call_order import CallOrder
from obsidian_mcp.serve.call_queue import kind_of_call
from obsidian_mcp.serve.dispatch import CHANGING_MS, CONSTANT_MS, require_first_page
from obsidian_mcp.serve.stdio.sdk import SdkServer
from obsidian_mcp.serve.vault_dispatcher import VaultDispatcher
from obsidian_mcp.tools.offer import CONFIRM, Offer

from .context import RequestContext, handle_errors, peer_of, run_in_client_thread
from .prompt_requests import Prompts
from .resources import Resources
from .subscriptions import Subscriptions, ToolListSubscribers

QUESTION = "confirm"
"""Names the question in a result that asks for input (2026-07-28)."""

SCHEMA: types.ElicitRequestedSchema = {
    "type": "object",
    "properties": {CONFIRM: {"type": "boolean", "title": "Do it", "default": True}},
    "required": [CONFIRM],
}
"""The form that a person is shown: one box to tick."""


class VaultServer(Server[dict[str, Any]]):
    """The SDK's low-level server. The dispatcher tells clients what it can do."""

    subscriptions: Subscriptions


class _ToolRequests:
    """The request handlers of `tools/…`."""

    def __init__(self, app: App, dispatcher: VaultDispatcher) -> None:
        self._app = app
        self._dispatcher = dispatcher

    async def list(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        require_first_page(params.cursor if params is not None else None)
        tools = await to_thread.run_sync(self._dispatcher.tools, peer_of(context))
        return types.ListToolsResult.model_validate({"tools": tools}, by_name=False)

    async def call(
        self, context: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        config = self._app.config

        def work(arguments: Mapping[str, Any]) -> Awaitable[results.Result]:
            return run_in_client_thread(
                context,
                config.timeout,
                partial(self._dispatcher.call, params.name, arguments),
                kind=kind_of_call(params.name, arguments),
            )

        result: results.Result | types.InputRequiredResult | None
        try:
            result = await call_with_consent(context, params, work)
        except AppError as error:
            if (result := results.failure(error, config.error_style)) is None:
                raise  # handle_errors gives it its code
        if isinstance(result, types.InputRequiredResult):
            return result
        return types.CallToolResult.model_validate(result, by_name=False)


def build_server(app: App, offer: Offer | None = None) -> VaultServer:
    """Return the server with the tools of the vaults, or those of an `offer`.

    Call `subscriptions.close` of the result when serving ends.
    """
    subscriptions, resources, prompts = Subscriptions(app), Resources(app), Prompts(app)
    dispatcher = VaultDispatcher(app.config, lambda: app, offer)

    tools = _ToolRequests(app, dispatcher)
    server = VaultServer(
        "obsidian-mcp",
        version=__version__,
        title="Obsidian vault",
        instructions=dispatcher.instructions(),
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        on_list_resources=resources.list,
        on_list_resource_templates=resources.templates,
        on_read_resource=resources.read_resource,
        on_subscribe_resource=subscriptions.subscribe,
        on_unsubscribe_resource=subscriptions.unsubscribe,
        on_subscriptions_listen=subscriptions.listen,
        on_list_prompts=prompts.list,
        on_get_prompt=prompts.get,
        on_completion=prompts.complete,
        cache_hints={
            "prompts/list": CacheHint(ttl_ms=CONSTANT_MS),
            "resources/list": CacheHint(ttl_ms=CHANGING_MS),
            "resources/templates/list": CacheHint(ttl_ms=CONSTANT_MS),
        },
    )
    server.subscriptions = subscriptions
    if dispatcher.offer.has_views:
        server.extensions[EXTENSION_ID] = {}
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, subscriptions.join
    )
    # without the SDK's tracing, which costs a tenth of a call and has no reader
    server.middleware[:] = [handle_errors]
    return server


def build_sdk_server(app: App, offer: Offer | None = None) -> SdkServer:
    """Return the server with what a conversation on stdio needs of it."""
    server = build_server(app, offer)
    return SdkServer(server, server.subscriptions.close, server.subscriptions.notify_tools_changed)


def make_listen_server() -> SdkServer:
    """Return a server that only serves `subscriptions/listen`, for changes of the list of tools."""
    subscribers = ToolListSubscribers()
    server: Server[dict[str, Any]] = Server(
        "obsidian-mcp", on_subscriptions_listen=subscribers.listen
    )
    server.middleware[:] = [handle_errors]
    return SdkServer(server, subscribers.close, subscribers.notify_tools_changed)


async def call_with_consent(
    context: RequestContext,
    params: types.CallToolRequestParams,
    run: Callable[[Mapping[str, Any]], Awaitable[results.Result]],
) -> results.Result | types.InputRequiredResult:
    """Run a tool call, after a yes where a person must agree first.

    Clients of 2026-07-28 get the question as the result and call again, older ones a request.
    Raises: ConfirmationRequired where the client cannot ask, PermissionDenied after a no.
    """
    arguments = params.arguments or {}
    answered = (params.input_responses or {}).get(QUESTION)
    if isinstance(answered, types.ElicitResult):
        return await run(_confirm(arguments, answered))
    try:
        return await run(arguments)
    except ConfirmationRequired as error:
        if not peer_of(context).can_be_asked:
            raise
        question = f"Shall this be done: {error.data['action']}?"
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            form = types.ElicitRequestFormParams(message=question, requested_schema=SCHEMA)
            return types.InputRequiredResult(
                input_requests={QUESTION: types.ElicitRequest(params=form)}
            )
        if (
            context.request is not None
            and (order := context.request.scope.get(CallOrder.SCOPE_KEY)) is not None
        ):
            order.release()  # other calls of the session do not wait for the person
        try:
            answered = await context.session.elicit_form(
                question, SCHEMA, related_request_id=context.request_id
            )
        except NoBackChannelError:
            raise error from None
    return await run(_confirm(arguments, answered))


def _confirm(arguments: Mapping[str, Any], answered: types.ElicitResult) -> Mapping[str, Any]:
    """Return the arguments of a call that a person has agreed to. Raises: PermissionDenied."""
    if answered.action != "accept" or (answered.content or {}).get(CONFIRM) is not True:
        raise PermissionDenied(
            "The user was asked and did not agree. Nothing was changed; do not try again."
        )
    return {**arguments, CONFIRM: True}
