"""The address at which other computers reach the server (specs/remote.md REMOTE-01)."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from obsidian_mcp.errors import InvalidArguments

from .this_machine import is_loopback

MCP_PATH: Final = "/mcp"
"""Path of the one address that people enter into their apps."""
_EXAMPLE: Final = "https://notes.example.com"


def read_public_url(text: str) -> str:
    """Return a public address in its one spelling: scheme and host in lower case, no slash behind.

    Every other address of the server is built from it, and several hosts compare these byte for
    byte. A path is refused, because the documents below `/.well-known` would lie outside it; http
    is for this machine only, because tokens would travel in the clear. Raises: InvalidArguments.
    """
    problem = ""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _refusal(text, "is no URL") from None
    if parts.scheme not in ("http", "https") or not host:
        problem = "must begin with https:// and name a host"
    elif parts.path not in ("", "/") or parts.query or parts.fragment:
        problem = "must end behind the host: the server cannot live below a path"
    elif parts.username is not None or parts.password is not None:
        problem = "must not hold a user name"
    elif parts.scheme == "http" and not is_loopback(host):
        problem = "must begin with https://: http is for this machine alone"
    if problem:
        raise _refusal(text, problem)
    name = f"[{host}]" if ":" in host else host
    is_default = port in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{name}" + ("" if is_default else f":{port}")


def _refusal(text: str, problem: str) -> InvalidArguments:
    return InvalidArguments(
        f"The public address {text!r} {problem}. Give scheme and host alone, such as {_EXAMPLE}, "
        "with --public-url or OBSIDIAN_MCP_PUBLIC_URL."
    )
