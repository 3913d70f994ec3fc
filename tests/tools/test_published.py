"""What every tool publishes: a change shows as a change of its two files of JSON. `make update` rewrites them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.serve import views
from obsidian_mcp.tools import offer, table
from obsidian_mcp.tools.offer import PREFIX
from obsidian_mcp.tools.registry import RESEARCH_TOOLS, TOOLS, VIEW_TOOLS, Tool
from tests.generated import ROOT, check_json, check_section

from .answer_schema import published

README = ROOT / "README.md"


CALLED_BY_VIEWS = ("obsidian_attachments", "obsidian_undo", "obsidian_update_task")
"""Tools that models and views call."""
COMMANDS = {PREFIX + name: command for functions in table.TOOLS.values() for name, command in functions.items()}


def host_meta(tool: str, view: str, *, of_views: bool) -> dict[str, Any]:
    """Return who may call a tool and the page of its answer, as `_meta` of its entry in a list (VIEW-03); `of_views`:
    it opens a view, or only views call it."""
    if not of_views:
        return {"ui": {"visibility": ["model", "app"] if tool in CALLED_BY_VIEWS else ["model"]}}
    if not view:
        return {"ui": {"visibility": ["app"]}}
    # The flat key is what hosts read that were made before the standard was final.
    return {
        "ui": {"resourceUri": views.address(view), "visibility": ["model", "app"]},
        "ui/resourceUri": views.address(view),
    }


def row(tool: Tool, *, of_views: bool) -> dict[str, Any]:
    return {
        "command": COMMANDS.get(tool.name, ""),
        "read_only": tool.read_only,
        "needs_app": tool.needs_app,
        "ui": host_meta(tool.name, tool.view, of_views=of_views),
    }


def test_the_table_of_entries_says_what_the_functions_say(update: bool) -> None:
    """TOOL-01"""
    groups = {"tools": TOOLS, "views": VIEW_TOOLS, "research": RESEARCH_TOOLS}
    rows = {
        group: {name: row(tool, of_views=tools is VIEW_TOOLS) for name, tool in tools.items()}
        for group, tools in groups.items()
    }
    check_json(Path(offer.ENTRIES), rows, update=update)
    told = {name: published(tool) for tools in groups.values() for name, tool in tools.items()}
    check_json(Path(offer.PUBLISHED), told, update=update)


def test_the_plugins_tools_say_what_clients_know(update: bool) -> None:
    kept = ROOT / "tests/contracts/plugin/published.json"
    check_json(kept, [tool.published for tool in PLUGIN_TOOLS.values()], update=update)


def test_the_entries_need_the_standard_library_alone() -> None:
    """TOOL-01"""
    code = (
        "import sys; before = set(sys.modules); from obsidian_mcp.tools import offer; "
        "from obsidian_mcp import config; wanted = offer.Offer(config.Config().replace(tools='core')); "
        "wanted.publish(has_app=True, asks=True, shows_views=True, has_one_vault=True); "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "sys.exit(' '.join(new - set(sys.stdlib_module_names) - {'obsidian_mcp'}) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_says_what_it_is_for(name: str) -> None:
    tool = TOOLS[name]

    assert tool.description
    assert tool.title
    assert not (tool.read_only and tool.destructive)
    assert all(parameter.get("type") for parameter in tool.input_schema["properties"].values())


def first_clause(description: str) -> str:
    return " ".join(description.split()).split(". ")[0].split("; ")[0].rstrip(".")


def test_the_readme_lists_every_tool(update: bool) -> None:
    rows = "".join(
        f"| `{tool.name}` | `{COMMANDS[tool.name]}` | {first_clause(tool.description)} |\n"
        for tool in TOOLS.values()
        if tool.name.startswith("obsidian_")
    )
    check_section(README, "tools", rows, update=update)
