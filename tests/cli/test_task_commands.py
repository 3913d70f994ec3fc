"""The commands `tasks` and `task` (CLI-18, CLI-19)."""

from __future__ import annotations

from pathlib import Path

import pytest

from obsidian_mcp.cli import main


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    (root / ".obsidian" / "community-plugins.json").write_text('["obsidian-tasks-plugin"]', encoding="utf-8")
    (root / "A.md").write_text(
        "- [ ] buy milk 📅 2026-11-20\n    - [ ] oat\n- [ ] call\n", encoding="utf-8", newline="\n"
    )
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(tmp_path / kind.lower()))
    monkeypatch.setenv("OBSIDIAN_MCP_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.setenv("OBSIDIAN_MCP_TODAY", "2026-11-25")
    monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(root))
    return root


def run(*words: str) -> int:
    return main.run_command_line(list(words))


def test_tasks_are_lines_with_places(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """CLI-18"""
    assert run("tasks") == 0
    assert capfd.readouterr().out == "A.md:1: - [ ] buy milk 📅 2026-11-20\nA.md:2: - [ ] oat\nA.md:3: - [ ] call\n"
    assert run("tasks", "--due", "overmorrow") != 0
    assert run("tasks", "--text", "nothing", "--no-blocked") == 0
    assert "No tasks found." in capfd.readouterr().err
    assert run("tasks", "--query", "group by due\nlimit 2") == 0
    assert capfd.readouterr().out == (
        "2026-11-20 Friday\n  A.md:1: - [ ] buy milk 📅 2026-11-20\n\nNo due date\n  A.md:2: - [ ] oat\n"
    )


def test_a_task_is_completed_by_place_or_text(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """CLI-19"""
    assert run("task", "done", "A.md:3") == 0
    assert capfd.readouterr().out == "A.md:3: - [x] call ✅ 2026-11-25\n"
    assert run("task", "in_progress", "milk") == 0
    assert run("task", "edit", "2", "--note", "A", "--priority", "high", "--depends-on", "a", "--depends-on", "b") == 0
    assert (vault / "A.md").read_text(encoding="utf-8").splitlines()[:2] == [
        "- [/] buy milk 📅 2026-11-20",
        "    - [ ] oat ⛔ a,b ⏫",
    ]
    assert run("task", "done", "milk", "--status", "todo") != 0
    assert run("task", "done", "nowhere") != 0


def test_a_task_is_added(vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """CLI-19"""
    assert run("task", "add", "- dash", "--note", "A", "--recurrence", "every day") == 0
    printed = capfd.readouterr()
    assert printed.out == "A.md:4: - [ ] - dash 🔁 every day\n"
    assert "no start, scheduled or due date" in printed.err
    assert run("task", "add", "today", "--due", "tomorrow") == 0
    assert (vault / "2026-11-25.md").read_text(encoding="utf-8") == "- [ ] today 📅 2026-11-26\n"
    assert run("task", "edit", "today", "--on-completion", "delete") == 0
    assert run("task", "done", "today") == 0
    assert capfd.readouterr().out.endswith("Deleted 2026-11-25.md:1: - [ ] today 🏁 delete 📅 2026-11-26\n")


def test_a_card_and_its_next_occurrence_are_printed_with_their_places(
    vault: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """CLI-19, BOARD-6"""
    card = "- [ ] pay 🔁 every day 📅 2026-11-25\n\tby post\n"
    head = "---\nkanban-plugin: board\n---\n\n"
    (vault / "B.md").write_text(
        f"{head}## Doing (1)\n\n{card}\n## Done\n\n- [ ] oars\n", encoding="utf-8", newline="\n"
    )
    assert run("task", "done", "pay", "--note", "B") == 0
    following, completed = "- [ ] pay 🔁 every day 📅 2026-11-26", "- [x] pay 🔁 every day 📅 2026-11-25 ✅ 2026-11-25"
    assert capfd.readouterr().out == f"B.md:7: {following}\nB.md:9: {completed}\n"
    assert run("task", "edit", "B.md:11", "--lane", "doing") != 0
    assert run("task", "edit", "oars", "--lane", "doing") == 0
    printed = capfd.readouterr()
    assert printed.out == "B.md:11: - [ ] oars\n"
    assert "Note: The lane 'Doing' now has 3 cards, and its limit is 1.\n" in printed.err


def test_a_row_that_is_read_with_too_many_cells_is_named_on_standard_error(
    vault: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """CLI-03, TABLE-9"""
    text = "> | n | k |\n> |---|---|\n> | [[a|A]] | 3 |\n"
    (vault / "T.md").write_text(text, encoding="utf-8", newline="\n")
    assert run("read", "T") == 0
    printed = capfd.readouterr()
    assert printed.out == text
    assert printed.err.startswith("Note: Line 3 has 3 cells, but its table has 2 columns")
    assert run("table", "T", '{"op": "remove_column", "column": "n"}') != 0
    assert "Line 3 has 3 cells" in capfd.readouterr().err
    assert (vault / "T.md").read_text(encoding="utf-8") == text
