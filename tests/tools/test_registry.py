"""The table of tools, and what is imported for one (TOOL-01, CLI-20)."""

from __future__ import annotations

import ast
import pkgutil
import re
import subprocess
import sys
from dataclasses import make_dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import obsidian_mcp
from obsidian_mcp import json_codec, tools
from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.tools import offer, registry
from obsidian_mcp.tools.outcome import to_plain_json
from obsidian_mcp.tools.registry import RESEARCH_TOOLS, TOOLS, VIEW_TOOLS, Tools


class Row(NamedTuple):
    path: str
    value: object = None


@pytest.mark.parametrize("table", [TOOLS, PLUGIN_TOOLS, VIEW_TOOLS, RESEARCH_TOOLS])
def test_every_tool_of_the_table_is_a_function_of_its_module(table: Tools) -> None:
    for name, tool in table.items():
        function = tool.function
        assert (function.__module__, table.prefix + function.__name__) == (
            f"{table.package}.{table.modules[name]}",
            name,
        )


def test_every_function_that_is_made_a_tool_is_in_the_table() -> None:
    modules = {module.name for module in pkgutil.iter_modules(tools.__path__)}
    for module in modules:
        import_module(f"{tools.__name__}.{module}")  # raises for a function that is not, as below
    for table in (TOOLS, VIEW_TOOLS, RESEARCH_TOOLS):
        assert set(table.modules.values()) <= modules

    def unlisted(app: object) -> None:
        """A tool that no table names."""

    with pytest.raises(KeyError, match="obsidian_unlisted"):
        registry.tool(title="No tool")(unlisted)
    assert "obsidian_unlisted" not in TOOLS


def test_commands_are_named_once() -> None:
    assert len({entry.command for entry in offer.table().tools.values()}) == len(TOOLS)


def test_texts_of_the_program_name_only_tools_that_there_are() -> None:
    """CLI-20: An error that says how to go on with a tool that does not exist sends a model
    astray."""
    known = {*TOOLS, *VIEW_TOOLS, *PLUGIN_TOOLS, "obsidian_mcp"}
    name_of_tool = re.compile(r"(?<![./`\w])obsidian_[a-z_]+")
    named: dict[str, str] = {}
    for path in Path(obsidian_mcp.__file__).parent.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        has_other = not known.issuperset(name_of_tool.findall(source))
        for node in ast.walk(ast.parse(source if has_other else "")):  # reading the syntax of all files takes a second
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named.update(dict.fromkeys(name_of_tool.findall(node.value), path.name))
    assert {name: file for name, file in named.items() if name not in known} == {}


def test_a_call_imports_the_module_of_its_tool_alone() -> None:
    program = (
        "import sys\nfrom obsidian_mcp.tools.registry import TOOLS\n"
        "TOOLS['obsidian_read_note'], 'obsidian_undo' in TOOLS\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    here = {f"{tools.__name__}.{module}" for module in set(TOOLS.modules.values())}
    assert here & set(done.stdout.split()) == {f"{tools.__name__}.reading"}


def test_an_answer_with_half_of_a_character_and_no_number_is_json() -> None:
    """FILE-05"""
    assert (
        json_codec.encode({"n": [float("nan"), 1.5], "half": "\ud83d"}) == '{"n":[null,1.5],"half":"\ufffd"}'.encode()
    )


@pytest.mark.parametrize("kind", [Row, make_dataclass("Row", ["path", ("value", object, None)])])
def test_a_record_of_either_kind_is_an_object_in_an_answer(kind: type) -> None:
    assert to_plain_json({"rows": [kind("A.md", 7), kind("B.md")]}) == {
        "rows": [{"path": "A.md", "value": 7}, {"path": "B.md"}]
    }
