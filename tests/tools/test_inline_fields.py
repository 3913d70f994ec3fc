"""Inline fields as properties, where the vault uses Dataview (specs/dataview.md, DV-19; specs/search.md, SEARCH-79)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on

NOTES = {
    "A.md": (
        "---\nrating: 1\n---\nrating:: 5\n\nGood Thing:: 2024-01-05\n\n- item [who:: [[B]], 3]\n- [ ] task [t:: 1]\n"
    ),
    "B.md": "# B\n[rating:: 7] and (done:: true)\n",
    "C.md": "---\nrating: 9\n---\n",
}


def vault_of(root: Path, plugins: list[str]) -> App:
    for path, text in {**NOTES, ".obsidian/community-plugins.json": json.dumps(plugins)}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="\n")
    return app_on(root)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    opened = vault_of(tmp_path, ["dataview"])
    yield opened
    opened.vaults.close()


@pytest.fixture
def app_without(tmp_path: Path) -> Iterator[App]:
    opened = vault_of(tmp_path, ["other"])
    yield opened
    opened.vaults.close()


def found(app: App, query: str, **arguments: Any) -> list[str]:
    return [hit["path"] for hit in call(app, "obsidian_search", {"query": query, **arguments}).data["hits"]]


def test_inline_fields_join_the_properties_of_a_note(app: App) -> None:
    """DV-19: several values are a list; fields of tasks are not the note's."""
    data = call(app, "obsidian_get_properties", {"name": "A"}).data
    assert data["properties"] == {"rating": [1, 5], "who": ["[[B]]", 3], "Good Thing": "2024-01-05"}
    assert data["inline_fields"] == ["who", "rating", "Good Thing"]
    assert "inline_fields" not in call(app, "obsidian_get_properties", {"name": "C"}).data
    one = call(app, "obsidian_get_properties", {"name": "A", "property": "good thing"}).data
    assert (one["properties"], one["inline_fields"]) == ({"Good Thing": "2024-01-05"}, ["Good Thing"])


def test_inline_fields_are_among_the_properties_of_the_vault(app: App) -> None:
    """DV-19"""
    listed = call(app, "obsidian_get_properties", {}).data["vault_properties"]
    assert {row["property"]: row["notes"] for row in listed} == {"rating": 3, "done": 1, "Good Thing": 1, "who": 1}
    values = call(app, "obsidian_get_properties", {"property": "rating", "details": True}).data["values"]
    assert [(row["path"], row["value"]) for row in values] == [("A.md", 1), ("A.md", 5), ("B.md", 7), ("C.md", 9)]


def test_a_smart_search_asks_inline_fields(app: App) -> None:
    """SEARCH-79: an exact search is the app's own."""
    assert sorted(found(app, "[rating:>4]")) == ["A.md", "B.md", "C.md"]
    assert found(app, "[done:true]") == ["B.md"]
    assert found(app, "[good thing]") == ["A.md"] == found(app, "[who:B]")
    assert found(app, "[rating:>4]", match="exact") == ["C.md"]
    assert found(app, "[rating]", sort="rating desc") == ["C.md", "B.md", "A.md"]
    assert sorted(found(app, "-[rating:7]")) == ["A.md", "C.md"]


@pytest.mark.parametrize(
    ("query", "path", "line", "shown"),
    [
        ("[rating:7]", "B.md", 2, "[rating:: 7] and (done:: true)"),
        ("[good thing]", "A.md", 6, "Good Thing:: 2024-01-05"),
        ("[who:B]", "A.md", 8, "- item [who:: [[B]], 3]"),
        ("[rating:9]", "C.md", 2, "rating: 9"),
    ],
)
def test_a_hit_by_an_inline_field_shows_its_value(app: App, query: str, path: str, line: int, shown: str) -> None:
    """SEARCH-73"""
    (hit,) = call(app, "obsidian_search", {"query": query}).data["hits"]
    assert (hit["path"], [(one["line"], one["text"]) for one in hit["snippets"]]) == (path, [(line, shown)])


def test_all_fields_of_a_note_are_listed_and_in_proportionate_time(tmp_path: Path) -> None:
    """SEARCH-80: also those that are written twice, and in lists, which the index has first."""
    count = 10_000
    lines = [f"- **done**:: {'yes' if n % 2 else f'in {n} days'}" for n in range(count)]
    (tmp_path / "Long.md").write_text("\n".join(["done:: yes", "", *lines, "", "done:: yes"]), encoding="utf-8")
    app = vault_of(tmp_path, ["dataview"])
    assert not found(app, "[done:never]", name="Long")

    start = time.process_time()
    answer = call(app, "obsidian_search", {"query": "[done:yes]", "name": "Long", "limit": 3}).data
    assert time.process_time() - start < 3  # measured: 0.1 s; 10 s where each field is looked for from the start
    app.vaults.close()

    assert answer["total"] == count // 2 + 2
    assert [line["line"] for line in answer["hits"][0]["snippets"]] == [1, 4, 6]


def test_without_dataview_inline_fields_are_text(app_without: App) -> None:
    """DV-19"""
    assert found(app_without, "[rating:>4]") == ["C.md"]
    assert call(app_without, "obsidian_get_properties", {"name": "A"}).data["properties"] == {"rating": 1}
