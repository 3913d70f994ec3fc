"""The OpenAPI document of the dialects that are not MCP, at `/openapi.json` (specs/http.md HTTP-08).

It is made from the operations of the dialects and the types of their requests and answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from typing import Any, Literal

from pydantic import TypeAdapter

from obsidian_mcp import __version__
from obsidian_mcp.serve.http.tool_service import ToolService

from .dialect import Dialect, Operation, Reply, Request, json_reply

DESCRIPTION = (
    "The dialects of the HTTP server beside MCP. At /mcp, a body with a member `jsonrpc` is JSON-RPC (MCP), any other "
    "one the envelope described here."
)
REFUSED = (401, 403, 413, 429, 500)
"""The statuses with which any request may be refused."""
KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "x_api_key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "x_obsiscripta_api_key": {"type": "apiKey", "in": "header", "name": "X-ObsiScripta-Api-Key"},
}


class OpenApi(Dialect):
    open_paths = (("openapi.json",),)

    def __init__(self, described: Iterable[Dialect]) -> None:
        """`described`: the dialects whose operations it shows."""
        super().__init__()
        self._described = tuple(described)

    async def answer(self, request: Request, service: ToolService) -> Reply:  # noqa: ARG002  always the same
        return json_reply(document(self._described))


@cache
def document(dialects: tuple[Dialect, ...]) -> dict[str, Any]:
    """Return the document; it says nothing about the vault or its tools."""
    operations = [(operation, dialect.error) for dialect in dialects for operation in dialect.operations]
    shapes = {shape for operation, error in operations for shape in (operation.answer, operation.body, error) if shape}
    inputs: list[tuple[Any, Literal["validation"], TypeAdapter[Any]]] = [
        (shape, "validation", TypeAdapter(shape)) for shape in sorted(shapes, key=str)
    ]
    schemas, definitions = TypeAdapter.json_schemas(inputs, ref_template="#/components/schemas/{model}")

    def content(shape: Any) -> dict[str, Any]:
        return {"application/json": {"schema": schemas[shape, "validation"]}}

    def described(operation: Operation, error: Any) -> dict[str, Any]:
        failures = (*REFUSED, *operation.failures) if error else ()
        answers = {200: operation.answer, **dict.fromkeys(failures, error)}
        parameters = [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}]
        return {
            "summary": operation.summary,
            **({"parameters": parameters} if "{name}" in operation.paths[0] else {}),
            **({"requestBody": {"required": True, "content": content(operation.body)}} if operation.body else {}),
            "responses": {
                str(status): {"description": HTTPStatus(status).phrase, "content": content(shape)}
                for status, shape in sorted(answers.items())
            },
        }

    return {
        "openapi": "3.1.0",
        "info": {"title": "obsidian-mcp", "version": __version__, "description": DESCRIPTION},
        "security": [{}, *({name: []} for name in KEYS)],
        "paths": {
            path: {operation.method: described(operation, error)}
            for operation, error in operations
            for path in operation.paths
        },
        "components": {"schemas": definitions["$defs"], "securitySchemes": KEYS},
    }
