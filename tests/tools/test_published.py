"""What every tool publishes, tool by tool: a change shows as a change of a file. `pytest --update` rewrites them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from obsidian_mcp.tools import TOOLS

SNAPSHOTS = Path(__file__).parent / "schemas"
README = Path(__file__).parent.parent.parent / "README.md"


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_publishes_what_its_snapshot_says(name: str, update: bool) -> None:
    # TOOL-01
    tool = TOOLS[name]
    published = {
        "title": tool.title,
        "description": tool.description,
        "read_only": tool.read_only,
        "destructive": tool.destructive,
        "idempotent": tool.idempotent,
        "input_schema": tool.input_schema,
    }
    path = SNAPSHOTS / f"{name}.json"
    text = json.dumps(published, ensure_ascii=False, indent=2) + "\n"
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.exists(), "no snapshot: run pytest --update and look at what it wrote"
    assert path.read_text(encoding="utf-8") == text


def test_there_is_no_snapshot_of_a_tool_that_is_gone() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.json")} == set(TOOLS)


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
        f"| `{tool.name}` | `{tool.command}` | {first_clause(tool.description)} |\n"
        for tool in TOOLS.values()
        if tool.name.startswith("obsidian_")
    )
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition("<!-- tools -->\n")
    _, _, tail = rest.partition("<!-- /tools -->")
    wanted = f"{head}<!-- tools -->\n{rows}<!-- /tools -->{tail}"
    if update:
        README.write_text(wanted, encoding="utf-8", newline="\n")
    assert README.read_text(encoding="utf-8") == wanted, "run pytest --update"
