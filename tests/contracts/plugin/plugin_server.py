"""A plugin's bridge on a loopback port, in threads of the test; it can be late, gone, slow, rude or broken."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

READ: dict[str, Any] = {
    "name": "read_note",
    "description": "Reads.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "x-odd": [1]},
    "annotations": {"readOnlyHint": True, "oddHint": "kept"},
    "_meta": {"odd": None},
}
WRITE: dict[str, Any] = {"name": "write_note", "description": "Writes.", "inputSchema": {"type": "object"}}
CONTENT: list[dict[str, Any]] = [
    {"type": "text", "text": "héllo \U0001f389", "annotations": {"odd": 1.5}},
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "resource_link", "uri": "obsidian://x", "name": "x", "_meta": {"odd": [1, 1.5, None, True]}},
    {"type": "not known yet", "anything": {"at": "all"}},
]


@dataclass
class Answer:
    """What a request is answered with: JSON, or bytes as they are; `drop` closes the connection instead.

    `drips`: until it is set, the head of the answer comes line by line.
    """

    body: Any = None
    status: int = 200
    drop: bool = False
    wait_for: threading.Event | None = None
    drips: threading.Event | None = None


@dataclass
class PluginServer:
    """Start and stop it as often as you like; it keeps its port."""

    tools: list[dict[str, Any]] = field(default_factory=lambda: [READ, WRITE])
    content: list[dict[str, Any]] = field(default_factory=lambda: CONTENT)
    speaks_mcp: bool = True
    on_list: Callable[[], Answer | None] = lambda: None
    on_call: Callable[[str, dict[str, Any]], Answer | None] = lambda _, __: None
    port: int = 0
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Method, path and headers of what came."""
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released at each call of a tool."""
    _server: ThreadingHTTPServer | None = None

    def __post_init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def start(self) -> None:
        plugin = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                plugin.serve(self, b"")

            def do_POST(self) -> None:
                plugin.serve(self, self.rfile.read(int(self.headers.get("content-length", 0))))

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
                pass

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a client that is gone

        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def serve(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.requests.append((handler.command, handler.path, {k.lower(): v for k, v in handler.headers.items()}))
        answer = self.answer(handler.path, json.loads(body) if body else {})
        if answer.wait_for is not None:
            answer.wait_for.wait(30)
        if answer.drips is not None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not answer.drips.wait(0.2):
                handler.wfile.write(b"x-drip: 1\r\n")
            return
        if answer.drop:
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        sent = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        handler.send_response(answer.status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)

    def answer(self, path: str, message: dict[str, Any]) -> Answer:
        if path == "/mcp":
            return self._mcp(message)
        match path.strip("/").split("/"):
            case ["bridge", "v1", "health"]:
                return Answer({"status": "ok", "version": "0.2.2", "protocolVersion": "1"})
            case ["bridge", "v1", "tools"]:
                return self.on_list() or Answer({"tools": self.tools, "hash": str(hash(json.dumps(self.tools)))})
            case ["bridge", "v1", "tools", name, "call"]:
                self.arrived.release()
                name = unquote(name)
                if (said := self.on_call(name, message["arguments"])) is not None:
                    return said
                if name not in [tool["name"] for tool in self.tools]:
                    return Answer({"error": "Tool not found", "message": "Tool not found"}, 404)
                return Answer({"success": True, "content": self.content})
        return Answer({"error": "Not found", "message": "Not found"}, 404)

    def _mcp(self, message: dict[str, Any]) -> Answer:
        if not self.speaks_mcp:
            return Answer({"error": "Not found", "message": "Not found"}, 404)
        said: dict[str, Any] = {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}}
        if message["method"] == "tools/list":
            if (answer := self.on_list()) is not None:
                return answer
            said = {"result": {"tools": self.tools}}
        if message["method"] == "tools/call":
            self.arrived.release()
            name = message["params"]["name"]
            if (answer := self.on_call(name, message["params"]["arguments"])) is not None:
                return answer
            known = name in [tool["name"] for tool in self.tools]
            result = {"content": self.content, "isError": False, "structuredContent": {"odd": [None]}}
            said = {"result": result} if known else {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}
        return Answer({"jsonrpc": "2.0", "id": message["id"], **said})

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
