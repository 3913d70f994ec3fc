"""A note that is too large to be read at once is named, and hinders nobody (INDEX-51, SEARCH-93)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.text import MAX_FILE_BYTES
from obsidian_mcp.errors import InvalidArguments, StorageFailed
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.vaults import write_files

BEGINNING = """\
---
n: 1
up: "[[Nowhere]]"
---
# Head
good #good [[Good]] ![[pic.png]]

Good mention

- [ ] early task

"""
LINE = "x" * 99_999 + "\n"
END = "\nlateword #late [[Late]] Other mention\n\n- [ ] late task\n"
FILES = {
    "Good.md": "a good note #good [[Other]]\n",
    "Other.md": "# Part\n[[Good]] good\n",
    "Late.md": "late\n",
    "Ref.md": "[[Big#Late heading]]\n",
    "pic.png": "a picture",
}
NAMED = "'Big.md' is 67,"


def long_note(size: int) -> str:
    return BEGINNING + LINE * (size // len(LINE) + 1) + END


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    return write_files(folder / "vault", FILES | {"Big.md": long_note(MAX_FILE_BYTES)})


@pytest.fixture(scope="module")
def app(root: Path) -> Iterator[App]:
    """One app for all questions: nothing but dry runs changes the vault."""
    opened = app_on(root)
    yield opened
    opened.vaults.close()


def run(app: App, tool_: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool_}", arguments).data


@pytest.mark.parametrize(
    ("match", "query", "paths"),
    [
        ("exact", "good", ["Good.md", "Big.md", "Other.md"]),
        ("exact", "lateword", []),
        ("smart", "lateword", []),
        ("smart", "lateword good", ["Good.md", "Big.md", "Other.md"]),
    ],
)
def test_a_search_names_what_it_did_not_search_to_the_end(app: App, match: str, query: str, paths: list[str]) -> None:
    found = run(app, "search", query=query, match=match)
    assert sorted(hit["path"] for hit in found["hits"]) == sorted(paths)
    assert NAMED in found["incomplete"]
    assert "widened" not in found  # nobody knows that no note has a word


def test_a_search_that_needs_no_end_of_it_is_complete(app: App) -> None:
    """SEARCH-93"""
    assert "incomplete" not in run(app, "search", query="good")
    assert "incomplete" not in run(app, "search", query="file:big", match="exact")
    assert "incomplete" not in run(app, "search", query="nothing", match="exact", name="Good")


def test_a_check_lists_it_as_unreadable(app: App) -> None:
    state = run(app, "check")
    findings = {result["check"]: result["findings"] for result in state["results"]}
    assert [finding["path"] for finding in findings["unreadable"]] == ["Big.md", "pic.png"]
    assert NAMED in findings["unreadable"][0]["text"]
    assert [finding["path"] for finding in findings["broken_links"]] == ["Big.md"]
    assert "Big.md" in state["incomplete"]


@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("tags", {"tag": "good"}, "Good.md"),
        ("get_links", {"name": "Good"}, "Other.md"),
        ("get_links", {"name": "Good", "unlinked": True}, "Other.md"),
        ("get_links", {"name": "Big"}, "Ref.md"),
        ("list_tasks", {}, "early task"),
        ("list_tasks", {"query": "not done"}, "early task"),
        ("query", {"query": "LIST WHERE n"}, "Big"),
        ("query", {"query": "views: [{type: table, name: t, order: [file.name, note.n]}]"}, "Big"),
        ("graph", {"question": "unresolved"}, "Nowhere"),
        ("graph", {"question": "orphans"}, "Ref.md"),
    ],
)
def test_answers_about_many_files_name_it(app: App, tool: str, arguments: dict[str, Any], part: str) -> None:
    found = run(app, tool, **arguments)
    assert part in str(found)
    assert "Big.md" in found["incomplete"]


def test_notes_like_one_are_listed_with_it(app: App) -> None:
    assert "Big.md" in str(run(app, "similar", name="Good")["similar"])


@pytest.mark.parametrize(
    ("tool", "arguments", "changed"),
    [
        ("replace", {"find": "good", "content": "fine", "query": "good"}, ["Good.md", "Other.md"]),
        ("set_properties", {"properties": {"x": 1}, "query": "good"}, ["Good.md", "Other.md"]),
        ("set_properties", {"properties": {"x": 1}, "query": "good -file:other"}, ["Good.md"]),
        ("rename_tag", {"tag": "good", "to": "better"}, ["Good.md"]),
        ("link_mentions", {"name": "Good"}, ["Other.md"]),
        ("move_note", {"name": "Good", "to": "Sub/Better"}, ["Other.md"]),
        ("move_note", {"name": "pic.png", "to": "Sub/picture.png"}, []),
        ("move_note", {"query": "good", "to": "Sub/"}, []),
        ("move_note", {"name": "Big", "to": "Sub/Bigger"}, ["Ref.md"]),
        ("compose_notes", {"action": "merge", "name": "Late", "into": "Other"}, []),
        ("compose_notes", {"action": "extract", "name": "Other", "part": "Part", "into": "New"}, []),
        ("batch", {"calls": [{"tool": "rename_tag", "arguments": {"tag": "good", "to": "better"}}]}, ["Good.md"]),
    ],
)
def test_a_change_of_many_files_leaves_it_and_names_it(
    app: App, root: Path, tool: str, arguments: dict[str, Any], changed: list[str]
) -> None:
    """RENAME-15, TAG-30, TOOL-14, LINK-33"""
    planned = run(app, tool, **arguments, dry_run=True)
    updated = [file["path"] for file in planned.get("updated", []) if isinstance(file, dict)]
    assert (planned.get("changed") or updated) == changed
    assert "Big.md" in str(planned)
    assert (root / "Big.md").stat().st_size > MAX_FILE_BYTES


def test_a_change_that_names_it_is_refused(app: App) -> None:
    """TOOL-14"""
    with pytest.raises(StorageFailed, match=NAMED):
        run(app, "replace", find="good", content="fine", names=["Big", "Good"], dry_run=True)
    with pytest.raises(StorageFailed, match=NAMED):
        run(app, "edit_note", name="Big", operation="rename_heading", section="Head", content="Other", dry_run=True)
    with pytest.raises(InvalidArguments, match=NAMED):
        run(app, "replace", find="lateword", content="fine", query="lateword", dry_run=True)


def test_a_change_finds_what_comes_late_in_a_long_note(tmp_path: Path) -> None:
    """INDEX-51"""
    root = write_files(tmp_path / "vault", FILES | {"Long.md": long_note(5_000_000)})
    app = app_on(root)
    assert run(app, "search", query="lateword", match="exact")["total"] == 1
    assert "Long.md" in run(app, "search", query="lateword")["incomplete"]
    assert [file["path"] for file in run(app, "move_note", name="Late", to="Sub/L%te")["updated"]] == ["Long.md"]
    assert "[[L%te]]" in (root / "Long.md").read_text("utf-8")
    assert run(app, "rename_tag", tag="late", to="later")["changed"] == ["Long.md"]
    assert run(app, "move_note", name="pic.png", to="Sub/picture.png")["updated"][0]["path"] == "Long.md"
    assert "Long.md" not in str(run(app, "move_note", name="Ref", to="Sub/Referrer"))
    app.vaults.close()
