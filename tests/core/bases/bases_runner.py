"""Runs bases over a vault of texts for the tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from obsidian_mcp.core.bases.base_reader import read_base
from obsidian_mcp.core.bases.view import run_view
from obsidian_mcp.core.expressions.answer import Page, QueryAnswer
from obsidian_mcp.core.expressions.evaluate import Context
from tests.core.expressions.text_vault import TextVault

NOW = datetime.fromisoformat("2025-02-15T12:00")

VAULT = TextVault(
    {
        "A.md": '---\nprice: 10\nqty: 3\ndue: 2025-01-31\ntags: [book/x]\nup: "[[B]]"\ns: Hello\n---\n',
        "f/B.md": "---\nprice: 2.5\ndone: true\n---\n",
        "f/g/C.md": '---\nprice: "7"\nl: [2, 10]\n---\n[[A]] #t\n',
        "d.png": "",
    }
)


def run(
    base: str | Mapping[str, Any], *, vault: TextVault = VAULT, this: str = "", view: str | None = None
) -> QueryAnswer:
    """A base as YAML or as its values; `this` is a path."""
    text = base if isinstance(base, str) else json.dumps(base)
    return run_view(read_base(text), Context(vault, NOW, this=vault.file(this)), Page(100), view)


def view_of(**keys: Any) -> dict[str, Any]:
    """A base of one table view; `filters`, `formulas` and `properties` are those of the base."""
    base: dict[str, Any] = {key: keys.pop(key) for key in ("filters", "formulas", "properties") if key in keys}
    return {**base, "views": [{"type": "table", "name": "V", **keys}]}


def names(answer: QueryAnswer) -> list[str]:
    """File names of the rows, in order."""
    return [str(path).rpartition("/")[2].removesuffix(".md") for path in answer.paths or []]


def value_of(expression: str, *, row: str = "A.md", vault: TextVault = VAULT, this: str = "") -> Any:
    """The cell of an expression in the row of one file. Fails where the query has a warning."""
    base = view_of(filters=f'file.path == "{row}"', formulas={"x": expression}, order=["formula.x"])
    answer = run(base, vault=vault, this=this)
    assert answer.warnings == []
    [[cell]] = answer.rows
    return cell
