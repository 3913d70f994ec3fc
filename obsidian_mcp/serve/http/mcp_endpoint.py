"""`/mcp`, where the request decides: MCP in full, JSON-RPC without a session, or a contract that
shares the path (specs/http.md HTTP-03, HTTP-04)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from obsidian_mcp.serve.dispatch import HANDSHAKE_VERSIONS

from .body import check_size, is_too_large, read_body
from .dialect import CORS, JSON, Contract, RpcDialect
from .endpoint import Endpoint
from .exchange import EVENTS, SESSION
from .refusal import Reason, Refusal
from .request import HttpRequest

PEEKED_BYTES: Final = 65_536
"""How much of a body that is too large is read to find its dialect."""
PREFLIGHT: Final = {
    **CORS,
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "Content-Type, Mcp-Session-Id, Authorization, "
    "X-ObsiScripta-Api-Key, X-Api-Key, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, "
    "Accept, *",
    "access-control-expose-headers": "WWW-Authenticate, Mcp-Session-Id",
    "vary": "Access-Control-Request-Headers",
}
_BY_HEADER: Final = ("x-obsiscripta-api-key", "mcp-session-id", "mcp-protocol-version")


@dataclass(frozen=True, kw_only=True)
class McpEndpoint(Endpoint):
    """`/mcp`. Its dialect answers JSON-RPC without a session, and refuses."""

    dialect: RpcDialect
    other: Contract | None
    """The contract that shares the path."""

    async def serve(
        self, request: HttpRequest, scope: Scope, receive: Receive, send: Send
    ) -> Response | None:
        self.access.admit(request)
        if request.method == "OPTIONS":
            status = 204 if "access-control-request-method" in request.headers else 200
            return Response(status_code=status, headers=PREFLIGHT)
        if request.method in ("GET", "DELETE") and "mcp-session-id" in request.headers:
            service = self.services.service_of(self.access.resolve(request, self.dialect))
            with service.count_use():
                return await service.sessions.stand(request, scope, receive, send)
        if request.method != "POST":
            if self.access.has_sign_in:  # every other answer would tell a stranger something
                self.access.resolve(request, self.dialect)
            raise Refusal(Reason.METHOD, "Method not allowed", headers={"allow": "POST, OPTIONS"})
        limit = max(self.dialect.max_body, self.other.max_body if self.other else 0)
        most = PEEKED_BYTES if is_too_large(request, limit) else limit
        request = replace(request, body=await read_body(receive, most))
        return await self._post(request, scope, receive, send)

    async def _post(
        self, request: HttpRequest, scope: Scope, receive: Receive, send: Send
    ) -> Response | None:
        dialect = self.dialect if self.other is None or speaks(request, self.other) else self.other
        try:
            self.access.meter(request)
            service = self.services.service_of(self.access.resolve(request, dialect))
            check_size(request, dialect.max_body)
            with service.count_use():
                if dialect is not self.dialect or not belongs_to_session(request, self.dialect):
                    return await dialect.handle_request(request, service.tools(dialect))
                return await service.sessions.answer_session(request, scope, receive, send)
        except Refusal as refusal:
            if (
                self.access.has_sign_in
                and refusal.reason is Reason.UNAUTHORIZED
                and self.other is not None
                and not self.other.claims(request.message)
            ):
                dialect = (
                    self.dialect
                )  # an envelope would say it under status 200, which hosts ignore
            return dialect.refuse(request, refusal)

    def _request(self, scope: Scope) -> HttpRequest:
        return replace(super()._request(scope), takes_tokens=True)


def speaks(request: HttpRequest, other: Contract) -> bool:
    """Whether a request at `/mcp` is JSON-RPC and not of the contract that shares the path (wire
    rows 1 and 2): by a body that can only be one of them, else the headers, else the bytes of what
    is no JSON."""
    by_header = any(name in request.headers for name in _BY_HEADER)
    try:
        value = request.json
    except ValueError:
        return by_header or b'"jsonrpc"' in request.body
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict) and "jsonrpc" in item for item in items):
        return True
    return by_header and not other.claims(value)


def belongs_to_session(request: HttpRequest, dialect: RpcDialect) -> bool:
    """Whether a JSON-RPC request is of a session, the first of one, or of a revision without; the
    dialect answers malformed messages, and batches without a session, and says what is wrong."""
    version = request.headers.get("mcp-protocol-version")
    if version is not None and version not in HANDSHAKE_VERSIONS:
        return True
    if SESSION in request.headers and (
        request.array is not None or dialect.is_message(request.message)
    ):
        return True
    accepted = request.headers.get("accept", "").lower()
    is_first = request.message is not None and request.message.get("method") == "initialize"
    return (
        is_first and dialect.is_message(request.message) and EVENTS in accepted and JSON in accepted
    )
