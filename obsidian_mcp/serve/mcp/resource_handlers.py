"""Resources on the wire (specs/resources.md)."""

from __future__ import annotations

import base64
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from obsidian_mcp.app import App

from . import pagination, resources
from .request_thread import in_thread

Context = ServerRequestContext[Any, Any]


class Resources:
    """The request handlers of `resources/…` but for subscriptions."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def list(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        cursor = params.cursor if params is not None else None
        page = await in_thread(self._app.config.timeout, partial(resources.listed, self._app, cursor), context)
        return types.ListResourcesResult(resources=list(map(_entry, page.resources)), next_cursor=page.next_cursor)

    async def templates(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        only_page(params)
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name="file",
                    title="Note or attachment",
                    uri_template=resources.TEMPLATE,
                    description="Any file of a vault by its path, such as Projects/Alpha.md or img/plan.png",
                )
            ]
        )

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        content = await in_thread(self._app.config.timeout, partial(resources.read, self._app, params.uri), context)
        if content.blob is None:
            text = types.TextResourceContents(uri=content.uri, mime_type=content.mime, text=content.text or "")
            return types.ReadResourceResult(contents=[text])
        blob = base64.b64encode(content.blob).decode()
        return types.ReadResourceResult(
            contents=[types.BlobResourceContents(uri=content.uri, mime_type=content.mime, blob=blob)]
        )


def only_page(params: types.PaginatedRequestParams | None) -> None:
    """For lists that fit in one page. Raises: InvalidArguments for any cursor."""
    if params is not None and params.cursor is not None:
        raise pagination.bad_cursor(params.cursor)


def _entry(resource: resources.Resource) -> types.Resource:
    return types.Resource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.mime,
        size=resource.size,
        annotations=types.Annotations(last_modified=resource.modified) if resource.modified else None,
    )
