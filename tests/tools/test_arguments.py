"""The arguments of every tool, in the forms in which models and hosts send them (specs/tools.md)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import replace
from functools import wraps
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.errors import AppError, InvalidArguments
from obsidian_mcp.tools.arguments import HOST_MEMBERS, NO_VALUES, ToolParameter
from obsidian_mcp.tools.registry import RESEARCH_TOOLS, TOOLS, VIEW_TOOLS, Tool, call

EVERY_TOOL = [tool for table in (TOOLS, PLUGIN_TOOLS, VIEW_TOOLS, RESEARCH_TOOLS) for tool in table.values()]
SAMPLES: dict[str, Any] = {"string": "Alpha", "integer": 1, "boolean": True, "object": {"a": 1}}


@pytest.fixture(scope="module")
def app(shared_app: App) -> App:
    return shared_app


def of_every_tool(tools: Iterable[Tool] = EVERY_TOOL) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("tool", [pytest.param(tool, id=tool.name) for tool in tools])


def sample(parameter: ToolParameter) -> Any:
    """A value that the parameter takes."""
    if parameter.choices:
        return next(filter(None, parameter.choices))
    if parameter.field.pattern:
        return "1-2"
    return [SAMPLES[parameter.items]] if parameter.items else SAMPLES[parameter.type]


def needed(tool: Tool) -> dict[str, Any]:
    return {name: sample(parameter) for name, parameter in tool.parameters.items() if parameter.is_required}


def received(app: App, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the function of a tool gets from a call."""
    got: dict[str, Any] = {}

    @wraps(tool.function)
    def function(_: App, **given: Any) -> dict[str, Any]:
        got.update(given)
        return {}

    replace(tool, function=function).call(app, arguments)
    return got


@of_every_tool()
def test_null_counts_as_not_given_for_every_optional_argument(app: App, tool: Tool) -> None:
    """TOOL-28"""
    without = received(app, tool, needed(tool))
    for name, parameter in tool.parameters.items():
        if not parameter.is_required:
            assert received(app, tool, {**needed(tool), name: None}) == without


@of_every_tool()
def test_null_for_a_required_argument_is_a_missing_argument(app: App, tool: Tool) -> None:
    """TOOL-28"""
    for name in needed(tool):
        with pytest.raises(InvalidArguments, match=f"Missing required argument: {name} "):
            received(app, tool, {**needed(tool), name: None})


@of_every_tool()
def test_an_empty_string_counts_as_not_given_where_it_is_no_value(app: App, tool: Tool) -> None:
    """TOOL-28"""
    without = received(app, tool, needed(tool))
    for name, parameter in tool.parameters.items():
        is_text = parameter.type == "string" and ("" in parameter.choices or not parameter.choices)
        if not parameter.is_required and not is_text:
            assert received(app, tool, {**needed(tool), name: ""}) == without


def test_null_keeps_its_meaning_as_the_value_of_a_property(app: App) -> None:
    """TOOL-28"""
    call(app, "obsidian_set_properties", {"names": ["Alpha"], "properties": {"status": None, "new": 1}})
    read = call(app, "obsidian_get_properties", {"name": "Alpha"}).data["properties"]
    assert "status" not in read
    assert read["new"] == 1


@of_every_tool()
def test_a_value_is_read_in_every_form_in_which_it_is_sent(app: App, tool: Tool) -> None:
    """TOOL-05"""
    for name, parameter in tool.parameters.items():
        value = sample(parameter)
        others: list[Any] = []
        match parameter.type:
            case "integer":
                others = ["1", 1.0, "1.0", " 1 "]
            case "boolean":
                others = ["true", "True", 1, "yes"]
            case "object":
                others = [json.dumps(value)]
            case "array":
                others = [json.dumps(value), value[0], [json.dumps(value[0])] if parameter.items == "object" else value]
        for other in others:
            assert received(app, tool, {**needed(tool), name: other})[name] == value, (name, other)


@of_every_tool([tool for tool in EVERY_TOOL if any(known.items == "string" for known in tool.parameters.values())])
def test_a_name_that_is_json_too_is_a_name(app: App, tool: Tool) -> None:
    """TOOL-05"""
    for name, parameter in tool.parameters.items():
        if parameter.items == "string":
            for text in ("2026", "[[1]]", '"quoted"', "true", "{}"):
                assert received(app, tool, {**needed(tool), name: text})[name] == [text]


def test_a_number_for_text_is_its_digits(app: App) -> None:
    """TOOL-05"""
    made = call(app, "obsidian_create_note", {"name": 2026, "content": 1.5})
    assert made.data["path"] == "2026.md"
    assert call(app, "obsidian_read_note", {"name": 2026}).text == "1.5"


def test_members_of_an_operation_are_read_as_arguments_are(app: App) -> None:
    """TOOL-05"""
    call(app, "obsidian_create_note", {"name": "Table", "content": "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"})
    operations = [
        {"op": "sort", "column": "a", "descending": "true"},
        {"op": "move_row", "row": 1, "at": "2", "value": None},
        {"op": "add_row", "values": '["5", 6]'},
        {"op": "add_row", "values": "7"},
    ]
    call(app, "obsidian_edit_table", {"name": "Table", "operations": json.dumps(operations)})
    written = call(app, "obsidian_read_note", {"name": "Table"}).text
    # numbers of rows mean the table as it was read (TABLE-8): row 1 is behind the other one after the sort
    assert written == "| a | b |\n|---|---|\n| 3 | 4 |\n| 1 | 2 |\n| 5 | 6 |\n| 7 |   |\n"

    card = {"op": "add", "type": "text", "text": 5, "x": "10", "y": 20.0, "color": 1, "group": None}
    call(app, "obsidian_edit_canvas", {"name": "New", "create": "true", "operations": card})
    around = {"op": "add", "type": "group", "label": "G", "cards": "5"}
    call(app, "obsidian_edit_canvas", {"name": "New", "operations": [json.dumps(around)]})
    shown = call(app, "obsidian_read_canvas", {"name": "New"}).text
    assert shown is not None
    assert "text 10,20" in shown
    assert "color 1: 5" in shown
    assert "group" in shown


@of_every_tool()
def test_members_that_hosts_add_are_left_out_with_a_note_in_the_log(
    app: App, tool: Tool, caplog: pytest.LogCaptureFixture
) -> None:
    """TOOL-29"""
    caplog.set_level(logging.INFO)
    added = {member: "x" for member in HOST_MEMBERS if member not in tool.parameters}
    assert received(app, tool, {**needed(tool), **added}) == received(app, tool, needed(tool))
    for member in added:
        assert f"{tool.name}: left out the argument {member}, which {HOST_MEMBERS[member]} adds" in caplog.text


@of_every_tool()
def test_any_other_unknown_argument_is_refused_with_the_near_name(app: App, tool: Tool) -> None:
    """TOOL-03"""
    for name in tool.parameters:
        with pytest.raises(InvalidArguments) as refusal:
            received(app, tool, {**needed(tool), f"{name}_": 1})
        names = ", ".join(tool.parameters)
        said = f"There is no argument '{name}_' in {tool.name}. Did you mean {name}? It takes {names}."
        assert refusal.value.message == said
    with pytest.raises(InvalidArguments, match="There is no argument 'zzz'"):
        received(app, tool, {**needed(tool), "zzz": None})


@of_every_tool()
def test_a_value_that_does_not_fit_is_refused_with_what_came_and_what_is_allowed(app: App, tool: Tool) -> None:
    """TOOL-29"""
    for name, parameter in tool.parameters.items():
        wrong: Any = {"string": ["x"], "integer": "many", "boolean": "perhaps", "object": "x", "array": [[1]]}
        with pytest.raises(InvalidArguments) as refusal:
            received(app, tool, {**needed(tool), name: wrong[parameter.type]})
        message = refusal.value.message
        came = json.dumps(wrong[parameter.type])
        assert message == f"Argument {name!r} must be {parameter.describe()}, but {came} came."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"limit": 1000}, "'limit' must be a whole number of at least 0 and at most 500, but 1000 came."),
        ({"limit": -1}, "'limit' must be a whole number of at least 0 and at most 500, but -1 came."),
        ({"limit": 1.5}, "'limit' must be a whole number of at least 0 and at most 500, but 1.5 came."),
        ({"limit": True}, "'limit' must be a whole number of at least 0 and at most 500, but true came."),
        ({"offset": 2**70}, f"'offset' must be a whole number of at least 0 and at most {2**53}, but {2**70} came."),
        ({"offset": -1}, "'offset' must be a whole number of at least 0, but -1 came."),
        ({"match": "fuzzy"}, "'match' must be one of smart, exact, but \"fuzzy\" came."),
        ({"show": "all"}, "'show' must be one of lines, passages, paths, but \"all\" came."),
        ({"query": {}}, "'query' must be a string, but {} came."),
    ],
)
def test_an_error_says_what_is_allowed_in_one_sentence(app: App, given: dict[str, Any], said: str) -> None:
    """TOOL-03"""
    with pytest.raises(InvalidArguments) as refusal:
        call(app, "obsidian_search", {"query": "x", **given})
    assert refusal.value.message == f"Argument {said}"
    with pytest.raises(InvalidArguments, match="'recursive' must be true or false, but 2 came"):
        call(app, "obsidian_list_files", {"recursive": 2})


@pytest.mark.parametrize("names", [["null"], ["None", "undefined"], [None], '["null"]', "[null]"], ids=str)
@pytest.mark.parametrize(
    ("tool", "arguments", "argument"),
    [
        ("obsidian_read_note", {}, "names"),
        ("obsidian_read_note", {"name": "Alpha"}, "names"),
        ("obsidian_update_task", {"name": "Alpha", "line": 1}, "depends_on"),
    ],
)
def test_a_failure_over_a_list_that_means_no_value_says_to_leave_the_argument_out(
    app: App, tool: str, arguments: dict[str, Any], argument: str, names: Any
) -> None:
    """TOOL-30"""
    with pytest.raises(AppError) as failure:
        call(app, tool, {**arguments, argument: names})
    assert failure.value.message.endswith(f" If no value is meant, leave {argument} out.")
    calls = [{"tool": "update_task", "name": "Alpha", "line": 1, "depends_on": names}]
    with pytest.raises(AppError, match=r"leave depends_on out\."):
        call(app, "obsidian_batch", {"calls": calls})


@pytest.mark.parametrize("text", NO_VALUES)
@pytest.mark.parametrize(
    ("tool", "arguments", "argument"),
    [
        ("obsidian_read_note", {}, "name"),
        ("obsidian_read_note", {"name": "Alpha"}, "section"),
        ("obsidian_read_note", {"name": "Alpha"}, "vault"),
        ("obsidian_search", {"query": "x"}, "folder"),
        ("obsidian_search", {"query": "x"}, "limit"),
        ("obsidian_search", {"query": "x"}, "modified_after"),
        ("obsidian_edit_note", {"name": "Alpha", "operation": "append", "content": "x"}, "etag"),
        ("obsidian_list_tasks", {}, "note"),
        ("obsidian_undo", {}, "change"),
        ("obsidian_query", {"query": "TABLE WITHOUT ID file.name"}, "vault"),
    ],
)
def test_a_failure_over_text_that_means_no_value_says_to_leave_the_argument_out(
    app: App, tool: str, arguments: dict[str, Any], argument: str, text: str
) -> None:
    """TOOL-30"""
    with pytest.raises(AppError) as failure:
        call(app, tool, {**arguments, argument: text})
    assert failure.value.message.endswith(f" If no value is meant, leave {argument} out.")
