"""A program that signs in, and the owner at a browser, as HTTP sees them."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
from starlette.testclient import TestClient

from obsidian_mcp.app import App
from tests.serve.http_client import http_client

PUBLIC = "https://notes.example.com"
RESOURCE = f"{PUBLIC}/mcp"
PASSWORD = "four random words here"
REDIRECT = "https://app.example/callback"
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
Changes = Mapping[str, str | None]


@contextmanager
def signing_in(app: App, **http: Any) -> Iterator[TestClient]:
    """A client of a server with a sign-in, which knows the password; it fetches nothing."""
    settings = {"oauth": True, "public_url": PUBLIC, "oauth_password": PASSWORD, "fetches_documents": False}
    with http_client(app, **{**settings, **http}) as client:
        yield client


def changed(values: Mapping[str, str], changes: Changes) -> dict[str, str]:
    """The values with some of them changed, or, where the change is None, left out."""
    return {name: value for name, value in {**values, **changes}.items() if value is not None}


class FormParser(HTMLParser):
    """What a browser would send of a page's form."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.options: dict[str, list[str]] = {}
        self.choices: dict[str, list[str]] = {}
        self.links: list[str] = []
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        name = values.get("name", "")
        if tag == "input" and values.get("type") == "radio":
            self.choices.setdefault(name, []).append(values["value"])
            if "checked" in values:
                self.fields[name] = values["value"]
        elif tag == "input":
            self.fields[name] = values.get("value", "")
        elif tag == "select":
            self._select = name
        elif tag == "option":
            self.options.setdefault(self._select, []).append(values["value"])
            if "selected" in values:
                self.fields[self._select] = values["value"]
        elif tag == "a":
            self.links.append(values["href"])


def read_form(page: Any) -> FormParser:
    parser = FormParser()
    parser.feed(page.text)
    return parser


@dataclass
class Browser:
    """The owner's browser, which keeps cookies as one does on the public address."""

    client: TestClient | httpx.Client
    cookies: dict[str, str] = field(default_factory=dict)
    public: str = PUBLIC

    def open(self, address: str, **headers: str) -> Any:
        path = address.removeprefix(self.public)
        return self._keep(self.client.get(path, headers=self._headers({"sec-fetch-site": "cross-site", **headers})))

    def send(self, page: Any, changes: Changes | None = None, **headers: str) -> Any:
        """Send the form of a page with some fields changed."""
        fields = changed(read_form(page).fields, changes or {})
        own = {"origin": self.public, "sec-fetch-site": "same-origin", **headers}
        return self._keep(self.client.post("/authorize", data=fields, headers=self._headers(own)))

    def sign_in(self, address: str, secret: str = PASSWORD) -> Any:
        """Open the page of a request, and give the secret; the page for the consent."""
        return self.send(self.open(address), {"secret": secret, "answer": "continue"})

    def allow(self, address: str, **changes: str) -> Any:
        """Go through both pages."""
        consent = self.sign_in(address)
        assert consent.status_code == 200, consent.text
        return self.send(consent, {"answer": "allow", **changes})

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {**headers, **({"cookie": cookies} if cookies else {})}

    def _keep(self, page: Any) -> Any:
        for header in page.headers.get_list("set-cookie"):
            name, _, value = header.partition(";")[0].partition("=")
            if "Max-Age=0" in header:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        self.client.cookies.clear()  # these are the test's own
        return page


@dataclass
class Program:
    """A program that registers, sends the owner to the sign-in, and redeems the code."""

    client: TestClient | httpx.Client
    redirect: str = REDIRECT
    name: str = "Example App"
    client_id: str = ""
    secret: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(40))
    public: str = PUBLIC

    def register(self, **changes: Any) -> Any:
        form = {"client_name": self.name, "redirect_uris": [self.redirect], "token_endpoint_auth_method": "none"}
        answer = self.client.post("/register", json={**form, **changes})
        if answer.status_code == 201:
            self.client_id = answer.json()["client_id"]
            self.secret = answer.json().get("client_secret", "")
        return answer

    @property
    def challenge(self) -> str:
        return proof_of(self.verifier)

    def request(self, **changes: str | None) -> str:
        """The address of /authorize to which the program sends the browser."""
        values = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect,
            "state": "st&te",
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
            "resource": f"{self.public}/mcp",
        }
        return f"{self.public}/authorize?{httpx.QueryParams(changed(values, changes))}"

    def redeem(self, code: str, /, **changes: str | None) -> Any:
        values = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect,
            "client_id": self.client_id,
            "code_verifier": self.verifier,
            "resource": f"{self.public}/mcp",
        }
        return self.client.post("/token", data=changed(values, changes))

    def refresh(self, token: str, /, **changes: str | None) -> Any:
        values = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id}
        return self.client.post("/token", data=changed(values, changes))

    def connect(self, **changes: str) -> dict[str, Any]:
        """Everything from the registration to the tokens; `changes` are choices of the owner."""
        if not self.client_id:
            assert self.register().status_code == 201
        answer = Browser(self.client, public=self.public).allow(self.request(), **changes)
        assert answer.status_code == 303, answer.text
        tokens = self.redeem(answer_of(answer)["code"])
        assert tokens.status_code == 200, tokens.text
        return dict(tokens.json())


def proof_of(verifier: str) -> str:
    """The S256 challenge of a verifier."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def answer_of(response: Any) -> dict[str, str]:
    """The parameters with which the browser goes back to the program."""
    query = urlsplit(response.headers["location"]).query
    assert all(len(values) == 1 for values in parse_qs(query).values())
    return dict(parse_qsl(query))


def call(
    client: TestClient | httpx.Client, token: str, message: Any = LIST_TOOLS, path: str = "/mcp", **headers: str
) -> Any:
    """Send a message with a token."""
    return client.post(path, json=message, headers={"authorization": f"Bearer {token}", **headers})


def tool_names(client: TestClient | httpx.Client, token: str) -> set[str]:
    answer = call(client, token)
    assert answer.status_code == 200, answer.text
    return {tool["name"] for tool in answer.json()["result"]["tools"]}


def printed_code(text: str) -> str:
    """The code that the server has printed last."""
    return str(re.findall(r"[A-Z0-9]{4}-[A-Z0-9]{4}", text)[-1])
