"""`/mcp`, where the request decides: MCP in full, JSON-RPC without a session, or a contract that shares the path
(specs/http.md HTTP-03, HTTP-04)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from obsidian_mcp.errors import OperationTimeout

from .body import check_size, is_too_large, read_body
from .dialect import CORS, Contract, json_reply
from .endpoint import Endpoint
from .refusal import Reason, Refusal
from .request import HttpRequest
from .rpc import PREFLIGHT, failure, speaks
from .sessions import belongs_to_session

PEEKED_BYTES: Final = 65_536
"""How much of a body that is too large is read to find its dialect."""


@dataclass(frozen=True, kw_only=True)
class McpEndpoint(Endpoint):
    """`/mcp`. Its dialect answers JSON-RPC without a session, and refuses."""

    other: Contract | None
    """The contract that shares the path."""

    async def serve(self, request: HttpRequest, scope: Scope, receive: Receive, send: Send) -> Response | None:
        self.access.admit(request)
        if request.method == "OPTIONS":
            status = 204 if "access-control-request-method" in request.headers else 200
            return Response(status_code=status, headers=PREFLIGHT)
        if request.method in ("GET", "DELETE") and "mcp-session-id" in request.headers:
            service = self.services.of(self.access.resolve(request, self.dialect))
            with service.in_use():
                return await service.sessions.stand(request, scope, receive, send)
        if request.method != "POST":
            raise Refusal(Reason.METHOD, "Method not allowed", headers={"allow": "POST, OPTIONS"})
        limit = max(self.dialect.max_body, self.other.max_body if self.other else 0)
        most = PEEKED_BYTES if is_too_large(request, limit) else limit
        request = replace(request, body=await read_body(receive, most))
        return await self._post(request, scope, receive, send)

    async def _post(self, request: HttpRequest, scope: Scope, receive: Receive, send: Send) -> Response | None:
        dialect = self.dialect if self.other is None or speaks(request, self.other) else self.other
        try:
            self.access.meter(request)
            service = self.services.of(self.access.resolve(request, dialect))
            check_size(request, dialect.max_body)
            with service.in_use():
                if dialect is not self.dialect or not belongs_to_session(request):
                    return await dialect.answer(request, service.tools(dialect))
                return await service.sessions.answer(request, scope, receive, send)
        except Refusal as refusal:
            return dialect.refuse(request, refusal)
        except OperationTimeout as error:  # before its turn
            return json_reply(failure(request.json["id"], error), headers=CORS)
