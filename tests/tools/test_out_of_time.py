"""A question that time runs out for answers with what it has found so far (specs/index.md INDEX-57)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.expressions import rows
from obsidian_mcp.core.graph import graph
from obsidian_mcp.core.operations import tasks
from obsidian_mcp.core.search import retrieve
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on

COUNT = 80
BASE = "filters: 'n + n > -1'\nviews:\n  - type: table\n    name: T\n"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    root = tmp_path_factory.mktemp("vault")
    for number in range(COUNT):
        text = f"---\nn: {number}\n---\n- [ ] task {number}\n\n[[Note {number}#nothing]] [[gone {number}]]\n"
        (root / f"Note {number:02}.md").write_text(text, encoding="utf-8", newline="\n")
    made = app_on(root)
    yield made
    made.vaults.close()


def in_time_for(looks: int) -> Callable[[], bool]:
    """Time that runs out after so many looks at it."""
    left = iter([True] * looks)
    return lambda: next(left, False)


@pytest.mark.parametrize(
    ("module", "looks", "tool", "arguments", "said"),
    [
        (rows, 1, "query", {"query": BASE}, "the first 40 rows"),
        (rows, 1, "query", {"query": 'LIST FROM "" WHERE n > -1'}, "the first 40 rows"),
        (tasks, 40, "list_tasks", {}, "Only 40 tasks were looked at, up to the note"),
        (retrieve, 1, "search", {"query": "/k.* ./", "match": "exact"}, "32 of 80 texts"),
        (graph, 40, "graph", {"question": "unresolved"}, "to headings and blocks 40 were checked"),
    ],
)
def test_the_answer_has_what_was_found_and_says_how_far_it_came(
    app: App,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    looks: int,
    tool: str,
    arguments: dict[str, Any],
    said: str,
) -> None:
    """INDEX-57, EXPR-56, SEARCH-112, TASK-136"""
    monkeypatch.setattr(rows, "ROWS_BETWEEN_LOOKS", 40)
    monkeypatch.setattr(retrieve, "REPORTED_TEXTS", 16)
    monkeypatch.setattr(module, "may_go_on", in_time_for(looks))
    part = call(app, f"obsidian_{tool}", arguments).data
    assert said in str(part)
    monkeypatch.undo()
    whole = call(app, f"obsidian_{tool}", arguments).data
    assert 0 < part["total"] < whole["total"]
    assert not {"incomplete", "building", "warnings"} & whole.keys()
