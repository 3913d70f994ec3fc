"""The frame of every page of the console, and the headers with which it is sent (UI-06)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Final

from starlette.responses import Response

from obsidian_mcp.serve.http.page_headers import PRIVATE_PAGE

from .markup import Markup, element, join
from .part import ConsolePage, Part, Visit

BELOW: Final = "/console"
"""The path below which the console is served."""
SIGN_IN: Final = "sign-in"
"""The path below it of the page that asks the owner of an HTTP server."""
SIGN_OUT: Final = "sign-out"
"""The last segment of the address that ends a session."""
OPEN: Final = "open"
"""The path below it that takes a one-time token."""
ASSETS: Final = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
}
"""Files that every page loads, with their types. They say nothing of a vault."""
_FOLDER: Final = Path(__file__).with_name("assets")
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self';"
    " img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    **PRIVATE_PAGE,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": _POLICY,
}
SANDBOXED: Final = {
    **HEADERS,
    "x-frame-options": "SAMEORIGIN",
    "content-security-policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "frame-ancestors 'self'; base-uri 'none'; form-action 'none'; sandbox allow-scripts"
    ),
}
"""Headers of a document inside a page: it has no origin, so neither cookie nor console."""


def opening_address(server: str, token: str) -> str:
    """Return the address that opens the console once."""
    return f"{server}{BELOW}/{OPEN}?token={token}"


def write_page(page: ConsolePage, parts: Sequence[Part], current: Part, visit: Visit) -> Response:
    """Return a page of a part in its frame, with the navigation and the choice of a vault."""
    if not page.is_framed:
        return Response(page.body.encode("utf-8", "replace"), page.status, SANDBOXED)
    links = [
        element(
            "a",
            part.title,
            href=visit.link(part.name),
            aria_current="page" if part is current else None,
        )
        for part in parts
    ]
    navigation = element("nav", *links, aria_label="Console")
    sign_out = visit.write_form(SIGN_OUT, element("button", "Sign out"))
    return _send(page, join(navigation, _vault_choice(current, visit), sign_out))


def write_plain_page(
    title: str, *body: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a page outside every part: without a session, it says nothing of a vault."""
    return _send(ConsolePage(title, join(*body), status), Markup(), headers)


def write_asset(name: str) -> Response:
    """Return a file that every page loads."""
    headers = {
        "content-type": ASSETS[name],
        "cache-control": "public, max-age=31536000, immutable",
        "cross-origin-resource-policy": "same-origin",
    }
    return Response(_asset(name), headers=headers)


def _vault_choice(part: Part, visit: Visit) -> Markup:
    """Return links to the same part in each vault; empty where there is only one."""
    if not visit.vault_name:
        return Markup()
    links = (
        element(
            "a",
            name,
            href=visit.link(part.name, vault=name),
            aria_current="true" if name == visit.vault_name else None,
        )
        for name in visit.vaults
    )
    return element("nav", *links, class_="vaults", aria_label="Vault")


def _send(page: ConsolePage, top: Markup, headers: Mapping[str, str] | None = None) -> Response:
    text = _frame().substitute(
        title=join(page.title),
        css=_asset_address("console.css"),
        js=_asset_address("console.js"),
        top=top,
        body=page.body,
    )
    return Response(text.encode("utf-8", "replace"), page.status, {**HEADERS, **(headers or {})})


@cache
def _frame() -> Template:
    return Template(_FOLDER.joinpath("frame.html").read_text(encoding="utf-8"))


@cache
def _asset(name: str) -> bytes:
    return _FOLDER.joinpath(name).read_bytes()


@cache
def _asset_address(name: str) -> str:
    """Return the address of a file, another one after each change of it: browsers keep it."""
    return f"{BELOW}/assets/{name}?v={sha256(_asset(name)).hexdigest()[:12]}"
