"""Try the server at its public address, from outside in, and say which link is broken
(specs/install.md, DOC-07).

Each check needs those before it, so the first one that fails is the last.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from obsidian_mcp import __version__, computer
from obsidian_mcp.serve.http.access.public_url import MCP_PATH
from obsidian_mcp.serve.http.access.this_machine import is_loopback

from .finding import Finding

PROTECTED: Final = "/.well-known/oauth-protected-resource"
AUTHORIZATION: Final = "/.well-known/oauth-authorization-server"
AGENTS: Final = ("Claude-User/1.0", "python-httpx/0.28.1", "openai-mcp/1.0.0")
"""What the programs of hosts call themselves: some edges let in one and stop another."""
_METADATA: Final = re.compile(r'resource_metadata="([^"]*)"')
_HELLO: Final = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "obsidian-mcp doctor", "version": __version__},
        },
    }
).encode()
_TYPES: Final = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


@dataclass(frozen=True, slots=True)
class _WebAnswer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The JSON object of the body; empty where it is anything else."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def is_ours(self) -> bool:
        """Whether this program wrote it, and nothing in front."""
        server = self.json.get("result", {})
        if isinstance(server, dict) and server.get("serverInfo", {}).get("name") == "obsidian-mcp":
            return True
        return {"error", "message", "detail"} <= self.json.keys() or "error_detail" in self.json


class _BrokenLinkError(Exception):
    """A check failed, so that those behind it say nothing."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def examine_public(public: str, key: str = "") -> Iterator[Finding]:
    """Yield what is found at a public address, in the order in which a request passes it, and then
    which ways in there are.

    `public`: as `read_public_url` returns it. `key`: one of the server, with which a request is
    tried as well; empty where none is known.
    """
    try:
        yield from _check_way(public)
        challenge = _challenge(public)
        yield _good_finding(
            "Server", f"obsidian-mcp answers at {public}{MCP_PATH} and asks who comes in"
        )
        yield from _check_spelling(public)
        yield from _check_agents(public)
        if key:
            yield _check_key(public, key)
        yield from _check_sign_in(public, challenge)
    except _BrokenLinkError as broken:
        yield broken.finding
        remedy = "Mend it and run this again; what lies behind it was not tried."
        yield Finding("Ways in", "problem", "none answers from outside", remedy)


def _check_way(public: str) -> Iterator[Finding]:
    """Check name and certificate. Raises: _BrokenLinkError."""
    parts = urlsplit(public)
    host = parts.hostname or ""
    is_secure = parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    addresses = computer.find_addresses(host, port)
    if not addresses:
        remedy = "Add a DNS record for it, or start the tunnel that makes the name."
        raise _broken_link("Name", f"{host} leads to no address", remedy)
    yield _describe_addresses(host, addresses)
    if is_secure and port != 443:
        message = f"{port}; claude.ai was seen to reach nothing but 443"
        yield Finding("Port", "note", message, "Serve it at 443 if claude.ai does not come.")
    if not is_secure:
        yield Finding("TLS", "note", "http, which only programs of this computer may use")
        return
    if fault := computer.find_tls_fault(host, port):
        remedy = (
            "The proxy needs a certificate for this name with its whole chain; Caddy, Tailscale "
            "and Cloudflare get one by themselves."
        )
        raise _broken_link("TLS", f"{host}:{port}: {fault}", remedy)
    yield _good_finding("TLS", f"the certificate of {host} is good")


def _describe_addresses(host: str, addresses: list[str]) -> Finding:
    listed = f"{host} leads to {', '.join(addresses)}"
    if all(map(is_loopback, addresses)):
        return Finding("Name", "note", f"{listed}: only programs of this computer reach it")
    public = [address for address in addresses if _is_public(address)]
    if not public:
        message = f"{listed}: only the same network reaches it, and no host such as claude.ai"
        remedy = "For these, use a public name: Tailscale Funnel, Cloudflare Tunnel, or a server."
        return Finding("Name", "note", message, remedy)
    if not any(":" not in address for address in public):
        remedy = "Add an A record."
        return Finding("Name", "note", f"{listed}: claude.ai comes over IPv4 alone", remedy)
    return _good_finding("Name", listed)


def _is_public(address: str) -> bool:
    """Return whether an address is reached from everywhere: not one of a carrier or tailnet, which
    only its own network reaches."""
    return ipaddress.ip_address(address.partition("%")[0]).is_global


def _challenge(public: str) -> str:
    """Return what the server asks of a client without a key: the value of WWW-Authenticate. Raises:
    _BrokenLinkError."""
    reply = _say_hello(f"{public}{MCP_PATH}")
    if reply.status == 401 and reply.is_ours:
        challenge = reply.headers.get("www-authenticate", "")
        if challenge:
            return challenge
        raise _broken_link(
            "Challenge",
            "the header WWW-Authenticate is gone from the answer 401: no host starts a sign-in",
            "Let the proxy pass it on.",
        )
    raise _BrokenLinkError(_explain_answer(public, reply))


def _explain_answer(public: str, reply: _WebAnswer) -> Finding:
    """Return what it means that the server does not ask for a key."""
    where, server = f"{public}{MCP_PATH}", reply.headers.get("server", "")
    if reply.is_ours and reply.status == 200:
        return Finding(
            "Server",
            "problem",
            f"{where} answers without a key: whoever knows the address can read the vault",
            "obsidian-mcp keys add NAME closes it at once; or start it with --oauth.",
        )
    if reply.is_ours and reply.status == 403:
        remedy = "obsidian-mcp keys add NAME, or start it with --oauth."
        message = "the server has no key, so that it answers to this computer's own names alone"
        return Finding("Server", "problem", message, remedy)
    if reply.status in (301, 302, 303, 307, 308):
        target = reply.headers.get("location", "somewhere else")
        message = f"{where} redirects to {target}; hosts lose the key on the way"
        remedy = "Let the proxy serve /mcp itself, at exactly the address that people enter."
        if urlsplit(target).netloc not in ("", urlsplit(public).netloc):
            remedy = "No sign-in of another service (such as Access) may stand in front of /mcp."
        return Finding("Redirect", "problem", message, remedy)
    if reply.status in (502, 503, 504) or reply.status >= 520:
        message = f"the proxy answers {reply.status}: it does not reach the server"
        remedy = "Start obsidian-mcp http, and compare its port with the one in the proxy."
        return Finding("Proxy", "problem", message, remedy)
    if reply.status == 403:
        by = f" ({server})" if server else ""
        remedy = "Cloudflare: switch off the blocking of AI bots; elsewhere, its filter of agents."
        return Finding("Proxy", "problem", f"something in front refuses{by}: 403", remedy)
    by = f" by {server}" if server else ""
    message = f"{where} is answered with {reply.status}{by}, and not by obsidian-mcp"
    remedy = "Send all paths of this name to the port of obsidian-mcp http, without a prefix."
    return Finding("Proxy", "problem", message, remedy)


def _check_spelling(public: str) -> Iterator[Finding]:
    """Check that a slash behind and a query, which people add, change nothing."""
    for spelling in (f"{MCP_PATH}/", f"{MCP_PATH}?2"):
        reply = _say_hello(f"{public}{spelling}")
        if reply.status != 401:
            message = f"{public}{spelling} is answered with {reply.status}, {MCP_PATH} with 401"
            remedy = "Let the proxy send both to the server unchanged."
            yield Finding("Spelling", "problem", message, remedy)
            return
    yield _good_finding("Spelling", f"{MCP_PATH}, {MCP_PATH}/ and {MCP_PATH}?2 are one address")


def _check_agents(public: str) -> Iterator[Finding]:
    """Check that the programs of hosts are let in as this one is."""
    blocked = []
    for agent in AGENTS:
        reply = _say_hello(f"{public}{MCP_PATH}", {"user-agent": agent})
        if reply.status != 401:
            blocked.append(f"{agent} ({reply.status})")
    if blocked:
        remedy = (
            "Cloudflare: Security > Bots, switch off 'Block AI bots' for this name. Sign-in works "
            "and then no request arrives: that is its mark."
        )
        yield Finding("Agents", "problem", f"refused in front: {', '.join(blocked)}", remedy)
    else:
        yield _good_finding("Agents", "the programs of Claude and ChatGPT are let through")


def _check_key(public: str, key: str) -> Finding:
    reply = _say_hello(f"{public}{MCP_PATH}", {"authorization": f"Bearer {key}"})
    if reply.status == 200 and reply.is_ours:
        return _good_finding("Key", "a request with the key of OBSIDIAN_MCP_API_KEY is answered")
    message = f"a request with the key of OBSIDIAN_MCP_API_KEY is answered with {reply.status}"
    remedy = "The proxy must pass the header Authorization on; or the server has another key."
    return Finding("Key", "problem", message, remedy)


def _check_sign_in(public: str, challenge: str) -> Iterator[Finding]:
    """Check the documents of OAuth, and say which ways in answer. Raises: _BrokenLinkError."""
    key_way = _good_finding(
        "Way in: key", "in the header Authorization: Bearer KEY (keys add NAME)"
    )
    named_document = _METADATA.search(challenge)
    if named_document is None:
        yield key_way
        message = "is off: hosts that send no header of their own (ChatGPT) cannot come in"
        remedy = f"obsidian-mcp http --oauth --public-url {public}"
        yield Finding("Way in: sign-in", "note", message, remedy)
        return
    faults = [
        *_resource_faults(public, named_document[1]),
        *_authorization_faults(public),
    ]
    for fault in faults:
        remedy = f"Start the server with --public-url {public}, and let the proxy pass all paths."
        yield Finding("Discovery", "problem", fault, remedy)
    yield key_way
    if faults:
        yield Finding("Way in: sign-in", "problem", "is broken; see Discovery")
    else:
        yield _good_finding("Discovery", "both documents are there and agree")
        yield _good_finding("Way in: sign-in", "OAuth, for claude.ai, ChatGPT and every MCP client")


def _resource_faults(public: str, named: str) -> Iterator[str]:
    """Yield what is wrong with the document that says where to sign in."""
    address = f"{public}{MCP_PATH}"
    if not named.startswith(f"{public}/"):
        yield f"the server believes that it is at {named}, and not at {public}"
    for path in (f"{PROTECTED}{MCP_PATH}", PROTECTED):
        document, fault = _document(f"{public}{path}")
        if fault:
            yield fault
        elif document.get("resource") != address:
            yield f"{path} is about {document.get('resource')!r}, and not about {address!r}"
        elif document.get("authorization_servers") != [public]:
            yield f"{path} names {document.get('authorization_servers')} and not {[public]}"


def _authorization_faults(public: str) -> Iterator[str]:
    """Yield what is wrong with the document about the sign-in."""
    document, fault = _document(f"{public}{AUTHORIZATION}")
    if fault:
        yield fault
        return
    if document.get("issuer") != public:
        yield f"{AUTHORIZATION} has the issuer {document.get('issuer')!r}, and not {public!r}"
    for member in ("authorization_endpoint", "token_endpoint", "registration_endpoint"):
        if not str(document.get(member, "")).startswith(f"{public}/"):
            yield f"{AUTHORIZATION} has no {member} at {public}"
    if "S256" not in document.get("code_challenge_methods_supported", ()):
        yield f"{AUTHORIZATION} does not name S256, without which clients refuse"
    if not document.get("client_id_metadata_document_supported"):
        yield f"{AUTHORIZATION} takes no client metadata documents, which Claude asks for"


def _document(url: str) -> tuple[dict[str, Any], str]:
    """Return a JSON document, and what is wrong with it in words."""
    reply = _ask("GET", url)
    if reply.status != 200 or not reply.json:
        return {}, f"{url} is answered with {reply.status}, and not with a document"
    return reply.json, ""


def _say_hello(url: str, headers: Mapping[str, str] | None = None) -> _WebAnswer:
    return _ask("POST", url, {**_TYPES, **(headers or {})}, _HELLO)


def _ask(
    method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> _WebAnswer:
    """Return an answer. Raises: _BrokenLinkError where there is none."""
    agent = {"user-agent": f"obsidian-mcp/{__version__}"}
    reply = computer.send_request(method, url, {**agent, **(headers or {})}, body)
    if isinstance(reply, str):
        remedy = "Is the proxy or tunnel running, and the server behind it?"
        raise _broken_link("Connection", f"{url}: {reply}", remedy)
    return _WebAnswer(*reply)


def _broken_link(subject: str, message: str, remedy: str) -> _BrokenLinkError:
    return _BrokenLinkError(Finding(subject, "problem", message, remedy))


def _good_finding(subject: str, message: str) -> Finding:
    return Finding(subject, "fine", message)
