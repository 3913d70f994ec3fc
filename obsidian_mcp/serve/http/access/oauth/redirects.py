"""Addresses to which a browser may go with an answer (RFC 8252; OAUTH-13).

They are compared as strings. A library that takes them apart and puts them together again turns
`/x/../cb` into `/cb`, and what was registered is then not what is compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

MOST_CHARACTERS: Final = 2_000
_LOOPBACK: Final = re.compile(r"(http://(?:localhost|127\.0\.0\.1|\[::1\]))(:[0-9]{1,5})?([/?].*)?")
"""Origin, port, and what follows."""
_HTTPS: Final = re.compile(r"https://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?].*)?")
_PRIVATE: Final = re.compile(r"([a-z][a-z0-9+.-]*):(/.*)")
_EDITORS: Final = ("cursor", "vscode", "vscode-insiders")
"""Schemes of well-known programs that are no reversed domain name."""
_UNSAFE: Final = re.compile(r"[^!-~]|[\"#*<>\\^`{|}]")
"""What no redirect holds: spaces, controls, fragments, wildcards, and what URLs must encode."""


def is_redirect(address: str) -> bool:
    """Return whether a program may register an address: https, http on its own computer, or a
    scheme of its own, written as a reversed domain name or well known."""
    if len(address) > MOST_CHARACTERS or _UNSAFE.search(address):
        return False
    if _HTTPS.fullmatch(address) or _LOOPBACK.fullmatch(address):
        return True
    private = _PRIVATE.fullmatch(address)
    return private is not None and (
        private[1] in _EDITORS or ("." in private[1].strip(".") and private[1][-1] != ".")
    )


def is_registered(address: str, registered: Collection[str]) -> bool:
    """Return whether a program may be answered at an address: one that it registered, as a string.

    The port of an address of its own computer is free, because the program takes one that nobody
    else uses at the time (RFC 8252 7.3).
    """
    return address in registered or any(_is_same_loopback(address, entry) for entry in registered)


def _is_same_loopback(address: str, registered: str) -> bool:
    here, there = _LOOPBACK.fullmatch(address), _LOOPBACK.fullmatch(registered)
    return (
        here is not None
        and there is not None
        and (here[1], here[3]) == (there[1], there[3])
        and int((here[2] or ":1")[1:]) in range(1, 65_536)
    )


def is_of_this_computer(address: str) -> bool:
    """Return whether a program of the browser's own computer gets the answer: by a port of it, or a
    scheme. Any program there may have asked."""
    return not address.startswith("https://")


def destination(address: str) -> str:
    """Return what a person is told of where the browser goes next: a host, or a scheme."""
    for form in (_HTTPS, _LOOPBACK):
        if (parts := form.fullmatch(address)) is not None:
            return parts[1].removeprefix("http://").lower()
    return address.partition(":")[0]


def with_parameters(address: str, parameters: Iterable[tuple[str, str]]) -> str:
    """Return an address with parameters behind its own query."""
    from urllib.parse import urlencode

    return f"{address}{'&' if '?' in address else '?'}{urlencode(list(parameters))}"
