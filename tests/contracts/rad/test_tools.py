"""The registry for tools of other programs has the document's semantics (specs/http.md RAD-…)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from obsidian_mcp.contracts.rad.tools import Bridge, InputProperty, InputSchema, Resource, ToolSpec, own_registry
from obsidian_mcp.errors import InvalidArguments, ToolFailed, UnknownTool

WEATHER = ToolSpec(
    "weather_lookup",
    "Get weather information for a location",
    InputSchema(
        {
            "location": InputProperty("string", "City name or coordinates"),
            "units": InputProperty("string", "celsius or fahrenheit"),
        },
        required=("location",),
    ),
)


def test_a_tool_with_its_handler_is_called() -> None:
    bridge = Bridge()
    bridge.register_tool(WEATHER)
    bridge.register_tool_handler("weather_lookup", lambda given: {"temperature": 72, "where": given["location"]})
    assert bridge.list_tools() == [WEATHER]
    assert bridge.call_tool("weather_lookup", {"location": "Kyoto"}) == {"temperature": 72, "where": "Kyoto"}


def test_a_handler_must_follow_its_tool() -> None:
    with pytest.raises(UnknownTool, match="tool not found: weather_lookup"):
        Bridge().register_tool_handler("weather_lookup", lambda _: None)


def test_a_tool_without_a_handler_says_so() -> None:
    bridge = Bridge()
    bridge.register_tool(WEATHER)
    with pytest.raises(ToolFailed, match="no handler registered for tool: weather_lookup"):
        bridge.call_tool("weather_lookup", {})


def test_an_unknown_tool_says_so() -> None:
    with pytest.raises(UnknownTool, match="tool not found: nope"):
        Bridge().call_tool("nope", {})


def test_names_cannot_be_empty() -> None:
    with pytest.raises(InvalidArguments, match="tool name cannot be empty"):
        Bridge().register_tool(ToolSpec("", ""))
    with pytest.raises(InvalidArguments, match="resource name cannot be empty"):
        Bridge().register_resource(Resource("", "", ""))


def test_registering_again_replaces() -> None:
    bridge = Bridge()
    bridge.register_tool(ToolSpec("a", "old"))
    bridge.register_tool_handler("a", lambda _: "old")
    bridge.register_tool(ToolSpec("a", "new"))
    assert [tool.description for tool in bridge.list_tools()] == ["new"]
    with pytest.raises(ToolFailed, match="no handler"):
        bridge.call_tool("a", {})


def test_resources_are_listed_for_handlers() -> None:
    bridge = Bridge()
    profile = Resource("user_profile", "User profile data", "application/json")
    bridge.register_resource(profile)
    bridge.register_tool(ToolSpec("which", ""))
    bridge.register_tool_handler("which", lambda _: [resource.name for resource in bridge.list_resources()])
    assert bridge.call_tool("which", {}) == ["user_profile"]
    assert bridge.list_resources() == [profile]


def test_a_handler_may_be_a_coroutine_function() -> None:
    """RAD-05"""

    async def later(given: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return given["x"]

    bridge = Bridge()
    bridge.register_tool(ToolSpec("later", ""))
    bridge.register_tool_handler("later", later)
    assert bridge.call_tool("later", {"x": 1}) == 1


def test_what_a_handler_raises_reaches_a_caller_in_process() -> None:
    bridge = Bridge()
    bridge.register_tool(ToolSpec("divide", ""))
    bridge.register_tool_handler("divide", lambda given: given["a"] / given["b"])
    with pytest.raises(ZeroDivisionError):
        bridge.call_tool("divide", {"a": 1, "b": 0})


def test_the_schema_is_json_schema() -> None:
    bridge = Bridge()
    bridge.register_tool(WEATHER)
    assert bridge.served["weather_lookup"].input_schema == {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "City name or coordinates"},
            "units": {"type": "string", "description": "celsius or fahrenheit"},
        },
        "required": ["location"],
    }


def test_calls_and_registrations_of_many_threads_do_not_disturb_each_other() -> None:
    """RAD-04"""
    bridge = Bridge()
    bridge.register_tool(ToolSpec("steady", ""))
    bridge.register_tool_handler("steady", lambda given: given["n"])
    barrier = threading.Barrier(8)
    wrong: list[object] = []

    def work(number: int) -> None:
        barrier.wait()
        for turn in range(100):
            name = f"tool_{number}_{turn}"
            bridge.register_tool(ToolSpec(name, ""))
            bridge.register_tool_handler(name, lambda given: given["n"])
            if bridge.call_tool("steady", {"n": turn}) != turn or bridge.call_tool(name, {"n": 1}) != 1:
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(bridge.list_tools()) == 801


def test_chat_is_there_only_with_a_gateway() -> None:
    """RAD-02"""
    assert [tool.name for tool in own_registry().list_tools()] == ["echo", "time", "json_parse"]
    message: list[tuple[str, str]] = []

    def gateway(content: str, model: str) -> dict[str, Any]:
        message.append((content, model))
        return {"model": "m", "choices": []}

    bridge = own_registry(gateway)
    assert bridge.call_tool("chat", {"content": "hi"}) == {
        "model": "m",
        "provider": "openai",
        "result": {"model": "m", "choices": []},
        "usage": {},
    }
    assert message == [("hi", "")]
