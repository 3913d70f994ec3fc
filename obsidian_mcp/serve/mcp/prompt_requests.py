"""The requests for prompts, and for what completes an argument (specs/prompts.md)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import mcp_types as types

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.dispatch import require_first_page

from . import completion, resources
from .completion import Completes
from .context import RequestContext, run_in_client_thread
from .prompts import PROMPTS, find_prompt

TEMPLATE_ARGUMENTS: Mapping[str, Completes] = {"vault": "vault", "path": "file"}
"""What completes each part of the URI of a file."""


class Prompts:
    """The request handlers of `prompts/…` and `completion/complete`."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def list(
        self, _: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        require_first_page(params.cursor if params is not None else None)
        return types.ListPromptsResult(prompts=[prompt.entry for prompt in PROMPTS.values()])

    async def get(
        self, context: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = find_prompt(params.name)
        work = partial(prompt.text, self._app, params.arguments or {})
        text = await run_in_client_thread(context, self._app.config.timeout, work)
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.entry.description, messages=[message])

    async def complete(
        self, context: RequestContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        other_arguments = (params.context.arguments if params.context is not None else None) or {}
        kind = _kind(params.ref, params.argument.name)
        vault = other_arguments.get("vault", "")
        work = partial(completion.complete, self._app, kind, params.argument.value, vault)
        values, total = await run_in_client_thread(context, self._app.config.timeout, work)
        completed = types.Completion(values=values, total=total, has_more=total > len(values))
        return types.CompleteResult(completion=completed)


def _kind(ref: types.PromptReference | types.ResourceTemplateReference, name: str) -> Completes:
    """Return what completes an argument. Raises: InvalidArguments for a reference that is not
    offered."""
    if isinstance(ref, types.PromptReference):
        completes = find_prompt(ref.name).completes
    elif ref.uri == resources.TEMPLATE:
        completes = TEMPLATE_ARGUMENTS
    else:
        raise InvalidArguments(
            f"Unknown resource template: {ref.uri!r}. There is {resources.TEMPLATE}.", uri=ref.uri
        )
    if name not in completes:
        raise InvalidArguments(
            f"There is no argument {name!r} to complete; there are {', '.join(completes)}.",
            argument=name,
        )
    return completes[name]
