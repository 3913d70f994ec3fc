"""What the user hides with "Excluded files" is hidden by the next answer, and shown again by the one after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.tools.registry import call

pytestmark = pytest.mark.usefixtures("disk_of_macos")


def exclude(vault: Path, filters: Sequence[str]) -> None:
    (vault / ".obsidian").mkdir(exist_ok=True)
    (vault / ".obsidian" / "app.json").write_text(json.dumps({"userIgnoreFilters": filters}), encoding="utf-8")


def data_of(app: App, tool: str, **arguments: Any) -> Any:
    return call(app, f"obsidian_{tool}", arguments).data


def found(app: App, query: str, match: str) -> list[str]:
    return sorted(hit["path"] for hit in data_of(app, "search", query=query, match=match)["hits"])


@pytest.mark.parametrize("match", ["smart", "exact"])
@pytest.mark.parametrize("filters", [["People/"], ["/^People/"]])
def test_a_search_follows_the_excluded_files(app: App, basic: Path, match: str, filters: list[str]) -> None:
    query = "tag:person OR project"
    before = found(app, query, match)
    assert {"People/Jonas Weiß.md", "People/Mori Ayumi.md", "Projects/Alpha.md"} <= set(before)

    exclude(basic, filters)
    assert found(app, query, match) == [path for path in before if not path.startswith("People/")]

    exclude(basic, ["Projects/"])
    assert found(app, query, match) == [path for path in before if not path.startswith("Projects/")]

    (basic / ".obsidian" / "app.json").unlink()
    assert found(app, query, match) == before


def test_an_answer_without_hits_says_that_files_are_excluded(app: App, basic: Path) -> None:
    """SEARCH-19"""
    exclude(basic, ["People/"])

    assert "user excludes" in data_of(app, "search", query="clocks", folder="people")["note"]
    assert "user excludes" in data_of(app, "search", query="nothing has this")["note"]
    assert "note" not in data_of(app, "search", query="nothing has this", folder="Reading")
    assert "note" not in data_of(app, "search", query="wheel")
    exclude(basic, [])
    assert "note" not in data_of(app, "search", query="nothing has this")


def test_tags_properties_and_the_graph_follow_the_excluded_files(app: App, basic: Path) -> None:
    exclude(basic, ["People/"])  # before anything else was asked
    assert "#person" not in json.dumps(data_of(app, "tags"))
    assert "People/" not in json.dumps(data_of(app, "graph", question="orphans"))
    properties = data_of(app, "get_properties")

    exclude(basic, [])
    assert "person" in json.dumps(data_of(app, "tags"))
    assert data_of(app, "get_properties") != properties


def test_a_tag_is_renamed_in_excluded_files_too(app: App, basic: Path) -> None:
    """TAG-30"""
    exclude(basic, ["People/"])
    renamed = data_of(app, "rename_tag", tag="person", to="human")
    assert renamed["changed"]
    exclude(basic, [])
    assert "#person" not in json.dumps(data_of(app, "tags"))
