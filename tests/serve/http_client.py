"""A client of the HTTP server in the process of the test, and the requests of the documents."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.contracts.rad.tools import Bridge
from obsidian_mcp.setup.console_parts import console_parts

HERE = "http://127.0.0.1:3000"
TAKES_VALUE = {"-X", "-H", "-d"}


@contextmanager
def http_client(
    app: App, registered: Bridge | None = None, address: tuple[str, int] = ("testclient", 50_000), **http: Any
) -> Iterator[TestClient]:
    """A client of the server on this App, at an `address`; keyword arguments are fields of HttpConfig."""
    changed = app.replace(config=app.config.replace(http=app.config.http.replace(**http)))
    served = compose.http_application(changed, registered, parts=console_parts())
    with TestClient(served, base_url=HERE, client=address, follow_redirects=False) as client:
        yield client


def curl(client: TestClient, command: str, **environ: str) -> Any:
    """Send what a curl command of a document sends, to whatever port it names; the JSON of the answer.

    `environ` fills in `${NAME:-default}`. The answer's status must be 200.
    """
    for name, value in environ.items():
        command = command.replace(f"${{{name}:-example}}", value)
    words = shlex.split(command.replace("\\\n", " "))
    assert words.pop(0) == "curl"
    method, headers, body, url = "", [("user-agent", "curl"), ("accept", "*/*")], None, ""
    while words:
        word = words.pop(0)
        value = words.pop(0) if word in TAKES_VALUE else ""
        match word:
            case "-X":
                method = value
            case "-H":
                name, _, text = value.partition(":")
                headers.append((name.lower(), text.strip()))
            case "-d":
                body = value.encode()
            case "-s":
                pass
            case _:
                url = word
    path = "/" + url.split("/", 3)[3]
    answer = client.request(method or "GET", path, headers=headers, content=body)
    assert answer.status_code == 200, answer.text
    return answer.json()
