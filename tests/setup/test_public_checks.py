"""The doctor at the public address of a server: each link that can break is named (specs/install.md DOC-07)."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from obsidian_mcp import computer
from obsidian_mcp.app import App
from obsidian_mcp.cli import main
from obsidian_mcp.setup.finding import Finding
from obsidian_mcp.setup.public_checks import AUTHORIZATION, PROTECTED, examine_public
from tests.serve.serving import serving

KEY = "a-key-of-the-server"
Answer = tuple[int, dict[str, str], bytes]
Front = Callable[[str, Mapping[str, str]], "Answer | str | None"]
"""What a proxy makes of a path and headers: its own answer, another path to ask for, or nothing special."""


@contextmanager
def in_front(
    server: str, front: Front, wrap: Callable[[socket.socket], socket.socket] | None = None, host: str = ""
) -> Iterator[str]:
    """The address of a proxy in front of a server; `wrap` puts TLS on its socket, and `host` is the name that it passes
    on."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            made = front(self.path, headers)
            if made is None or isinstance(made, str):
                sent = {name: value for name, value in headers.items() if name != "host"}
                sent |= {"host": host} if host else {}
                with httpx.Client(verify=False) as client:
                    answer = client.request(self.command, server + (made or self.path), headers=sent, content=body)
                made = answer.status_code, dict(answer.headers), answer.content
            status, answer_headers, content = made
            self.send_response(status)
            for name, value in {**answer_headers, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if wrap is not None:
        proxy.socket = wrap(proxy.socket)
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        yield f"{'https' if wrap else 'http'}://127.0.0.1:{proxy.server_address[1]}"
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


@pytest.fixture
def server(app: App) -> Iterator[str]:
    with serving(app, keys=(KEY,)) as url:
        yield url


def findings(url: str, key: str = "") -> dict[str, Finding]:
    return {finding.subject: finding for finding in examine_public(url, key)}


def broken(found: Mapping[str, Finding]) -> dict[str, str]:
    return {subject: finding.message for subject, finding in found.items() if finding.status == "problem"}


def test_a_server_that_is_well_is_found_well_and_its_ways_in_are_named(server: str) -> None:
    """DOC-07"""
    found = findings(server, KEY)

    assert broken(found) == {}
    assert [found[subject].status for subject in ("Server", "Spelling", "Agents", "Key", "Way in: key")] == ["fine"] * 5
    assert "--oauth --public-url" in found["Way in: sign-in"].remedy


def test_a_server_without_a_key_is_a_problem(app: App) -> None:
    """DOC-07"""
    with serving(app) as url:
        found = findings(url)
    assert "whoever knows the address can read the vault" in broken(found)["Server"]
    assert "keys add" in found["Server"].remedy


def passes_on(path: str, headers: Mapping[str, str]) -> None:
    pass


def test_a_server_without_a_key_behind_a_proxy_is_told_from_one_that_a_proxy_refuses(app: App) -> None:
    """DOC-07"""
    with serving(app) as url, in_front(url, passes_on, host="notes.example.com") as public:
        assert "the server has no key" in broken(findings(public))["Server"]


def answers(status: int, body: bytes = b"<html>", **headers: str) -> Front:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda *_: (status, sent, body)


def without_challenge(path: str, headers: Mapping[str, str]) -> Answer:
    return 401, {}, json.dumps({"error": "x", "message": "x", "detail": "x"}).encode()


def blocks_claude(path: str, headers: Mapping[str, str]) -> Answer | None:
    return (403, {}, b"blocked") if "Claude" in headers["user-agent"] else None


def routes_slash_elsewhere(path: str, headers: Mapping[str, str]) -> Answer | None:
    return (404, {}, b"") if path == "/mcp/" else None


def below_a_prefix(path: str, headers: Mapping[str, str]) -> str:
    return f"/notes{path}"


@pytest.mark.parametrize(
    ("front", "subject", "message", "remedy"),
    [
        (answers(301, location="/mcp/"), "Redirect", "redirects to /mcp/", "serve /mcp itself"),
        (answers(302, location="https://x.cloudflareaccess.com/login"), "Redirect", "redirects to", "such as Access"),
        (answers(502), "Proxy", "502: it does not reach the server", "Start obsidian-mcp http"),
        (answers(530, server="cloudflare"), "Proxy", "530: it does not reach", "compare its port"),
        (answers(403, server="cloudflare"), "Proxy", "refuses (cloudflare): 403", "AI bots"),
        (answers(404, server="nginx"), "Proxy", "404 by nginx, and not by obsidian-mcp", "without a prefix"),
        (answers(200), "Proxy", "answered with 200 by", "Send all paths"),
        (below_a_prefix, "Proxy", "404", "without a prefix"),
        (without_challenge, "Challenge", "WWW-Authenticate is gone", "pass it on"),
        (blocks_claude, "Agents", "Claude-User/1.0 (403)", "Block AI bots"),
        (routes_slash_elsewhere, "Spelling", "/mcp/ is answered with 404", "both"),
    ],
)
def test_the_link_that_is_broken_is_named_with_what_mends_it(
    server: str, front: Front, subject: str, message: str, remedy: str
) -> None:
    """DOC-07"""
    with in_front(server, front) as public:
        found = findings(public)
    assert message in broken(found)[subject]
    assert remedy in found[subject].remedy
    assert ("Ways in" in broken(found)) == (subject not in ("Agents", "Spelling"))


def test_a_proxy_that_keeps_authorization_to_itself_is_named(server: str) -> None:
    """DOC-07"""

    def strips(path: str, headers: Mapping[str, str]) -> Answer | None:
        return without_challenge(path, headers) if "authorization" in headers else None

    with in_front(server, strips) as public:
        assert "answered with 401" in broken(findings(public, KEY))["Key"]


def test_what_does_not_answer_at_all_is_named() -> None:
    """DOC-07"""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert "nothing listens there" in broken(findings(url))["Connection"]


# --- the documents of a sign-in


def documents(public: str) -> dict[str, Any]:
    resource = {"resource": f"{public}/mcp", "authorization_servers": [public]}
    server = {
        "issuer": public,
        **{f"{name}_endpoint": f"{public}/{name}" for name in ("authorization", "token", "registration")},
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": True,
    }
    return {f"{PROTECTED}/mcp": resource, PROTECTED: resource, AUTHORIZATION: server}


def signing_in(public: list[str], change: Callable[[dict[str, Any]], None]) -> Front:
    """A server with a sign-in, whose documents are changed."""

    def front(path: str, headers: Mapping[str, str]) -> Answer | None:
        served = documents(public[0])
        served["challenge"] = f"{public[0]}{PROTECTED}/mcp"
        change(served)
        if path in served:
            return 200, {}, json.dumps(served[path]).encode()
        if path.startswith("/.well-known"):
            return 404, {}, b"{}"
        status, _, body = without_challenge(path, headers)
        return status, {"www-authenticate": f'Bearer resource_metadata="{served["challenge"]}"'}, body

    return front


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda _: None, ""),
        (lambda served: served.update(challenge="https://other.example/x"), "believes that it is at https://other"),
        (lambda served: served.pop(PROTECTED), f"{PROTECTED} is answered with 404"),
        (lambda served: served[PROTECTED].update(resource="https://other.example/mcp"), "is about 'https://other"),
        (lambda served: served[PROTECTED].update(authorization_servers=[]), "names [] and not"),
        (lambda served: served.pop(AUTHORIZATION), f"{AUTHORIZATION} is answered with 404"),
        (lambda served: served[AUTHORIZATION].update(issuer=served[AUTHORIZATION]["issuer"] + "/"), "has the issuer"),
        (lambda served: served[AUTHORIZATION].pop("registration_endpoint"), "has no registration_endpoint"),
        (lambda served: served[AUTHORIZATION].pop("code_challenge_methods_supported"), "does not name S256"),
        (lambda served: served[AUTHORIZATION].pop("client_id_metadata_document_supported"), "no client metadata"),
    ],
)
def test_the_documents_of_a_sign_in_must_be_there_and_agree(
    server: str, change: Callable[[dict[str, Any]], None], fault: str
) -> None:
    """DOC-07"""
    public: list[str] = []
    with in_front(server, signing_in(public, change)) as url:
        public.append(url)
        found = findings(url)
    assert found["Way in: key"].status == "fine"
    assert found["Way in: sign-in"].status == ("problem" if fault else "fine")
    assert fault in found["Discovery"].message


# --- names and certificates


@pytest.mark.parametrize(
    ("addresses", "status", "message"),
    [
        ([], "problem", "leads to no address"),
        (["127.0.0.1"], "note", "only programs of this computer"),
        (["192.168.1.5"], "note", "only the same network"),
        (["100.101.102.103", "fd7a:115c:a1e0::5"], "note", "only the same network"),
        (["2606:4700::1"], "note", "IPv4 alone"),
        (["93.184.215.14", "2606:4700::1"], "fine", "93.184.215.14"),
    ],
)
def test_a_name_must_lead_to_a_public_address(
    server: str, monkeypatch: pytest.MonkeyPatch, addresses: list[str], status: str, message: str
) -> None:
    """DOC-07"""
    monkeypatch.setattr(computer, "find_addresses", lambda *_: addresses)
    found = findings(server)["Name"]
    assert (found.status, message in found.message) == (status, True)


def self_signed(folder: Path) -> Callable[[socket.socket], socket.socket]:
    """Return what puts TLS with a certificate that nobody has signed on a socket."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1))
    ).sign(key, hashes.SHA256())
    plain = serialization.NoEncryption()
    file = folder / "certificate.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return lambda plain_socket: context.wrap_socket(plain_socket, server_side=True, do_handshake_on_connect=False)


def test_a_certificate_that_nobody_has_signed_is_named(server: str, tmp_path: Path) -> None:
    """DOC-07"""
    with in_front(server, passes_on, self_signed(tmp_path)) as public:
        found = findings(public)
    assert "certificate is refused: self-signed certificate" in broken(found)["TLS"]
    assert found["Port"].status == "note"


def test_a_server_without_tls_at_an_https_address_is_named(server: str) -> None:
    """DOC-07"""
    assert "speaks no TLS" in broken(findings(server.replace("http:", "https:")))["TLS"]


# --- the command


def test_the_doctor_tries_a_public_address_alone(
    server: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DOC-07"""
    monkeypatch.setenv("OBSIDIAN_MCP_API_KEY", KEY)
    assert main.run_command_line(["doctor", "--public-url", server]) == 0
    said = capsys.readouterr().out
    assert "fine     Key: " in said
    assert "Python" not in said
    assert KEY not in said

    with ExitStack() as stack:
        public = stack.enter_context(in_front(server, answers(502)))
        assert main.run_command_line(["doctor", "--public-url", public, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["healthy"] is False


def test_an_address_with_a_path_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """DOC-07, REMOTE-01"""
    assert main.run_command_line(["doctor", "--public-url", "https://notes.example.com/mcp"]) == 2
    assert "must end behind the host" in capsys.readouterr().err
