"""The view of a query's result, in a browser (specs/views.md VIEW-30 to VIEW-34)."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Locator, expect

from .reference_host import ReferenceHost

TOOL = "obsidian_show_query"
TABLE = {"query": 'TABLE status, due, owner FROM "" SORT file.name'}
TASKS = {"language": "tasks", "query": "path includes Alpha"}


def column(view: FrameLocator, number: int = 1) -> Locator:
    return view.locator(f"tbody tr > :nth-child({number})")


def test_a_table_shows_typed_cells_and_sorts_through_the_server(viewer: ReferenceHost) -> None:
    """VIEW-30, VIEW-31, VIEW-34"""
    view = viewer.show(TOOL, TABLE, context={"displayMode": "fullscreen"})
    expect(view.locator("tbody tr")).to_have_count(9)
    expect(view.locator("time")).to_have_text("1 Dec 2026")
    expect(view.locator("thead th").first).to_have_attribute("scope", "col")
    view.get_by_role("button", name="due", exact=True).click()
    expect(view.get_by_role("columnheader", name="due")).to_have_attribute("aria-sort", "ascending")
    expect(column(view).first).to_have_text("Alpha")
    view.get_by_role("button", name="due ▲").click()
    expect(view.get_by_role("columnheader", name="due")).to_have_attribute("aria-sort", "descending")
    assert [arguments["sort"] for _, arguments in viewer.calls] == ["due", "-due"]


def test_layouts_change_without_a_call_and_groups_with_one(viewer: ReferenceHost) -> None:
    """VIEW-32"""
    view = viewer.show(TOOL, TABLE, context={"displayMode": "fullscreen"})
    layout = view.get_by_label("Layout")
    layout.select_option("cards")
    expect(view.locator(".grid .card")).to_have_count(9)
    layout.select_option("list")
    expect(view.locator(".plain-list li")).to_have_count(9)
    assert viewer.calls == []
    view.get_by_label("Group").select_option("status")
    expect(view.locator(".lane h2")).to_have_text(["active (1)", "none (8)"])
    assert viewer.calls[0][1]["group"] == "status"


def test_a_link_opens_a_preview(viewer: ReferenceHost) -> None:
    view = viewer.show(TOOL, TABLE, context={"displayMode": "fullscreen"})
    view.get_by_role("button", name="Tower clock").click()
    expect(view.locator(".panel")).to_contain_text("The town's clock of 1788")
    view.get_by_role("button", name="Close").click()
    expect(view.locator(".panel")).to_be_empty()


@pytest.mark.parametrize("notes", [{f"m{number:03}.md": "#many" for number in range(120)}])
def test_a_long_result_is_paged(host: ReferenceHost) -> None:
    """VIEW-30"""
    view = host.show(TOOL, {"query": "LIST FROM #many SORT file.name"}, context={"displayMode": "fullscreen"})
    expect(view.locator(".meta").first).to_have_text("1–50 of 120")
    view.get_by_role("button", name="Next page").click()
    expect(view.locator(".meta").first).to_have_text("51–100 of 120")
    view.get_by_role("button", name="Next page").click()
    expect(view.locator("li")).to_have_count(20)
    expect(view.get_by_role("button", name="Next page")).to_have_count(0)
    view.get_by_role("button", name="First page").click()
    expect(view.locator(".meta").first).to_have_text("1–50 of 120")


def test_a_task_is_ticked_and_the_tick_undone(host: ReferenceHost, basic: Path) -> None:
    """VIEW-33, VIEW-34"""
    view = host.show(TOOL, TASKS)
    box = view.get_by_role("checkbox", name="Cut the wheel in brass")
    expect(box).not_to_be_checked()
    box.press("Space")
    expect(view.get_by_role("status")).to_contain_text("Cut the wheel in brass: status done")
    expect(view.get_by_role("checkbox", name="Cut the wheel in brass")).to_be_checked()
    assert "- [x] Cut the wheel" in (basic / "Projects/Alpha.md").read_text(encoding="utf-8")
    view.get_by_role("button", name="Undo").click()
    expect(view.get_by_role("checkbox", name="Cut the wheel in brass")).not_to_be_checked()
    assert "- [ ] Cut the wheel" in (basic / "Projects/Alpha.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("notes", [{"Water.md": "- [ ] Water 🔁 every week 📅 2026-11-23\n"}])
def test_a_recurring_task_says_when_it_is_due_next(host: ReferenceHost) -> None:
    """VIEW-33"""
    view = host.show(TOOL, {"language": "tasks", "query": "path includes Water"})
    view.get_by_role("checkbox", name="Water").click()
    expect(view.get_by_role("status")).to_contain_text("The next occurrence is due 30 Nov 2026")
    expect(view.get_by_role("checkbox")).to_have_count(2)


def test_a_line_that_moved_is_refused_and_nothing_changes(host: ReferenceHost, basic: Path) -> None:
    """VIEW-33"""
    view = host.show(TOOL, TASKS)
    expect(view.get_by_role("checkbox")).to_have_count(3)
    note = basic / "Projects/Alpha.md"
    note.write_text("- [ ] Something else\n" * 20, encoding="utf-8")
    view.get_by_role("checkbox", name="Cut the wheel in brass").click()
    expect(view.get_by_role("status")).to_have_class("status problem")
    expect(view.get_by_role("checkbox", name="Cut the wheel in brass")).not_to_be_checked()
    assert note.read_text(encoding="utf-8") == "- [ ] Something else\n" * 20


def test_a_card_is_moved_on_the_board(host: ReferenceHost, basic: Path) -> None:
    """VIEW-33"""
    view = host.show(TOOL, {**TASKS, "group": "status"}, context={"displayMode": "fullscreen"})
    expect(view.locator(".lane h2")).to_have_text(["todo (2)", "done (1)"])
    view.get_by_label("Move Cut the wheel in brass to").select_option("in progress")
    expect(view.locator(".lane h2")).to_have_text(["todo (1)", "in progress (1)", "done (1)"])
    assert "- [/] Cut the wheel" in (basic / "Projects/Alpha.md").read_text(encoding="utf-8")
    view.get_by_label("Group").select_option("priority")
    view.get_by_label("Move Draw the wheel to").select_option("high")
    expect(view.get_by_role("status")).to_contain_text("priority high")
    assert "- [x] Draw the wheel ⏫" in (basic / "Projects/Alpha.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("notes", [{"W.md": "- [ ] Ask [[Jonas Weiß]] 📅 2026-11-24\n- [ ] Oil 📅 2026-12-01\n"}])
def test_a_card_is_moved_to_another_due_date_and_named_without_marks(host: ReferenceHost, basic: Path) -> None:
    """VIEW-33, VIEW-34"""
    tasks = {"language": "tasks", "query": "path includes W.md", "group": "due"}
    view = host.show(TOOL, tasks, context={"displayMode": "fullscreen"})
    view.get_by_label("Move Ask Jonas Weiß to").select_option("2026-12-01")
    expect(view.get_by_role("status")).to_have_text("Ask Jonas Weiß: due 2026-12-01.")
    expect(view.locator(".lane")).to_have_count(1)
    assert "[[Jonas Weiß]] 📅 2026-12-01" in (basic / "W.md").read_text(encoding="utf-8")


TYPES = "---\nwhen: 2026-03-04T05:06:07\nis: true\nmany: [a, '[[Home]]', 1234.5]\n---\n#typed\n"


@pytest.mark.parametrize("notes", [{"Typed.md": TYPES}])
def test_cells_are_written_as_the_reader_is_used_to(host: ReferenceHost) -> None:
    """VIEW-30"""
    query = {"query": 'TABLE when, is, many, date("x") AS wrong, [[None]] AS to FROM #typed'}
    view = host.show(TOOL, query, context={"displayMode": "fullscreen", "locale": "de-DE"})
    expect(view.locator("tbody td")).to_have_text(
        ["04.03.2026, 05:06", "yes", "a, Home, 1234.5", "", "None (not created)"]
    )


def test_without_tools_ticks_are_disabled(viewer: ReferenceHost) -> None:
    """VIEW-11"""
    view = viewer.show(TOOL, TASKS, capabilities={})
    expect(view.get_by_role("checkbox", name="Draw the wheel")).to_be_disabled()
    expect(view.get_by_label("Sort")).to_have_count(0)


def test_an_empty_result_says_so(viewer: ReferenceHost) -> None:
    view = viewer.show(TOOL, {"query": "LIST FROM #nothing"})
    expect(view.locator("body")).to_contain_text("Nothing found")
