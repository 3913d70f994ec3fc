"""A note with very many headings, blocks or footnotes, and as many links to them, takes a time that grows with its
length: its parts are looked up in an index that is made once (EDIT-13)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.vaults import write_files

PARTS = 2_500
"""So many that looking at each of them for each link takes 3 to 23 s."""
SECONDS = 3.0
"""Processor time that a call may take; on an idle machine none takes more than 0.7 s."""

NUMBERS = range(PARTS)
HEADINGS = "# All\n" + "".join(f"## H{n}\nto [[#H{n}]] and [[#All#H{PARTS - 1 - n}]]\n" for n in NUMBERS)
EQUAL = "# All\n" + "## Same\nto [[#Same]]\n" * PARTS
BLOCKS = "# All\n" + "".join(f"Block {n} to [[#^b{PARTS - 1 - n}]] ^b{n}\n\n" for n in NUMBERS)
FOOTNOTES = "# Text\n" + "".join(f"## F{n}\nText [^f{n}] to [[#[^f{n}]]]\n\n" for n in NUMBERS)
DEFINITIONS = "# Definitions\n" + "".join(f"[^f{n}]: note {n} [[Other]] [[#Text]]\n\n" for n in NUMBERS)
FILES = {
    "Headings.md": HEADINGS,
    "Tasks.md": HEADINGS.replace("to ", "- [ ] to "),
    "Equal.md": EQUAL,
    "Blocks.md": BLOCKS,
    "Footnotes.md": FOOTNOTES + DEFINITIONS + "\ntext\n",
    "Links.md": "".join(f"[[Headings#All#H{n}]] [[Blocks#^b{n}]]\n" for n in NUMBERS),
    "Missing.md": "".join(f"[[Headings#gone{n}]] [[Blocks#^gone{n}]]\n" for n in NUMBERS),
    "Other.md": "# Other\n",
}
LAST = f"H{PARTS - 1}"
EXTRACT, MERGE, RENAME = {"action": "extract"}, {"action": "merge"}, {"operation": "rename_heading"}
REPLACE, REMOVE = {"operation": "replace_section", "content": "new\n"}, {"operation": "remove_section"}

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_note", {"name": "Headings", "section": LAST}),
    ("read_note", {"name": "Blocks", "section": "^b0"}),
    ("read_note", {"name": "Headings", "view": "outline"}),
    ("read_note", {"name": "Blocks", "view": "metadata"}),
    ("read_note", {"name": "Headings", "view": "context"}),
    ("edit_note", {"name": "Headings", **REPLACE, "section": LAST}),
    ("edit_note", {"name": "Blocks", **REPLACE, "section": "^b0"}),
    ("edit_note", {"name": "Headings", **REMOVE, "section": "H0"}),
    ("edit_note", {"name": "Headings", **RENAME, "section": LAST, "content": "New"}),
    ("edit_note", {"name": "Headings", **RENAME, "section": "All", "content": "New"}),
    ("edit_note", {"name": "Headings", **RENAME, "section": LAST, "content": "H0"}),
    ("edit_note", {"name": "Equal", **RENAME, "section": "Same", "content": "New"}),
    ("edit_note", {"name": "Blocks", **RENAME, "section": "^b7", "content": "^new"}),
    ("compose_notes", {"name": "Headings", **EXTRACT, "part": "All", "into": "New"}),
    ("compose_notes", {"name": "Blocks", **EXTRACT, "part": f"1-{PARTS}", "into": "Other"}),
    ("compose_notes", {"name": "Footnotes", **EXTRACT, "part": "Text", "into": "New"}),
    ("compose_notes", {"name": "Footnotes", **EXTRACT, "part": "Definitions", "into": "New"}),
    ("compose_notes", {"name": "Footnotes", **MERGE, "into": "Links"}),
    ("compose_notes", {"name": "Headings", **MERGE, "into": "Equal"}),
    ("compose_notes", {"name": "Blocks", **MERGE, "into": "Links"}),
    ("check", {}),
    ("move_note", {"name": "Headings", "to": "Moved"}),
    ("get_links", {"name": "Headings"}),
    ("link_mentions", {"name": "Other"}),
    ("list_tasks", {}),
    ("query", {"query": "TASK", "language": "dataview"}),
    ("show_note", {"path": "Headings.md", "heading": LAST}),
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    app = app_on(write_files(tmp_path_factory.mktemp("parts") / "vault", FILES))
    app.vaults.get().graph.tags()  # everything is in the index
    yield app
    app.vaults.close()


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=lambda value: str(value)[:60])
def test_a_call_about_very_many_parts_takes_a_time_that_grows_with_their_number(
    opened: App, tool: str, arguments: dict[str, Any]
) -> None:
    """EDIT-13"""
    if tool in {"edit_note", "compose_notes", "move_note", "link_mentions"}:
        arguments = {**arguments, "dry_run": True}
    begun = time.process_time()
    call(opened, f"obsidian_{tool}", arguments)
    took = time.process_time() - begun
    assert took < SECONDS
