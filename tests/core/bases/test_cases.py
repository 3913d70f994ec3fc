"""Cases of our own, rule by rule (specs/bases.md); the results were checked as tests/core/cases.py says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from obsidian_mcp.core.expressions.answer import RowGroup
from tests.core.cases import check_cases
from tests.core.expressions.text_vault import TextVault
from tests.core.expressions.time_zones import time_zone

from .bases_runner import run, view_of

VAULT = TextVault(
    {
        "Lib/Dune.md": (
            "---\npages: 412\nrating: 4.5\nstarted: 2025-01-03\nfinished: 2025-01-30T21:15\ntags: [sf/desert, read]\n"
            'author: "[[Herbert]]"\naliases: [Arrakis]\nscores: [3, 10, 7]\nlang: English\nowned: true\nnote: ""\n---\n'
            "See [[Emma]] and ![[cover.png]]. #classic\n"
        ),
        "Lib/Emma.md": (
            "---\npages: 474\nrating: 3\nstarted: 2025-02-14\ntags: [novel]\n"
            "author: Austen\nlang: english\nowned: false\n---\n"
        ),
        "Lib/Old/Ilias.md": '---\npages: "704"\nrating:\nlang: Ancient Greek\ntags: novel\nscores: []\n---\n[[Dune]]\n',
        "Herbert.md": "---\nborn: 1920-10-08\n---\n[[Lib/Dune|Dune]] [[Nobody]]\n",
        "cover.png": "",
    }
)
ROW = {"filters": 'file.path == "Lib/Dune.md"', "order": ["formula.x"]}


def evaluate(kind: str, given: str) -> Any:
    """Kinds: `value` over the row of Dune, `view` with its keys and those of its base."""
    keys = json.loads(given) if kind == "view" else {**ROW, "formulas": {"x": given}}
    with time_zone("UTC"):
        answer = run(view_of(**keys), vault=VAULT, this="Herbert.md" if kind == "view" else "Lib/Emma.md")
    if kind == "value":
        return {"warnings": answer.warnings} if answer.warnings else answer.rows[0][0]
    shown: dict[str, Any] = {"columns": [column.name for column in answer.columns], "rows": answer.rows}
    if answer.groups:
        shown["groups"] = [[group.key, group.count, *_summaries(group)] for group in answer.groups]
    if answer.summaries:
        shown["summaries"] = {column: dict(found) for column, found in answer.summaries.items()}
    return shown | ({"warnings": answer.warnings} if answer.warnings else {})


def _summaries(group: RowGroup) -> list[Any]:
    return [{column: dict(found) for column, found in group.summaries.items()}] if group.summaries else []


def test_expressions_and_views_have_the_results_of_the_table(update: bool) -> None:
    """BASE-20 to BASE-57, BASE-60 to BASE-80"""
    check_cases(Path(__file__).with_name("cases.tsv"), evaluate, update=update)
