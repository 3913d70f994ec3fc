"""Pages of one list are pages of one order, while notes come, go and change (specs/tools.md TOOL-41)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.operations import mentions
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on

COUNT = 30


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    for number in range(COUNT):
        write(tmp_path, number)
    made = app_on(tmp_path)
    yield made
    made.vaults.close()


def write(root: Path, number: int, words: str = "") -> None:
    text = (
        f"---\ntags: [t{number}, all]\np{number}: {number}\nall: {number}\n---\n"
        f"fox {'fox ' * (number % 7)}{words} Hub {number} [[Hub]] [[lost {number}]] ![[pic {number}.png]]\n\n"
        f"- [ ] task {number}\n"
    )
    folder = root / f"F{number}"
    folder.mkdir(exist_ok=True)
    (folder / f"N{number:03}.md").write_text(text, encoding="utf-8", newline="\n")
    (root / f"pic {number}.png").write_bytes(b"png")
    (root / "Hub.md").write_text("".join(f"[[N{n:03}]] " for n in range(number + 1)), encoding="utf-8", newline="\n")


def entries(data: dict[str, Any]) -> list[str]:
    """What a page lists, whatever the tool calls it, each by what it is known by."""
    listed: list[str] = []
    for name in ("hits", "tags", "notes", "properties", "values", "counts", "paths", "neighbours", "unresolved",
                 "backlinks", "changes", "rows", "tasks"):  # fmt: skip
        for entry in data.get(name) or ():
            known = (
                entry.get("path") or entry.get("tag") or entry.get("name") or entry.get("change") or entry.get("value")
                if isinstance(entry, dict)
                else str(entry)
            )
            listed.append(f"{name} {known}")
    for group in data.get("groups") or ():
        listed += [f"{group['group']} {hit['path']}" for hit in group.get("hits") or ()]
    for result in data.get("results") or ():
        listed += [f"{entry['path']} {entry.get('text')}" for entry in result["findings"]]
    listed += [f"{mention['path']} {mention['context']}" for mention in data.get("mentions") or ()]
    for key in ("files", "attachments", "names"):
        if isinstance(data.get(key), dict):
            listed += [f"{folder}{name}" for folder, names in data[key].items() for name in names]
    return listed


def next_of_check(data: dict[str, Any]) -> int | None:
    """Where the next page of the only check begins."""
    return next((result.get("next_offset") for result in data.get("results") or ()), None)


LISTS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "fox"}),
    ("search", {"query": "fox", "sort": "modified"}),
    ("search", {"query": "fox lorem task"}),
    ("search", {"query": "tag:#all", "match": "exact"}),
    ("tags", {}),
    ("tags", {"tag": "all"}),
    ("get_properties", {}),
    ("graph", {"question": "dead_ends"}),
    ("graph", {"question": "unresolved"}),
    ("graph", {"question": "neighbours", "name": "Hub"}),
    ("get_links", {"name": "Hub"}),
    ("list_files", {"recursive": True}),
    ("attachments", {}),
    ("query", {"query": "TABLE all FROM #all SORT all DESC"}),
    ("query", {"query": "filters: file.hasTag('all')\nviews:\n  - type: table\n    name: T\n    order: [file.name]\n"}),
    ("list_tasks", {}),
    ("search", {"query": "fox", "group": "folder"}),
    ("search", {"query": "fox", "group": "tag"}),
    ("get_links", {"name": "Hub", "unlinked": True}),
    ("check", {"only": "broken_links"}),
    ("check", {"only": "orphans"}),
]


@pytest.mark.parametrize(("tool", "arguments"), LISTS)
def test_every_entry_comes_once_while_the_vault_changes(
    app: App, tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    """TOOL-41: between two pages notes come before and after, change their places, and one goes."""
    root = tmp_path
    before = set(entries(call(app, f"obsidian_{tool}", {**arguments, "limit": 500}).data))
    given: list[str] = []
    offset: int | None = 0
    turn = 0
    while offset is not None:
        data = call(app, f"obsidian_{tool}", {**arguments, "limit": 7, "offset": offset}).data
        given += entries(data)
        offset = data.get("next_offset") or next_of_check(data)
        if offset is not None:
            turn += 1
            assert turn < 40
            for path in (f"F{turn}/N{turn:03}.md", f"F{20 + turn % 9}/N{20 + turn % 9:03}.md"):
                text = (root / path).read_text(encoding="utf-8")
                (root / path).write_text(text + "fox lorem\n" * 9 * turn, encoding="utf-8", newline="\n")
            (root / f"A{turn}.md").write_text(
                f"---\ntags: [all, a{turn}]\nall: 99\na{turn}: 1\n---\nfox fox Hub [[gone {turn}]]\n- [ ] new\n",
                encoding="utf-8",
                newline="\n",
            )
            (root / "Hub.md").write_text(f"[[A{turn}]] " + (root / "Hub.md").read_text("utf-8"), "utf-8")
            if turn == 1:
                (root / "F29/N029.md").unlink()
            app.vaults.get().look_everywhere()
    after = set(entries(call(app, f"obsidian_{tool}", {**arguments, "limit": 500}).data))
    assert len(given) == len(set(given)), [entry for entry in given if given.count(entry) > 1]
    assert set(given) >= before & after


def test_pages_of_the_history_do_not_repeat_what_new_changes_push_down(app: App) -> None:
    """TOOL-41"""
    for number in range(9):
        call(app, "obsidian_create_note", {"name": f"New {number}", "content": "x"})
    first = call(app, "obsidian_history", {"limit": 4}).data
    call(app, "obsidian_create_note", {"name": "Later", "content": "x"})
    second = call(app, "obsidian_history", {"limit": 4, "offset": first["next_offset"]}).data
    numbers = [change["change"] for change in first["changes"] + second["changes"]]
    assert len(set(numbers)) == 8


def test_a_page_before_the_last_one_is_the_same_again(app: App, tmp_path: Path) -> None:
    """TOOL-41: whoever goes back sees what was there."""
    pages = [call(app, "obsidian_search", {"query": "fox", "limit": 5, "offset": at}).data["hits"] for at in (0, 5, 10)]
    write(tmp_path, 29, "fox " * 50)
    write(tmp_path, 3, "fox " * 90)
    app.vaults.get().look_everywhere()
    again = call(app, "obsidian_search", {"query": "fox", "limit": 5, "offset": 5}).data["hits"]
    assert [hit["path"] for hit in again] == [hit["path"] for hit in pages[1]]


def test_pages_of_links_to_make_leave_no_note_out_that_was_there(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TOOL-41: a note that goes between two pages moves none of the others."""
    monkeypatch.setattr(mentions, "MOST_FILES", 7)
    offsets: list[int] = []
    offset: int | None = 0
    while offset is not None:
        offsets.append(offset)
        offset = call(app, "obsidian_link_mentions", {"name": "Hub", "offset": offset}).data.get("next_offset")
        if offset == 7:
            (tmp_path / "F0/N000.md").unlink()
            app.vaults.get().look_everywhere()
    assert len(offsets) == 5
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("N*.md")]
    assert len(texts) == COUNT - 1
    assert not [text for text in texts if " Hub " in text]
