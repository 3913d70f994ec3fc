"""A plugin's tools over its HTTP API: `/bridge/v1` or JSON-RPC at `/mcp` (specs/bridge.md,
contracts 000 and 002)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obsidian_mcp import TYPE_CHECKING, errors, json_codec
from obsidian_mcp.config import DEFAULT_PORT
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    InvalidArguments,
    ObsidianNotRunning,
    UnknownTool,
)

from .http_exchange import PluginAddress, SendRequest, Unreachable
from .plugin_tool import PluginTools, read_tools

if TYPE_CHECKING:
    from obsidian_mcp.config import PluginDialect

LIST_SECONDS = 5.0
"""Limit of a list of tools, and of each connection."""
CALL_SECONDS = 30.0
"""Limit of a call that has none of its own."""

_KEY_HEADER = "X-ObsiScripta-Api-Key"
_NOT_OFFERED = frozenset({404, 405, 501})
"""HTTP statuses by which a plugin says that it does not speak a dialect."""
_METHOD_NOT_FOUND = -32601
"""The same in JSON-RPC."""
_MOST_PAGES = 100
"""Of one list: a plugin that always names a next page is not followed for ever."""

_BY_CODE: Mapping[int, type[AppError]] = {
    error.code: error
    for error in (
        ObsidianNotRunning,
        errors.VaultNotFound,
        errors.NoteNotFound,
        errors.AmbiguousName,
        errors.PermissionDenied,
        errors.OperationTimeout,
        InvalidArguments,
    )
}
"""The errors of contract 000 by their codes in JSON-RPC."""


class _NotOffered(AppCommandFailed):
    """The plugin does not speak this dialect, or not this part of it."""


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: Any
    """The decoded JSON; None where the body is none."""

    @property
    def message(self) -> str:
        """The plugin's own error text, for people only: no decision depends on it."""
        body = self.body if isinstance(self.body, dict) else {}
        error = body.get("error")
        for candidate in (
            body.get("message"),
            error.get("message") if isinstance(error, dict) else error,
        ):
            if isinstance(candidate, str) and candidate:
                return candidate
        return f"HTTP status {self.status}"


class BridgeClient:
    """A plugin at one address. Safe to share between threads; calls run beside each other.

    Every method raises ObsidianNotRunning while nothing listens there, OperationTimeout,
    PermissionDenied for a refused or missing key, InvalidArguments for what the plugin finds wrong
    with a request, and AppCommandFailed for everything else that is no answer.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        mode: PluginDialect = "auto",
        api_key: str | None = None,
        exchange: SendRequest | None = None,
        list_seconds: float = LIST_SECONDS,
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        if not re.fullmatch(r"[\w.:%-]+", host, re.ASCII):
            raise InvalidArguments(f"{host!r} is not the name or address of a host.", host=host)
        address = PluginAddress(host, port)
        self._exchange = exchange or address.exchange
        self.address = str(address)
        self._mode = mode
        self._key = (api_key or "").strip() or None
        if self._key is not None:
            from obsidian_mcp.serve.http.access.keys import fits_header

            if not fits_header(self._key):
                raise InvalidArguments(
                    "The API key of the plugin holds a character that no header can carry."
                )
        self._list_seconds = list_seconds
        self._call_seconds = call_seconds
        self._speaks_mcp = mode != "v1"
        self._ids = itertools.count(1)

    def tools(self) -> PluginTools:
        """Return the tools that the plugin offers now, in its order, without entries that have no
        name. Later calls go to the dialect that answered: v1 in mode `auto` after any failure of
        MCP (BRIDGE-02)."""
        if self._mode == "v1":
            return self._v1_tools()
        try:
            found = self._mcp_tools()
        except AppError as refused:
            if self._mode == "mcp":
                raise
            try:
                found = self._v1_tools()
            except _NotOffered:
                raise refused from None
            self._speaks_mcp = False
        else:
            self._speaks_mcp = True
        return found

    def call(
        self, name: str, arguments: Mapping[str, Any], seconds: float | None = None
    ) -> Mapping[str, Any]:
        """Run a tool within `seconds`; return its MCP result, `isError` included. Raises:
        UnknownTool."""
        limit = self._call_seconds if seconds is None else seconds
        if self._speaks_mcp:
            try:
                return self._mcp_call(name, arguments, limit)
            except _NotOffered:
                if self._mode == "mcp":
                    raise
        return self._v1_call(name, arguments, limit)

    # /bridge/v1

    def _v1_tools(self) -> PluginTools:
        reply = self._v1("GET", "/bridge/v1/tools", None, self._list_seconds)
        if not isinstance(reply.body, dict) or not isinstance(reply.body.get("tools"), list):
            raise self._garbage(reply)
        given, entries = reply.body.get("hash"), reply.body["tools"]
        return PluginTools(
            read_tools(entries), given if isinstance(given, str) and given else repr(entries)
        )

    def _v1_call(self, name: str, arguments: Mapping[str, Any], limit: float) -> Mapping[str, Any]:
        from urllib.parse import quote

        path = f"/bridge/v1/tools/{quote(name, safe='')}/call"
        try:
            reply = self._v1("POST", path, {"arguments": dict(arguments)}, limit)
        except _NotOffered as error:
            raise UnknownTool(
                f"The plugin has no tool {name!r} any more. List the tools again.", tool=name
            ) from error
        body = reply.body
        if not isinstance(body, dict) or not isinstance(body.get("content"), list):
            raise self._garbage(reply)
        failed = body.get("isError") is True or body.get("success") is False
        return {"content": body["content"], "isError": failed}

    def _v1(self, method: str, path: str, body: object, limit: float) -> _Reply:
        reply = self._send(method, path, body, limit, {})
        # not sent at first: the plugin's v1 knows no keys
        if reply.status == 401 and self._key is not None:
            reply = self._send(method, path, body, limit, {_KEY_HEADER: self._key})
        self._check(reply)
        return reply

    # /mcp

    def _mcp_tools(self) -> PluginTools:
        entries: list[object] = []
        cursor: dict[str, Any] = {}
        for _ in range(_MOST_PAGES):
            result = self._mcp("tools/list", cursor, self._list_seconds)
            if not isinstance(result.get("tools"), list):
                raise self._garbage(_Reply(200, result))
            entries += result["tools"]
            cursor = (
                {"cursor": result["nextCursor"]}
                if isinstance(result.get("nextCursor"), str)
                else {}
            )
            if not cursor:
                break
        return PluginTools(read_tools(entries), repr(entries))

    def _mcp_call(self, name: str, arguments: Mapping[str, Any], limit: float) -> Mapping[str, Any]:
        result = self._mcp("tools/call", {"name": name, "arguments": dict(arguments)}, limit)
        if not isinstance(result.get("content", []), list):
            raise self._garbage(_Reply(200, result))
        return {"content": [], **result}

    def _mcp(self, method: str, params: Mapping[str, Any], limit: float) -> dict[str, Any]:
        number = next(self._ids)
        headers = {} if self._key is None else {_KEY_HEADER: self._key}
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        reply = self._send("POST", "/mcp", request, limit, headers)
        self._check(reply)
        body = reply.body if isinstance(reply.body, dict) else {}
        if isinstance(body.get("error"), dict):
            raise self._rpc_error(reply, body["error"])
        if body.get("id") != number or not isinstance(body.get("result"), dict):
            raise self._garbage(reply)
        return dict(body["result"])

    def _rpc_error(self, reply: _Reply, error: Mapping[str, Any]) -> AppError:
        code, facts = error.get("code"), error.get("data")
        if code == _METHOD_NOT_FOUND:
            return _NotOffered(f"The plugin does not offer this: {reply.message}")
        kind = _BY_CODE.get(code, AppCommandFailed) if isinstance(code, int) else AppCommandFailed
        details = {} if facts is None else {"details": facts}
        return kind(f"The plugin answered: {reply.message}", **details)

    # HTTP

    def _send(
        self, method: str, path: str, body: object, limit: float, headers: Mapping[str, str]
    ) -> _Reply:
        """Make one exchange, whose answer arrives whole within `limit` seconds."""
        content = None if body is None else json_codec.encode(body, keeps_halves=True)
        sent = {"Accept": "application/json", **headers} | (
            {"Content-Type": "application/json"} if content else {}
        )
        try:
            status, received = self._exchange(
                method, path, content, sent, (min(limit, self._list_seconds), limit)
            )
        except Unreachable as error:
            raise ObsidianNotRunning(
                f"No plugin answers at {self.address}. Start Obsidian, see that the plugin is "
                "enabled and that its port is this one, and try again.",
                address=self.address,
            ) from error
        except TimeoutError as error:
            raise errors.OperationTimeout(
                f"The plugin at {self.address} did not answer within {limit:g} seconds. If this "
                "was a change, look whether it was made before trying again."
            ) from error
        except OSError as error:
            raise AppCommandFailed(
                f"The connection to the plugin at {self.address} broke ({type(error).__name__}). "
                "Whether a call was carried out is not known: look before trying again.",
                address=self.address,
            ) from error
        return _Reply(status, _decode(received))

    def _check(self, reply: _Reply) -> None:
        """Raise for a status that is no success; the body is only quoted."""
        status, said = reply.status, reply.message.rstrip(".")
        if 200 <= status < 300:
            return
        details = reply.body.get("details") if isinstance(reply.body, dict) else None
        facts = {"status": status} | ({} if details is None else {"details": details})
        if status in (401, 403):
            raise errors.PermissionDenied(
                f"The plugin refused the request: {said}. Give its key in OBSIDIAN_MCP_API_KEY.",
                **facts,
            )
        if status in _NOT_OFFERED:
            raise _NotOffered(f"The plugin at {self.address} does not offer this: {said}", **facts)
        if status in (400, 413, 422):
            raise InvalidArguments(f"The plugin refused the arguments: {said}", **facts)
        raise AppCommandFailed(f"The plugin failed: {said}", **facts)

    def _garbage(self, reply: _Reply) -> AppCommandFailed:
        return AppCommandFailed(
            f"What answers at {self.address} is not the plugin's bridge, or a version that this "
            "program does not know (its answer has an unknown shape). Check host and port.",
            status=reply.status,
        )


def _decode(raw: bytes) -> Any:
    """Return the JSON of a body; None where it is not valid, or has a number that no double can
    hold."""
    try:
        return json_codec.decode(raw, keeps_halves=True)
    except ValueError:
        return None
