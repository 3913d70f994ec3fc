"""The view of links, in a browser (specs/views.md VIEW-20 to VIEW-22)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Locator, expect

from tests.conftest import app_on
from tests.serve.serving import serving

from .reference_host import ReferenceHost

TOOL = "obsidian_show_graph"


def node(view: FrameLocator, name: str) -> Locator:
    return view.locator("svg").get_by_role("button", name=re.compile(f"^{name}, "))


def circle(view: FrameLocator, name: str) -> Locator:
    return node(view, name).locator("circle")


def test_the_picture_has_every_node_and_link(viewer: ReferenceHost) -> None:
    """VIEW-21"""
    view = viewer.show(TOOL, {"note": "Alpha"})
    expect(view.locator("h1")).to_have_text("Links around Alpha")
    expect(view.locator("[data-node]")).to_have_count(9)
    expect(view.locator("path.edge")).to_have_count(20)
    expect(view.locator("path.edge.embed")).to_have_count(1)
    expect(node(view, "Alpha")).to_have_attribute("aria-label", "Alpha, note, 4 links in, 4 out")
    expect(view.locator(".legend")).to_contain_text("Note")
    assert viewer.calls == []


def test_a_click_shows_first_lines_and_links(viewer: ReferenceHost) -> None:
    """VIEW-21"""
    view = viewer.show(TOOL, {"note": "Alpha"})
    circle(view, "Tower clock").click()
    panel = view.locator(".panel")
    expect(panel).to_contain_text("The town's clock of 1788 runs four minutes slow.")
    expect(panel).to_contain_text("Links to")
    panel.get_by_role("button", name="Alpha").first.click()
    expect(panel.locator("h2")).to_have_text("Projects/Alpha.md")
    expect(panel).to_contain_text("The quick brown fox of our projects")
    assert [name for name, _ in viewer.calls] == ["obsidian_note_page", "obsidian_note_page"]


def test_a_double_click_puts_a_note_in_the_centre_and_back_goes_back(viewer: ReferenceHost) -> None:
    """VIEW-21"""
    view = viewer.show(TOOL, {"note": "Alpha", "depth": 1})
    circle(view, "Tower clock").dblclick()
    expect(view.locator("h1")).to_have_text("Links around Tower clock")
    expect(view.locator("header .meta")).to_have_text("4 files · 6 links")
    assert (TOOL, {"note": "Projects/Tower clock.md", "depth": 1, "vault": "basic"}) in viewer.calls
    view.get_by_role("button", name="Back").click()
    expect(view.locator("h1")).to_have_text("Links around Alpha")
    expect(view.get_by_role("button", name="Back")).to_have_count(0)


def test_the_keyboard_walks_along_links_and_re_centres(viewer: ReferenceHost) -> None:
    """VIEW-09, VIEW-21"""
    view = viewer.show(TOOL, {"note": "Alpha"})
    node(view, "Alpha").focus()
    viewer.page.keyboard.press("ArrowRight")
    focused = view.locator("body").evaluate("() => document.activeElement.getAttribute('aria-label')")
    assert focused is not None
    name = focused.partition(",")[0]
    assert name in {"Mori Ayumi", "Jonas Weiß", "Tower clock", "Reading list", "Home"}
    viewer.page.keyboard.press("Enter")
    expect(view.locator(".panel h2")).to_contain_text(name)
    viewer.page.keyboard.press("Enter")
    expect(view.locator("h1")).to_have_text(f"Links around {name}")


def test_nodes_are_dragged_and_the_picture_is_moved_and_zoomed(viewer: ReferenceHost) -> None:
    """VIEW-21"""
    view = viewer.show(TOOL, {"note": "Alpha"})
    home = circle(view, "Home")
    before, alpha = home.bounding_box(), circle(view, "Alpha").bounding_box()
    assert before is not None
    assert alpha is not None
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    viewer.page.mouse.move(x, y)
    viewer.page.mouse.down()
    viewer.page.mouse.move(x + 40, y + 20, steps=4)
    viewer.page.mouse.up()
    after = home.bounding_box()
    assert after is not None
    assert (round(after["x"] - before["x"]), round(after["y"] - before["y"])) == (40, 20)
    assert circle(view, "Alpha").bounding_box() == alpha
    assert viewer.calls == []  # a drag is no click

    world = view.locator("svg.graph > g")
    scale = scale_of(world)
    view.get_by_role("button", name="Zoom in").click()
    assert scale_of(world) == pytest.approx(scale * 1.25, rel=0.01)
    viewer.page.mouse.move(x, y)
    transform = world.get_attribute("transform")
    viewer.page.mouse.wheel(0, 400)
    expect(world).not_to_have_attribute("transform", transform or "")
    assert scale_of(world) < scale
    view.get_by_role("button", name="Fit").click()
    assert scale_of(world) == pytest.approx(scale, rel=0.05)


def test_two_fingers_zoom_and_move_the_picture(viewer: ReferenceHost) -> None:
    """VIEW-21"""
    view = viewer.show(TOOL, {"note": "Alpha"})
    picture = view.locator("svg.graph").bounding_box()
    assert picture is not None
    middle, height = picture["x"] + picture["width"] / 2, picture["y"] + picture["height"] / 2
    world = view.locator("svg.graph > g")
    before = scale_of(world)
    fingers = viewer.page.context.new_cdp_session(viewer.page)

    def touch(kind: str, *places: float) -> None:
        points = [{"x": place, "y": height, "id": number} for number, place in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", middle - 50)
    touch("touchStart", middle - 50, middle + 50)
    for step in range(1, 6):
        touch("touchMove", middle - 50 - 10 * step, middle + 50 + 10 * step)
    touch("touchEnd")
    view.locator("body").evaluate("() => new Promise(requestAnimationFrame)")
    assert scale_of(world) == pytest.approx(2 * before, rel=0.05)
    wide, alpha = scale_of(world), circle(view, "Alpha").bounding_box()
    touch("touchStart", picture["x"] + 20)
    for step in range(1, 6):
        touch("touchMove", picture["x"] + 20 + 10 * step)
    touch("touchEnd")
    after = circle(view, "Alpha").bounding_box()
    assert after is not None
    assert alpha is not None
    assert after["x"] - alpha["x"] == pytest.approx(50, abs=1)
    assert scale_of(world) == wide
    assert viewer.calls == []  # no finger has pressed a node


def test_keys_zoom_and_names_leave_each_other_room(viewer: ReferenceHost) -> None:
    """VIEW-21"""
    view = viewer.show(TOOL, {"note": "Alpha"})
    world = view.locator("svg.graph > g")
    before = scale_of(world)
    expect(node(view, "Alpha").locator("text")).to_be_visible()
    boxes = [box for label in view.locator("svg.graph text").all() if (box := label.bounding_box())]
    assert len(boxes) > 3
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = abs(one["x"] + one["width"] / 2 - other["x"] - other["width"] / 2)
            assert apart >= (one["width"] + other["width"]) / 2 or abs(one["y"] - other["y"]) > 8
    height = boxes[0]["height"]
    node(view, "Alpha").focus()
    viewer.page.keyboard.press("+")
    viewer.page.keyboard.press("+")
    assert scale_of(world) == pytest.approx(before * 1.25**2, rel=0.01)
    now = node(view, "Alpha").locator("text").bounding_box()
    assert now is not None
    assert now["height"] == pytest.approx(height, rel=0.2)  # names stay as large as they are
    viewer.page.keyboard.press("-")
    assert scale_of(world) == pytest.approx(before * 1.25, rel=0.01)


def scale_of(world: Locator) -> float:
    found = re.search(r"scale\(([\d.]+)\)", world.get_attribute("transform") or "")
    assert found is not None
    return float(found[1])


def test_the_list_shows_the_same_and_comes_first(viewer: ReferenceHost) -> None:
    """VIEW-21"""
    view = viewer.show(TOOL, {"note": "Alpha"}, context={"displayMode": "fullscreen"})
    names = view.locator("svg.graph [data-node] text")
    expect(names).to_have_count(9)
    pictured = names.all_text_contents()
    first = view.locator("button").first
    expect(first).to_have_text("List")
    first.press("Enter")
    expect(view.locator("svg")).to_have_count(0)
    assert sorted(view.locator(".tree [data-node]").all_text_contents()) == sorted(pictured)
    view.locator(".tree").get_by_role("button", name="Tower clock").click()
    expect(view.locator(".panel")).to_contain_text("The town's clock of 1788")
    view.get_by_role("button", name="Picture").click()
    expect(view.locator("path.edge")).to_have_count(20)


@pytest.mark.parametrize("notes", [{"Hub.md": "text", f"{'🦊' * 40}.md": "[[Hub]]"}])
def test_a_long_name_is_cut_between_two_emoji(host: ReferenceHost) -> None:
    """VIEW-21"""
    view = host.show(TOOL, {"note": "Hub"})
    label = view.locator("svg.graph text", has_text="…")
    expect(label).to_have_count(1)
    assert label.text_content() == "🦊" * 27 + "…"


@pytest.mark.parametrize("notes", [{"Hub.md": "[[Nowhere]]"}])
def test_a_name_without_a_file_says_so_and_does_nothing(host: ReferenceHost) -> None:
    view = host.show(TOOL, {"note": "Hub"})
    circle(view, "Nowhere").click()
    expect(view.locator(".panel")).to_contain_text("There is no file of this name yet")
    circle(view, "Nowhere").dblclick()
    assert host.calls == []


def test_without_tools_a_click_shows_what_is_known(viewer: ReferenceHost) -> None:
    """VIEW-11"""
    view = viewer.show(TOOL, {"note": "Alpha"}, capabilities={})
    circle(view, "Tower clock").click()
    expect(view.locator(".panel h2")).to_have_text("Projects/Tower clock.md")
    expect(view.locator(".panel")).to_contain_text("Linked from")
    expect(view.get_by_role("button", name="Show links around it")).to_have_count(0)
    circle(view, "Tower clock").dblclick()
    expect(view.locator("h1")).to_have_text("Links around Alpha")
    assert view.locator(".panel").get_by_role("button", name="Alpha").count() >= 1
    assert viewer.calls == []


@pytest.mark.timing
def test_150_nodes_are_placed_and_dragged_in_time(page_of_host: ReferenceHost, basic: Path) -> None:
    """VIEW-22"""
    for number in range(150):
        targets = " ".join(f"[[n{(number * step + step) % 150}]]" for step in (2, 3))
        (basic / f"n{number}.md").write_text(targets, encoding="utf-8")
    (basic / "hub.md").write_text(" ".join(f"[[n{number}]]" for number in range(0, 150, 2)), encoding="utf-8")
    app = app_on(basic)
    with serving(app) as url, page_of_host.on(url) as host:
        answer = host.session.call(TOOL, note="hub", depth=2)
        nodes = answer["structuredContent"]["data"]["nodes"]
        assert len(nodes) == 150
        view = host.open(TOOL, {}, result=None, context={"displayMode": "fullscreen"})
        host.page.wait_for_function('log.some(message => message.method === "ui/notifications/initialized")')
        placed = measure(host, view, answer)
        frames = drag(view)
    app.vaults.close()
    print(f"\n{len(nodes)} nodes placed and drawn in {placed:.0f} ms; {frames:.0f} frames a second while dragging")
    assert placed <= 300
    assert frames >= 50


def measure(host: ReferenceHost, view: FrameLocator, answer: object) -> float:
    """Milliseconds from the arrival of a result to the frame that shows it."""
    view.locator("body").evaluate(
        """() => addEventListener("message", event => {
            if (event.data.method !== "ui/notifications/tool-result") return;
            const start = performance.now();
            requestAnimationFrame(() => setTimeout(() => { window.placed = performance.now() - start; }));
        }, { capture: true })"""
    )
    host.page.evaluate("result => bridge.sendToolResult(result)", answer)
    expect(view.locator("[data-node]").first).to_be_visible()
    host.frame.wait_for_function("window.placed")
    return float(host.frame.evaluate("window.placed"))


def drag(view: FrameLocator) -> float:
    """Frames a second while a pointer drags the most linked node for a second, with an event in every frame."""
    return float(
        view.locator("[data-node='0']").evaluate(
            """node => new Promise(done => {
                const box = node.getBoundingClientRect();
                const at = (type, x) => node.dispatchEvent(new PointerEvent(type, {
                    pointerId: 1, bubbles: true, clientX: box.x + x, clientY: box.y + x / 2,
                }));
                node.setPointerCapture = () => {};
                at("pointerdown", 0);
                let frames = 0;
                const start = performance.now();
                const frame = now => {
                    at("pointermove", 20 + frames % 100);
                    frames += 1;
                    if (now - start < 1000) return requestAnimationFrame(frame);
                    at("pointerup", 0);
                    done(frames * 1000 / (performance.now() - start));
                };
                requestAnimationFrame(frame);
            })"""
        )
    )
