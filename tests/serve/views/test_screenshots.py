"""Pictures of every view on the fixture vault, light and dark: in build/views, and with --update those of docs/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from tests.conftest import app_on
from tests.serve.serving import serving

from .reference_host import hosting

ROOT = Path(__file__).parents[3]
ARTEFACTS = ROOT / "build" / "views"
LIGHT_IN_DOCS = {"changes", "query"}
"""The others are dark there."""
WIDTH = 1000

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "changes": (
        "obsidian_show_changes",
        {"tool": "obsidian_move_note", "arguments": {"name": "Tower clock", "to": "Projects/Church clock"}},
    ),
    "graph": ("obsidian_show_graph", {"note": "Alpha"}),
    "query": ("obsidian_show_query", {"language": "tasks", "query": "sort by description", "group": "status"}),
    "note": ("obsidian_show_note", {"path": "Alpha"}),
}
TASKS = """# Workshop

- [/] Clean the pallets ⏫ 📅 2026-11-24
- [ ] Order brass for the wheel 📅 2026-11-27
- [ ] Oil the bearings 🔁 every month 📅 2026-12-01
- [x] Measure the pendulum ✅ 2026-11-19
"""


def prepared(name: str, view: FrameLocator) -> None:
    """Bring a view to the state that says most."""
    if name == "changes":
        view.get_by_role("button", name="Home.md Changed").click()
        expect(view.locator(".add")).to_be_visible()
    elif name == "graph":
        view.locator("svg").get_by_role("button", name="Tower clock, note").locator("circle").click()
        expect(view.locator(".panel")).to_contain_text("Links to")
        view.get_by_role("button", name="Fit").click()
    elif name == "query":
        expect(view.locator(".lane")).to_have_count(3)
    else:
        expect(view.locator("article table")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", CASES)
def test_a_picture_of_every_view(browser: Browser, basic: Path, name: str, theme: str, update: bool) -> None:
    """VIEW-09: nothing is wider than the page, in both themes."""
    (basic / "Workshop.md").write_text(TASKS, encoding="utf-8")
    tool, arguments = CASES[name]
    app = app_on(basic)
    with serving(app) as url, hosting(browser, url, width=WIDTH) as host:
        view = host.show(tool, arguments, theme=theme, context={"displayMode": "fullscreen"})
        prepared(name, view)
        page = view.locator("html")
        assert page.evaluate("page => page.scrollWidth <= page.clientWidth")
        height = view.locator("#view").evaluate("view => view.offsetHeight")
        host.page.set_viewport_size({"width": WIDTH, "height": height})
        host.page.wait_for_function(f"frame.offsetHeight >= {height}")
        host.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        picture = host.page.screenshot(path=ARTEFACTS / f"{name}-{theme}.png")
    app.vaults.close()
    if update and (theme == "light") is (name in LIGHT_IN_DOCS):
        (ROOT / "docs" / f"view-{name}.png").write_bytes(picture)
    assert update or (ROOT / "docs" / f"view-{name}.png").exists()
