"""Prompts and completion on the wire (specs/prompts.md)."""

from __future__ import annotations

from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments

from . import completion, prompts, resources
from .prompt_catalog import PROMPTS
from .request_thread import in_thread
from .resource_handlers import only_page

Context = ServerRequestContext[Any, Any]

TEMPLATE_ARGUMENTS: dict[str, completion.Completes] = {"vault": "vault", "path": "file"}


class Prompts:
    """The request handlers of `prompts/…` and `completion/complete`."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def list(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        only_page(params)
        return types.ListPromptsResult(prompts=list(map(_entry, PROMPTS.values())))

    async def get(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = prompts.find(params.name)
        work = partial(prompt.text, self._app, params.arguments or {})
        text = await in_thread(self._app.config.timeout, work, context)
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        given = (params.context.arguments if params.context is not None else None) or {}
        kind = _kind(params.ref, params.argument.name)
        work = partial(completion.complete, self._app, kind, params.argument.value, given.get("vault", ""))
        found = await in_thread(self._app.config.timeout, work, context)
        return types.CompleteResult(
            completion=types.Completion(
                values=found.values, total=found.total, has_more=found.total > len(found.values)
            )
        )


def _kind(ref: types.PromptReference | types.ResourceTemplateReference, argument: str) -> completion.Completes:
    """What an argument is completed by. Raises: InvalidArguments for a reference that is not offered."""
    if isinstance(ref, types.PromptReference):
        known = {each.name: each.completes for each in prompts.find(ref.name).arguments}
    elif ref.uri == resources.TEMPLATE:
        known = TEMPLATE_ARGUMENTS
    else:
        raise InvalidArguments(f"Unknown resource template: {ref.uri!r}. There is {resources.TEMPLATE}.", uri=ref.uri)
    if argument not in known:
        raise InvalidArguments(
            f"There is no argument {argument!r} to complete; there are {', '.join(known)}.", argument=argument
        )
    return known[argument]


def _entry(prompt: prompts.Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            types.PromptArgument(name=each.name, description=each.description, required=each.required)
            for each in prompt.arguments
        ],
    )
