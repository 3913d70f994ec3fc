"""Queries of the Tasks plugin by `obsidian_query` (TASK-90 to TASK-121, QUERIES-04)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from obsidian_mcp.errors import InvalidArguments, QueryInvalid
from tests.core.tasks.vectors import Case, measured, needs_vectors
from tests.tools.task_vault import TaskVault

FILES = {
    "Board.md": (
        "---\nTQ_extra_instructions: not done\n---\n# Board\n```tasks\npath includes {{query.file.path}}\n```\n"
        "> [!todo]\n> ```tasks\n> description includes milk\n> ```\n\n```tasks\nnonsense\n```\n- [ ] own\n- [x] old\n"
    ),
    "Home.md": "- [ ] milk 📅 2026-11-26\n- [x] milk, done\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[TaskVault]:
    made = TaskVault(tmp_path, FILES, {})
    yield made
    made.close()


def found(vault: TaskVault, case: Case) -> list[tuple[str, int]] | None:
    """Where the tasks stand that a query finds; None where it is refused."""
    this = {"this": case["this"]} if "this" in case else {}
    places: list[tuple[str, int]] = []
    offset = 0
    try:
        while offset is not None:
            page = vault.query(case["query"], limit=500, offset=offset, **this)
            places += [(task["path"], task["line"]) for task in page["tasks"]]
            offset = page.get("next_offset")
    except QueryInvalid:
        return None
    return places


@needs_vectors
@pytest.mark.parametrize("name", ["query", "filter", "prio"])
def test_the_index_leaves_out_nothing_that_a_query_finds(tmp_path: Path, name: str) -> None:
    """TASK-130: What is measured of the pure query holds for the tool on a vault."""
    data = measured("filters")
    content = data["vaults"][name]
    places = [(path, line) for path, line in content["tasks"]]
    wrong = []
    for today in {case["today"] for case in data["cases"] if case["vault"] == name}:
        vault = TaskVault(tmp_path / today, content["files"], content["settings"], today)
        for case in data["cases"]:
            if case["vault"] == name and case["today"] == today:
                answer = found(vault, case)
                wanted = None if case["kind"] == "refuse" else sorted(places[number] for number in case["want"])
                if (answer and sorted(answer)) != wanted and (answer or wanted):
                    wrong.append((case, answer))
        vault.close()
    assert not wrong


def test_the_blocks_of_a_note_run_in_their_order(vault: TaskVault) -> None:
    """TASK-97, TASK-98, QUERIES-04"""
    answer = vault.query("", this="Board")
    assert [(block["line"], block["language"]) for block in answer["blocks"]] == [
        (5, "tasks"),
        (9, "tasks"),
        (13, "tasks"),
    ]
    own, milk, nonsense = answer["blocks"]
    assert [task["text"] for task in own["tasks"]] == ["- [ ] own"]
    assert [task["text"] for task in milk["tasks"]] == ["- [ ] milk 📅 2026-11-26"]
    assert "do not understand query" in nonsense["error"]


def test_a_note_without_blocks_and_no_note_find_every_task(vault: TaskVault) -> None:
    assert vault.query("", this="Home")["total"] == vault.query("")["total"] == 4
    with pytest.raises(InvalidArguments, match="Give `query`"):
        vault.query("", language="")


def test_a_fence_names_the_language(vault: TaskVault) -> None:
    """TASK-98, QUERIES-03"""
    assert vault.query("```tasks\ndue today\n```", language="")["total"] == 0
    assert vault.query("```tasks\ndue tomorrow\nexplain\n```", language="")["explanation"].endswith("November 2026)\n")
