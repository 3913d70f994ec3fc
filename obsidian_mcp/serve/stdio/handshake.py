"""Answers `initialize` and `tools/list` on stdio while the program is being imported (specs/stdio.md, START-…).

Importing the program takes 0.2 s and the SDK another 0.5 s, and a client's first requests have constant answers.
`begin` answers a plain `initialize` and `tools/list` from handshake.json in a thread; `finish` returns every byte that
the conversation must serve. From the first unusual message on, everything is left to the SDK. This module needs little
more than the interpreter itself: asyncio alone would double the time to the first answer.
"""

from __future__ import annotations

import json
import os
import select
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

FILE: Final = f"{__file__.removesuffix('handshake.py')}handshake.json"
"""The SDK's own answers: `pytest --update` writes them and a test compares."""

_HARMLESS: Final = {"OBSIDIAN_MCP_CACHE", "OBSIDIAN_MCP_STATE", "OBSIDIAN_MCP_WATCH"}
"""Settings that do not affect the first answers."""
_MAX_HELD: Final = 1 << 20
"""Most bytes read before `finish`."""
_READ: Final = 64 * 1024

Shape = type | Mapping[str, Any]

_OBJECT: Final = {"*": dict}
_CAPABILITIES: Final[Shape] = {
    "roots": {"listChanged": bool},
    "sampling": {"context": dict, "tools": dict},
    "elicitation": {"form": dict, "url": dict},
    "experimental": _OBJECT,
    "extensions": _OBJECT,
}
_CLIENT: Final[Shape] = {"name": str, "version": str, "title": str, "websiteUrl": str, "description": str}


class Handshake:
    """The beginning of one conversation: `feed` takes bytes, `write` gets the first answers."""

    def __init__(
        self,
        answers: Mapping[str, Any],
        write: Callable[[bytes], None],
        tool_list: Callable[[], Mapping[str, Any] | None],
    ) -> None:
        """`tool_list` returns the answer to `tools/list`, None where the SDK has to give it."""
        self._answers = answers
        self._write = write
        self._tool_list = tool_list
        self._listed = False
        self._shows_views = False
        self.rest = b""
        """The bytes that the conversation must serve."""
        self._done = 0
        """Bytes of `rest` that were examined."""
        self.passive = False
        """Everything from now on is left to the SDK."""
        self.answered: str | int | None = None
        """Id of the `initialize` that has its answer; the SDK must see that message, too."""

    def feed(self, data: bytes) -> None:
        """Take bytes from stdin, and answer the requests that can be answered."""
        self.rest += data
        while not self.passive and (end := self.rest.find(b"\n", self._done) + 1):
            if self._serve(self.rest[self._done : end]):
                self.rest = self.rest[: self._done] + self.rest[end:]
            else:
                self._done = end
        self.passive = self.passive or len(self.rest) > _MAX_HELD

    def _serve(self, line: bytes) -> bool:
        """Answer a line if possible; True where nobody else has to see it."""
        message = _parsed(line)
        match message:
            case {"method": "initialize"} if self.answered is None and _is_plain_initialize(message, self._answers):
                result = {**self._answers["initialize"], "protocolVersion": message["params"]["protocolVersion"]}
                self._answer(message["id"], result)
                self.answered = message["id"]
                self._shows_views = _shows_views(message["params"])
            case _ if self.answered is None:
                self.passive = True
            case {"method": "tools/list", "id": _}:
                plain = message.keys() <= _REQUEST and message.get("params", {}) == {}
                if plain and not self._shows_views and not self._listed and (tools := self._tool_list()) is not None:
                    self._listed = True  # only once: a client that does not read must not block this thread
                    self._answer(message["id"], tools)
                    return True
            case {"method": "notifications/initialized"}:
                pass
            case {"method": str(method), "id": _} if method != "initialize":
                pass  # its answer may come after those of later requests
            case _:
                self.passive = True
        return False

    def _answer(self, request_id: str | int, result: Mapping[str, Any]) -> None:
        message = {"jsonrpc": "2.0", "id": request_id, "result": result}
        self._write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


_REQUEST: Final = {"jsonrpc", "id", "method", "params"}


def _parsed(line: bytes) -> Any:
    """Return the message in a line; None where two parsers could differ about it."""
    if b"\\u" in line:
        return None
    try:
        message = json.loads(line.decode(), parse_constant=_refuse, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    if "id" in message and not _is_plain_id(message["id"]):
        return None
    return message


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("duplicate key")
    return members


def _is_plain_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= 64 and value.isascii() and value.isprintable()
    return type(value) is int and 0 <= value < 1 << 53


def _is_plain_initialize(message: Mapping[str, Any], answers: Mapping[str, Any]) -> bool:
    params = message.get("params")
    return (
        message.keys() == _REQUEST
        and isinstance(params, dict)
        and params.keys() == {"protocolVersion", "capabilities", "clientInfo"}
        and params["protocolVersion"] in answers["protocolVersions"]
        and _fits(params["capabilities"], _CAPABILITIES)
        and _fits(params["clientInfo"], _CLIENT)
        and {"name", "version"} <= params["clientInfo"].keys()
    )


def _shows_views(params: Mapping[str, Any]) -> bool:
    """Whether a client may get a longer list of tools (VIEW-03)."""
    extensions = params["capabilities"].get("extensions", {})
    return params["clientInfo"]["name"] == "claude-ai" or "io.modelcontextprotocol/ui" in extensions


def _fits(value: object, shape: Shape) -> bool:
    """Whether a value has a type, or only members of a shape (`*`: any), each of which fits."""
    if isinstance(shape, type):
        return type(value) is shape
    return isinstance(value, dict) and all(
        (key in shape or "*" in shape) and _fits(member, shape.get(key, shape.get("*", {})))
        for key, member in value.items()
    )


def is_server(arguments: Sequence[str]) -> bool:
    """Whether a command line starts the server with no other options than vaults and a log."""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--vault":
            if next(rest, "-").startswith("-"):
                return False
        elif argument not in ("-v", "--verbose") and not argument.startswith("--vault="):
            return argument == "serve" and next(rest, None) is None
    return True


_running: tuple[Handshake, threading.Thread, int] | None = None


def begin(environ: Mapping[str, str], has_app: Callable[[], bool]) -> None:
    """Start to answer, where stdin and stdout are pipes and no setting is unusual.

    `has_app`, called in a thread, says whether the tools that need the app are listed.
    """
    global _running  # noqa: PLW0603  a process has one stdin
    unusual = {name for name in environ if name.startswith("OBSIDIAN_MCP_")} - _HARMLESS
    if unusual or not hasattr(select, "poll"):
        return
    try:
        if not (is_pipe(0) and is_pipe(1)):
            return
        with open(FILE, encoding="utf-8") as file:  # noqa: PTH123  pathlib costs 5 ms
            answers = json.load(file)
        wake_reader, wake_writer = os.pipe()
    except (OSError, ValueError):
        return
    handshake = Handshake(answers, _write, partial(tool_list, answers, has_app))
    thread = threading.Thread(target=_listen, args=(handshake, wake_reader), name="handshake", daemon=True)
    _running = (handshake, thread, wake_writer)
    thread.start()


def finish() -> tuple[bytes, str | int | None]:
    """Stop; return the bytes to serve and the id of the `initialize` among them that has its answer."""
    global _running  # noqa: PLW0603
    if _running is None:
        return b"", None
    handshake, thread, wake = _running
    _running = None
    os.close(wake)
    thread.join()
    return handshake.rest, handshake.answered


def _listen(handshake: Handshake, wake: int) -> None:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(wake, select.POLLIN)
    try:
        while not handshake.passive:
            ready = {fd for fd, _ in poll.poll()}
            if wake in ready:
                break
            data = os.read(0, _READ)
            if not data:  # the conversation will read the end of input again
                break
            handshake.feed(data)
    except OSError:
        pass  # the conversation will get the same error and handle it
    finally:
        os.close(wake)


def tool_list(answers: Mapping[str, Any], has_app: Callable[[], bool]) -> Mapping[str, Any] | None:
    """Return the list of tools where nothing restricts it; those that need the app are last (START-07)."""
    from obsidian_mcp import config
    from obsidian_mcp.errors import InvalidArguments

    try:
        settings = config.read()
    except InvalidArguments:
        return None
    if settings.read_only or settings.policy_file.exists():
        return None
    listed: dict[str, Any] = answers["tools/list"]
    return {**listed, "tools": [*listed["tools"], *answers["app tools"]]} if has_app() else listed


def _write(data: bytes) -> None:
    while data:
        try:
            data = data[os.write(1, data) :]
        except BlockingIOError:
            select.select([], [1], [])


def is_pipe(fd: int) -> bool:
    """Whether it is a pipe or socket."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
