"""The plugin's own tools do for its clients what the plugin did (specs/http.md PLUGIN-…)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.contracts.plugin.tools import _outline_id
from obsidian_mcp.errors import (
    InvalidArguments,
    NoteExists,
    NoteNotFound,
    PermissionDenied,
    PropertiesUnreadable,
    SectionNotFound,
    TextNotFound,
)
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.outcome import Outcome
from obsidian_mcp.tools.registry import TOOLS, call
from tests.conftest import DeletingVaults, app_on

DAILY = """\
---
title: Daily   # shown on top
tags:
  - journal
---
# Entry
Go to [[Plan]]

## Sub
Child

```sh
# not a heading
```
# Entry
Second
## Last
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "Vault"
    (folder / "Notes").mkdir(parents=True)
    (folder / "Notes" / "Daily.md").write_bytes(DAILY.encode())
    return folder


@pytest.fixture
def app(vault: Path) -> Iterator[App]:
    opened = app_on(vault)
    yield opened
    opened.vaults.close()


def run(app: App, name: str, **arguments: Any) -> Outcome:
    return call(app, name, arguments, Offer(app.config, lambda: PLUGIN_TOOLS))


def test_they_are_kept_apart_from_the_other_tools() -> None:
    """PLUGIN-01"""
    assert set(PLUGIN_TOOLS) == {
        "read_note",
        "edit_note",
        "read_frontmatter",
        "edit_frontmatter",
        "get_note_outline",
        "create_note",
        "search_notes",
    }
    assert not set(PLUGIN_TOOLS) & set(TOOLS)


@pytest.mark.parametrize("path", ["Notes/Daily.md", "Notes/Daily", "Daily"])
def test_read_note_with_only_a_path_gives_the_whole_note(app: App, path: str) -> None:
    """PLUGIN-02"""
    outcome = run(app, "read_note", path=path)
    assert outcome.contents() == [DAILY]
    assert outcome.to_full_data() == {"content": DAILY}


def test_read_note_gives_a_long_note_whole(app: App, vault: Path) -> None:
    text = "\ufeff" + "line\r\n" * 50_000
    (vault / "Long.md").write_bytes(text.encode())
    assert run(app, "read_note", path="Long").contents() == [text]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ("# Entry\nGo to [[Plan]]\n\n## Sub\nChild\n\n```sh\n# not a heading\n```", 1, 9)),
        ({"mode": "header"}, ("# Entry", 1, 9)),
        ({"mode": "content", "include_subsections": False}, ("Go to [[Plan]]\n", 1, 9)),
        ({"mode": "both", "max_chars": 7}, ("# Entry", 1, 9)),
        (
            {"section": "Sub", "with_line_numbers": True, "mode": "content"},
            ("5: Child\n6: \n7: ```sh\n8: # not a heading\n9: ```", 4, 9),
        ),
        ({"section": "Last"}, ("## Last\n", 12, 13)),
        ({"section": "last", "level": 2}, ("## Last\n", 12, 13)),
    ],
)
def test_read_note_gives_a_section_with_its_lines_below_the_frontmatter(
    app: App, arguments: dict[str, Any], expected: tuple[str, int, int]
) -> None:
    """PLUGIN-02, PLUGIN-03"""
    data = run(app, "read_note", **{"path": "Daily", "section": "Entry", **arguments}).data
    assert (data["content"], data["start_line"], data["end_line"]) == expected
    assert data["truncated"] is ("max_chars" in arguments)
    assert set(data) == {"title", "level", "content", "start_line", "end_line", "truncated"}


def test_read_note_tells_the_sections_there_are(app: App) -> None:
    """PLUGIN-06: the plugin's sentence, then ours"""
    with pytest.raises(SectionNotFound, match=r"^Section \"Missing\" not found\. The headings are: 'Entry', 'Sub'"):
        run(app, "read_note", path="Daily", section="Missing")
    with pytest.raises(SectionNotFound, match=r"^Section \"Entry\" with level 3 not found\. "):
        run(app, "read_note", path="Daily", section="Entry", level=3)


PATCH = "@@ -1,2 +1,2 @@\n # Entry\n-Go to [[Plan]]\n+Go to [[Next]]\n"


def test_edit_note_patches_the_text_and_nothing_else(app: App, vault: Path) -> None:
    """PLUGIN-04"""
    outcome = run(app, "edit_note", path="Notes/Daily.md", patch=PATCH)
    assert outcome.contents() == ['Successfully applied patch to "Notes/Daily.md"']
    assert (vault / "Notes/Daily.md").read_bytes() == DAILY.replace("[[Plan]]", "[[Next]]").encode()


def test_edit_note_never_changes_the_frontmatter(app: App, vault: Path) -> None:
    with pytest.raises(TextNotFound, match="'title: Daily   # shown on top' is not in the note"):
        run(app, "edit_note", path="Daily", patch="@@ -2 +2 @@\n-title: Daily   # shown on top\n+title: Evening\n")
    assert (vault / "Notes/Daily.md").read_bytes() == DAILY.encode()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "patch is required unless delete is true"),
        ({"patch": "  "}, "patch is required unless delete is true"),
        ({"patch": PATCH, "create": True, "delete": True}, "cannot both be true"),
        ({"patch": "change it"}, "expected a line that begins with @@"),
        ({"patch": "@@ -1 +1 @@\n-# Entry\n+# Entry\n"}, "changes nothing"),
    ],
)
def test_edit_note_refuses_what_cannot_be_meant(app: App, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidArguments, match=problem):
        run(app, "edit_note", path="Daily", **arguments)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_edit_note_adds_text_below_properties_that_end_the_note(app: App, vault: Path, newline: str) -> None:
    """PLUGIN-04: the closing fence of the properties keeps its line"""
    properties = newline.join(["---", "status: open", "---"]).encode()
    (vault / "Bare.md").write_bytes(properties)
    run(app, "edit_note", path="Bare", patch="@@ -0,0 +1,2 @@\n+# New\n+text\n")
    assert (vault / "Bare.md").read_bytes() == properties + f"{newline}# New{newline}text".encode()
    assert run(app, "read_frontmatter", path="Bare").data["frontmatter"] == {"status": "open"}


def test_edit_note_creates_only_when_allowed(app: App, vault: Path) -> None:
    new = "--- /dev/null\n+++ b/Notes/New.md\n@@ -0,0 +1,3 @@\n+# New\n+\n+50% done\n"
    with pytest.raises(NoteNotFound):
        run(app, "edit_note", path="Notes/New", patch=new)
    outcome = run(app, "edit_note", path="Notes/New", patch=new, create=True)
    assert outcome.contents() == ['Successfully created "Notes/New.md"']
    assert (vault / "Notes/New.md").read_bytes() == b"# New\n\n50% done\n"


def test_edit_note_deletes_into_the_trash(app: App, vault: Path) -> None:
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "app.json").write_text('{"trashOption": "local"}', encoding="utf-8")
    outcome = run(app, "edit_note", path="Daily", delete=True)
    assert outcome.contents() == ['Successfully deleted "Notes/Daily.md"']
    assert (vault / ".trash" / "Daily.md").exists()


def test_read_frontmatter_gives_all_or_the_keys_asked_for(app: App) -> None:
    """PLUGIN-05"""
    assert run(app, "read_frontmatter", path="Daily").data == {
        "path": "Notes/Daily.md",
        "frontmatter": {"title": "Daily", "tags": ["journal"]},
    }
    some = run(app, "read_frontmatter", path="Daily", keys=["title", "no"])
    missing = run(app, "read_frontmatter", path="Daily", keys='["title","no"]', include_missing=True)
    assert some.data["frontmatter"] == {"title": "Daily"}
    assert missing.data["frontmatter"] == {"title": "Daily", "no": None}
    assert run(app, "read_frontmatter", path="Daily", keys=[]).data["frontmatter"] == {}


def test_a_result_in_json_is_compact(app: App) -> None:
    """PLUGIN-02: clients of the plugin pay for every character"""
    text = run(app, "read_frontmatter", path="Daily").contents()[0]
    assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))


def test_broken_frontmatter_is_told(app: App, vault: Path) -> None:
    (vault / "Broken.md").write_text("---\na: [\n---\n", encoding="utf-8", newline="\n")
    with pytest.raises(PropertiesUnreadable):
        run(app, "read_frontmatter", path="Broken")
    with pytest.raises(PropertiesUnreadable):
        run(app, "edit_frontmatter", path="Broken", data={"b": 1})


def test_edit_frontmatter_sets_and_leaves_every_other_byte(app: App, vault: Path) -> None:
    """PLUGIN-05"""
    data = run(app, "edit_frontmatter", path="Daily", data={"title": "Evening", "rating": 4}).data
    assert data == {
        "ok": True,
        "path": "Notes/Daily.md",
        "mode": "set",
        "changed": True,
        "frontmatter": {"title": "Evening", "tags": ["journal"], "rating": 4},
    }
    expected = DAILY.replace("title: Daily ", "title: Evening ").replace("  - journal\n", "  - journal\nrating: 4\n")
    assert (vault / "Notes/Daily.md").read_text(encoding="utf-8") == expected
    again = run(app, "edit_frontmatter", path="Daily", data={"rating": 4}).data
    assert again["changed"] is False


def test_edit_frontmatter_merges_objects_at_every_depth(app: App) -> None:
    """PLUGIN-05"""
    run(app, "edit_frontmatter", path="Daily", data={"nested": {"a": {"x": 1}, "b": [1]}})
    merged = run(app, "edit_frontmatter", path="Daily", mode="merge", data={"nested": {"a": {"y": 2}, "b": [2]}}).data
    assert merged["frontmatter"]["nested"] == {"a": {"x": 1, "y": 2}, "b": [2]}


def test_edit_frontmatter_deletes(app: App) -> None:
    data = run(app, "edit_frontmatter", path="Daily", mode="delete", keys=["title", "no"]).data
    assert (data["changed"], data["frontmatter"]) == (True, {"tags": ["journal"]})
    with pytest.raises(InvalidArguments, match="keys is required"):
        run(app, "edit_frontmatter", path="Daily", mode="delete")


def test_edit_frontmatter_creates_only_when_allowed(app: App, vault: Path) -> None:
    with pytest.raises(NoteNotFound):
        run(app, "edit_frontmatter", path="New", data={"a": 1})
    data = run(app, "edit_frontmatter", path="New", data={"a": 1}, allow_create=True).data
    assert (data["path"], data["frontmatter"]) == ("New.md", {"a": 1})
    assert (vault / "New.md").read_text(encoding="utf-8") == "---\na: 1\n---\n"


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("edit_frontmatter", {}, "^data is required"),
        ("edit_frontmatter", {"mode": "merge"}, "^data is required"),
        ("edit_frontmatter", {"mode": "delete", "keys": []}, "^keys is required"),
        ("read_note", {"section": ""}, "^section is required"),
        ("read_note", {"section": " \t"}, "^section is required"),
        ("read_note", {"section": "Entry", "max_chars": -1}, "max_chars"),
    ],
)
def test_what_the_plugin_refuses_is_refused(
    app: App, vault: Path, name: str, arguments: dict[str, Any], problem: str
) -> None:
    """PLUGIN-05, PLUGIN-06"""
    with pytest.raises(InvalidArguments, match=problem):
        run(app, name, path="Daily", **arguments)
    assert (vault / "Notes" / "Daily.md").read_bytes() == DAILY.encode()


@pytest.mark.parametrize(
    ("name", "arguments", "content"),
    [
        ("edit_note", {"patch": "@@ -0,0 +1 @@\n+new\n", "create": True}, "new\n"),
        ("edit_frontmatter", {"data": {"a": 1}, "allow_create": True}, "---\na: 1\n---\n"),
    ],
)
def test_a_note_that_is_gone_when_it_is_opened_is_made_where_that_is_allowed(
    app: App, vault: Path, name: str, arguments: dict[str, Any], content: str
) -> None:
    """PLUGIN-07"""
    note = vault / "Notes" / "Daily.md"
    raced = app.replace(vaults=DeletingVaults(app.vaults, note))
    refused = {key: value for key, value in arguments.items() if value is not True}
    with pytest.raises(NoteNotFound):
        run(raced, name, path="Notes/Daily", **refused)
    note.write_bytes(DAILY.encode())
    run(raced, name, path="Notes/Daily", **arguments)
    assert note.read_text(encoding="utf-8") == content


def test_the_outline_has_the_lines_of_the_file_and_the_originals_ids(app: App) -> None:
    """PLUGIN-06"""
    items = run(app, "get_note_outline", path="Daily", include_codeblocks=False).data["outline"]
    assert [(item["heading"], item["level"], item["start_line"], item["end_line"]) for item in items] == [
        ("Entry", 1, 6, 14),
        ("Sub", 2, 9, 14),
        ("Entry", 1, 15, 18),
        ("Last", 2, 17, 18),
    ]
    assert items[0]["id"] == _outline_id("6:Entry") == "33ecd63d"
    assert _outline_id("15:日本😀") == "d498f50f"
    shallow = run(app, "get_note_outline", path="Daily", max_depth=1).data["outline"]
    code = run(app, "get_note_outline", path="Daily", include_frontmatter=True).data["outline"]
    assert [item["level"] for item in shallow] == [1, 1, 1]
    assert [item["heading"] for item in code] == ["Entry", "Sub", "not a heading", "Entry", "Last"]


def test_create_note_and_search_notes_are_the_other_tools_under_another_name(app: App, vault: Path) -> None:
    made = run(app, "create_note", path="Notes/Made", content="a quick fox")
    assert made.data["path"] == "Notes/Made.md"
    with pytest.raises(NoteExists):
        run(app, "create_note", path="Notes/Made", content="x")
    assert run(app, "create_note", path="Notes/Made", content="a slow fox", overwrite=True).data["created"] is False
    hits = run(app, "search_notes", query="slow fox", limit=5).data
    assert [hit["path"] for hit in hits["hits"]] == ["Notes/Made.md"]


def test_the_users_policy_holds_for_them_too(vault: Path) -> None:
    (vault.parent / "policy.toml").write_text("read_only = true\n", encoding="utf-8", newline="\n")
    guarded = app_on(vault)
    try:
        for name, arguments in (
            ("create_note", {"path": "New"}),
            ("edit_note", {"path": "Daily", "patch": PATCH}),
            ("edit_note", {"path": "Daily", "delete": True}),
            ("edit_frontmatter", {"path": "Daily", "data": {"a": 1}}),
        ):
            with pytest.raises(PermissionDenied):
                run(guarded, name, **arguments)
    finally:
        guarded.vaults.close()


def test_a_confirmation_reaches_the_tool_behind(vault: Path) -> None:
    (vault.parent / "policy.toml").write_text('confirm = ["delete", "create"]\n', encoding="utf-8", newline="\n")
    guarded = app_on(vault)
    try:
        with pytest.raises(Exception, match="wants to confirm"):
            run(guarded, "create_note", path="New")
        assert run(guarded, "create_note", path="New", confirm=True).data["created"] is True
        assert run(guarded, "edit_note", path="New", delete=True, confirm=True).data["path"] == "New.md"
    finally:
        guarded.vaults.close()
