"""Cases of our own for the query languages and dates: a table of kinds, inputs and results beside each test.

`../shared/data` holds measured cases of other people. These were written for this repository, and their results come
from an engine that passes all of those. `make update` fills in missing results and rewrites others: look at the
difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from obsidian_mcp.errors import AppError
from tests.generated import advice, check_text

LEAST = 150
"""Cases of each table."""
LINE_END = "⏎"
"""Stands for a line end in an input."""


def check_cases(path: Path, evaluate: Callable[[str, str], Any], *, update: bool) -> None:
    """Assert that every case of a table has its result; with `update`, write the results instead.

    `evaluate` returns for a kind and an input what can be written as JSON.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    written, wrong, count = [], [], 0
    for line in lines:
        if line.startswith("#") or not line:
            written.append(line)
            continue
        kind, given, *result = line.split("\t")
        try:
            answer = evaluate(kind, given.replace(LINE_END, "\n"))
        except AppError as refusal:
            answer = {"refused": refusal.message}
        found = json.dumps(answer, ensure_ascii=False)
        count += 1
        written.append(f"{kind}\t{given}\t{found}")
        if result != [found]:
            wrong.append(written[-1])
    if update:
        check_text(path, "\n".join(written) + "\n", update=True)
        return
    assert not wrong, "\n".join([advice(path), "These results are not those of the table:", *wrong])
    assert count >= LEAST
