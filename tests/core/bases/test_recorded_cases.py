"""Expressions whose results were recorded from the running app (specs/bases.md, BASE-80)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.bases.base_reader import read_base
from obsidian_mcp.core.bases.view import run_view
from obsidian_mcp.core.expressions.answer import Page, QueryAnswer
from obsidian_mcp.core.expressions.evaluate import Context
from tests.core.expressions.text_vault import TextVault
from tests.core.expressions.time_zones import time_zone

SHARED = Path(__file__).parents[4] / "shared" / "data" / "bases"
CASES: list[dict[str, Any]] = []
RECORDING: dict[str, Any] = {}
if (SHARED / "cases.json").exists():
    RECORDING = json.loads((SHARED / "cases.json").read_text("utf-8"))
    CASES = RECORDING["cases"]


@pytest.fixture(autouse=True)
def melbourne() -> Iterator[None]:
    """The time zone of the recording."""
    with time_zone("Australia/Melbourne"):
        yield


@cache
def vault_of(name: str) -> TextVault:
    return TextVault.of_folder(SHARED / "vaults" / name)


def evaluate(case: dict[str, Any]) -> QueryAnswer:
    """The case as a base with one formula, run on the row of its recording."""
    recorded = RECORDING["contexts"][case["context"]]
    vault = vault_of(recorded["vault"])
    base = {
        "formulas": {**recorded["formulas"], "case": case["expression"]},
        "filters": f'file.path == "{recorded["row"]}"',
        "views": [{"type": "table", "name": "V", "order": ["formula.case"]}],
    }
    context = Context(vault, datetime.fromisoformat("2026-06-11T22:48:49"), this=vault.file(recorded["this"]))
    return run_view(read_base(json.dumps(base)), context, Page(10))


VAULTS = SHARED.parent / "vaults"
KNOWN_WARNINGS = {("Shows.base", "Last seen"): 'Cannot find function "not"'}
"""Views for which the app warns too: this one uses a function of version 1.9.0."""


@pytest.mark.skipif(not VAULTS.exists(), reason="the shared vaults are not on this machine (../shared/data/vaults)")
@pytest.mark.parametrize("name", ["kepano", "tasks-demo"])
def test_every_view_of_real_bases_answers_without_a_warning(name: str) -> None:
    """BASE-80"""
    vault = TextVault.of_folder(VAULTS / name)
    bases = [path for path in vault.texts if path.endswith(".base")]
    assert bases
    for path in bases:
        base = read_base(vault.texts[path])
        for view in base.views:
            context = Context(vault, datetime.fromisoformat("2026-06-11T22:48:49"), this=vault.file(path))
            answer = run_view(base, context, Page(1000), view.name)
            known = KNOWN_WARNINGS.get((path.rpartition("/")[2], view.name), "")
            assert all(known and known in warning for warning in answer.warnings), (path, view.name, answer.warnings)


@pytest.mark.skipif(not CASES, reason="the recorded cases are not on this machine (../shared/data/bases)")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_an_expression_has_the_result_that_the_app_recorded(case: dict[str, Any]) -> None:
    """BASE-80"""
    answer = evaluate(case)
    [[cell]] = answer.rows
    expected = case["cell"]
    if case.get("check") == "any-order":
        cell, expected = sorted(cell), sorted(expected)
    if case.get("unparsable"):
        assert len(answer.warnings) == 1
        assert "case" in answer.warnings[0]
    else:
        assert answer.warnings == []
    if case.get("check") == "random":
        assert 0 <= cell < 1
        return
    assert cell == expected
    assert type(cell) is type(expected) or {type(cell), type(expected)} == {int, float}
