"""Fetches the document in which a program describes itself, from an address that a stranger chose
(specs/remote.md OAUTH-42).

A server on the owner's computer can reach what strangers cannot. The name is therefore resolved
once, every address that it has must be public, and the connection goes to such an address and
nowhere else: a second look-up could give another one.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlsplit

import anyio
import httpx
from anyio import to_thread

from obsidian_mcp.core.grants.client_document import DocumentUnreachable, FetchedDocument

SECONDS: Final = 5.0
MOST_BYTES: Final = 65_536
_PORT: Final = 443
_JSON: Final = re.compile(r"application/(?:[a-z0-9.+-]+\+)?json", re.IGNORECASE)
_MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age=\"?([0-9]{1,9})")

ResolveName = Callable[[str], Sequence[str]]
"""Returns the addresses of a host. Raises: OSError."""


class ClientDocuments:
    """Fetches documents by https. No proxy of the environment is used, and no redirect followed."""

    def __init__(
        self,
        resolve: ResolveName | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`resolve` and `transport`: instead of the system's, in tests."""
        self._resolve = resolve or resolve_name
        self._transport = transport

    async def fetch(self, address: str) -> FetchedDocument:
        """Return the document at an https address. Raises: DocumentUnreachable."""
        parts = urlsplit(address)
        host = parts.hostname or ""
        if parts.scheme != "https" or parts.port not in (None, _PORT) or not host:
            raise DocumentUnreachable("only https and its own port are used")
        try:
            with anyio.fail_after(SECONDS):
                ip = await self._public_address(host)
                return await self._download(parts.path, host, ip)
        except TimeoutError:
            raise DocumentUnreachable(f"{host} did not answer within {SECONDS:g} s") from None
        except (httpx.HTTPError, OSError, httpx.InvalidURL) as error:
            raise DocumentUnreachable(f"{host} cannot be reached, {error}") from error

    async def _public_address(self, host: str) -> str:
        try:
            addresses = await to_thread.run_sync(self._resolve, host, abandon_on_cancel=True)
        except (OSError, UnicodeError) as error:
            raise DocumentUnreachable(f"there is no host {host}") from error
        if not addresses:
            raise DocumentUnreachable(f"there is no host {host}")
        if not all(map(is_public, addresses)):
            raise DocumentUnreachable(f"{host} is not on the public internet")
        return addresses[0]

    async def _download(self, path: str, host: str, ip: str) -> FetchedDocument:
        target = f"https://{f'[{ip}]' if ':' in ip else ip}{path}"
        headers = {"host": host, "accept": "application/json", "user-agent": "obsidian-mcp"}
        client = httpx.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=SECONDS, transport=self._transport
        )
        extensions = {"sni_hostname": host}  # the certificate must be that of the name
        async with (
            client,
            client.stream("GET", target, headers=headers, extensions=extensions) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                raise DocumentUnreachable(f"{host} answered with status {answer.status_code}")
            kind = answer.headers.get("content-type", "").partition(";")[0].strip()
            if _JSON.fullmatch(kind) is None:
                raise DocumentUnreachable(f"{host} answered with {kind[:40]!r}, not JSON")
            body = b""
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    raise DocumentUnreachable(f"{host} answered with more than {MOST_BYTES} bytes")
            age = _MAX_AGE.search(answer.headers.get("cache-control", "").lower())
            return FetchedDocument(body, float(age[1]) if age else None)


def resolve_name(host: str) -> list[str]:
    """Return the addresses of a host, each once. Raises: OSError."""
    entries = socket.getaddrinfo(host, _PORT, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def is_public(address: str) -> bool:
    """Return whether an address is on the public internet.

    Not: loopback, private, link-local (which serves secrets in clouds), shared (behind a carrier's
    NAT, and in Tailscale's networks), multicast, reserved, and IPv6 that stands for such an address
    of IPv4.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False  # with a zone, or in a short or decimal form
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return is_public(str(parsed.ipv4_mapped))
        if parsed.sixtofour is not None or parsed.teredo is not None:
            return False  # another address is inside
    return parsed.is_global and not (parsed.is_multicast or parsed.is_reserved)
