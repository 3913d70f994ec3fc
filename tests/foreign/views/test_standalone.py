"""Pages outside a chat, in a browser without a host (specs/views.md VIEW-09, VIEW-13, VIEW-15).

At the end of a test axe-core looks at its page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from obsidian_mcp.cli.main import run_command_line
from tests.serve.mcp.test_resources import PIXEL

from .reference_host import barriers


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(color_scheme="dark", offline=True)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("dialog", lambda dialog: problems.append(dialog.message))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    yield opened
    for scheme in ("light", "dark"):
        opened.emulate_media(color_scheme=scheme)
        expect(opened.locator("html")).to_have_attribute("data-theme", scheme)
        assert barriers(opened.main_frame) == []
    context.close()
    assert problems == []


def show(page: Page, basic: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(basic.parent / kind.lower()))
    file = basic.parent / "page.html"
    assert run_command_line(["--vault", str(basic), "view", *words, "--output", str(file), "--no-open"]) == 0
    page.goto(file.as_uri())


def test_a_graph_is_looked_at_without_a_host(page: Page, basic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    show(page, basic, monkeypatch, "graph", "Alpha")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("[data-node] circle").first.click()
    expect(page.locator(".panel")).to_contain_text("The quick brown fox of our projects")
    link = page.locator(".panel a")
    expect(link).to_have_attribute("href", "obsidian://open?vault=basic&file=Projects%2FAlpha.md")
    expect(page.get_by_role("button", name="Show links around it")).to_have_count(0)


def test_a_note_shows_its_images_and_opens_others_in_the_app(
    page: Page, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (basic / "pixel.png").write_bytes(PIXEL)
    text = "[[Home]] ![[pixel.png]] [web](https://example.com/) </script><script>alert(1)</script>\n"
    (basic / "N.md").write_text(text, encoding="utf-8")
    show(page, basic, monkeypatch, "note", "N")
    expect(page.locator("article a").first).to_have_attribute("href", "obsidian://open?vault=basic&file=Home.md")
    expect(page.locator("article a").last).to_have_attribute("href", "https://example.com/")
    expect(page.locator("article canvas")).to_be_visible()


def test_a_query_and_the_history_are_shown_read_only(page: Page, basic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    show(page, basic, monkeypatch, "query", "--language", "tasks", "--group", "status")
    expect(page.locator(".lane")).to_have_count(2)
    expect(page.get_by_role("checkbox").first).to_be_disabled()
    assert run_command_line(["--vault", str(basic), "edit", "Home", "append", "One more line"]) == 0
    show(page, basic, monkeypatch, "history")
    page.get_by_role("button", name="Home.md").click()
    expect(page.locator(".add").last).to_contain_text("One more line")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def test_outside_a_chat_nothing_is_folded_away(page: Page, basic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """VIEW-16"""
    paragraphs = "\n\n".join(f"Paragraph {number} of a long note." for number in range(80))
    (basic / "Long.md").write_text(
        f"---\na: 1\nb: 2\nc: 3\nd: 4\ne: 5\n---\n# One\n\n## Two\n\n{paragraphs}\n", "utf-8"
    )
    (basic / "Links.md").write_text("[[Long]] and [[Long#Two]]\n", "utf-8")
    show(page, basic, monkeypatch, "note", "Long")
    expect(page.get_by_text("Paragraph 79 of a long note.")).to_be_attached()
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    expect(page.locator("aside dt")).to_have_count(5)
    expect(page.locator("aside").get_by_role("button", name="Two")).to_be_visible()
    expect(page.locator("aside").get_by_role("link", name="Links")).to_have_count(1)


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 800)])
def test_a_graph_fills_the_window(
    page: Page, basic: Path, monkeypatch: pytest.MonkeyPatch, width: int, height: int
) -> None:
    """VIEW-16"""
    page.set_viewport_size({"width": width, "height": height})
    show(page, basic, monkeypatch, "graph", "Alpha")
    box = page.locator(".graph").bounding_box()
    assert box is not None
    assert box["width"] > width * 0.9
    assert box["height"] > height * 0.6
    assert page.evaluate("document.documentElement.scrollHeight") <= height


def test_a_table_is_sorted_filtered_and_saved_in_the_browser(
    page: Page, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VIEW-17"""
    for year in (1992, 87, 2001):
        (basic / f"Y{year}.md").write_text(f'---\nyear: {year}\nword: "a, \\"b\\""\n---\n', "utf-8")
    show(page, basic, monkeypatch, "query", "TABLE year, word WHERE year")
    years = page.locator("tbody td:nth-child(2)")
    page.get_by_role("button", name="year").click()
    expect(years).to_have_text(["87", "1992", "2001"])
    page.get_by_role("button", name="year").click()
    expect(years).to_have_text(["2001", "1992", "87"])
    page.get_by_label("Filter").fill("1992")
    expect(years).to_have_text(["1992"])
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    text = Path(saved.value.path()).read_text("utf-8-sig")
    assert text.splitlines() == ["File,year,word", 'Y1992,1992,"a, ""b"""']


BASE = """views:
  - type: table
    name: All notes
    filters: file.inFolder("Projects")
    order: [file.name, status]
  - type: list
    name: Only Alpha
    filters: file.name == "Alpha"
    order: [file.name]
"""


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 800)])
def test_the_views_of_a_base_are_tabs_and_a_graph_has_depth_and_filter(
    page: Page, basic: Path, monkeypatch: pytest.MonkeyPatch, width: int, height: int
) -> None:
    """VIEW-18, VIEW-23: one page for both, because a browser's page takes long to be made"""
    page.set_viewport_size({"width": width, "height": height})
    (basic / "Works.base").write_text(BASE, encoding="utf-8")
    (basic / "Far.md").write_text("[[Middle]]", encoding="utf-8")
    (basic / "Middle.md").write_text("[[Alpha]]", encoding="utf-8")
    show(page, basic, monkeypatch, "query", "Works.base")
    tabs = page.get_by_role("navigation", name="Views").get_by_role("button")
    expect(tabs).to_have_text(["All notes", "Only Alpha"])
    expect(tabs.first).to_have_attribute("aria-current", "true")
    rows = page.locator("tbody tr").count()
    tabs.last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Works: Only Alpha")
    expect(page.locator(".plain-list li")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="All notes").click()
    expect(page.locator("tbody tr")).to_have_count(rows)
    assert barriers(page.main_frame) == []

    show(page, basic, monkeypatch, "graph", "Alpha", "--depth", "1")
    names = page.locator(".node:not(.sifted)")
    far = page.get_by_role("button", name="Far, note")
    expect(far).to_have_count(0)
    before = names.count()
    page.get_by_label("Links away").select_option("2")
    expect(far).to_have_count(1)
    page.get_by_label("Links away").select_option("1")
    expect(names).to_have_count(before)
    page.get_by_label("Filter").fill("middle")
    expect(names).to_have_count(2)
    page.get_by_role("button", name="List").click()
    expect(page.locator(".tree li:visible")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_board_of_thousands_of_tasks_can_be_used_at_once_and_is_whole_soon(
    browser: Browser, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VIEW-19: it took 40 s. Without axe-core, which looks at 5 900 cards for minutes"""
    for note in range(59):
        tasks = "".join(f"- [{' x/-'[number % 4]}] Task {number} of note {note} #work\n" for number in range(100))
        (basic / f"Tasks {note}.md").write_text(tasks, encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    show(page, basic, monkeypatch, "query", "--language", "tasks", "--layout", "board", "--group", "status")
    expect(page.locator(".card").first).to_be_visible()
    # a card has its place before it is painted
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
    usable = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
    assert usable < 10  # a second where nothing else runs
    page.get_by_label("Filter").fill("Task 7 of note 5 ")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_label("Filter").fill("")
    page.evaluate(
        """() => new Promise((done) => {
            const look = () => document.querySelectorAll(".card").length > 5900 ? done() : requestAnimationFrame(look);
            look();
        })"""
    )
    whole = page.evaluate("performance.now()") / 1000
    print(f"a board of 5 900 tasks: usable after {usable:.2f} s, whole after {whole:.2f} s")
    context.close()
