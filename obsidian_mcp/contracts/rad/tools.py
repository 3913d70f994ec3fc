"""Tools of other programs, served beside the vault's own (contract 004; specs/http.md RAD-…).

    bridge = Bridge()
    numbers = {"a": InputProperty("number"), "b": InputProperty("number")}
    schema = InputSchema(numbers, required=("a", "b"))
    bridge.register_tool(ToolSpec("add", "Add two numbers", schema))
    bridge.register_tool_handler("add", lambda arguments: {"sum": arguments["a"] + arguments["b"]})
    compose.serve_http(compose.build(config.Config(("~/Notes",)), serving=True), registered=bridge)

Handlers run in threads, several at a time, and check their arguments themselves. The return value
is the answer; a `ToolReply` adds text to the data. To fail, a handler raises ToolFailed with a
message for the caller; any other exception is logged, and clients do not see its text.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from obsidian_mcp import json_codec
from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments, ToolFailed, UnknownTool
from obsidian_mcp.tools.outcome import Outcome, to_plain_json
from obsidian_mcp.tools.registry import Tool

Handler = Callable[[dict[str, Any]], Any]
"""Takes the client's arguments; may be a coroutine function."""
Chat = Callable[[str, str], dict[str, Any]]
"""Takes a prompt and a model (empty: the default) and returns the gateway's completion. Raises:
ToolFailed."""


@dataclass(frozen=True, slots=True)
class InputProperty:
    """One argument of a registered tool."""

    type: str
    """JSON type: string, number, boolean, …"""
    description: str = ""

    def schema(self) -> dict[str, Any]:
        return {
            "type": self.type,
            **({"description": self.description} if self.description else {}),
        }


@dataclass(frozen=True, slots=True)
class InputSchema:
    """The arguments of a registered tool."""

    properties: Mapping[str, InputProperty] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    type: str = "object"

    def schema(self) -> dict[str, Any]:
        """As JSON Schema."""
        properties = {name: described.schema() for name, described in self.properties.items()}
        return {
            "type": self.type,
            "properties": properties,
            **({"required": list(self.required)} if self.required else {}),
        }


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as another program registers it."""

    name: str
    description: str
    input_schema: InputSchema = field(default_factory=InputSchema)
    writes: bool = False
    """Whether it changes anything: annotated for clients, and contract 001 requires `_confirm`."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as another program registers it."""

    name: str
    description: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class ToolReply:
    """An answer with more than data: `stdout` is text for the reader, `summary` says what was
    done."""

    data: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""
    stdout: str | None = None
    stderr: str = ""


class Bridge:
    """A registry of tools with their handlers, and of resources. Every method may be called from
    any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Replaced, never changed, so that a lookup needs no lock.
        self._tools: Mapping[str, HandledTool] = {}
        self._resources: Mapping[str, Resource] = {}

    def register_tool(self, tool: ToolSpec) -> None:
        """A tool of the same name is replaced, and its handler forgotten. Raises: InvalidArguments
        without a name."""
        if not tool.name:
            raise InvalidArguments("tool name cannot be empty")
        with self._lock:
            self._tools = {**self._tools, tool.name: HandledTool.make(tool, None)}

    def register_tool_handler(self, name: str, handler: Handler) -> None:
        """Raises: UnknownTool when the tool was not registered before."""
        with self._lock:
            self._tools = {
                **self._tools,
                name: HandledTool.make(self._find(name).described, handler),
            }

    def register_resource(self, resource: Resource) -> None:
        """A resource of the same name is replaced. Raises: InvalidArguments without a name."""
        if not resource.name:
            raise InvalidArguments("resource name cannot be empty")
        with self._lock:
            self._resources = {**self._resources, resource.name: resource}

    def list_tools(self) -> list[ToolSpec]:
        return [tool.described for tool in self._tools.values()]

    def list_resources(self) -> list[Resource]:
        return list(self._resources.values())

    def call_tool(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call the handler. Raises: UnknownTool, ToolFailed without a handler, and what the handler
        raises."""
        return self._find(name).run_handler(arguments)

    @property
    def served(self) -> Mapping[str, Tool]:
        """The present tools in the registry's form."""
        return self._tools

    def _find(self, name: str) -> HandledTool:
        try:
            return self._tools[name]
        except KeyError:
            raise UnknownTool(f"tool not found: {name}", tool=name) from None


@dataclass(frozen=True, eq=False)
class HandledTool(Tool):
    """A registered tool in the form of the vault's tools."""

    is_registered: ClassVar[bool] = True
    described: ToolSpec = field(kw_only=True)
    handler: Handler | None = field(kw_only=True)

    @classmethod
    def make(cls, tool: ToolSpec, handler: Handler | None) -> HandledTool:
        return cls(
            name=tool.name,
            title=tool.name.replace("_", " ").capitalize(),
            description=tool.description,
            function=lambda: None,  # `call` runs the handler
            read_only=not tool.writes,
            destructive=tool.writes,
            idempotent=not tool.writes,
            enveloped=False,
            described=tool,
            handler=handler,
        )

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return self.described.input_schema.schema()

    # the handlers are the gateway's own, and need no App
    def call(self, app: App, arguments: Mapping[str, Any]) -> Outcome:  # noqa: ARG002
        reply = self.run_handler(arguments)
        if not isinstance(reply, ToolReply):
            data = reply if isinstance(reply, Mapping) else {"result": reply}
            reply = ToolReply(data, stdout=reply if isinstance(reply, str) else None)
        data, text = to_plain_json(reply.data), reply.stdout
        return Outcome(
            data, text, document=False, enveloped=False, summary=reply.summary, stderr=reply.stderr
        )

    def run_handler(self, arguments: Mapping[str, Any]) -> Any:
        if self.handler is None:
            raise ToolFailed(f"no handler registered for tool: {self.name}", tool=self.name)
        result = self.handler(dict(arguments))
        return asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result


async def _wait_for(result: Any) -> Any:
    return await result


_GO_TYPES = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    type(None): "<nil>",
}
"""The contract names types as in Go."""


def own_registry(chat: Chat | None = None) -> Bridge:
    """Return a registry with the contract's own tools; `chat` only where there is a gateway."""
    bridge = Bridge()
    content = {"content": InputProperty("string")}
    bridge.register_tool(ToolSpec("echo", "Echoes back the input", InputSchema(content)))
    bridge.register_tool_handler("echo", lambda given: {"echo": given, "message": "Echo response"})
    bridge.register_tool(ToolSpec("time", "Returns current time information"))
    bridge.register_tool_handler("time", lambda _: _time(datetime.now(UTC)))
    text = {"data": InputProperty("string")}
    bridge.register_tool(
        ToolSpec("json_parse", "Parses JSON string to structured data", InputSchema(text))
    )
    bridge.register_tool_handler("json_parse", lambda given: _json_parse(given.get("data")))
    if chat is not None:
        prompt = {**content, "model": InputProperty("string")}
        bridge.register_tool(
            ToolSpec(
                "chat", "Execute LLM chat completion via gateway", InputSchema(prompt, ("content",))
            )
        )
        bridge.register_tool_handler("chat", lambda given: _chat(chat, given))
    return bridge


def _time(now: datetime) -> dict[str, Any]:
    return {"timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "unix": int(now.timestamp())}


def _json_parse(data: Any) -> dict[str, Any]:
    """Parse text; return other values unchanged, as the contract's original does."""
    if isinstance(data, str):
        try:
            data = json_codec.decode(data, keeps_halves=True)
        except ValueError as error:
            raise ToolFailed(f"parse error: {error}") from error
    return {"parsed": data, "type": _GO_TYPES.get(type(data), "float64")}


def _chat(chat: Chat, given: Mapping[str, Any]) -> dict[str, Any]:
    content, model = given.get("content"), given.get("model") or ""
    if not isinstance(content, str) or not content or not isinstance(model, str):
        raise InvalidArguments(
            "chat needs content, a string with the prompt; model, where given, is a string too."
        )
    completion = chat(content, model)
    return {
        "model": completion.get("model") or model,
        "provider": "openai",
        "result": completion,
        "usage": completion.get("usage") or {},
    }
