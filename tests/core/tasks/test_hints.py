"""What the index keeps of a task's line (TASK-130)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.graph.graph import Graph
from obsidian_mcp.core.index.extract import names_dependency, written_days
from obsidian_mcp.core.tasks.settings import WITHOUT_PLUGIN
from obsidian_mcp.core.tasks.task import TaskPlace, read_task
from tests.core.memory import MemoryVault

NOTE = """# Plan
- [ ] soon 📅 2026-11-26
- [x] past ✅ 2026-01-01
    - [/] late 📅 2027-01-01 ⏳ 2026-11-30
- [ ] never
- [ ] waits ⛔ a
"""


def test_days_and_dependencies_of_a_line() -> None:
    """TASK-130"""
    assert written_days("📅 2026-11-26 ⏳ 2026-11-02 [done:: 2025-01-01]") == ("2025-01-01", "2026-11-26")
    assert written_days("nothing") == ("", "")
    assert names_dependency("a 🆔 x")
    assert names_dependency("(dependsOn:: a)")
    assert not names_dependency("an idea: 1")


@given(st.text(st.sampled_from("📅⏳🆔⛔ [](:id dependsOn:: due: 2026-1a,")))
def test_no_field_is_left_out(text: str) -> None:
    """TASK-130: The hints hold for whatever a line is read as."""
    line = f"- [ ] {text}"
    task = read_task(line, TaskPlace("a.md", 1), WITHOUT_PLUGIN)
    assert task is not None
    if task.id or task.depends_on:
        assert names_dependency(line)
    first, last = written_days(line)
    for day in (task.due, task.scheduled):
        assert day is None or first <= day.isoformat() <= last


def lines_of(graph: Graph, days: tuple[str, str] | None = None, without: tuple[str, ...] = ()) -> list[int]:
    return [fact.line for _, fact in graph.tasks(list, days, without).value]


def test_the_index_finds_tasks_by_day_and_mark() -> None:
    """TASK-130"""
    with MemoryVault({"a.md": NOTE, "b.md": "- no task\n"}) as vault:
        assert lines_of(vault.graph) == [1, 2, 3, 4, 5]
        assert lines_of(vault.graph, ("2026-11-23", "2026-11-30")) == [1, 3, 5]
        assert lines_of(vault.graph, without=(" ",)) == [2, 3, 5]
        assert [fact.heading for _, fact in vault.graph.tasks(list).value] == ["Plan"] * 5
