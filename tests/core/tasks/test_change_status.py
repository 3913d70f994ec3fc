"""Completing, reopening and cancelling tasks (TASK-40 to TASK-48)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.tasks.change_status import StatusChange, change_status, follows_core, read_status
from obsidian_mcp.core.tasks.line import read_line, set_symbol
from obsidian_mcp.core.tasks.settings import WITHOUT_PLUGIN, TaskSettings, parse_settings
from obsidian_mcp.core.tasks.task import TaskPlace, read_task

from .vectors import TODAY, measured, members, needs_vectors, settings_of, today_of


def changed(
    text: str, wanted: str, settings: TaskSettings, today: date = TODAY, *, has_children: bool = False
) -> StatusChange:
    """What a status makes of a line, by the rule that holds for it."""
    line = read_line(text, settings.notation)
    assert line is not None
    core = follows_core(text, settings)
    status = read_status(wanted, settings.statuses.get(line.symbol), settings, core=core)
    assert status is not None
    if core:
        return StatusChange(set_symbol(line, status.symbol))
    return change_status(text, status, settings, today, has_children=has_children)


@needs_vectors
@pytest.mark.parametrize("name", ["toggle", "recurrence"])
def test_lines_change_as_the_plugin_changes_them(name: str) -> None:
    """TASK-40, TASK-42, TASK-43, TASK-44, TASK-45"""
    cases = measured(name)["cases"]
    wrong = []
    for case in cases:
        found = changed(
            case["line"], case["status"], settings_of(case), today_of(case), has_children=bool(case.get("below"))
        )
        if found.lines != case["want"]:
            wrong.append((case, found))
    assert not wrong
    assert cases


def test_the_same_status_changes_nothing() -> None:
    """TASK-41"""
    line = "- [x]   odd  spaces ✅2026-01-01 "
    assert changed(line, "x", TaskSettings()) == StatusChange(line)


def test_a_checkbox_that_is_no_task_follows_the_app() -> None:
    """TASK-40, TASK-03"""
    settings = TaskSettings(global_filter="#task")
    assert changed("- [/] a 📅 2026-11-30", "toggle", settings).lines == ["- [ ] a 📅 2026-11-30"]
    assert changed("- [ ] a", "toggle", WITHOUT_PLUGIN).lines == ["- [x] a"]
    assert changed("- [ ] a [due:: 2026-11-30]", "toggle", WITHOUT_PLUGIN).lines == [
        "- [x] a  [due:: 2026-11-30]  [completion:: 2026-11-25]"
    ]


@pytest.mark.parametrize(("spaces", "at_the_end"), [("", ""), (" ", ""), ("  ", "  "), ("   ", "   ")])
def test_the_spaces_of_a_hard_break_stay_at_the_end_and_a_single_one_goes(spaces: str, at_the_end: str) -> None:
    """TASK-26"""
    assert changed(f"- [ ] a{spaces}", "x", TaskSettings()).lines == [f"- [x] a ✅ 2026-11-25{at_the_end}"]


def test_dates_of_completion_come_and_go() -> None:
    """TASK-42"""
    assert changed("- [x] a ✅ 2026-01-01", "-", TaskSettings()).lines == ["- [-] a ❌ 2026-11-25"]
    assert changed("- [ ] a", "x", TaskSettings(set_done_date=False)).lines == ["- [x] a"]


def test_another_symbol_of_the_same_type_keeps_the_date() -> None:
    """TASK-42"""
    settings = parse_settings(
        members({"statuses": [[" ", "Todo", "x", "TODO"], ["x", "Done", "X", "DONE"], ["X", "Checked", " ", "DONE"]]})
    )
    assert changed("- [x] a ✅ 2026-01-01", "X", settings).lines == ["- [X] a ✅ 2026-01-01"]


def test_the_next_occurrence_may_drop_the_scheduled_date_and_count_from_the_start() -> None:
    """TASK-44, TASK-45"""
    line = "- [ ] a 🔁 every week 🛫 2026-11-18 ⏳ 2026-11-20"
    done = "- [x] a 🔁 every week 🛫 2026-11-18 ⏳ 2026-11-20 ✅ 2026-11-25"
    assert changed(line, "toggle", TaskSettings()).lines == [
        "- [ ] a 🔁 every week 🛫 2026-11-25 ⏳ 2026-11-27",
        done,
    ]
    without = TaskSettings(remove_scheduled_date_on_recurrence=True)
    assert changed(line, "toggle", without).lines == ["- [ ] a 🔁 every week 🛫 2026-11-25", done]


def test_a_recurring_task_leaves_its_next_occurrence() -> None:
    """TASK-43, TASK-44, TASK-45"""
    line = "- [ ] a 🆔 one ⛔ two 🔁 every week 🛫 2026-11-18 📅 2026-11-20 ^b"
    done = "- [x] a 🆔 one ⛔ two 🔁 every week 🛫 2026-11-18 📅 2026-11-20 ✅ 2026-11-25 ^b"
    upcoming = "- [ ] a 🔁 every week ➕ 2026-11-25 🛫 2026-11-25 📅 2026-11-27"
    assert changed(line, "toggle", TaskSettings(set_created_date=True)).lines == [upcoming, done]
    below = TaskSettings(set_created_date=True, recurrence_on_next_line=True)
    assert changed(line, "toggle", below).lines == [done, upcoming]


@pytest.mark.parametrize(
    ("line", "lines", "warning"),
    [
        ("- [ ] a  b 📅 2026-02-30", ["- [x] a  b 📅 2026-02-30 ✅ 2026-11-25"], "2026-02-30"),
        ("- [ ] a 🔁 every blue moon", ["- [x] a 🔁 every blue moon ✅ 2026-11-25"], "every blue moon"),
        ("- [ ] a 📅 2026-01-01 📅 2026-01-02", ["- [x] a 📅 2026-01-01 📅 2026-01-02 ✅ 2026-11-25"], "twice"),
        ("- [ ] a 🏁 archive", ["- [x] a 🏁 archive ✅ 2026-11-25"], "archive"),
    ],
)
def test_text_that_cannot_be_read_is_kept(line: str, lines: list[str], warning: str) -> None:
    """TASK-46"""
    found = changed(line, "done", TaskSettings())
    assert found.lines == lines
    assert any(warning in text for text in found.warnings)


def test_a_rule_without_a_further_date_does_not_repeat() -> None:
    """TASK-46, TASK-58"""
    found = changed("- [ ] a 🔁 every day until January 1 2020 📅 2026-11-20", "done", TaskSettings())
    assert found.lines == ["- [x] a 🔁 every day until January 1 2020 📅 2026-11-20 ✅ 2026-11-25"]
    assert "no further date" in found.warnings[0]


@pytest.mark.parametrize(
    "rule", ["every month on the 10th Monday", "every year on the 60th Friday", "every May on the 6th Sunday"]
)
def test_a_weekday_that_no_month_or_year_has_so_often_does_not_repeat(rule: str) -> None:
    """TASK-58: the plugin writes `Invalid date`"""
    found = changed(f"- [ ] a 🔁 {rule} 📅 2026-11-20", "done", TaskSettings())
    assert found.lines == [f"- [x] a 🔁 {rule} 📅 2026-11-20 ✅ 2026-11-25"]
    assert "no further date" in found.warnings[0]


@pytest.mark.parametrize(
    ("rule", "due"),
    [
        ("every month on the 1st Monday and 10th Tuesday", "2026-12-07"),
        ("every year on the 53rd Thursday", "2026-12-31"),
        ("every day at 25", "2026-11-21"),
        ("every day until June 31, 2027", "2026-11-21"),
    ],
)
def test_what_can_be_of_an_odd_rule_is_followed(rule: str, due: str) -> None:
    """TASK-50, TASK-56: as the plugin's code does"""
    line = changed(f"- [ ] a 🔁 {rule} 📅 2026-11-20", "done", TaskSettings()).lines[0]
    assert line.endswith(f"📅 {due}")


def test_a_task_is_deleted_on_completion_unless_items_hang_on_it() -> None:
    """TASK-47"""
    assert changed("- [ ] a 🏁 delete", "done", TaskSettings()).lines == []
    kept = changed("- [ ] a 🏁 delete", "done", TaskSettings(), has_children=True)
    assert kept.lines == ["- [x] a 🏁 delete ✅ 2026-11-25"]
    assert "below it" in kept.warnings[0]


def test_a_rule_is_followed_as_far_as_it_is_understood() -> None:
    """TASK-48"""
    found = changed("- [ ] a 🔁 every day really 📅 2026-11-20", "done", TaskSettings())
    assert found.lines[0] == "- [ ] a 🔁 every day 📅 2026-11-21"
    assert "'every day'" in found.warnings[0]


@pytest.mark.parametrize(("wanted", "symbol"), [("done", "x"), ("in_progress", "/"), ("CANCELLED", "-"), ("?", "?")])
def test_a_status_is_named_by_type_or_symbol(wanted: str, symbol: str) -> None:
    settings = TaskSettings()
    found = read_status(wanted, settings.statuses.get(" "), settings, core=False)
    assert found is not None
    assert found.symbol == symbol
    assert read_status("on_hold", settings.statuses.get(" "), settings, core=False) is None


PIECES = [
    *("📅 2026-01-01", "⏳2026-02-30", "[due:: 2026-01-01]", "(id:: x),", "#tag", "#a/b", "word", "日本", "::"),
    *("⏫\ufe0f", "🔁 every day", "🔁 every foo", "🆔 a", "⛔ a , b", "🏁 delete", "✅ 2026-01-01", "❌ 2020-01-01"),
]


@given(
    body=st.lists(st.sampled_from(PIECES), max_size=7).map(" ".join),
    settings=st.sampled_from([TaskSettings(), TaskSettings(notation="dataview"), WITHOUT_PLUGIN]),
    old=st.sampled_from(" x-/"),
    new=st.sampled_from(" x-/?"),
)
def test_a_change_of_status_keeps_every_other_member(body: str, settings: TaskSettings, old: str, new: str) -> None:
    """TASK-42, TASK-46: What a line said before, it says after; and what stands there is stable."""
    line = f"- [{old}] {body}"
    if follows_core(line, settings):
        return
    place = TaskPlace("a.md", 1)
    before = read_task(line, place, settings)
    found = change_status(line, settings.statuses.get(new), settings, TODAY)
    if before is None or found.changed is None or old == new:
        return
    after = read_task(found.changed, place, settings)
    assert after is not None
    assert after.status.symbol == new
    assert after.description.split() == before.description.split()
    for name in ("due", "scheduled", "start", "created", "priority", "id", "depends_on", "on_completion", "tags"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.recurrence == before.recurrence
    assert after.invalid == before.invalid
    assert change_status(found.changed, after.status, settings, TODAY).changed == found.changed
