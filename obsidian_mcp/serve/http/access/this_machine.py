"""Whether a host, an origin or a client is of this machine (specs/http.md DOOR-02, DOOR-03,
DOOR-09)."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from obsidian_mcp.serve.http.request import HttpRequest

_ORIGIN: Final = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
"""The origin of a web page, in lower case: a host, and a port or none."""
_PROXIES: Final = ("forwarded", "x-real-ip", "via")
"""Headers of proxies, beside those that begin with `x-forwarded-`."""


def is_loopback(name: str) -> bool:
    """Return whether a host name or address always means this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_local_page(origin: str) -> bool:
    """Return whether an origin, in lower case, is that of a web page of this machine."""
    page = _ORIGIN.fullmatch(origin)
    return page is not None and is_loopback(page[1].strip("[]"))


def is_from_here(request: HttpRequest) -> bool:
    """Return whether a program of this machine sent the request, and no proxy on behalf of another
    one."""
    forwarded = any(name in _PROXIES or name.startswith("x-forwarded-") for name in request.headers)
    return is_loopback(request.client) and not forwarded


def host_name(host: str) -> str:
    """Return the name in a Host header in lower case, without its port; empty for what is none."""
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        return name if bracket and (not port or port.startswith(":")) else ""
    name, _, port = host.partition(":")
    return name.lower() if not port or port.isdigit() else ""
