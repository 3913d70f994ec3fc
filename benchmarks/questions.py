"""Questions about many notes of a generated vault (`tests.generate`), for `benchmarks.scale`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from tests.generate import FIRST_DUE, folder_of, name_of, words

from .servers import Call
from .vaults import RARE

SEARCH: Final = "search"
AS_MUCH: Final = ("links", "neighbours", "tasks of a week", "search", "property: one value of many", "line:", "block:")
"""Questions whose answer is as long in a vault of any size: for them the time must hardly grow."""
_WEEK: Final = FIRST_DUE + timedelta(days=70)
_BASE: Final = """filters:
  and:
    - rating == 9
    - status == "done"
views:
  - type: table
    name: Table
    order: [file.name, status, rating]
    sort: [{property: file.name, direction: ASC}]
"""


def questions() -> Mapping[str, Call]:
    """Return the questions by name, each a tool with its arguments."""
    vocabulary = words()
    note = f"{folder_of(40)}/{name_of(40, vocabulary)}.md"
    days = f"{_WEEK:%Y-%m-%d} {_WEEK + timedelta(days=6):%Y-%m-%d}"
    searches = {
        SEARCH: RARE,
        "search: two common words": f"{vocabulary[2]} {vocabulary[5]}",
        "phrase": f'"{vocabulary[2]} {vocabulary[5]}"',
        "property: one value of many": '[aliases:"Alias 40"]',
        "line:": f"line:({RARE} rare)",
        "section:": f"section:({vocabulary[700]} {vocabulary[900]})",
        "block:": f"block:({RARE} rare)",
        "tag:": "tag:#area/3",
    }
    asked: dict[str, tuple[str, Mapping[str, Any]]] = {
        "links": ("obsidian_get_links", {"name": note}),
        "neighbours": ("obsidian_graph", {"question": "neighbours", "name": note}),
        "orphans": ("obsidian_graph", {"question": "orphans"}),
        "dead ends": ("obsidian_graph", {"question": "dead_ends"}),
        "unresolved": ("obsidian_graph", {"question": "unresolved"}),
        "tags": ("obsidian_tags", {}),
        "notes of a tag": ("obsidian_tags", {"tag": "kind3"}),
        "properties": ("obsidian_get_properties", {}),
        "tasks of a week": ("obsidian_list_tasks", {"due": days}),
        "dataview: a folder": (
            "obsidian_query",
            {"query": f'TABLE status, rating FROM "{folder_of(5)}" WHERE rating > 2'},
        ),
        "dataview: a tag": (
            "obsidian_query",
            {"query": "TABLE status, rating FROM #area/3 WHERE rating > 2 SORT rating"},
        ),
        "dataview: a common tag": ("obsidian_query", {"query": "LIST FROM #kind3"}),
        "base: a property": ("obsidian_query", {"query": _BASE}),
        "changed lately": ("obsidian_search", {"modified_after": "last 7 days"}),
    }
    return {**asked, **{name: ("obsidian_search", {"query": query}) for name, query in searches.items()}}
