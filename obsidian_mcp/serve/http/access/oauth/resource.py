"""The one address that programs get tokens for: PUBLIC/mcp (RFC 8707; OAUTH-12)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from obsidian_mcp.serve.http.access.public_url import MCP_PATH

from .oauth_error import OAuthError


@dataclass(frozen=True)
class ProtectedResource:
    """What a server protects, by its public address."""

    public: str
    """Scheme and host, without a slash behind: also the issuer."""

    @property
    def address(self) -> str:
        """The audience of every token."""
        return self.public + MCP_PATH

    @property
    def metadata_address(self) -> str:
        """Where the document about it is (RFC 9728)."""
        return f"{self.public}/.well-known/oauth-protected-resource{MCP_PATH}"

    def check(self, named: str) -> None:
        """Accept what a program says that it wants a token for: nothing, PUBLIC/mcp with or without
        a slash behind, or PUBLIC alone.

        A query is ignored: people write one behind the address so that their app fetches the list
        of tools anew. Raises: OAuthError `invalid_target`.
        """
        if named and _spell(named) not in (self.address, self.public):
            raise OAuthError("invalid_target", f"Tokens are issued for {self.address} alone.")


def _spell(named: str) -> str:
    """Return an address without its query and the slash behind it, scheme and host in lower case;
    empty for what is none."""
    try:
        parts = urlsplit(named)
        port = parts.port
    except ValueError:
        return ""
    if parts.fragment or parts.username is not None or parts.hostname is None:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_default = port in (None, {"http": 80, "https": 443}.get(parts.scheme))
    return f"{parts.scheme}://{host}{'' if is_default else f':{port}'}{parts.path.rstrip('/')}"
