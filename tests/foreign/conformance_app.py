"""The HTTP server with the fixtures that the official conformance suite calls by name.

Access control, routes, sessions, error middleware and the vault's tools are the program's own; only what has a name
`test_…` is made here, as the suite's scenarios describe it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

import anyio
import mcp_types as t
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged

from obsidian_mcp.app import App
from obsidian_mcp.serve.dispatch import Dispatcher
from obsidian_mcp.serve.http import services
from obsidian_mcp.serve.mcp.server import build_server
from obsidian_mcp.tools.offer import Offer

Context = ServerRequestContext[Any, Any]
Result = t.CallToolResult | t.InputRequiredResult
Fixture = Callable[[Context, t.CallToolRequestParams], Awaitable[Result]]

PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
NO_ARGUMENTS: Final[dict[str, Any]] = {"type": "object", "properties": {}}
PAUSE: Final = 0.05
RICH_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADER_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "query": {"type": "string"},
    },
    "required": ["region"],
}

FIXTURES: dict[str, tuple[t.Tool, Fixture]] = {}


class Unknown(Exception):
    """No fixture has this name."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data = data


async def list_tools(_: Context, __: Any) -> t.ListToolsResult:
    return t.ListToolsResult(tools=[tool for tool, _ in FIXTURES.values()])


async def call_tool(ctx: Context, params: t.CallToolRequestParams) -> Result:
    if params.name not in FIXTURES:
        raise Unknown(f"Unknown tool: {params.name}")
    return await FIXTURES[params.name][1](ctx, params)


def fixture(name: str, schema: dict[str, Any] = NO_ARGUMENTS) -> Callable[[Fixture], Fixture]:
    """Offer a function as a tool of this name."""

    def register(function: Fixture) -> Fixture:
        FIXTURES[name] = t.Tool(name=name, description=f"Fixture {name}", input_schema=schema), function
        return function

    return register


def text(words: str) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(text=words)])


def resource(uri: str, kind: str, words: str) -> t.EmbeddedResource:
    return t.EmbeddedResource(resource=t.TextResourceContents(uri=uri, mime_type=kind, text=words))


@fixture("test_simple_text")
async def simple_text(_: Context, __: t.CallToolRequestParams) -> Result:
    return text("This is a simple text response for testing.")


@fixture("test_image_content")
async def image_content(_: Context, __: t.CallToolRequestParams) -> Result:
    return t.CallToolResult(content=[t.ImageContent(data=PNG, mime_type="image/png")])


@fixture("test_audio_content")
async def audio_content(_: Context, __: t.CallToolRequestParams) -> Result:
    return t.CallToolResult(content=[t.AudioContent(data=WAV, mime_type="audio/wav")])


@fixture("test_embedded_resource")
async def embedded_resource(_: Context, __: t.CallToolRequestParams) -> Result:
    words = "This is an embedded resource content."
    return t.CallToolResult(content=[resource("test://embedded-resource", "text/plain", words)])


@fixture("test_multiple_content_types")
async def multiple_content_types(_: Context, __: t.CallToolRequestParams) -> Result:
    return t.CallToolResult(
        content=[
            t.TextContent(text="Multiple content types test:"),
            t.ImageContent(data=PNG, mime_type="image/png"),
            resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ]
    )


@fixture("test_error_handling")
async def error_handling(_: Context, __: t.CallToolRequestParams) -> Result:
    answer = text("This tool intentionally returns an error for testing")
    return answer.model_copy(update={"is_error": True})


async def log_steps(ctx: Context, *steps: str) -> None:
    for step in steps:
        await ctx.session.send_log_message(level="info", data=step, related_request_id=ctx.request_id)
        await anyio.sleep(PAUSE)


@fixture("test_tool_with_logging")
async def tool_with_logging(ctx: Context, _: t.CallToolRequestParams) -> Result:
    await log_steps(ctx, "Tool execution started", "Tool processing data", "Tool execution completed")
    return text("Tool with logging executed")


@fixture("test_logging_tool")
async def logging_tool(ctx: Context, _: t.CallToolRequestParams) -> Result:
    await log_steps(ctx, "Only for clients that asked for it")
    return text("Logged")


@fixture("test_tool_with_progress")
async def tool_with_progress(ctx: Context, _: t.CallToolRequestParams) -> Result:
    for step in (0, 50, 100):
        await ctx.session.report_progress(step, 100)
        await anyio.sleep(PAUSE)
    return text("Tool with progress executed")


@fixture("test_sampling", {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]})
async def sampling(ctx: Context, params: t.CallToolRequestParams) -> Result:
    question = t.TextContent(text=(params.arguments or {})["prompt"])
    answer = await ctx.session.create_message(
        [t.SamplingMessage(role="user", content=question)], max_tokens=100, related_request_id=ctx.request_id
    )
    words = answer.content.text if isinstance(answer.content, t.TextContent) else "no text"
    return text(f"LLM response: {words}")


async def elicited(ctx: Context, message: str, properties: dict[str, Any]) -> str:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    answer = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return f"action={answer.action}, content={json.dumps(answer.content)}"


@fixture("test_elicitation", {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]})
async def elicitation(ctx: Context, params: t.CallToolRequestParams) -> Result:
    properties = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    return text(f"User response: {await elicited(ctx, (params.arguments or {})['message'], properties)}")


@fixture("test_elicitation_sep1034_defaults")
async def elicitation_sep1034_defaults(ctx: Context, _: t.CallToolRequestParams) -> Result:
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return text(f"Elicitation completed: {await elicited(ctx, 'Please fill in', properties)}")


def titled(*names: str) -> list[dict[str, str]]:
    return [{"const": f"value{i}", "title": name} for i, name in enumerate(names, 1)]


@fixture("test_elicitation_sep1330_enums")
async def elicitation_sep1330_enums(ctx: Context, _: t.CallToolRequestParams) -> Result:
    options = ["option1", "option2", "option3"]
    properties = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("First Option", "Second Option", "Third Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": titled("First Choice", "Second Choice", "Third Choice")},
        },
    }
    return text(f"Elicitation completed: {await elicited(ctx, 'Please choose', properties)}")


@fixture("test_reconnection")
async def reconnection(ctx: Context, _: t.CallToolRequestParams) -> Result:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await anyio.sleep(4 * PAUSE)
    return text("Reconnection test completed")


@fixture("json_schema_2020_12_tool", RICH_SCHEMA)
async def json_schema_2020_12_tool(_: Context, __: t.CallToolRequestParams) -> Result:
    return text("ok")


@fixture("test_x_mcp_header", HEADER_SCHEMA)
async def x_mcp_header(_: Context, params: t.CallToolRequestParams) -> Result:
    return text(json.dumps(params.arguments))


# -- what the revision 2026-07-28 asks of its clients in results instead of requests


def form(message: str, name: str, kind: str = "string") -> t.ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return t.ElicitRequest(params=t.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(question: str, tokens: int) -> t.CreateMessageRequest:
    message = t.SamplingMessage(role="user", content=t.TextContent(text=question))
    return t.CreateMessageRequest(params=t.CreateMessageRequestParams(messages=[message], max_tokens=tokens))


def ask(state: str | None = None, **requests: Any) -> t.InputRequiredResult:
    return t.InputRequiredResult(input_requests=requests, request_state=state)


def answers(params: Any) -> Mapping[str, Any]:
    return params.input_responses or {}


def filled(answer: Any, name: str) -> Any:
    """A member of an accepted form; None of anything else."""
    content = getattr(answer, "content", None)
    return content.get(name) if isinstance(content, dict) else None


@fixture("test_input_required_result_elicitation")
async def input_required_result_elicitation(_: Context, params: t.CallToolRequestParams) -> Result:
    name = filled(answers(params).get("user_name"), "name")
    return text(f"Hello, {name}!") if name is not None else ask(user_name=form("What is your name?", "name"))


@fixture("test_input_required_result_sampling")
async def input_required_result_sampling(_: Context, params: t.CallToolRequestParams) -> Result:
    answer = answers(params).get("capital_question")
    if isinstance(answer, t.CreateMessageResult) and isinstance(answer.content, t.TextContent):
        return text(answer.content.text)
    return ask(capital_question=sample("What is the capital of France?", 100))


@fixture("test_input_required_result_list_roots")
async def input_required_result_list_roots(_: Context, params: t.CallToolRequestParams) -> Result:
    answer = answers(params).get("client_roots")
    if isinstance(answer, t.ListRootsResult):
        return text(", ".join(str(root.uri) for root in answer.roots))
    return ask(client_roots=t.ListRootsRequest())


@fixture("test_input_required_result_request_state")
async def input_required_result_request_state(_: Context, params: t.CallToolRequestParams) -> Result:
    if params.request_state == "confirming" and "confirm" in answers(params):
        return text("state-ok")
    return ask("confirming", confirm=form("Please confirm", "ok", "boolean"))


@fixture("test_input_required_result_tampered_state")
async def input_required_result_tampered_state(_: Context, params: t.CallToolRequestParams) -> Result:
    if params.request_state == "sealed":
        return text("state-ok")
    return ask("sealed", confirm=form("Please confirm", "ok", "boolean"))


@fixture("test_input_required_result_multiple_inputs")
async def input_required_result_multiple_inputs(_: Context, params: t.CallToolRequestParams) -> Result:
    wanted = {
        "user_name": form("What is your name?", "name"),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": t.ListRootsRequest(),
    }
    return text("All answered") if set(wanted) <= set(answers(params)) else ask("several", **wanted)


@fixture("test_input_required_result_multi_round")
async def input_required_result_multi_round(_: Context, params: t.CallToolRequestParams) -> Result:
    name = filled(answers(params).get("step1"), "name")
    colour = filled(answers(params).get("step2"), "color")
    if params.request_state is not None and params.request_state.startswith("named:") and colour is not None:
        return text(f"{params.request_state.removeprefix('named:')} likes {colour}")
    if name is not None:
        return ask(f"named:{name}", step2=form("Step 2: What is your favorite color?", "color"))
    return ask("begun", step1=form("Step 1: What is your name?", "name"))


@fixture("test_input_required_result_capabilities")
async def input_required_result_capabilities(ctx: Context, _: t.CallToolRequestParams) -> Result:
    can = ctx.session.client_capabilities or t.ClientCapabilities()
    wanted: dict[str, Any] = {}
    if can.sampling is not None:
        wanted["question"] = sample("What is the capital of France?", 100)
    if can.elicitation is not None:
        wanted["user_name"] = form("What is your name?", "name")
    return ask(**wanted) if wanted else text("Nothing can be asked")


@fixture("test_streaming_elicitation")
async def streaming_elicitation(_: Context, params: t.CallToolRequestParams) -> Result:
    return text("Answered") if answers(params) else ask(user_name=form("What is your name?", "name"))


@fixture("test_missing_capability")
async def missing_capability(ctx: Context, _: t.CallToolRequestParams) -> Result:
    if (ctx.session.client_capabilities or t.ClientCapabilities()).sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(t.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs the client's sampling.", needed)
    return text("The client can sample")


# -- lists that change

BUS: Final = InMemorySubscriptionBus()


@fixture("test_trigger_tool_change")
async def trigger_tool_change(_: Context, __: t.CallToolRequestParams) -> Result:
    await BUS.publish(ToolsListChanged())
    return text("The tools have changed")


@fixture("test_trigger_prompt_change")
async def trigger_prompt_change(_: Context, __: t.CallToolRequestParams) -> Result:
    await BUS.publish(PromptsListChanged())
    return text("The prompts have changed")


# -- resources, prompts and what hangs on them

STATIC: Final = {
    "test://static-text": ("text/plain", "This is the content of the static text resource."),
    "test://static-binary": ("image/png", PNG),
    "test://watched-resource": ("text/plain", "Watched resource content"),
}


async def list_resources(_: Context, __: Any) -> t.ListResourcesResult:
    return t.ListResourcesResult(
        resources=[
            t.Resource(uri=uri, name=uri.rpartition("/")[2], description="A fixture", mime_type=kind)
            for uri, (kind, _) in STATIC.items()
        ]
    )


async def list_templates(_: Context, __: Any) -> t.ListResourceTemplatesResult:
    template = t.ResourceTemplate(uri_template="test://template/{id}/data", name="template", description="A fixture")
    return t.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_: Context, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    uri = str(params.uri)
    if uri in STATIC:
        kind, content = STATIC[uri]
        if kind == "image/png":
            return t.ReadResourceResult(contents=[t.BlobResourceContents(uri=uri, mime_type=kind, blob=content)])
        return t.ReadResourceResult(contents=[t.TextResourceContents(uri=uri, mime_type=kind, text=content)])
    if uri.startswith("test://template/") and uri.endswith("/data"):
        number = uri.split("/")[3]
        data = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
        found = t.TextResourceContents(uri=uri, mime_type="application/json", text=data)
        return t.ReadResourceResult(contents=[found])
    raise Unknown("Resource not found", uri=uri)


async def accept(_: Context, __: Any) -> t.EmptyResult:
    return t.EmptyResult()


PROMPTS: Final[dict[str, list[str]]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
    "test_input_required_result_prompt": [],
}


async def list_prompts(_: Context, __: Any) -> t.ListPromptsResult:
    return t.ListPromptsResult(
        prompts=[
            t.Prompt(
                name=name,
                description="A fixture",
                arguments=[t.PromptArgument(name=argument, required=True) for argument in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
    )


def said(*contents: t.ContentBlock) -> t.GetPromptResult:
    return t.GetPromptResult(messages=[t.PromptMessage(role="user", content=content) for content in contents])


async def get_prompt(_: Context, params: t.GetPromptRequestParams) -> t.GetPromptResult | t.InputRequiredResult:
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            return said(t.TextContent(text="This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            words = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
            return said(t.TextContent(text=words))
        case "test_prompt_with_embedded_resource":
            embedded = resource(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return said(embedded, t.TextContent(text="Please process the embedded resource above."))
        case "test_prompt_with_image":
            image = t.ImageContent(data=PNG, mime_type="image/png")
            return said(image, t.TextContent(text="Please analyze the image above."))
        case "test_input_required_result_prompt":
            context = filled(answers(params).get("user_context"), "context")
            if context is None:
                return ask(user_context=form("What context should the prompt use?", "context"))
            return said(t.TextContent(text=f"Use this context: {context}"))
    raise Unknown(f"Unknown prompt: {params.name}")


async def complete(_: Context, __: t.CompleteRequestParams) -> t.CompleteResult:
    return t.CompleteResult(completion=t.Completion(values=["paris", "park", "party"], total=3, has_more=False))


class Events(EventStore):
    """Events in memory, so that a client may leave a stream and come back to it."""

    def __init__(self) -> None:
        self._events: list[tuple[str, t.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: t.JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        last = int(last_event_id) if last_event_id.isdigit() else 0
        if not 0 < last <= len(self._events):
            return None
        stream = self._events[last - 1][0]
        for number, (where, message) in enumerate(self._events[last:], last + 1):
            if where == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def with_fixtures(app: App, offer: Offer) -> StreamableHTTPSessionManager:
    """The program's own server, with the fixtures beside what it has itself."""
    served: Server[dict[str, Any]] = build_server(app, offer)

    def beside(method: str, kind: type[Any], ours: Callable[[Context, Any], Awaitable[Any]]) -> None:
        """Serve a method by the fixtures; where they know nothing or have a list to add to, by the program."""
        entry = served.get_request_handler(method)

        async def serve(ctx: Context, params: Any) -> Any:
            own: Any = entry.handler if entry is not None else None
            if own is not None and method.endswith("/list"):
                listed, more = await ours(ctx, params), await own(ctx, params)
                name = next(field for field in type(listed).model_fields if isinstance(getattr(listed, field), list))
                return listed.model_copy(update={name: getattr(listed, name) + getattr(more, name)})
            try:
                return await ours(ctx, params)
            except Unknown as unknown:
                if own is not None:
                    return await own(ctx, params)
                raise MCPError(t.INVALID_PARAMS, str(unknown), unknown.data) from unknown

        served.add_request_handler(method, kind, serve)

    beside("tools/list", t.PaginatedRequestParams, list_tools)
    beside("tools/call", t.CallToolRequestParams, call_tool)
    beside("resources/list", t.PaginatedRequestParams, list_resources)
    beside("resources/templates/list", t.PaginatedRequestParams, list_templates)
    beside("resources/read", t.ReadResourceRequestParams, read_resource)
    beside("resources/subscribe", t.SubscribeRequestParams, accept)
    beside("resources/unsubscribe", t.UnsubscribeRequestParams, accept)
    beside("prompts/list", t.PaginatedRequestParams, list_prompts)
    beside("prompts/get", t.GetPromptRequestParams, get_prompt)
    beside("completion/complete", t.CompleteRequestParams, complete)
    beside("logging/setLevel", t.SetLevelRequestParams, accept)
    served.add_request_handler("subscriptions/listen", t.SubscriptionsListenRequestParams, ListenHandler(BUS))
    served.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="conformance"))
    return StreamableHTTPSessionManager(served, event_store=Events(), retry_interval=100)


class AllBut(frozenset[str]):
    """Every method, without these."""

    def __contains__(self, method: object) -> bool:
        return not super().__contains__(method)


@contextmanager
def with_the_fixtures() -> Iterator[None]:
    """Every HTTP server that is made meanwhile has the fixtures."""
    with (
        patch.object(services, "build_manager", with_fixtures),  # handlers of the SDK, so that all else goes there, too
        patch.object(Dispatcher, "serves", lambda _, message: message["method"] in ("initialize", "ping")),
        patch.object(Dispatcher, "handshake_methods", AllBut()),
        patch.object(Dispatcher, "modern_methods", AllBut(("initialize", "ping"))),
    ):
        yield
