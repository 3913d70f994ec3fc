"""The pictures of the console in the README: painted by every run, and with `make update` written anew."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from obsidian_mcp.adapters.journal import SqliteJournal
from tests.conftest import FIXTURES
from tests.foreign.console.conftest import PATIENCE, ServedConsole, serve_console
from tests.foreign.views.reference_host import barriers

if TYPE_CHECKING:  # the folder is skipped where the package is absent
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[3]
ARTEFACTS = ROOT / "build" / "console"
PICTURES = {"changes": "changes?conversation=5", "privacy": "privacy"}
WIDTH, HEIGHT = 1000, 760
MOST_BYTES = 150_000
PLAN = """---
status: open
tags: [clock, brass]
---
# Escapement

The oil is thin, and the wheel turns too fast in summer.
Ada thinks that it is the [[Alpha|plan]].

## Parts

| part   | mm | done |
| ------ | -- | ---- |
| wheel  | 42 | no   |
| anchor | 17 | no   |

## Next

- [ ] Order brass
- [ ] Cut the wheel
"""
CHANGES = {
    "status: open": "status: in progress",
    "thin, and": "thick enough now, but",
    "[[Alpha|plan]]": "[[Tower clock|plan]]",
    "| wheel  | 42 | no   |": "| wheel  | 43 | yes  |",
    "- [ ] Order brass": "- [x] Order brass",
}


def work_as_an_assistant(console: ServedConsole) -> None:
    """Change what an assistant changes in a conversation."""
    text = PLAN
    for before, after in CHANGES.items():
        text = text.replace(before, after)
    console.change("create_note", "cursor", name="Projects/Escapement", content=PLAN)
    console.change("create_note", name="Projects/Escapement", content=text, overwrite=True)
    console.change("move_note", name="Alpha", to="Archive/Church clock")
    console.change("create_note", name="People/Ada", content="# Ada\n\nKnows about oil.\n")
    console.change("edit_note", name="Home", operation="append", content="- [[Escapement]] is under way\n")


def test_the_pictures_of_the_readme_show_the_console(
    browser: Browser, tmp_path: Path, update: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UI-31, UI-36, UI-50"""
    root = Path(shutil.copytree(FIXTURES / "basic", tmp_path / "Notes"))
    monkeypatch.setattr(SqliteJournal.__init__, "__defaults__", (lambda: 1_790_000_000.0,))
    with serve_console(root) as console:
        work_as_an_assistant(console)
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(console.address())
        page.wait_for_url("**/changes")
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        for name, address in PICTURES.items():
            page.goto(f"{page.url.rpartition('/')[0]}/{address}")
            assert barriers(page.main_frame) == []
            picture = page.screenshot(path=ARTEFACTS / f"{name}.png")
            assert len(picture) <= MOST_BYTES
            if update:
                (ROOT / "docs" / f"console-{name}.png").write_bytes(picture)
            assert (ROOT / "docs" / f"console-{name}.png").exists()
        context.close()
