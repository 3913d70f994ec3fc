"""What the first filters leave is what evaluating them for every file leaves (specs/bases.md BASE-78)."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import product
from typing import Any

import pytest

from obsidian_mcp.core.bases import view
from obsidian_mcp.core.bases.base_reader import read_base
from obsidian_mcp.core.bases.prefilter import PassingFiles, passing_files
from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.expressions.evaluate import Context
from tests.core.expressions.text_vault import TextVault

VALUES = ["1", "9", "text", '"[[n1]]"', "[1, a]", '["[[n2]]"]', "2026-01-02", "true", "", "null", "{a: 1}"]
TEXTS = {
    f"n{number}.md": f"---\nstatus: {status}\nRating: {rating}\ntags: [t{number % 3}, a/b]\n---\n#in{number % 2}"
    for number, (status, rating) in enumerate(product(VALUES, VALUES[:6]))
}
TEXTS |= {"without.md": "no properties", "twice.md": "---\nstatus: 1\nStatus: text\n---\n", "picture.png": ""}
VAULT = TextVault(TEXTS)
CONDITIONS = [
    'status == "text"',
    "status == 1",
    'status != "text"',
    "!status",
    "status > 3",
    "rating.contains(1)",
    'note.status.contains("e")',
    "status.nothing()",
    "status + rating > 3",
    'status == link("n1")',
    'file.hasTag("t1")',
    'file.hasTag("A", "in1")',
    'file.ext == "md"',
    "rating.isEmpty()",
    "rating.length > 1",
    "formula.double > 3",
    "status ==",
]


def answer(filters: Any) -> dict[str, Any]:
    base = {"filters": filters, "formulas": {"double": "rating * 2"}, "views": [{"type": "table", "name": "T"}]}
    context = Context(VAULT, datetime.fromisoformat("2026-01-01"))
    return view.run_view(read_base(json.dumps(base)), context, Page(1000)).data()


@pytest.mark.parametrize("first", CONDITIONS)
def test_the_rows_and_errors_are_those_of_every_file(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """BASE-78"""
    monkeypatch.setattr(view, "FEW_FILES", 0)
    filters = [first, {"and": [first]}, {"or": [first]}, {"not": [first]}]
    filters += [{"and": [first, second]} for second in CONDITIONS]
    filters += [{"and": [{"and": ['status != "x"', first]}, {"or": ["rating > 1", "!status"]}, "rating < 5"]}]
    quick = [answer(some) for some in filters]
    monkeypatch.setattr(view, "passing_files", lambda *_: PassingFiles())
    for some, found in zip(filters, quick, strict=True):
        assert found == answer(some), some


def test_only_files_that_may_pass_are_rows() -> None:
    """BASE-78: a filter over one property, and one over a tag, narrow down; one over two properties does not."""
    context = Context(VAULT, datetime.fromisoformat("2026-01-01"))

    def count(*conditions: str) -> int:
        filters = read_base(json.dumps({"filters": {"and": [*conditions]}, "views": []})).filters
        passing = passing_files([filters] if filters is not None else [], context)
        return len([path for path in TEXTS if passing.has(path)])

    assert count('status == "text"') < len(TEXTS) / 3
    assert count('file.hasTag("t1")', 'status == "text"') < count('status == "text"')
    assert count("status + rating > 3") == len(TEXTS)
