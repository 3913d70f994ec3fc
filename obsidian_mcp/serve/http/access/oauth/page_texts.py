"""The pages that the owner sees while a program signs in (OAUTH-23 to OAUTH-26): plain HTML, one
style sheet of their own, no script, nothing from elsewhere."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Final
from urllib.parse import urlsplit

from starlette.responses import Response

from obsidian_mcp.serve.http.page_headers import PRIVATE_PAGE

from .authorization_request import Errand
from .redirects import destination, is_of_this_computer

_POLICY: Final = (
    "default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; frame-ancestors 'none'"
)
"""Without `form-action`: Chromium applies it to every redirect behind the form, and would block the
way back to the program."""

_OWNER_FIELD: Final = (
    '<input type="text" name="username" value="owner" autocomplete="username" hidden readonly>'
)
"""Nobody sees it: password managers keep a password under the name of an account."""
MOST_FOLDERS: Final = 1_000
"""Folders of a vault that a page lists."""
ALL_VAULTS: Final = "/"
"""Value of the option for every vault of the server."""


@dataclass(frozen=True)
class VaultChoice:
    """A vault that the owner can open to a program."""

    name: str
    path: str
    """Its absolute folder."""
    folders: Sequence[str]


def sign_in_page(
    errand: Errand, ticket: str, *, asks_code: bool, fault: str = "", status: int = 200
) -> Response:
    """Return the page that asks whether the owner is at the browser. It says nothing of the
    vault."""
    label = "Code" if asks_code else "Password"
    help_text = (
        "The server has printed a code where it runs. Set a password with <code>obsidian-mcp http "
        "password</code> to sign in from anywhere."
        if asks_code
        else "The password of this server, set with <code>obsidian-mcp http password</code>."
    )
    body = _template("sign_in.html").substitute(
        app=escape(errand.app),
        way=_way_back(errand),
        ticket=ticket,
        label=label,
        help=help_text,
        user="" if asks_code else _OWNER_FIELD,
        kind="text" if asks_code else "password",
        complete="one-time-code" if asks_code else "current-password",
        fault=_fault(fault),
        invalid='aria-invalid="true"' if fault else "",
    )
    return _page("Sign in", body, status)


def consent_page(
    errand: Errand,
    ticket: str,
    vaults: Sequence[VaultChoice],
    *,
    may_write: bool,
    fault: str = "",
) -> Response:
    """Return the page on which the owner says what a program may do."""
    body = _template("consent.html").substitute(
        app=escape(errand.app),
        way=_way_back(errand),
        ticket=ticket,
        fault=_fault(fault),
        vault=escape(vaults[0].name) if len(vaults) == 1 else "your vaults",
        options="".join(_vault_options(vaults)),
        write=_template("write_choice.html").substitute() if may_write else "",
    )
    return _page("Allow access?", body, 200)


def problem_page(
    title: str, text: str, *, status: int = 400, back: str = "", wait: int = 0
) -> Response:
    """Return a page that says why nothing can be allowed; `back`: address of a way back to the
    program."""
    link = (
        f'<p class="buttons"><a class="button" href="{escape(back)}">Back to the app</a></p>'
        if back
        else ""
    )
    headers = {"retry-after": str(wait)} if wait else {}
    return _page(title, f"<h1>{escape(title)}</h1><p>{escape(text)}</p>{link}", status, headers)


def choice_value(vault: str, folder: str) -> str:
    """Return the value of an option: a vault's name, which holds no slash, and a folder in it."""
    return f"{vault}/{folder}"


def _vault_options(vaults: Sequence[VaultChoice]) -> list[str]:
    """Return the options of vaults and folders; the whole first vault is chosen."""
    parts: list[str] = []
    for vault in vaults:
        is_first = vault is vaults[0]
        options = [_option(choice_value(vault.name, ""), "Whole vault", is_chosen=is_first)]
        options += [_option(choice_value(vault.name, folder), folder) for folder in vault.folders]
        text = "".join(options)
        label = escape(vault.name)
        parts.append(text if len(vaults) == 1 else f'<optgroup label="{label}">{text}</optgroup>')
    if len(vaults) > 1:
        parts.append(_option(ALL_VAULTS, "All vaults"))
    return parts


def _option(value: str, text: str, *, is_chosen: bool = False) -> str:
    chosen = " selected" if is_chosen else ""
    return f'<option value="{escape(value)}"{chosen}>{escape(text)}</option>'


def _way_back(errand: Errand) -> str:
    """Return where the browser goes next, and what that means."""
    host = escape(destination(errand.redirect))
    text = f'<p class="way">The answer goes to <strong>{host}</strong></p>'
    if is_of_this_computer(errand.redirect):
        text += (
            '<p class="warning">That is a program on the device that shows this page. Any program '
            "there can have asked: go on only if you have just started it yourself.</p>"
        )
    if errand.client.startswith("https://"):
        publisher = escape(urlsplit(errand.client).hostname or "")
        text += f"<p>Described by a document at <strong>{publisher}</strong>.</p>"
    return text


def _fault(text: str) -> str:
    return f'<p class="fault" role="alert" id="fault">{escape(text)}</p>' if text else ""


def _page(title: str, body: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    nonce = secrets.token_urlsafe(16)
    text = _template("frame.html").substitute(
        title=escape(title), nonce=nonce, style=_style(), body=body
    )
    policy = {"content-security-policy": _POLICY.format(nonce=nonce)}
    return Response(
        text.encode("utf-8", "replace"), status, {**PRIVATE_PAGE, **policy, **(headers or {})}
    )


@cache
def _template(file: str) -> Template:
    return Template(Path(__file__).with_name("pages").joinpath(file).read_text(encoding="utf-8"))


@cache
def _style() -> str:
    return Path(__file__).with_name("pages").joinpath("style.css").read_text(encoding="utf-8")
