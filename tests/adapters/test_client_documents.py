"""Documents are fetched from the public internet alone (specs/remote.md OAUTH-42)."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import anyio
import httpx
import pytest

from obsidian_mcp.adapters.client_documents import MOST_BYTES, ClientDocuments, is_public, resolve_name
from obsidian_mcp.core.grants.client_document import DocumentUnreachable, FetchedDocument

ADDRESS = "https://app.example/oauth/client.json"
PUBLIC_IP = "93.184.216.34"
JSON = {"content-type": "application/json"}

Answer = Callable[[httpx.Request], httpx.Response]


def fetch(answer: Answer, ips: list[str] | None = None, address: str = ADDRESS) -> FetchedDocument:
    documents = ClientDocuments(lambda _: ips or [PUBLIC_IP], httpx.MockTransport(answer))
    return anyio.run(documents.fetch, address)


def test_a_document_is_fetched_from_the_address_that_was_looked_at() -> None:
    """OAUTH-42: under the name that its certificate must have"""
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, content=b"{}", headers={**JSON, "cache-control": "public, max-age=600"})

    assert fetch(answer) == FetchedDocument(b"{}", 600.0)
    (request,) = requests
    assert request.url == f"https://{PUBLIC_IP}/oauth/client.json"
    assert request.headers["host"] == "app.example"
    assert request.extensions["sni_hostname"] == "app.example"
    assert not {"cookie", "authorization"} & set(request.headers)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "192.0.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd7a:115c:a1e0::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:7f00:1",
        "64:ff9b::7f00:1",
        "64:ff9b::101:101",
        "2002:7f00:1::",
        "2130706433",
        "0x7f.1",
        "127.1",
        "0177.0.0.1",
        "localhost",
        "",
    ],
)
def test_what_strangers_cannot_reach_is_not_reached_for_them(address: str) -> None:
    """OAUTH-42"""

    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request)

    assert not is_public(address)
    for addresses in ([address], [PUBLIC_IP, address]):
        with pytest.raises(DocumentUnreachable, match="not on the public internet"):
            fetch(answer, addresses)


@pytest.mark.parametrize("address", [PUBLIC_IP, "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_what_is_public_may_be_reached(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address", ["http://app.example/x", "https://app.example:8443/x", "file:///etc/passwd", "https:///x"]
)
def test_other_schemes_and_ports_are_not_used(address: str) -> None:
    """OAUTH-42"""
    with pytest.raises(DocumentUnreachable):
        fetch(lambda _: httpx.Response(200, headers=JSON), address=address)


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (httpx.Response(302, headers={"location": "https://169.254.169.254/"}), "302"),
        (httpx.Response(404, headers=JSON), "404"),
        (httpx.Response(200, content=b"{}", headers={"content-type": "text/html"}), "not JSON"),
        (httpx.Response(200, content=b"{}"), "not JSON"),
        (httpx.Response(200, content=b"x" * (MOST_BYTES + 1), headers=JSON), "more than"),
    ],
)
def test_what_is_no_document_is_refused(response: httpx.Response, problem: str) -> None:
    """OAUTH-42: a redirect is not followed"""
    with pytest.raises(DocumentUnreachable, match=problem):
        fetch(lambda _: response)


def test_a_document_without_end_is_cut_off() -> None:
    """OAUTH-42"""

    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 10_000
        raise AssertionError("all of it was read")

    with pytest.raises(DocumentUnreachable, match="more than"):
        fetch(lambda _: httpx.Response(200, content=pieces_of(pieces), headers=JSON))


async def pieces_of(pieces: Callable[[], Iterator[bytes]]):  # type: ignore[no-untyped-def]
    for piece in pieces():
        yield piece


def test_a_failure_of_the_network_is_a_sentence() -> None:
    """OAUTH-42"""

    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(DocumentUnreachable, match=r"app\.example cannot be reached"):
        fetch(answer)


def test_a_name_that_is_not_there_is_a_sentence() -> None:
    """OAUTH-42"""

    def resolve(host: str) -> list[str]:
        raise socket.gaierror(host)

    documents = ClientDocuments(resolve)
    with pytest.raises(DocumentUnreachable, match="no host"):
        anyio.run(documents.fetch, ADDRESS)


def test_the_system_resolves_a_name_of_this_computer_which_is_not_public() -> None:
    """OAUTH-42"""
    assert not any(map(is_public, resolve_name("localhost")))
    with pytest.raises(DocumentUnreachable, match="not on the public internet"):
        anyio.run(ClientDocuments().fetch, "https://localhost/x")


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """OAUTH-42: it would resolve the name again, and could reach what is not public"""
    with socket.socket() as proxy:
        proxy.bind(("127.0.0.1", 0))
        proxy.listen()
        proxy.settimeout(0)
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.setattr("obsidian_mcp.adapters.client_documents.SECONDS", 0.3)
        with pytest.raises(DocumentUnreachable):
            anyio.run(ClientDocuments(lambda _: ["203.0.114.1"]).fetch, ADDRESS)
        with pytest.raises(BlockingIOError):
            proxy.accept()
