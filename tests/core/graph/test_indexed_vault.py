"""What a query sees through the index is what the notes say (EXPR-40 to EXPR-42)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from obsidian_mcp.core.bases.base_reader import read_base
from obsidian_mcp.core.bases.view import run_view
from obsidian_mcp.core.expressions.answer import Page, QueryAnswer
from obsidian_mcp.core.expressions.evaluate import Context
from obsidian_mcp.core.graph.graph import Graph
from obsidian_mcp.core.graph.indexed_vault import IndexedVault, Moment
from obsidian_mcp.core.graph.read_ahead import SINGLE_FILES
from obsidian_mcp.core.index.rows import FileNumbers, Rows
from tests.core.expressions.text_vault import TextVault
from tests.core.memory import MemoryVault

FORMULAS = {
    "links": "file.links",
    "embeds": "file.embeds",
    "backlinks": "file.backlinks",
    "tags": "file.tags",
    "properties": "file.properties",
    "follows": "up.asFile().properties.n",
    "has": 'file.hasLink("note 1")',
    "tagged": 'file.hasTag("a")',
    "empty": 'file.hasProperty("empty")',
}
BASE = {
    "formulas": FORMULAS,
    "views": [{"type": "table", "name": "V", "order": ["file.path", "n", *(f"formula.{name}" for name in FORMULAS)]}],
}


def notes(count: int) -> dict[str, str]:
    """Notes that link to each other, with properties of every type, and files of other kinds."""
    texts = {
        f"f{number % 3}/Note {number}.md": (
            f'---\nn: {number}\nN: twice\nup: "[[Note {number + 1}|Next]]"\n'
            'l: [1, "a\\"b", {x: null}]\nempty:\ntags: [A/b]\n---\n'
            f"[[Note {number + 2}#h]] ![[d.png]] #t{number} [m](Note%201.md) [[Nowhere]]\n"
        )
        for number in range(count)
    }
    canvas = {"nodes": [{"id": "1", "type": "file", "file": "f1/Note 1.md", "x": 0, "y": 0, "width": 1, "height": 1}]}
    return {**texts, "d.png": "", "Ü.md": "[[Note 1]]", "c.canvas": json.dumps(canvas)}


def run(vault: MemoryVault, base: dict[str, Any]) -> QueryAnswer:
    def query(moment: Moment) -> QueryAnswer:
        view = IndexedVault(moment)
        return run_view(read_base(json.dumps(base)), Context(view, datetime.fromisoformat("2025-01-01")), Page(1000))

    return vault.graph.evaluate(query).value


@pytest.mark.parametrize("count", [3, SINGLE_FILES // 4 + 20])
@pytest.mark.parametrize("state", ["indexed", "pending", "changed"])
def test_a_query_has_the_same_answer_over_the_index_and_over_the_texts(count: int, state: str) -> None:
    """EXPR-40, EXPR-41: whether few or many files are asked for, indexed or not yet."""
    texts = notes(count)
    vault = MemoryVault(texts)
    if state != "pending":
        vault.graph.tags()
    if state == "changed":
        texts["f0/Note 0.md"] = "---\nn: 100\n---\n[[Note 1]]\n"
        vault.write("f0/Note 0.md", texts["f0/Note 0.md"])
        vault.look()
    answer = run(vault, BASE)
    plain = TextVault(texts)
    expected = run_view(read_base(json.dumps(BASE)), Context(plain, datetime.fromisoformat("2025-01-01")), Page(1000))
    canvas = next(place for place, row in enumerate(answer.rows) if row[0] == "c.canvas")
    links = answer.columns.index(next(column for column in answer.columns if column.id == "formula.links"))
    assert answer.rows[canvas][links] == ["[[f1/Note 1.md|f1/Note 1.md]]"]
    for row, wanted in zip(answer.rows, expected.rows, strict=True):
        if row[0] != "c.canvas":  # the texts' vault does not read cards
            backlinks = answer.columns.index(
                next(column for column in answer.columns if column.id == "formula.backlinks")
            )
            row[backlinks] = [link for link in row[backlinks] if "c.canvas" not in link]
            assert row == wanted


def test_the_properties_of_many_files_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """EXPR-42"""
    vault = MemoryVault(notes(4 * SINGLE_FILES))
    vault.graph.tags()
    read: list[str] = []
    column = Rows.column

    def counted(rows: Rows, table: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
        read.append(table)
        return column(rows, table, *args, **kwargs)

    monkeypatch.setattr(Rows, "column", counted)
    base = {
        "formulas": {"n": "up.asFile().properties.n"},
        "views": [{"type": "t", "name": "V", "order": ["formula.n"]}],
    }
    assert [row for row in run(vault, base).rows if row != [None]]
    assert SINGLE_FILES < read.count("properties") <= SINGLE_FILES + 2  # the column `up`, single files, all the others


def test_excluded_files_are_no_rows_but_links_lead_to_them() -> None:
    """EXPR-40"""
    vault = MemoryVault({"a.md": '---\nup: "[[b]]"\n---\n', "x/b.md": "---\nn: 1\n---\n"})
    vault.graph = Graph(vault.indexer, FileNumbers(vault.catalog), lambda: lambda path: path.startswith("x/"))
    base = {
        "formulas": {"n": "up.asFile().properties.n"},
        "views": [{"type": "t", "name": "V", "order": ["formula.n"]}],
    }
    assert run(vault, base).rows == [[1]]
