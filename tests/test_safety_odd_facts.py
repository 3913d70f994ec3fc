"""A fact of one file that no row can hold costs the vault no answer (specs/index.md INDEX-26, INDEX-50)."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.system import LATE_SECONDS, needs
from tests.vaults import write_files

DIGITS = "9" * 5_000
"""Python reads no whole number of so many digits."""

ODD = {
    "whole number": f"n: {DIGITS}",
    "number in a list": f"n: [{DIGITS}, -{DIGITS}]",
    "hexadecimal": f"n: 0x{'f' * 5_000}",
    "infinite": "n: 1e400\nm: .nan\no: -.inf",
    "after year 9999": "d: 10000-01-01\ne: 99999-12-31T10:00",
    "before year 1": "d: 0000-01-01\ne: 0001-01-01T00:00:00+14:00",
    "last moment": "d: 9999-12-31T23:59:59-12:00",
    "no day": "d: 2024-02-31",
    "half characters": '"\\ud800": "\\udfff"\nn: "\\ud800"\naliases: ["\\ud800"]\ntags: ["\\ud800"]',
    "zero": 'n: "a\\0b"',
    "odd keys": "1: x\nnull: y\n2024-01-01: z",
    "odd tags": f"tags: [1, null, {{a: b}}, [c], {DIGITS}]\naliases: [1, null, {{a: b}}, {DIGITS}]",
    "long": f"n: {'x' * 500_000}",
    "many": "\n".join(f"k{number}: {number}" for number in range(3_000)),
    "fields": f"a: b\n---\nn:: {DIGITS}\n\n- [ ] t [due:: 99999-01-01] [n:: {DIGITS}]",
    "tasks": f"a: b\n---\n- [ ] t 🔁 every {DIGITS} days 📅 9999-12-31\n- [ ] t 📅 0000-00-00 [duration:: {DIGITS}h]",
}
NOTES = {f"Odd/{name}.md": f"---\n{text}\n---\nodd\n" for name, text in ODD.items()}
GOOD = {
    "Good.md": "---\nn: 5\nd: 2024-01-01\n---\na good note #good [[Other]]\n- [ ] a task 📅 2024-01-01\n",
    "Other.md": "[[Good]]\n",
}
YEARS = (1, 1600, 1677, 1901, 1969, 2038, 2262, 2263, 2300, 2446, 9999)
QUESTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": "good"}, "Good.md"),
    ("search", {"query": "good", "match": "exact"}, "Good.md"),
    ("search", {"query": "good", "sort": "modified"}, "Good.md"),
    ("search", {"query": "good", "sort": "n"}, "Good.md"),
    ("search", {"query": "[n:5]", "match": "exact"}, "Good.md"),
    ("search", {"query": "odd", "group": "n"}, "odd"),
    ("tags", {}, "good"),
    ("get_links", {"name": "Good"}, "Other.md"),
    ("get_properties", {}, '"n"'),
    ("graph", {"question": "orphans"}, "Odd/"),
    ("check", {}, "Odd/"),
    ("list_files", {"recursive": True, "sort": "modified"}, "Good.md"),
    ("vault_info", {}, ".md"),
    ("query", {"query": 'TABLE file.mtime, file.ctime, file.mday, n, d FROM ""', "limit": 500}, "Good.md"),
    ("query", {"query": "TABLE sum(rows.n) WHERE d GROUP BY d"}, "2024"),
    (
        "query",
        {
            "query": "formulas: {a: n + 1, b: date(d).year, c: file.mtime.format('YYYY')}\nviews:\n- type: table\n"
            "  name: T\n  order: [file.path, file.ctime, formula.a, formula.b, formula.c]\n"
            "  sort: [{property: file.mtime, direction: ASC}]\n  summaries: {note.n: Sum}\n",
            "limit": 500,
        },
        "Good.md",
    ),
    ("list_tasks", {"query": "not done\nsort by due\ngroup by due"}, "Good.md"),
    ("rename_tag", {"tag": "good", "to": "better"}, "Good.md"),
    ("set_properties", {"names": ["Good"], "properties": {"n": 6}}, "Good.md"),
    ("move_note", {"name": "Good", "to": "Sub/Good"}, "Sub/Good.md"),
    ("undo", {}, "Good.md"),
]


def answer(app: App, tool: str, arguments: dict[str, Any]) -> str:
    with call_with(limit=Deadline(30.0)):
        return call(app, f"obsidian_{tool}", arguments).envelope()


def check_answers(app: App) -> None:
    for tool, arguments, part in QUESTIONS:
        assert part in answer(app, tool, arguments), (tool, arguments)
    app.vaults.close()


def test_no_contents_of_one_file_cost_the_vault_an_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """INDEX-26"""
    check_answers(app_on(write_files(tmp_path / "vault", GOOD | NOTES)))
    assert caplog.messages == []


def test_no_date_of_one_file_costs_the_vault_an_answer(tmp_path: Path) -> None:
    """INDEX-50: search, tags, links, check, moves and queries failed, and none named the file"""
    root = write_files(tmp_path / "vault", GOOD | {f"Odd/{year}.md": "odd\n" for year in YEARS})
    dated = {
        year: int((datetime(year, 6, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
        for year in YEARS
    }
    for year, seconds in dated.items():
        os.utime(root / f"Odd/{year}.md", (seconds, seconds))
    check_answers(app_on(root))


@needs("times after 2262")
def test_a_time_that_no_count_holds_is_the_nearest_that_one_does(tmp_path: Path) -> None:
    """INDEX-50"""
    root = write_files(tmp_path / "vault", {"Late.md": "late\n", "Now.md": "late\n"})
    os.utime(root / "Late.md", (LATE_SECONDS, LATE_SECONDS))
    app = app_on(root)
    assert '"modified":"2262-04-11T23:47:16Z"' in answer(app, "list_files", {"details": True}).replace(" ", "")
    for times, is_late in [
        ({"modified_after": "2262-01-01"}, True),
        ({"modified_after": "2290-01-01"}, True),
        ({"modified_before": "2290-01-01"}, True),
        ({"modified_before": "2262-01-01"}, False),
    ]:
        for match in ("smart", "exact"):
            found = answer(app, "search", {"query": "late", "match": match, **times})
            assert ("Late.md" in found) == is_late, times
    app.vaults.close()
