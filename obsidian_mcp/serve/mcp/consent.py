"""Asks the user through the client before a change that the policy wants confirmed (specs/policy.md POL-04)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import NoBackChannelError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from obsidian_mcp.errors import ConfirmationRequired, PermissionDenied
from obsidian_mcp.serve.call_order import CallOrder
from obsidian_mcp.serve.results import Result
from obsidian_mcp.tools.entries import CONFIRM

from .context import Context, peer_of

QUESTION = "confirm"
"""Names the question in a result that asks for input (2026-07-28)."""

SCHEMA: types.ElicitRequestedSchema = {
    "type": "object",
    "properties": {CONFIRM: {"type": "boolean", "title": "Do it", "default": True}},
    "required": [CONFIRM],
}


async def call_with_consent(
    context: Context, params: types.CallToolRequestParams, run: Callable[[Mapping[str, Any]], Awaitable[Result]]
) -> Result | types.InputRequiredResult:
    """Run a tool call, after a yes where a person must agree first: clients of 2026-07-28 get the question as the
    result and call again, older ones a request. Raises: ConfirmationRequired where the client cannot ask,
    PermissionDenied after a no."""
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
            return types.InputRequiredResult(input_requests={QUESTION: types.ElicitRequest(params=form)})
        if context.request is not None and (order := context.request.scope.get(CallOrder.SCOPE_KEY)) is not None:
            order.release()  # other calls of the session do not wait for the person
        try:
            answered = await context.session.elicit_form(question, SCHEMA, related_request_id=context.request_id)
        except NoBackChannelError:
            raise error from None
    return await run(_confirm(arguments, answered))


def _confirm(arguments: Mapping[str, Any], answered: types.ElicitResult) -> Mapping[str, Any]:
    """Return the arguments of a call that a person has agreed to. Raises: PermissionDenied."""
    if answered.action != "accept" or (answered.content or {}).get(CONFIRM) is not True:
        raise PermissionDenied("The user was asked and did not agree. Nothing was changed; do not try again.")
    return {**arguments, CONFIRM: True}
