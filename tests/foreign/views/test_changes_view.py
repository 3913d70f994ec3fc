"""The view of changes, in a browser (specs/views.md)."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, FrameLocator, Locator, expect

from tests.conftest import app_on
from tests.serve.serving import serving

from .reference_host import ReferenceHost

TOOL = "obsidian_show_changes"
MOVE = {"tool": "obsidian_move_note", "arguments": {"name": "Alpha", "to": "Projects/Beta"}}


def card(view: FrameLocator, path: str) -> Locator:
    return view.locator(f'[data-path="{path}"]')


def press(view: FrameLocator, name: str) -> None:
    view.get_by_role("button", name=name, exact=True).click()


def contents(vault: Path) -> dict[Path, bytes]:
    """The vault's files."""
    return {path: path.read_bytes() for path in vault.rglob("*") if path.is_file()}


def pass_barrier(host: ReferenceHost, view: FrameLocator) -> None:
    """Turn the theme dark: when that shows, the view has dealt with every message before."""
    host.page.evaluate("change_theme('dark')")
    expect(view.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_planned_move_is_applied_whole_and_undone(host: ReferenceHost, basic: Path) -> None:
    """VIEW-12: beside it: the model gets numbers, no text."""
    before = contents(basic)
    view = host.show(TOOL, MOVE)
    expect(view.locator("h1")).to_have_text("Move Projects/Alpha.md to Projects/Beta.md and rewrite links in 4 files")
    assert (basic / "Projects/Alpha.md").exists()

    press(view, "Apply all (5)")
    expect(view.get_by_role("status")).to_contain_text("Applied: 5 files changed, as change 1")
    assert "[[Beta|Project Alpha]]" in (basic / "Home.md").read_text(encoding="utf-8")
    press(view, "Undo change 1")
    expect(view.get_by_role("status")).to_contain_text("Change 1 is undone")
    assert contents(basic) == before
    facts = [told["content"][0]["text"] for told in host.sent("ui/update-model-context", 2)]
    assert [fact.partition(" of plan")[0] for fact in facts] == [
        "The user applied 5 of 5 files",
        "The user undid change 1.",
    ]
    press(view, "Apply all (5)")  # the plan is as it was before
    expect(view.get_by_role("status")).to_contain_text("as change 3")


def test_files_are_applied_and_discarded_one_by_one(host: ReferenceHost, basic: Path) -> None:
    """PLAN-05: a link waits for the move."""
    view = host.show(TOOL, MOVE)
    expect(view.get_by_role("button", name="Apply Home.md")).to_be_disabled()
    expect(view.locator("header")).to_contain_text("Links wait for the move.")
    press(view, "Apply Projects/Alpha.md")
    expect(card(view, "Projects/Alpha.md")).to_have_attribute("data-state", "applied")
    press(view, "Apply Home.md")
    expect(card(view, "Home.md")).to_have_attribute("data-state", "applied")
    view.get_by_role("button", name="Discard Board.canvas").click()
    expect(card(view, "Board.canvas")).to_have_attribute("data-state", "discarded")
    expect(view.get_by_role("status")).to_contain_text("Links there keep the old name")
    press(view, "Apply all (2)")
    expect(view.get_by_role("status")).to_contain_text("2 files changed")

    assert "[[Beta]]" in (basic / "Projects/Tower clock.md").read_text(encoding="utf-8")
    assert "Projects/Alpha.md" in (basic / "Board.canvas").read_text(encoding="utf-8")


def test_all_is_discarded_without_a_call(viewer: ReferenceHost) -> None:
    view = viewer.show(TOOL, MOVE)
    press(view, "Discard all")
    expect(view.get_by_role("status")).to_contain_text("5 files will not be changed")
    expect(view.get_by_role("button", name="Apply")).to_have_count(0)
    assert viewer.calls == []


def test_a_card_shows_its_lines_with_the_words_that_change(viewer: ReferenceHost) -> None:
    view = viewer.show(TOOL, MOVE)
    home = card(view, "Home.md")
    opener = home.get_by_role("button", name="Home.md Changed")
    expect(opener).to_have_attribute("aria-expanded", "false")
    opener.press("Enter")
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(home.locator(".head")).to_have_text("Home, line 8")
    expect(home.locator(".del")).to_contain_text("removed: - Work: [[Projects/Alpha|Project Alpha]], [[Tower clock]]")
    expect(home.locator(".add mark")).to_have_text("Beta")
    assert viewer.calls[0][0] == "obsidian_plan_diff"
    opener.press("Enter")
    expect(home.locator(".diff")).to_be_hidden()


def test_a_file_that_changed_meanwhile_has_no_apply_button(host: ReferenceHost, basic: Path) -> None:
    """PLAN-03"""
    view = host.show(TOOL, MOVE)
    expect(view.locator("h1")).to_be_visible()
    (basic / "Home.md").write_text("Another text", encoding="utf-8")
    press(view, "Apply all (5)")
    expect(view.get_by_role("status")).to_contain_text("'Home.md' changed since the plan was made")
    expect(card(view, "Home.md")).to_contain_text("changed meanwhile")
    expect(card(view, "Home.md").get_by_role("button", name="Apply")).to_have_count(0)
    assert (basic / "Projects/Alpha.md").exists()


def test_a_plan_that_ended_is_said(host: ReferenceHost, basic: Path) -> None:
    before = contents(basic)
    answer = host.session.call(TOOL, **MOVE)
    answer["structuredContent"]["data"]["plan"] = "p_" + "0" * 32
    view = host.open(TOOL, MOVE, result=answer)
    press(view, "Apply all (5)")
    expect(view.get_by_role("status")).to_contain_text("plans end after 30 minutes")
    assert contents(basic) == before


def test_where_the_policy_wants_it_the_person_confirms_in_the_view(page_of_host: ReferenceHost, basic: Path) -> None:
    """POL-04"""
    (basic.parent / "policy.toml").write_text('confirm = ["move"]', encoding="utf-8")
    app = app_on(basic)
    with serving(app) as url, page_of_host.on(url) as host:
        view = host.show(TOOL, MOVE)
        press(view, "Apply all (5)")
        expect(view.get_by_role("alert")).to_contain_text("confirm")
        assert (basic / "Projects/Alpha.md").exists()
        press(view, "Yes, apply")
        expect(view.get_by_role("status")).to_contain_text("Applied: 5 files")
    app.vaults.close()


def test_an_earlier_change_is_shown_and_undone(host: ReferenceHost, basic: Path) -> None:
    """PLAN-07"""
    host.session.call("obsidian_edit_note", name="Home", operation="append", content="One more line")
    view = host.show(TOOL, {})
    expect(view.locator(".meta").first).to_contain_text("change 1")
    card(view, "Home.md").get_by_role("button").click()
    expect(card(view, "Home.md").locator(".add").last).to_contain_text("One more line")
    press(view, "Undo change 1")
    expect(view.locator(".meta").first).to_contain_text("undone by change 2")
    assert "One more line" not in (basic / "Home.md").read_text(encoding="utf-8")
    expect(view.get_by_role("button", name="Undo change 1")).to_have_count(0)


@pytest.mark.parametrize("notes", [{f"N{number}.md": "old\n" + "line\n" * 9 + "old\n" for number in range(3)}])
def test_an_earlier_change_is_undone_file_by_file_and_hunk_by_hunk(host: ReferenceHost, basic: Path) -> None:
    """PLAN-07, SAFE-31"""
    names = [f"N{number}" for number in range(3)]
    host.session.call("obsidian_replace", find="old", content="new", names=names)
    view = host.show(TOOL, {})
    press(view, "Undo the changes in N1.md")
    expect(view.get_by_role("status")).to_contain_text("Undone: N1.md, as change 2")
    card(view, "N2.md").get_by_role("button", name="N2.md").first.click()
    press(view, "Undo the lines of hunk 2")
    expect(view.get_by_role("status")).to_contain_text("hunk 2 of N2.md")
    texts = [(basic / f"{name}.md").read_text("utf-8").split() for name in names]
    assert [[text[0], text[-1]] for text in texts] == [["new", "new"], ["old", "old"], ["new", "old"]]


# --- the bridge, which all views share


def test_a_host_that_leaves_the_structure_out_shows_the_same(host: ReferenceHost) -> None:
    """VIEW-05: Claude Desktop on stdio."""
    answer = host.session.call(TOOL, **MOVE)
    view = host.open(TOOL, MOVE, result=answer, send_input=False)
    expect(view.locator("h1")).to_contain_text("Move Projects/Alpha.md")
    ordinary = view.locator("#view").inner_text()
    view = host.open(TOOL, MOVE, result={"content": answer["content"]}, send_input=False)
    expect(view.locator("h1")).to_contain_text("Move Projects/Alpha.md")
    assert view.locator("#view").inner_text() == ordinary
    assert host.calls == []


@pytest.mark.parametrize("result", [{"content": []}, {"content": [{"type": "text", "text": "See file 17"}]}])
def test_a_result_that_was_lost_is_asked_for_again(viewer: ReferenceHost, result: dict[str, Any]) -> None:
    """VIEW-05"""
    view = viewer.open(TOOL, MOVE, result=result)
    expect(view.locator("h1")).to_contain_text("Move Projects/Alpha.md")
    assert viewer.calls == [(TOOL, MOVE)]


def test_a_result_that_never_comes_is_asked_for_after_five_seconds_unless_cancelled(
    browser: Browser, still: str
) -> None:
    """VIEW-05"""
    context = browser.new_context()
    context.clock.install()
    with ReferenceHost(context).on(still) as host:
        view = host.open(TOOL, MOVE, result=None)
        host.sent("ui/notifications/initialized")
        assert host.calls == []
        context.clock.fast_forward(6000)
        expect(view.locator("h1")).to_contain_text("Move Projects/Alpha.md")
        assert host.calls == [(TOOL, MOVE)]
        view = host.open(TOOL, MOVE, result=None)
        host.sent("ui/notifications/initialized")
        host.page.evaluate("bridge.sendToolCancelled({})")
        expect(view.get_by_role("alert")).to_contain_text("cancelled")
        context.clock.fast_forward(6000)
        pass_barrier(host, view)
        assert view.get_by_role("alert").inner_text() == "The call was cancelled."
        assert host.calls == [(TOOL, MOVE)]  # no other one
    context.close()


def test_without_tools_the_view_shows_and_says_so(viewer: ReferenceHost) -> None:
    """VIEW-11"""
    view = viewer.show(TOOL, MOVE, capabilities={})
    expect(view.locator(".notice")).to_contain_text("Read only")
    expect(view.get_by_role("button", name="Apply")).to_have_count(0)
    assert viewer.log("ui/update-model-context") == []
    view = viewer.open(TOOL, MOVE, result={"content": []}, capabilities={})
    expect(view.get_by_role("alert")).to_contain_text("The host sent no result")


def test_errors_and_cancelled_calls_are_said(viewer: ReferenceHost) -> None:
    """VIEW-05"""
    view = viewer.show(TOOL, {"change": 99})
    expect(view.get_by_role("alert")).to_contain_text("The journal has no change 99")
    view = viewer.open(TOOL, MOVE, result=None)
    expect(view.locator("#view")).to_have_attribute("aria-busy", "true")
    viewer.page.evaluate("bridge.sendToolCancelled({})")
    expect(view.get_by_role("alert")).to_contain_text("cancelled")
    pass_barrier(viewer, view)
    assert viewer.calls == []


def test_a_second_result_replaces_the_first_and_one_for_another_view_does_not(viewer: ReferenceHost) -> None:
    """VIEW-05"""
    view = viewer.show(TOOL, MOVE)
    expect(view.locator("h1")).to_contain_text("Move")
    second = viewer.session.call(TOOL, tool="create_note", arguments={"name": "New"})
    other = {"content": [], "structuredContent": {"data": {"view": "graph", "summary": "not for here"}}}
    for result in second, other:
        viewer.page.evaluate("result => bridge.sendToolResult(result)", result)
    pass_barrier(viewer, view)
    assert view.locator("h1").inner_text() == "Create note: New.md"


def test_messages_of_others_than_the_host_do_nothing(viewer: ReferenceHost) -> None:
    """VIEW-08"""
    view = viewer.show(TOOL, MOVE)
    expect(view.locator("h1")).to_contain_text("Move")
    forged = {"jsonrpc": "2.0", "method": "ui/notifications/tool-cancelled", "params": {}}
    view.locator("body").evaluate("(body, forged) => window.postMessage(forged, '*')", forged)
    pass_barrier(viewer, view)
    assert view.get_by_role("alert").count() == 0
    viewer.page.evaluate("bridge.sendToolCancelled({})")  # the same from the host
    expect(view.get_by_role("alert")).to_contain_text("cancelled")


def test_theme_language_and_space_follow_the_host(viewer: ReferenceHost) -> None:
    """VIEW-09, VIEW-10"""
    insets = {"top": 30, "right": 0, "bottom": 0, "left": 0}
    variables = {"--color-text-primary": "rgb(1, 2, 3)"}
    context = {"locale": "de", "safeAreaInsets": insets, "styles": {"variables": variables}}
    view = viewer.show(TOOL, MOVE, context=context)
    expect(view.locator("html")).to_have_attribute("lang", "de")
    expect(view.locator("body")).to_have_css("color", "rgb(1, 2, 3)")
    expect(view.locator("#view")).to_have_css("padding-top", "38px")
    pass_barrier(viewer, view)
    expect(view.locator("html")).to_have_css("color-scheme", "dark")
    expect(view.locator("#view")).to_have_css("padding-top", "38px")  # what the change does not name stays
    meta = view.locator(".meta").first.inner_text()
    assert re.search(r"\d\d\.\d\d\.\d{4}, \d\d:\d\d", meta), meta  # a German date


def test_a_view_answers_the_hosts_requests(viewer: ReferenceHost) -> None:
    view = viewer.show(TOOL, MOVE)
    expect(view.locator("h1")).to_be_visible()
    assert viewer.page.evaluate("bridge.request({ method: 'ping' })") == {}
    assert viewer.page.evaluate("bridge.teardownResource({})") == {}
    with pytest.raises(Error, match="Method not found"):
        viewer.page.evaluate("bridge.listTools({})")


@pytest.mark.parametrize("notes", [{f"A rather long name {number:03}.md": "old" for number in range(105)}])
def test_files_beyond_the_first_page_are_listed_and_applied(host: ReferenceHost, basic: Path) -> None:
    """PLAN-06"""
    plan = {"tool": "replace", "arguments": {"find": "old", "content": "new", "query": "path:rather"}}
    view = host.show(TOOL, plan, context={"displayMode": "fullscreen"})
    expect(view.get_by_role("button", name="Apply all (105)")).to_be_visible()
    listed = view.locator(".card").count()
    assert listed < 105
    press(view, f"List more files ({105 - listed})")
    expect(view.locator(".card")).to_have_count(105)
    card(view, "A rather long name 104.md").locator(".opener").click()
    expect(card(view, "A rather long name 104.md").locator(".add")).to_contain_text("new")
    press(view, "Apply all (105)")
    expect(view.get_by_role("status")).to_contain_text("105 files changed")
    last = basic / "A rather long name 104.md"
    assert last.read_text(encoding="utf-8") == "new"
    press(view, "Undo change 1")
    expect(view.get_by_role("button", name="Apply all (105)")).to_be_visible()
    expect(card(view, last.name)).to_have_attribute("data-state", "pending")
    assert last.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("width", [320, 1000])
def test_in_the_chat_the_view_is_low_and_grows_on_demand(page_of_host: ReferenceHost, basic: Path, width: int) -> None:
    """VIEW-09, VIEW-10"""
    for number in range(30):
        (basic / f"A note with a rather long name about number {number:02}.md").write_text("old", encoding="utf-8")
    app = app_on(basic)
    with serving(app) as url, page_of_host.on(url, width=width) as host:
        plan = {"tool": "replace", "arguments": {"find": "old", "content": "new", "query": "old"}}
        view = host.show(TOOL, plan)
        more = view.get_by_role("button", name="Show more")
        expect(more).to_be_visible()
        assert view.locator("#view").evaluate("view => view.offsetHeight") <= 500
        assert view.locator("html").evaluate("page => page.scrollWidth") <= width
        more.press("Enter")
        expect(view.locator(".card").last).to_be_visible()
        host.page.wait_for_function("log.at(-1).params.height > 1000")
        sizes = host.log("ui/notifications/size-changed")
        assert all(before != after for before, after in pairwise(sizes))
        press(view, "Expand")
        assert host.sent("ui/request-display-mode") == [{"mode": "fullscreen"}]
        expect(view.get_by_role("button", name="Expand")).to_have_count(0)
        host.page.evaluate("bridge.sendHostContextChange({ displayMode: 'inline' })")
        expect(view.get_by_role("button", name="Expand")).to_be_visible()
    app.vaults.close()


def test_every_control_is_reached_by_keyboard_and_high_enough(host: ReferenceHost) -> None:
    """VIEW-09: nothing that changes the vault has the focus at first."""
    view = host.show(TOOL, MOVE)
    expect(view.locator("h1")).to_be_visible()
    assert view.locator("body").evaluate("() => document.activeElement === document.body")
    controls = view.get_by_role("button")
    assert {box["height"] >= 44 for control in controls.all() if (box := control.bounding_box())} == {True}
    reached = set()
    host.page.keyboard.press("Tab")
    for _ in range(controls.count()):
        text, outline = view.locator("body").evaluate(
            "() => [document.activeElement.textContent, getComputedStyle(document.activeElement).outlineWidth]"
        )
        reached.add(text)
        assert outline == "3px", text
        host.page.keyboard.press("Tab")
    assert {"Expand", "Apply all (5)", "Discard all", "Apply", "Discard"} <= reached
