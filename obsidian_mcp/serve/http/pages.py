"""What the server serves by itself: the page at `/` for people (specs/http.md HTTP-09), the OpenAPI
document of the dialects that are not MCP, of a file from each (HTTP-08), and the challenge of a
directory (HTTP-10)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from http import HTTPStatus
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, Final

from starlette.responses import Response

from obsidian_mcp import __version__
from obsidian_mcp.serve.http.tool_service import ToolService

from .console.page import BELOW as CONSOLE_PATH
from .dialect import CORS, Dialect, json_reply
from .refusal import Reason, Refusal
from .request import HttpRequest

HEADERS: Final = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
}
_CONSOLE: Final = (
    f'<p><a href="{CONSOLE_PATH}">Open the console</a>, where the owner of the vault sees what '
    "assistants changed, and takes it back.</p>"
)
"""On every answer: it says nothing of the vault, and the console asks who comes."""
DESCRIPTION: Final = (
    "The dialects of the HTTP server beside MCP. At /mcp, a body with a member `jsonrpc` is "
    "JSON-RPC (MCP), any other one the envelope described here."
)
REFUSED: Final = (401, 403, 413, 429, 500)
"""The statuses with which any request may be refused."""
KEYS: Final = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "x_api_key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "x_obsiscripta_api_key": {"type": "apiKey", "in": "header", "name": "X-ObsiScripta-Api-Key"},
}


class HomePage(Dialect):
    pages = MappingProxyType({"/": "page"})
    takes_key_from_query = True

    def __init__(self, mcp_address: str = "") -> None:
        """`mcp_address`: what people enter into their apps, where the server has a sign-in."""
        super().__init__()
        self._mcp_address = mcp_address

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:
        if self._mcp_address and request.method == "POST":  # a host that was given the site alone
            wrong_path = Refusal(Reason.NOT_FOUND, f"MCP is served at {self._mcp_address}.")
            return json_reply(wrong_path.body, Reason.NOT_FOUND.status, CORS)
        is_person = "text/html" in request.headers.get("accept", "")
        if refusal.reason is Reason.UNAUTHORIZED and is_person and request.method == "GET":
            return Response(status_code=303, headers={"location": CONSOLE_PATH})
        body = f"<p>{escape(refusal.message)}</p>{_CONSOLE}"
        return _page(refusal.reason.error, body, refusal.reason.status, refusal.headers)

    async def handle_request(self, request: HttpRequest, service: ToolService) -> Response:
        url = escape(f"http://{request.headers.get('host', '127.0.0.1')}")
        vaults = ", ".join(await service.vaults()) or "no vault"
        tools = await service.list_tools()
        entries = (
            f"<dt>{escape(tool.name)}</dt><dd>{escape(tool.description)}</dd>" for tool in tools
        )
        body = (
            f"<p>obsidian-mcp {__version__} serves <b>{escape(vaults)}</b>.</p>\n{_CONSOLE}"
            f"{_fill('connect.html', url=url)}"
            f"<h2>Tools</h2>\n<dl>{''.join(entries)}</dl>"
        )
        return _page("obsidian-mcp", body, 200, {})


def _page(title: str, body: str, status: int, headers: Mapping[str, str]) -> Response:
    text = _fill("page.html", title=escape(title), body=body)
    return Response(text.encode("utf-8", "replace"), status, {**headers, **HEADERS})


def _fill(file: str, **values: str) -> str:
    """Return the HTML of a file beside this module with the values in the place of their names."""
    return Template(Path(__file__).with_name(file).read_text(encoding="utf-8")).substitute(values)


class Challenge(Dialect):
    """Shows OpenAI that who submits an app owns the server's address (HTTP-10)."""

    pages = MappingProxyType({"/.well-known/openai-apps-challenge": "challenge"})
    open_paths = (("challenge",),)

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token
        self.allowed = Dialect.allowed if token else ()

    async def handle_request(
        self,
        request: HttpRequest,  # noqa: ARG002
        service: ToolService,  # noqa: ARG002
    ) -> Response:
        return Response(self._token.encode(), headers={"content-type": "text/plain; charset=utf-8"})


class OpenApi(Dialect):
    pages = MappingProxyType({"/openapi.json": "openapi.json"})
    open_paths = (("openapi.json",),)

    def __init__(self, described: Iterable[Dialect]) -> None:
        """`described`: the dialects whose operations it shows."""
        super().__init__()
        self._described = tuple(described)

    async def handle_request(
        self,
        request: HttpRequest,  # noqa: ARG002
        service: ToolService,  # noqa: ARG002
    ) -> Response:
        return json_reply(document(self._described))


@cache
def document(dialects: tuple[Dialect, ...]) -> dict[str, Any]:
    """Return the document; it says nothing about the vault or its tools."""
    parts = [
        json.loads(dialect.description.read_bytes())
        for dialect in dialects
        if dialect.description is not None
    ]
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
    """Return an operation as the document has it; `error` names the schema of failures, empty for
    none."""
    failures = (*REFUSED, *operation.get("failures", ())) if error else ()
    answers = {200: operation["answers"], **{status: [error] for status in failures}}
    parameters = [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}]
    return {
        "summary": operation["summary"],
        **({"parameters": parameters} if "{name}" in operation["paths"][0] else {}),
        **(
            {"requestBody": {"required": True, "content": _content([operation["body"]])}}
            if "body" in operation
            else {}
        ),
        "responses": {
            str(status): {"description": HTTPStatus(status).phrase, "content": _content(names)}
            for status, names in sorted(answers.items())
        },
    }


def _content(names: list[str]) -> dict[str, Any]:
    one, *others = ({"$ref": f"#/components/schemas/{name}"} for name in names)
    return {"application/json": {"schema": {"anyOf": [one, *others]} if others else one}}
