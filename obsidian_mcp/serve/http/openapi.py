"""The OpenAPI document of the dialects that are not MCP, at `/openapi.json`, of a file from each (HTTP-08)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from typing import Any

from obsidian_mcp import __version__
from obsidian_mcp.serve.http.tool_service import ToolService

from .dialect import Dialect, HttpRequest, Reply, json_reply

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

    async def answer(self, request: HttpRequest, service: ToolService) -> Reply:  # noqa: ARG002  always the same
        return json_reply(document(self._described))


@cache
def document(dialects: tuple[Dialect, ...]) -> dict[str, Any]:
    """Return the document; it says nothing about the vault or its tools."""
    parts = [json.loads(dialect.description.read_bytes()) for dialect in dialects if dialect.description is not None]
    return {
        "openapi": "3.1.0",
        "info": {"title": "obsidian-mcp", "version": __version__, "description": DESCRIPTION},
        "security": [{}, *({name: []} for name in KEYS)],
        "paths": {
            path: {operation["method"]: _describe(operation, part["error"])}
            for part in parts
            for operation in part["operations"]
            for path in operation["paths"]
        },
        "components": {
            "schemas": {name: schema for part in parts for name, schema in part["schemas"].items()},
            "securitySchemes": KEYS,
        },
    }


def _describe(operation: dict[str, Any], error: str) -> dict[str, Any]:
    """Return an operation as the document has it; `error` names the schema of failures, empty for none."""
    failures = (*REFUSED, *operation.get("failures", ())) if error else ()
    answers = {200: operation["answers"], **{status: [error] for status in failures}}
    parameters = [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}]
    return {
        "summary": operation["summary"],
        **({"parameters": parameters} if "{name}" in operation["paths"][0] else {}),
        **(
            {"requestBody": {"required": True, "content": _content([operation["body"]])}} if "body" in operation else {}
        ),
        "responses": {
            str(status): {"description": HTTPStatus(status).phrase, "content": _content(names)}
            for status, names in sorted(answers.items())
        },
    }


def _content(names: list[str]) -> dict[str, Any]:
    one, *others = ({"$ref": f"#/components/schemas/{name}"} for name in names)
    return {"application/json": {"schema": {"anyOf": [one, *others]} if others else one}}
