"""Every view on the fixture vault, light and dark: looked at by axe-core, and painted.

The pictures go to build/views, and with `make update` those of docs/ are written anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, expect

from tests.conftest import FIXTURES, app_on
from tests.serve.serving import serving

from .reference_host import WIDTH, ReferenceHost, barriers

ROOT = Path(__file__).parents[3]
ARTEFACTS = ROOT / "build" / "views"
LIGHT_IN_DOCS = {"changes", "query"}
"""The others are dark there."""

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


LONG = "A note with a very long name about the restoration of the clock of the old town hall in 1788 and after"
JAPANESE = "時計塔の修理に関する長い名前のノート、脱進機と振り子について調べたこと"
NARROW: list[tuple[str, dict[str, Any]]] = [
    ("obsidian_show_changes", {"tool": "move_note", "arguments": {"name": LONG, "to": f"Archive/{JAPANESE}2"}}),
    ("obsidian_show_changes", {"change": 99}),
    ("obsidian_show_graph", {"note": JAPANESE}),
    ("obsidian_show_graph", {"note": "Alone"}),
    ("obsidian_show_query", {"query": "TABLE number, file.name FROM #row"}),
    ("obsidian_show_query", {"language": "tasks", "query": "", "layout": "list"}),
    ("obsidian_show_query", {"query": "LIST FROM #nothing"}),
    ("obsidian_show_note", {"path": LONG}),
    ("obsidian_show_note", {"path": "Alone"}),
]
"""Long and Japanese names, many rows, and nothing at all."""


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


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server on a vault with something to show."""
    with serving_with(tmp_path_factory, {"Workshop": TASKS}) as url:
        yield url


@pytest.fixture(scope="module")
def extremes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server on a vault with long names, many notes, and an empty one."""
    notes = {f"row {number}": f"---\nnumber: {number}\n---\n#row" for number in range(120)}
    notes[LONG] = f"---\n状態: 進行中\n---\n# {LONG}\n[[{JAPANESE}]]\n- [ ] Do {LONG}\n"
    notes[JAPANESE] = f"[[{LONG}]] [[Alpha]]\n\n| 部品 | 値 |\n|---|---|\n| 歯車 | 42 |\n"
    with serving_with(tmp_path_factory, {**notes, "Alone": ""}) as url:
        yield url


@contextmanager
def serving_with(folders: pytest.TempPathFactory, notes: dict[str, str]) -> Iterator[str]:
    """The URL of a server on the fixture vault with more notes."""
    vault = Path(shutil.copytree(FIXTURES / "basic", folders.mktemp("shown") / "basic"))
    for name, text in notes.items():
        (vault / f"{name}.md").write_text(text, encoding="utf-8")
    app = app_on(vault)
    with serving(app) as url:
        yield url
    app.vaults.close()


@pytest.mark.parametrize("name", CASES)
def test_a_view_can_be_read_by_everyone_in_both_themes(
    page_of_host: ReferenceHost, workshop: str, name: str, update: bool
) -> None:
    """VIEW-09: axe-core finds nothing, and nothing is wider than the page; with pictures."""
    tool, arguments = CASES[name]
    with page_of_host.on(workshop) as host:
        view = host.show(tool, arguments, context={"displayMode": "fullscreen"})
        prepared(name, view)
        height = view.locator("#view").evaluate("view => view.offsetHeight")
        host.page.set_viewport_size({"width": WIDTH, "height": height})
        host.page.wait_for_function(f"frame.offsetHeight >= {height}")
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        for theme in ("light", "dark"):
            host.page.evaluate("theme => change_theme(theme)", theme)
            expect(view.locator("html")).to_have_attribute("data-theme", theme)
            assert barriers(host.frame) == []
            assert view.locator("html").evaluate("page => page.scrollWidth <= page.clientWidth")
            picture = host.page.screenshot(path=ARTEFACTS / f"{name}-{theme}.png")
            if update and (theme == "light") is (name in LIGHT_IN_DOCS):
                (ROOT / "docs" / f"view-{name}.png").write_bytes(picture)
    assert (ROOT / "docs" / f"view-{name}.png").exists()


@pytest.mark.parametrize(("tool", "arguments"), NARROW)
def test_everything_fits_a_narrow_chat(
    page_of_host: ReferenceHost, extremes: str, tool: str, arguments: dict[str, Any]
) -> None:
    """VIEW-09, VIEW-10"""
    with page_of_host.on(extremes, width=320) as host:
        view = host.show(tool, arguments)
        expect(view.locator("#view")).not_to_have_attribute("aria-busy", "true")
        host.page.wait_for_function("count => answered >= count", arg=len(host.calls))
        page = view.locator("html")
        assert page.evaluate("page => page.scrollWidth <= page.clientWidth")
        assert view.locator("#view").evaluate("view => view.offsetHeight") <= 500
        page.evaluate("page => { page.style.background = 'var(--bg)' }")  # else it is the host's
        assert barriers(host.frame) == []
