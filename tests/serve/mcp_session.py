"""A client of `/mcp` in full, of which a test says how it introduces itself."""

from __future__ import annotations

import json
from typing import Any

import httpx

EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
UI = {"extensions": {EXTENSION: {"mimeTypes": [MIME]}}}
"""Capabilities of a host that shows views."""


class McpSession:
    """A session of a host that shows views, or of a client with other capabilities."""

    def __init__(self, url: str, name: str = "reference", capabilities: dict[str, Any] = UI, key: str = "") -> None:
        """`key`: of the server, where it asks for one."""
        headers = {"accept": "application/json, text/event-stream", **({"x-api-key": key} if key else {})}
        self._http = httpx.Client(
            base_url=url, headers=headers, timeout=30, verify=False
        )  # loading certificates is slow
        self._last = 0
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": name, "version": "1"},
        }
        self.request("initialize", params)
        self.notify("notifications/initialized")

    @property
    def headers(self) -> dict[str, str]:
        """What tells the server whose request it is, and of which session."""
        return {name: text for name, text in self._http.headers.items() if name in ("x-api-key", "mcp-session-id")}

    def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The result of a request. Raises: RuntimeError with the message of a JSON-RPC error."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params or {}}
        answer = self._http.post("/mcp", json=message)
        answer.raise_for_status()
        if session := answer.headers.get("mcp-session-id"):
            self._http.headers["mcp-session-id"] = session
        data = [line[5:] for line in answer.text.splitlines() if line.startswith("data:") and line[5:].strip()]
        reply = json.loads(data[-1]) if data else answer.json()
        if "error" in reply:
            raise RuntimeError(reply["error"]["message"])
        return reply["result"]

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        self._http.post("/mcp", json=message).raise_for_status()

    def call(self, tool: str, /, **arguments: Any) -> Any:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def end(self) -> None:
        """End the session, not only the connection."""
        self._http.delete("/mcp").raise_for_status()
        self.close()

    def close(self) -> None:
        self._http.close()
