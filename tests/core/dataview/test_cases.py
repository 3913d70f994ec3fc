"""Cases of our own, rule by rule (specs/dataview.md); the results were checked as tests/core/cases.py says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from obsidian_mcp.core.expressions.answer import RowGroup
from tests.core.cases import check_cases

from .note_vault import NoteVault

VAULT = NoteVault(
    {
        "note.md": (
            "---\nnum: 5\nday: 2024-02-10\nwhen: 2024-02-10T08:30\nspan: 2 days\nwords: [b, A, c]\n"
            'up: "[[Garden/Rose]]"\nempty:\nmixed: [1, x, null]\n---\nsize:: large\nsize:: small\n'
        ),
        "Garden/Rose.md": (
            "---\ntags: [plant/flower, red]\nheight: 80\nplanted: 2023-04-01\ncare: hard\n---\n"
            "- [ ] water [due:: 2024-02-16]\n  - [x] fill the can\n"
            "- [x] prune [completion:: 2024-02-01]\n- plain [soil:: clay]\n"
        ),
        "Garden/Fern.md": (
            "---\ntags: plant\nheight: 40\nplanted: 2022-09-15\ncare: easy\n---\nlight:: shade\n[[Rose]]\n"
        ),
        "Garden/Oak.md": "---\ntags: [plant/tree]\nheight: 900\ncare: easy\n---\n- [/] measure ⏳ 2024-03-01\n",
        "Log/2024-02-12.md": "mood:: 7\n[[Rose|the rose]] #red\n",
        "Log/2024-02-13.md": "mood:: bad\nspent:: 12.50, 3\n",
        "seeds.csv": "name,count,ok\nRose,10,true\nOak,,false\n",
    }
)


def evaluate(kind: str, given: str) -> Any:
    """Kinds: `value` over the row of note.md, `query` with its rows, groups and warnings."""
    if kind == "value":
        return VAULT.value(given)
    answer = VAULT.run(given, this="note.md")
    shown: dict[str, Any] = {"columns": [column.name for column in answer.columns], "rows": answer.rows}
    if answer.groups:
        shown["groups"] = [_group(group) for group in answer.groups]
    return shown | ({"warnings": answer.warnings} if answer.warnings else {})


def _group(group: RowGroup) -> list[Any]:
    return [group.key, group.count]


def test_expressions_and_queries_have_the_results_of_the_table(update: bool) -> None:
    """DV-06 to DV-78"""
    check_cases(Path(__file__).with_name("cases.tsv"), evaluate, update=update)
