"""The documents below /.well-known that say how to sign in (RFC 9728, RFC 8414; OAUTH-10,
OAUTH-11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from obsidian_mcp.serve.http.dialect import CORS, Dialect, json_reply
from obsidian_mcp.serve.http.refusal import Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.tool_service import ToolService

from .preflight import PREFLIGHT
from .registration_form import GRANT_TYPES, METHODS
from .resource import ProtectedResource
from .scopes import OFFLINE

RESOURCE_PATHS: Final = (
    ("oauth-protected-resource",),
    ("oauth-protected-resource", ""),
    ("oauth-protected-resource", "mcp"),
    ("oauth-protected-resource", "mcp", ""),
)
SERVER_PATH: Final = ("oauth-authorization-server",)
_HEADERS: Final = {**CORS, "cache-control": "public, max-age=300"}
"""Hosts keep these documents for about as long."""


class SignInDocuments(Dialect):
    """Every path below /.well-known that nothing else has: what is not there is JSON, too, because
    programs ask for documents of other kinds first."""

    below = "/.well-known"
    open_paths = (*RESOURCE_PATHS, SERVER_PATH)
    is_open_before_sign_in = True

    def __init__(self, resource: ProtectedResource, scopes: Sequence[str]) -> None:
        """`scopes`: what the server offers."""
        super().__init__()
        self._resource = resource
        self._scopes = list(scopes)

    def methods(self, segments: tuple[str, ...]) -> tuple[str, ...]:
        return ("GET", "HEAD", "OPTIONS") if segments in self.open_paths else ()

    def preflight_headers(self) -> Mapping[str, str]:
        return PREFLIGHT

    def refuse(self, request: HttpRequest, refusal: Refusal) -> Response:  # noqa: ARG002
        return json_reply(refusal.body, refusal.reason.status, {**refusal.headers, **CORS})

    async def handle_request(
        self,
        request: HttpRequest,
        service: ToolService,  # noqa: ARG002
    ) -> Response:
        if request.segments == SERVER_PATH:
            return json_reply(server_metadata(self._resource.public, self._scopes), 200, _HEADERS)
        # the URL that a person entered, byte for byte: some hosts compare
        slash = "/" if request.segments == RESOURCE_PATHS[-1] else ""
        document = resource_metadata(self._resource, self._scopes, slash)
        return json_reply(document, 200, _HEADERS)


def resource_metadata(
    resource: ProtectedResource, scopes: Sequence[str], slash: str
) -> dict[str, Any]:
    """Return what a program is told of the resource. Without a sign-in nothing is said about the
    vault, its name included."""
    return {
        "resource": resource.address + slash,
        "authorization_servers": [resource.public],
        "scopes_supported": list(scopes),
        "bearer_methods_supported": ["header"],
        "resource_name": "Obsidian",
    }


def server_metadata(issuer: str, scopes: Sequence[str]) -> dict[str, Any]:
    """Return what a program is told of the authorization server.

    `none` and metadata documents make Claude use its document, `iss` makes ChatGPT use its one
    stable redirect; `offline_access` stands here alone, where it makes hosts ask for refreshing.
    """
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "registration_endpoint": f"{issuer}/register",
        "revocation_endpoint": f"{issuer}/revoke",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": list(METHODS),
        "revocation_endpoint_auth_methods_supported": list(METHODS),
        "scopes_supported": [*scopes, OFFLINE],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }
