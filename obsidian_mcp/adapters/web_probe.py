"""Asks a server on the web as a stranger would: name, certificate, single requests without a
redirect being followed (specs/install.md DOC-07).

Nothing of this computer's own is used on the way, neither its proxy nor its cookies. What went
wrong is said in words, because that is what is looked for.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from typing import Final

SECONDS: Final = 10.0
"""Hosts give up after as long (remote hosts: discovery within 10 s)."""
MOST_BYTES: Final = 262_144
"""Of an answer; the documents that are asked for are small."""

WebReply = tuple[int, dict[str, str], bytes]
"""Status, headers by their names in lower case, and body."""


def find_addresses(host: str, port: int) -> list[str]:
    """Return the network addresses of a host, IPv4 first; none for a name that leads nowhere."""
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    entries.sort(key=lambda entry: entry[0] != socket.AF_INET)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def find_tls_fault(host: str, port: int) -> str:
    """Return what is wrong with the certificate of a server, or with the way to it, in words; empty
    where nothing is."""
    context = ssl.create_default_context()
    try:
        with (
            socket.create_connection((host, port), SECONDS) as connection,
            context.wrap_socket(connection, server_hostname=host),
        ):
            return ""
    except ssl.SSLCertVerificationError as error:
        return f"its certificate is refused: {error.verify_message.rstrip('.')}"
    except ssl.SSLError as error:
        return f"it speaks no TLS there ({error.reason or 'handshake failed'})"
    except OSError as error:
        return _explain(error)


def send_request(
    method: str, url: str, headers: Mapping[str, str], body: bytes = b""
) -> WebReply | str:
    """Return the answer to one request, or why there is none, in words. A redirect is an answer.

    `url`: with http or https, a host and a path.
    """
    scheme, _, remainder = url.partition("://")
    server, slash, path = remainder.partition("/")
    connection_type = (
        http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    )
    try:
        connection = connection_type(server, timeout=SECONDS)
        try:
            connection.request(method, slash + path or "/", body or None, dict(headers))
            answer = connection.getresponse()
            answer_headers = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, answer_headers, answer.read(MOST_BYTES)
        finally:
            connection.close()
    except http.client.HTTPException as error:
        return f"it does not answer with HTTP ({type(error).__name__})"
    except (OSError, ValueError) as error:
        return _explain(error)


def _explain(error: Exception) -> str:
    """Return why a server cannot be reached."""
    match error:
        case TimeoutError():
            return f"it does not answer within {SECONDS:g} s"
        case ConnectionRefusedError():
            return "nothing listens there"
        case ssl.SSLError():
            return f"TLS fails ({error.reason or 'handshake failed'})"
        case OSError() if error.strerror:
            return error.strerror.lower()
    return str(error) or type(error).__name__
