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
