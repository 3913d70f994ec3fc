"""The OpenAPI document of the dialects that are not MCP, at `/openapi.json` (specs/http.md HTTP-08)."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from obsidian_mcp import __version__

from .types import Asked, Desk, Refusal, Reply, json_reply

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
FLAG: Final[Schema] = {"type": "boolean"}
ANYTHING: Final[Schema] = {"type": "object"}
REASONS: Final = {
    400: "The body or the arguments are not as they should be",
    401: "The key is missing or wrong",
    403: "Without a key, from a foreign host or web page",
    404: "No such tool",
    413: "The body is too large",
    429: "Too many requests",
    500: "A fault of the server",
}


class OpenApi:
    max_body = 0

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG002  one path
        return ("GET", "HEAD")

    def refuse(self, asked: Asked, refusal: Refusal) -> Reply:  # noqa: ARG002  the same for every request
        return json_reply(refusal.body, refusal.reason.value, refusal.headers)

    async def answer(self, asked: Asked, desk: Desk) -> Reply:  # noqa: ARG002  the same whatever there is
        return json_reply(document())


@cache
def document() -> dict[str, Any]:
    """The document, without anything about the vault or its tools."""
    health = _path("get", "Burly: health", {200: "Health"})
    envelope = _path("post", "Burly: list or call tools; the answer is always 200", {200: "Envelope"}, "Request")
    invoke = _path("post", "RAD: invoke a tool", {200: "Invoked", **_rad(400)}, "Invocation")
    call = _path("post", "Bridge: call a tool", {200: "Called", **_bridge(400, 404)}, "Arguments")
    call["post"]["parameters"] = [{"name": "name", "in": "path", "required": True, "schema": TEXT}]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "obsidian-mcp",
            "version": __version__,
            "description": "The dialects of the HTTP server beside MCP. At /mcp, a body with a member `jsonrpc` is "
            "JSON-RPC (MCP), any other one the envelope described here.",
        },
        "security": [{}, {"bearer": []}, {"x_api_key": []}, {"x_obsiscripta_api_key": []}],
        "paths": {
            "/bridge/v1/health": _path("get", "Bridge: health", {200: "BridgeHealth", **_bridge()}),
            "/bridge/v1/tools": _path("get", "Bridge: tools and their hash", {200: "Tools", **_bridge()}),
            "/bridge/v1/tools/{name}/call": call,
            "/health": health,
            "/v1/health": health,
            "/mcp": envelope,
            "/v1/mcp": envelope,
            "/mcp/v1/tools/list": _path("get", "RAD: tools", {200: "RadTools", **_rad()}),
            "/mcp/v1/tools/invoke": invoke,
            "/mcp/v1/stdio": invoke,
            "/mcp/v1/health": _path("get", "RAD: health, without a key", {200: "RadHealth"}),
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "x_api_key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
                "x_obsiscripta_api_key": {"type": "apiKey", "in": "header", "name": "X-ObsiScripta-Api-Key"},
            },
        },
    }


def _path(method: str, summary: str, answers: dict[int, str], body: str = "") -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": summary,
        "responses": {
            str(status): {"description": REASONS.get(status, "The answer"), "content": _content(schema)}
            for status, schema in sorted(answers.items())
        },
    }
    if body:
        operation["requestBody"] = {"required": True, "content": _content(body)}
    return {method: operation}


def _content(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _bridge(*more: int) -> dict[int, str]:
    return dict.fromkeys((401, 403, 413, 429, 500, *more), "Error")


def _rad(*more: int) -> dict[int, str]:
    return dict.fromkeys((401, 403, 413, 429, 500, *more), "Invoked")


def _object(required: str, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required.split()}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _schemas() -> dict[str, Schema]:
    tool = _object("name description inputSchema", name=TEXT, description=TEXT, inputSchema=ANYTHING)
    named = {"anyOf": [TEXT, {"type": "null"}]}
    some = {"anyOf": [ANYTHING, {"type": "null"}]}
    return {
        "BridgeHealth": _object("status version protocolVersion", status=TEXT, version=TEXT, protocolVersion=TEXT),
        "Tools": _object("tools hash", tools=_list(tool), hash={"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        "Arguments": _object("arguments", arguments=ANYTHING),
        "Called": _object(
            "success content",
            success=FLAG,
            content=_list(_object("type", type=TEXT, text=TEXT)),
            isError=FLAG,
        ),
        "Error": _object("error message", error=TEXT, message=TEXT, details={}, code=TEXT),
        "Health": _object(
            "",  # where a key is missing, the answer is an envelope
            status={"enum": ["ok", "degraded", "error"]},
            server_name=TEXT,
            version=TEXT,
            tools_available=WHOLE,
            notifications_enabled=FLAG,
            docker_available=FLAG,
            strict_security_mode=FLAG,
            policy_loaded=FLAG,
            uptime_seconds=WHOLE,
        ),
        "Request": _object(
            "id method",
            id=TEXT,
            method={"enum": ["list_tools", "call_tool"]},
            name=named,
            args=some,
            params=some,
        ),
        "Envelope": _object(
            "ok metrics meta summary",
            ok=FLAG,
            result=ANYTHING,
            error_detail=ANYTHING,
            error=TEXT,
            metrics=_object("elapsed_ms exit_code", elapsed_ms=WHOLE, exit_code=WHOLE),
            meta=_object("api_version", api_version=TEXT, container_version=TEXT, git_sha=TEXT),
            summary=TEXT,
            need_confirm=FLAG,
            data=ANYTHING,
            stdout=TEXT,
            stderr=TEXT,
        ),
        "RadTools": _object("tools count", tools=_list(_object("name description parameters", name=TEXT)), count=WHOLE),
        "Invocation": _object(
            "tool", tool={"type": "string", "minLength": 1}, input=some, session=named, metadata=some
        ),
        "Invoked": _object(
            "success tool timestamp durationMs",
            success=FLAG,
            tool=TEXT,
            output=ANYTHING,
            error=TEXT,
            timestamp={"type": "string", "format": "date-time"},
            durationMs=WHOLE,
            session=TEXT,
        ),
        "RadHealth": _object(
            "status service executor timestamp", status=TEXT, service=TEXT, executor=FLAG, timestamp=TEXT
        ),
    }
