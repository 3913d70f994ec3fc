"""The table of tools, and what is imported for one (TOOL-01, CLI-20)."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

from obsidian_mcp import tools
from obsidian_mcp.tools import registry
from obsidian_mcp.tools.registry import PLUGIN_TOOLS, RESEARCH_TOOLS, TOOLS, VIEW_TOOLS, Tools


@pytest.mark.parametrize("table", [TOOLS, PLUGIN_TOOLS, VIEW_TOOLS, RESEARCH_TOOLS])
def test_every_tool_of_the_table_is_a_function_of_its_module(table: Tools) -> None:
    for name, tool in table.items():
        function = tool.function
        assert (function.__module__, table.prefix + function.__name__) == (
            f"{tools.__name__}.{table.modules[name]}",
            name,
        )
        assert tool.command == table.commands[name]


def test_every_function_that_is_made_a_tool_is_in_the_table() -> None:
    modules = {module.name for module in pkgutil.iter_modules(tools.__path__)}
    for module in modules:
        import_module(f"{tools.__name__}.{module}")  # raises for a function that is not, as below
    for table in (TOOLS, PLUGIN_TOOLS, VIEW_TOOLS, RESEARCH_TOOLS):
        assert set(table.modules.values()) <= modules

    def unlisted(app: object) -> None:
        """A tool that no table names."""

    with pytest.raises(KeyError, match="obsidian_unlisted"):
        registry.tool(title="No tool")(unlisted)
    assert "obsidian_unlisted" not in TOOLS


def test_commands_are_named_once() -> None:
    assert len(set(TOOLS.commands.values())) == len(TOOLS)


# CLI-20
def test_a_call_imports_the_module_of_its_tool_alone() -> None:
    program = (
        "import sys\nfrom obsidian_mcp.tools import TOOLS\nTOOLS['obsidian_read_note'], 'obsidian_undo' in TOOLS\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    here = {f"{tools.__name__}.{module}" for module in set(TOOLS.modules.values())}
    assert here & set(done.stdout.split()) == {f"{tools.__name__}.notes"}
