"""One dialect on its paths, behind the checks of access.

request ─▶ Endpoint ─▶ AccessControl ─▶ Services.of(principal) ─▶ Dialect.answer
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from obsidian_mcp import logger
from obsidian_mcp.core.text.call import Client, set_call

from .access.access_control import AccessControl
from .access.principal import VISITOR
from .body import check_size, read_body
from .dialect import Dialect
from .refusal import Reason, Refusal
from .request import HttpRequest
from .services import Services


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One dialect on its paths: those below its mount, or a single one."""

    dialect: Dialect
    access: AccessControl
    services: Services
    path: tuple[str, ...] = ()
    """The dialect's name for a single path."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = self._request(scope)
        set_call(
            client=Client(request.headers.get("user-agent", "").partition(" ")[0], request.client)
        )
        try:
            reply = await self.serve(request, scope, receive, send)
        except Refusal as refusal:
            reply = self.dialect.refuse(request, refusal)
        except ClientDisconnect:
            return
        except Exception:  # noqa: BLE001  it is logged, and the client is answered
            logger(__name__).exception("%s %s failed", request.method, "/".join(request.segments))
            failure = Refusal(Reason.FAILED, "The server failed. Its log has the details.")
            reply = self.dialect.refuse(request, failure)
        if reply is not None:
            reply.headers.setdefault("x-content-type-options", "nosniff")
            await reply(scope, receive, send)

    async def serve(
        self,
        request: HttpRequest,
        scope: Scope,  # noqa: ARG002  for those who send the answer themselves
        receive: Receive,
        send: Send,  # noqa: ARG002
    ) -> Response | None:
        """Return the answer; None where it was sent already. Raises: Refusal, ClientDisconnect."""
        dialect = self.dialect
        self.access.admit(request)
        if request.method == "OPTIONS" and (headers := dialect.preflight_headers()) is not None:
            return Response(status_code=204, headers=headers)
        methods = dialect.methods(request.segments)
        if not methods:
            raise Refusal(Reason.NOT_FOUND, "Not found")
        if request.method not in methods:
            raise Refusal(
                Reason.METHOD, "Method not allowed", headers={"allow": ", ".join(methods)}
            )
        self.access.meter(request)
        principal = VISITOR
        if not self.access.is_open(request, dialect):
            principal = self.access.resolve(request, dialect)
        check_size(request, dialect.max_body)
        service = self.services.service_of(principal)
        with service.count_use():
            if request.method == "POST":
                request = replace(request, body=await read_body(receive, dialect.max_body))
                check_size(request, dialect.max_body)
            return await dialect.handle_request(request, service.tools(dialect))

    def _request(self, scope: Scope) -> HttpRequest:
        connection = HTTPConnection(scope)
        # The undecoded path: a slash in the name of a tool does not separate segments.
        above = self.dialect.below.count("/") + 1
        segments = self.path or tuple(scope["raw_path"].decode("latin-1").split("/")[above:])
        return HttpRequest(
            method=scope["method"],
            segments=segments,
            headers=dict(connection.headers),
            query=connection.query_params.multi_items(),
            client=self.access.client_address(
                connection.client.host if connection.client else "", connection.headers
            ),
            takes_key_from_query=self.dialect.takes_key_from_query,
        )


def routes(dialect: Dialect, access: AccessControl, services: Services) -> Iterator[Route | Mount]:
    """Yield the routes of a dialect: what lies below its mount, and its pages."""
    if dialect.below:
        below = Endpoint(dialect=dialect, access=access, services=services)
        yield from (Route(dialect.below, below), Mount(dialect.below, below))
    for path, segment in dialect.pages.items():
        yield Route(
            path, Endpoint(dialect=dialect, access=access, services=services, path=(segment,))
        )
