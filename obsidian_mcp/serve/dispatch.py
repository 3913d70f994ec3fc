"""Answers requests of MCP in both eras of the protocol, on stdin and over HTTP (specs/stdio.md,
DISPATCH-…).

    message ─▶ Dispatcher.peer ─▶ who sent it, and in which revision
            ─▶ Dispatcher.serves? ─▶ Dispatcher.answer   initialize, server/discover, ping,
                        │                                tools/list, tools/call
                        └─ no ────▶ the SDK              resources, prompts, completion,
                                                         subscriptions, questions

A message is served in the era in which it is written, so nothing binds a connection to one.
Everything here but a call of a tool needs the standard library alone: a client's first messages
wait neither for pydantic nor for the SDK.

Subclasses say what is offered: the vaults' tools (`vault_dispatcher.py`), on stdin and in a session
over HTTP; a plugin's tools, beside these or alone; the tools in the order and words of contract 000
(both in `contracts/plugin/`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from obsidian_mcp import TYPE_CHECKING, __version__, logger
from obsidian_mcp.errors import AppError, ConfirmationRequired, InvalidArguments

from . import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Final

    from obsidian_mcp.app import App
    from obsidian_mcp.config import Config

    from .jsonrpc import Message, RequestId
    from .results import Result

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions in which a client introduces itself with `initialize`."""
MODERN_VERSIONS: Final = ("2026-07-28",)
"""The revisions in which every request says in `_meta` who sent it."""
UNSUPPORTED_VERSION: Final = -32022
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"
ENVELOPE: Final = (VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY)
"""Members of `_meta` with which a request says who sent it."""
UI_EXTENSION: Final = "io.modelcontextprotocol/ui"
UI_PAGE: Final = "text/html;profile=mcp-app"
SESSION_KEY: Final = "obsidian_mcp.session"
"""Where the ASGI scope of a request keeps the id of its session."""
SILENT_CLIENT: Final = "claude-ai"
"""Shows views but does not say so."""

CONSTANT_MS: Final = 3_600_000
"""How long a client may keep a list that cannot change in this process."""
CHANGING_MS: Final = 60_000
"""How long it may keep one that can: a list of tools to which views belong, or tools of an app that
may appear."""

_OF_SDK: Final = frozenset(
    (
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    )
)
HANDSHAKE_METHODS: Final = _OF_SDK | {
    *("initialize", "ping", "tools/list", "tools/call"),
    *("resources/subscribe", "resources/unsubscribe"),
}
MODERN_METHODS: Final = _OF_SDK | {
    "server/discover",
    "tools/list",
    "tools/call",
    "subscriptions/listen",
}
_ANSWERED: Final = frozenset(("initialize", "server/discover", "ping", "tools/list", "tools/call"))


class Peer:
    """Who sent a request, by its `initialize` or, in the revisions without one, by its own
    `_meta`."""

    def __init__(
        self, version: str, name: str = "", capabilities: Mapping[str, Any] | None = None
    ) -> None:
        self.version: Final = version
        self.name: Final = name
        self.capabilities: Final[Mapping[str, Any]] = capabilities or {}

    @property
    def is_modern(self) -> bool:
        return self.version in MODERN_VERSIONS

    @property
    def can_be_asked(self) -> bool:
        """Whether the client can put a question to a person."""
        asks = self.capabilities.get("elicitation")
        return isinstance(asks, dict) and ("form" in asks or "url" not in asks)

    @property
    def shows_views(self) -> bool:
        extensions = self.capabilities.get("extensions")
        ui = extensions.get(UI_EXTENSION) if isinstance(extensions, dict) else None
        pages = ui.get("mimeTypes") if isinstance(ui, dict) else None
        return self.name == SILENT_CLIENT or (isinstance(pages, list) and UI_PAGE in pages)


class Dispatcher(ABC):
    """Answers the requests of clients; what is offered to them is the matter of a subclass.

    Safe to share between threads.
    """

    server: Mapping[str, Any] = {
        "name": "obsidian-mcp",
        "title": "Obsidian vault",
        "version": __version__,
    }
    """What it is, to clients."""
    handshake_methods: frozenset[str] = HANDSHAKE_METHODS
    modern_methods: frozenset[str] = MODERN_METHODS

    def __init__(self, config: Config) -> None:
        self.config = config
        self.timeout = config.timeout
        """Seconds that a call may take."""

    @property
    def app(self) -> App | None:
        """The App with the vaults, opened where it was not; None where there is no vault."""
        return None

    def encode(self, message: Message) -> bytes:
        """Return the line that has an answer. Never raises."""
        return jsonrpc.encode(message)

    # --- what is offered

    @abstractmethod
    def tools(self, peer: Peer) -> list[Mapping[str, Any]]:
        """Return the tools that a peer is told of.

        Raises: InvalidArguments for a profile that names no tools.
        """

    @abstractmethod
    def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Return the result of a call. Raises: AppError."""

    @abstractmethod
    def instructions(self) -> str:
        """Return what the server says of itself to models.

        Raises: InvalidArguments for a profile without tools.
        """

    @abstractmethod
    def capabilities(self, *, is_modern: bool) -> dict[str, Any]:
        """Return what the server can do, in the form of the protocol."""

    @abstractmethod
    def list_can_change(self) -> bool:
        """Return whether the list of tools depends on more than how this process was started."""

    @abstractmethod
    def writes(self, message: object) -> bool:
        """Return whether a request calls one of the tools to change a vault (TOOL-15)."""

    # --- how it is told

    def peer(self, message: Message, introduced: Peer | None) -> Peer | Message:
        """Return who sent a request, or the error that refuses it, in the era in which it is
        written. `introduced`: whom the connection's `initialize` introduced; None before it."""
        method = message["method"]
        if is_modern(message, introduced):
            return self.modern_peer(message)
        if method not in self.handshake_methods:
            return _method_not_found(message)
        if introduced is None and method not in ("initialize", "ping"):
            return _not_initialized(message)
        return introduced or Peer(HANDSHAKE_VERSIONS[-1])

    def modern_peer(self, message: Message) -> Peer | Message:
        """Return who sent a request of the era without a handshake, or the error that refuses
        it."""
        meta = envelope(message)
        if missing := [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]:
            problem = f"params._meta is missing the required envelope key(s): {', '.join(missing)}"
            return jsonrpc.refusal(jsonrpc.INVALID_PARAMS, problem, message["id"])
        version = meta[VERSION_KEY]
        if isinstance(version, str) and version not in MODERN_VERSIONS:
            return unsupported_version_answer(message, version, MODERN_VERSIONS)
        if message["method"] not in self.modern_methods:
            return _method_not_found(message)
        return _peer(MODERN_VERSIONS[-1], meta.get(CLIENT_KEY), meta.get(CAPABILITIES_KEY))

    def serves(self, message: Message) -> bool:
        """Return whether `answer_message` answers a request of a peer; the SDK serves any other."""
        return message["method"] in _ANSWERED and "inputResponses" not in (
            message.get("params") or {}
        )

    def waits(self, message: Message) -> bool:
        """Return whether the answer to a request that it serves can take its time, and so a thread
        of its own."""
        return bool(message["method"] == "tools/call")

    def answer_message(self, message: Message, peer: Peer) -> bytes | None:
        """Return the line that answers a request, None for a call that a person has to agree to
        first. Never raises. Deadline, client and progress of a call are those of the calling
        thread."""
        method = message["method"]
        try:
            if faults := list(jsonrpc.faults(message.get("params"), _SHAPES.get(method, {}))):
                problem, data = jsonrpc.invalid_params(method, faults)
                return self.encode(
                    jsonrpc.error(message["id"], jsonrpc.INVALID_PARAMS, problem, data)
                )
            return self.encode(self._answer(message, peer, self._result(message, peer)))
        except AppError as error:
            if isinstance(error, ConfirmationRequired) and peer.can_be_asked:
                return None
            return self.encode(self.failure(message, peer, error))
        except BaseException:  # sys.exit() in a tool, too
            from . import results

            log = logger(__name__)
            log.exception("%s failed", method)
            return self.encode(self.failure(message, peer, results.internal(method)))

    def failure(self, message: Message, peer: Peer, error: AppError) -> Message:
        """Return the answer that reports an error, in the configured style."""
        if message["method"] == "tools/call":
            from . import results

            if (failed := results.failure(error, self.config.error_style)) is not None:
                return self._answer(message, peer, failed)
        return jsonrpc.error(message["id"], error.code, error.message, error.payload())

    def _result(self, message: Message, peer: Peer) -> Mapping[str, Any]:
        given = message.get("params") or {}
        match message["method"]:
            case "tools/call":
                return self.call(given["name"], given.get("arguments") or {})
            case "tools/list":
                require_first_page(given.get("cursor"))
                return {
                    "tools": self.tools(peer),
                    **(_caching_hint(self.list_can_change()) if peer.is_modern else {}),
                }
            case "ping":
                return {}
            case "server/discover":
                return {
                    "supportedVersions": list(MODERN_VERSIONS),
                    "capabilities": self.capabilities(is_modern=True),
                    "instructions": self.instructions(),
                    **_caching_hint(can_change=False),
                }
            case _:
                return {
                    "protocolVersion": read_peer(message).version,
                    "capabilities": self.capabilities(is_modern=False),
                    "serverInfo": self.server,
                    "instructions": self.instructions(),
                }

    def _answer(self, message: Message, peer: Peer, value: Mapping[str, Any]) -> Message:
        if peer.is_modern:
            meta = value.get("_meta")
            both = {SERVER_KEY: self.server, **(meta if isinstance(meta, dict) else {})}
            value = {**value, "resultType": "complete", "_meta": both}
        return jsonrpc.result(message["id"], value)


def read_peer(message: Message) -> Peer:
    """Return whom an `initialize` introduces; what it leaves out or has in another form counts as
    not said."""
    given = message.get("params") or {}
    return _peer(given_version(given), given.get("clientInfo"), given.get("capabilities"))


def given_version(params: Any) -> str:
    """Return the revision of an `initialize`; our newest with a handshake for one that is not
    served."""
    version = params.get("protocolVersion") if isinstance(params, dict) else None
    return str(version) if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def _peer(version: str, client: object, capabilities: object) -> Peer:
    name = client.get("name") if isinstance(client, dict) else None
    return Peer(
        version,
        name if isinstance(name, str) else "",
        capabilities if isinstance(capabilities, dict) else {},
    )


def progress_token(message: Message) -> RequestId | None:
    """Return under which token the client of a request wants to be told of progress; None where it
    does not."""
    match message.get("params"):
        case {"_meta": {"progressToken": token}}:
            return jsonrpc.read_id(token)
        case _:
            return None


def is_modern(message: Message, introduced: Peer | None) -> bool:
    """Return whether a request is written in the era in which each says who sent it.

    `initialize` is of the other one, and so is what an introduced client sends, unless it names a
    revision without a handshake.
    """
    method, meta = message["method"], envelope(message)
    if method == "initialize":
        return False
    if method == "server/discover":
        return True
    if introduced is None:
        return bool(meta)
    version = meta.get(VERSION_KEY)
    return isinstance(version, str) and version not in HANDSHAKE_VERSIONS


def envelope(message: Message) -> dict[str, Any]:
    """Return what the `_meta` of a request says of the client that sent it."""
    meta: object = (message.get("params") or {}).get("_meta")
    return {key: meta[key] for key in ENVELOPE if key in meta} if isinstance(meta, dict) else {}


def unsupported_version_answer(
    message: Message, version: str | None, served: Iterable[str]
) -> Message:
    """Return the answer to a request in a revision that is not served."""
    known = {"supported": list(served), "requested": version}
    return jsonrpc.error(message["id"], UNSUPPORTED_VERSION, "Unsupported protocol version", known)


def require_first_page(cursor: str | None) -> None:
    """Check the cursor of a list that has one page; an empty one is none.

    Raises: InvalidArguments for any other.
    """
    if cursor:
        raise no_page(cursor)


def no_page(cursor: str) -> InvalidArguments:
    """Return the error for a cursor that no answer has given."""
    return InvalidArguments(
        f"Invalid cursor: {cursor[:60]!r}. Send the nextCursor of the page before, or none for "
        "the first page.",
        argument="cursor",
    )


_SHAPES: Final[Mapping[str, jsonrpc.Shape]] = {
    "tools/list": {"cursor?": str},
    "tools/call": {"name": str, "arguments?": dict},
}


def _caching_hint(can_change: bool) -> dict[str, Any]:
    """Return how long a client may keep a list."""
    return {"ttlMs": CHANGING_MS if can_change else CONSTANT_MS, "cacheScope": "private"}


def _method_not_found(message: Message) -> Message:
    return jsonrpc.error(
        message["id"], jsonrpc.METHOD_NOT_FOUND, "Method not found", message["method"]
    )


def _not_initialized(message: Message) -> Message:
    problem = (
        "Invalid Request: Server not initialized. Send initialize and notifications/initialized "
        f"before {message['method']}."
    )
    return jsonrpc.error(
        message["id"], jsonrpc.INVALID_REQUEST, problem, {"errorCode": "NOT_INITIALIZED"}
    )
