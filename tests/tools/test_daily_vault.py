"""The checks of a vault that is used daily, where most notes are made from templates (CHECK-07)."""

from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

TEMPLATE = """---
created: {{date:YYYY-MM-DD}}
tags: daily
---
# {{title}}
<< [[{{yesterday}}]] | [[{{tomorrow}}]] >>

## Morning
- [ ] Look at the calendar and choose three things for this day 📅 2026-01-01
- [ ] Water all the plants in the house before breakfast

## Evening
What went well today, and what would I do otherwise another time?
"""


def made(day: str, before: str, after: str, own: str = "") -> str:
    text = TEMPLATE.replace("{{date:YYYY-MM-DD}}", day).replace("{{title}}", day)
    return text.replace("{{yesterday}}", before).replace("{{tomorrow}}", after) + own


DAYS = [f"2026-11-{day:02}" for day in range(10, 20)]
OWN = "The heron stood in the pond at dawn and waited for frogs while the rain came down on the reeds and me.\n"
NOTES = {
    f"Daily/{day}.md": made(day, before, after) for before, day, after in zip(DAYS, DAYS[1:-1], DAYS[2:], strict=False)
}
WRITTEN = {
    "Daily/2026-11-10.md": made(DAYS[0], "2026-11-09", DAYS[1], OWN),
    "Daily/2026-11-19.md": made(DAYS[-1], DAYS[-2], "2026-11-20", OWN),
}
SHORT = {"Templates/Short.md": "## Log\n", "Short.md": "## Log\n", "Meeting.md": "## Log\nMet.\n"}
SETTINGS: dict[str, dict[str, Any]] = {
    "templates": {"templates": {"folder": "Templates"}},
    "daily notes": {"daily_notes": {"folder": "Daily", "template": "Templates/Day"}},
    "templater": {"templater_obsidian": {"templates_folder": "Templates"}},
    "periodic notes": {
        "periodic_notes": {"daily": {"enabled": True, "folder": "Daily", "template": "Templates/Day.md"}}
    },
}


def paths(app: App, check: str) -> set[str]:
    results = call(app, "obsidian_check", {"only": check, "limit": 200}).data["results"]
    return {finding["path"] for result in results for finding in result["findings"]}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_notes_that_hold_only_their_template_are_no_duplicates(opened: Opened, settings: dict[str, Any]) -> None:
    """CHECK-07"""
    app = opened({"Templates/Day.md": TEMPLATE, **NOTES, **WRITTEN}, **settings)
    results = call(app, "obsidian_check", {"only": "near_duplicates"}).data["results"]
    pairs = [(finding["path"], finding["text"]) for result in results for finding in result["findings"]]
    assert pairs == [("Daily/2026-11-10.md", "100% the same as Daily/2026-11-19.md")]


def test_without_a_template_in_the_settings_equal_notes_are_duplicates(opened: Opened) -> None:
    """CHECK-07, SEARCH-92"""
    assert "Daily/2026-11-11.md" in paths(opened({"Day.md": TEMPLATE, **NOTES}), "near_duplicates")


def test_notes_that_hold_only_their_template_and_templates_are_no_stubs(opened: Opened) -> None:
    """CHECK-07"""
    app = opened(SHORT, templates={"folder": "Templates"})
    assert paths(app, "stubs") == {"Meeting.md"}


@pytest.mark.parametrize(
    ("template", "note"),
    [
        ("{{date}}\n", "2026-11-20\n"),
        ("<% tp.file.title %>\n<% tp.file.cursor() %>\n", "Note\n\n"),
        ("# {{title}}\nMood: {{mood}}\n", "# Note\nMood: fine\n"),
        ("<%* await tp.file.move('x')\n-%>\n## Log\n", "## Log\n"),
        ("---\nkind: day\nday: {{date}}\n---\n", "---\nkind: day\nday: 2026-11-20\n---\n"),
    ],
)
def test_what_the_variables_of_a_template_become_is_its_text(opened: Opened, template: str, note: str) -> None:
    """CHECK-07"""
    settings = {"templates": {"folder": "Templates"}}
    assert paths(opened({"Templates/T.md": template, "Note.md": note}, **settings), "stubs") == set()


def test_a_short_note_beside_a_template_with_variables_stays_a_stub(opened: Opened) -> None:
    """CHECK-07"""
    files = {"Templates/T.md": "# {{title}}\n{{date}}\n<% tp.user.quote() %>\n", "Note.md": "Call Anna\n"}
    assert paths(opened(files, templates={"folder": "Templates"}), "stubs") == {"Note.md"}


QUICK_ADD = {
    "choices": [
        {"type": "Multi", "choices": [{"type": "Template", "templatePath": "Forms/Book.md"}]},
        {"type": "Capture", "createFileIfItDoesntExist": {"enabled": True, "template": "Forms/Inbox.md"}},
    ]
}


@pytest.mark.parametrize(
    ("settings", "templates"),
    [
        ({"templates": {"folder": "Forms"}}, {"Forms/Book.md", "Forms/Inbox.md", "Forms/Other.md"}),
        ({"daily_notes": {"template": "Forms/Book"}}, {"Forms/Book.md"}),
        ({"zk_prefixer": {"template": "Forms/Inbox"}}, {"Forms/Inbox.md"}),
        (
            {"templater_obsidian": {"folder_templates": [{"folder": "Books", "template": "Forms/Book.md"}]}},
            {"Forms/Book.md"},
        ),
        (
            {"community_plugins": ["quickadd"], "plugins/quickadd/data": QUICK_ADD},
            {"Forms/Book.md", "Forms/Inbox.md"},
        ),
        (
            {"community_plugins": ["quickadd"], "plugins/quickadd/data": {"templateFolderPath": "Forms"}},
            {"Forms/Book.md", "Forms/Inbox.md", "Forms/Other.md"},
        ),
    ],
)
def test_templates_of_every_plugin_are_neither_stubs_nor_orphans(
    opened: Opened, settings: dict[str, Any], templates: set[str]
) -> None:
    """CHECK-07"""
    forms = {f"Forms/{name}.md": f"{name}: {{{{author}}}}\n" for name in ("Book", "Inbox", "Other")}
    app = opened(forms, **settings)
    for check in ("stubs", "orphans"):
        assert paths(app, check) == forms.keys() - templates, check


def test_templates_have_no_broken_links_overdue_tasks_or_missing_properties(opened: Opened) -> None:
    """CHECK-07"""
    notes = {f"Templates/{n}.md": "---\nkind: a\n---\n" for n in range(5)}
    files = {**notes, "Templates/Day.md": TEMPLATE, "Templates/Bad.md": "[[Nowhere]]\n"}
    app = opened(files, templates={"folder": "Templates"})
    assert paths(app, "broken_links") == {"Templates/Bad.md"}
    assert paths(app, "overdue_tasks") == set()
    assert paths(app, "missing_properties") == set()


def test_templates_are_not_similar_notes_and_what_a_template_brings_is_not_compared(opened: Opened) -> None:
    """CHECK-07, SEARCH-90"""
    files = {"Templates/Day.md": TEMPLATE, **NOTES, **WRITTEN}
    app = opened(files, templates={"folder": "Templates"})
    untouched = call(app, "obsidian_similar", {"name": "2026-11-12"}).data["similar"]
    written = call(app, "obsidian_similar", {"name": "2026-11-10"}).data["similar"]
    assert not any(note.get("near_duplicate") for note in untouched)
    assert [note["path"] for note in written if note.get("near_duplicate")] == ["Daily/2026-11-19.md"]
    assert "Templates/Day.md" not in {note["path"] for note in (*untouched, *written)}


def test_a_list_of_tasks_leaves_out_templates_and_says_so(opened: Opened) -> None:
    """TASK-135"""
    files = {"Templates/Day.md": "- [ ] Water the plants\n", "Today.md": "- [ ] Water the plants\n"}
    app = opened(files, templates={"folder": "Templates"})
    listed = call(app, "obsidian_list_tasks", {}).data
    named = call(app, "obsidian_list_tasks", {"note": "Templates/Day"}).data
    below = call(app, "obsidian_list_tasks", {"folder": "Templates"}).data
    assert [task["path"] for task in listed["tasks"]] == ["Today.md"]
    assert "'Templates/Day.md'" in listed["note"]
    assert [task["path"] for task in named["tasks"]] == ["Templates/Day.md"]
    assert [task["path"] for task in below["tasks"]] == ["Templates/Day.md"]
    done = call(app, "obsidian_update_task", {"task": "Water the plants", "status": "done"}).data
    assert done["path"] == "Today.md"
