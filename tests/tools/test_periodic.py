"""Daily to yearly notes: opened, made and added to in one call (PERIODIC-11, 13 to 15)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from obsidian_mcp import compose, config, vault_builder
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.app import App
from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes
from obsidian_mcp.errors import AppError, InvalidArguments, NoteNotFound, SectionNotFound, TemplateFailed
from obsidian_mcp.tools.registry import call
from tests.conftest import DeletingVaults
from tests.system import needs
from tests.tools.conftest import Opened


def run(app: App, tool: str = "daily_note", /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def files(app: App) -> dict[str, str]:
    return {str(entry.path): app.vaults.get().read_content(entry).text.body for entry in app.vaults.get().entries()}


def test_milk_goes_into_todays_note_in_one_call_on_a_vault_without_settings(opened: Opened) -> None:
    """PERIODIC-13"""
    app = opened()
    made = run(app, content="- milk")
    assert (made["path"], made["date"], made["created"]) == ("2026-11-22.md", "2026-11-22", True)
    again = run(app, content="- eggs")
    assert again["created"] is False
    assert files(app) == {"2026-11-22.md": "- milk\n- eggs"}

    run(app, "undo")
    run(app, "undo")
    assert files(app) == {}


def test_a_note_is_opened_without_content_and_made_only_where_it_may_be(opened: Opened) -> None:
    """PERIODIC-13"""
    app = opened({"2026-11-21.md": "yesterday's"})
    assert run(app, date="yesterday")["content"] == "yesterday's"
    with pytest.raises(NoteNotFound, match=r"It would be '2026-11-23\.md'; obsidian_daily_note makes it, with content"):
        run(app, date="tomorrow")
    with pytest.raises(NoteNotFound, match=r"It would be '2026-11-16\.md'"):
        run(app, date="last monday")
    assert list(files(app)) == ["2026-11-21.md"]
    assert run(app, date="tomorrow", create=True)["created"]
    assert run(app, date="last monday", content="x")["created"]
    assert sorted(files(app)) == ["2026-11-16.md", "2026-11-21.md", "2026-11-23.md"]


NEW_CARD = {"op": "add", "type": "text", "text": "new"}


@pytest.mark.parametrize(
    ("file", "tool", "arguments"),
    [
        ("2026-11-22.md", "daily_note", {"content": "new"}),
        ("2026-11-22.md", "update_task", {"action": "add", "daily": True, "text": "new"}),
        ("A.canvas", "edit_canvas", {"name": "A.canvas", "operations": [NEW_CARD], "create": True}),
    ],
)
def test_a_file_that_is_gone_when_it_is_opened_is_made(
    opened: Opened, file: str, tool: str, arguments: dict[str, Any]
) -> None:
    """PERIODIC-13"""
    app = opened({file: "old"})
    on_disk = app.vaults.get().files
    assert isinstance(on_disk, Disk)
    raced = app.replace(vaults=DeletingVaults(app.vaults, on_disk.root / file))
    run(raced, tool, **arguments)
    assert "new" in files(app)[file]
    assert "old" not in files(app)[file]


def test_a_name_with_the_period_means_its_note_in_every_tool(opened: Opened) -> None:
    """PERIODIC-11"""
    weekly = {"weeklyNoteFormat": "GGGG-[W]WW", "weeklyNoteFolder": "Weeks"}
    app = opened({"2026-11-22.md": "day", "2026-11-20.md": "friday", "Weeks/2026-W46.md": "week"}, calendar=weekly)

    assert run(app, "read_note", name="daily:today")["content"] == "day"
    assert run(app, "read_note", name="Daily: 2026-11-20")["content"] == "friday"
    assert run(app, "read_note", name="daily:last friday")["path"] == "2026-11-20.md"
    assert run(app, "read_note", name="weekly:last")["content"] == "week"
    assert run(app, "edit_note", name="daily:", operation="append", content="x")["path"] == "2026-11-22.md"
    assert run(app, "get_links", name="daily:today")["path"] == "2026-11-22.md"
    with pytest.raises(NoteNotFound, match="no weekly note of 2026-W47 yet"):
        run(app, "read_note", name="weekly:this")
    with pytest.raises(NoteNotFound, match=r"It would be '2026-11-23\.md'; obsidian_daily_note makes it"):
        run(app, "compose_notes", action="extract", name="daily:today", part="1-1", into="daily:tomorrow")
    with pytest.raises(InvalidArguments, match="Cannot read the date"):
        run(app, "read_note", name="daily:someday")
    with pytest.raises(InvalidArguments, match='"last 7 days" names several days, and a day is needed'):
        run(app, date="last 7 days")


def test_a_missing_note_says_which_headings_its_template_gives(opened: Opened) -> None:
    """PERIODIC-13"""
    app = opened({"T.md": "# {{title}}\n\n## Log\n\n## Tasks\n"}, daily_notes={"template": "T"})
    with pytest.raises(NoteNotFound, match=r"Its template has the headings 2026-11-22, Log, Tasks\.$"):
        run(app)
    (app.config.vaults[0] / "T.md").unlink()
    with pytest.raises(NoteNotFound, match=r"with content or create\.$"):
        run(app)


@needs("names with a colon")
def test_a_note_that_is_called_so_comes_first(opened: Opened) -> None:
    """PERIODIC-11"""
    app = opened({"Daily: log.md": "mine"})
    assert run(app, "read_note", name="daily: log")["content"] == "mine"


def test_the_core_plugin_makes_no_folder_but_those_of_its_format(opened: Opened) -> None:
    """PERIODIC-14"""
    app = opened(daily_notes={"folder": "Daily", "format": "YYYY/DD"})
    with pytest.raises(NoteNotFound) as missing:
        run(app, content="x")
    assert missing.value.message == 'Failed to create daily note. Folder "Daily" not found.'
    assert files(app) == {}

    (app.vaults.get().files.root / "Daily").mkdir()
    assert run(app, content="x")["path"] == "Daily/2026/22.md"


def test_settings_that_cannot_be_read_are_named_in_the_answer(opened: Opened) -> None:
    """PERIODIC-5"""
    app = opened(daily_notes={"folder": "", "format": "YYYY/DD"})
    assert "warnings" not in run(app, content="x")
    (app.vaults.get().files.root / ".obsidian/daily-notes.json").write_bytes(b'{"format": "YYYY')
    made = run(app, content="x")
    assert made["path"] == "2026-11-22.md"
    (warning,) = made["warnings"]
    assert warning.startswith("daily-notes.json: it is not readable as JSON")
    assert warning.endswith("; the default is used.")


def test_the_plugins_make_their_folders(opened: Opened) -> None:
    """PERIODIC-14"""
    app = opened(periodic_notes={"monthly": {"enabled": True, "folder": "A/B", "format": "YYYY/MMMM"}})
    assert run(app, period="monthly", date="last month", create=True)["path"] == "A/B/2026/October.md"


def test_a_period_that_nothing_makes_is_not_made(opened: Opened) -> None:
    """PERIODIC-14"""
    app = opened({"2026-Q4.md": "there"})
    with pytest.raises(NoteNotFound, match=r"would be '2026-W47\.md'\. Weekly notes are not set up"):
        run(app, "read_note", name="weekly:last")
    with pytest.raises(NoteNotFound, match="Weekly notes are not set up"):
        run(app, period="weekly", content="x")
    assert run(app, period="quarterly")["content"] == "there"


@pytest.mark.parametrize(
    ("today", "date", "week", "first"),
    [
        ("2026-11-18", "this week", "2026-W47", "2026-11-16"),  # a Wednesday
        ("2026-11-18", "last week", "2026-W46", "2026-11-09"),
        ("2026-11-22", "today", "2026-W47", "2026-11-16"),  # a Sunday
        ("2026-11-22", "2026-W47", "2026-W47", "2026-11-16"),
        ("2027-01-03", "today", "2026-W53", "2026-12-28"),
    ],
)
def test_weeks_of_iso_formats_run_from_monday_whatever_the_vaults_weeks(
    opened: Opened, today: str, date: str, week: str, first: str
) -> None:
    """PERIODIC-2"""
    weekly = {"weeklyNoteFormat": "GGGG-[W]WW", "weeklyNoteTemplate": "T"}
    notes = {"T.md": "{{monday:MM-DD}} {{sunday:MM-DD}}", "old/2027-W01.md": "the week after", "old/2026-W48.md": ""}
    sunday = opened(notes, calendar=weekly)
    app = compose.build(sunday.config.replace(today=today))
    found = run(app, period="weekly", date=date, create=True)
    assert (found["path"], found["date"]) == (f"{week}.md", first)
    last = datetime.fromisoformat(first) + timedelta(days=6)
    assert found["content"] == f"{first[5:]} {last:%m-%d}"
    app.vaults.close()


@pytest.mark.parametrize(
    ("period", "form", "date", "name"),
    [
        ("weekly", "YYYY-MM-DD", "2026-11-25", "2026-11-22"),
        ("weekly", "YYYY-[W]WW", "2027-01-01", "2026-W53"),
        ("weekly", "gggg-[W]ww MM-DD", "2026-12-31", "2027-W01 12-27"),
        ("monthly", "YYYY-MM-DD", "2026-11-25", "2026-11-01"),
        ("quarterly", "YYYY-MM", "2026-11-25", "2026-10"),
        ("yearly", "YYYY-MM-DD dddd", "2026-11-25", "2026-01-01 Thursday"),
        ("daily", "YYYY-MM-DD", "2026-11-25", "2026-11-25"),
    ],
)
def test_a_longer_period_is_named_by_its_first_day_in_name_and_template(
    opened: Opened, period: str, form: str, date: str, name: str
) -> None:
    """PERIODIC-6, PERIODIC-10"""
    rule = {"enabled": True, "format": form, "template": "T"}
    app = opened({"T.md": "{{date:" + form + "}} {{date+1d:D}} {{title}}"}, periodic_notes={period: rule})

    made = run(app, period=period, date=date, create=True)

    assert made["path"] == f"{name}.md"
    assert made["content"].startswith(f"{name} ")
    assert made["content"].endswith(f" {name}")
    assert run(app, period=period, date=date)["created"] is False


def test_a_missing_template_is_an_error_and_nothing_is_made(opened: Opened) -> None:
    """PERIODIC-14"""
    app = opened(daily_notes={"template": "T/Daily"})
    with pytest.raises(NoteNotFound) as missing:
        run(app, content="x")
    assert missing.value.message == 'Failed to create daily note. Template file "T/Daily" not found.'
    assert files(app) == {}


def test_a_new_note_has_its_template_and_the_content_goes_where_it_is_asked(opened: Opened) -> None:
    """PERIODIC-10, PERIODIC-13: the template is filled in for the day of the note."""
    template = "---\nday: {{date:dddd}}\n---\n# {{title}} {{time}}\n## Log\n\n## End\n"
    app = opened({"T/Daily.md": template}, daily_notes={"template": "T/Daily.md"})

    run(app, date="2026-11-20", content="- milk", position="section", section="Log")
    assert files(app)["2026-11-20.md"] == "---\nday: Friday\n---\n# 2026-11-20 09:05\n## Log\n- milk\n\n## End\n"
    run(app, content="first", position="prepend")
    assert files(app)["2026-11-22.md"].startswith("---\nday: Sunday\n---\nfirst\n# 2026-11-22")
    with pytest.raises(SectionNotFound):
        run(app, date="tomorrow", content="x", position="section", section="No")
    assert "2026-11-23.md" not in files(app)


def test_templates_run_what_templater_needs_no_javascript_for(opened: Opened) -> None:
    """PERIODIC-12"""
    template = "<% tp.date.now('YYYY', 0, tp.file.title) %>|<% tp.file.cursor() %>|"
    app = opened({"T.md": template}, daily_notes={"template": "T"}, templater_obsidian={})
    made = run(app, create=True)
    assert (made["content"], made["cursor"]) == ("2026||", "1:6")


def test_a_template_that_needs_templater_in_the_app_makes_nothing(opened: Opened) -> None:
    """PERIODIC-12"""
    app = opened({"T.md": "ok <%* tR += 1 %>"}, daily_notes={"template": "T"}, templater_obsidian={})
    with pytest.raises(TemplateFailed, match='Template "T" line 1 uses'):
        run(app, content="x")
    assert list(files(app)) == ["T.md"]


def test_templaters_commands_stay_where_the_vault_has_no_templater(opened: Opened) -> None:
    """PERIODIC-12"""
    app = opened({"T.md": "<% tp.file.title %>"}, daily_notes={"template": "T"})
    assert run(app, create=True)["content"] == "<% tp.file.title %>"


def test_a_moved_note_of_a_plugin_is_added_to_where_it_is(opened: Opened) -> None:
    """PERIODIC-8"""
    weekly = {"weeklyNoteFolder": "Weeks"}
    app = opened({"Weeks/old/2026-W48.md": "here"}, calendar=weekly)
    assert run(app, period="weekly", content="x")["path"] == "Weeks/old/2026-W48.md"


def test_the_notes_of_a_period_are_listed_by_their_days(opened: Opened) -> None:
    """PERIODIC-16"""
    app = opened({"D/2026-11-20.md": "", "D/x.md": "", "D/2026-11-22.md": ""}, daily_notes={"folder": "D"})
    listed = PeriodicNotes(app.vaults.get()).list_notes("day")
    assert [day.isoformat() for _, day in listed] == ["2026-11-22", "2026-11-20"]


def test_listing_without_the_folder_of_the_settings_names_it(opened: Opened) -> None:
    """PERIODIC-16"""
    app = opened(daily_notes={"folder": "missing-folder/"})
    with pytest.raises(NoteNotFound, match="missing-folder"):
        PeriodicNotes(app.vaults.get()).list_notes("day")


@pytest.mark.parametrize("name", ["YYYY:MM", "[con]", "[a|b]"])
def test_a_format_that_gives_no_file_name_is_an_error(opened: Opened, name: str) -> None:
    """PERIODIC-14"""
    app = opened(daily_notes={"format": name})
    with pytest.raises(AppError, match=r"file name|device"):
        run(app, content="x")


def test_the_clock_and_the_language_come_from_the_environment() -> None:
    """PERIODIC-1, PERIODIC-15"""
    read = config.Config((), {"HOME": "/h", "OBSIDIAN_MCP_TODAY": "2026-01-02", "OBSIDIAN_MCP_LOCALE": "de"})
    calendar = vault_builder.calendar(read)
    assert (calendar.today.isoformat(), calendar.language) == ("2026-01-02", "de")
    with pytest.raises(InvalidArguments, match="OBSIDIAN_MCP_TODAY"):
        config.Config((), {"HOME": "/h", "OBSIDIAN_MCP_TODAY": "tomorrow"})
    with pytest.raises(InvalidArguments, match="OBSIDIAN_MCP_WEEK_START"):
        vault_builder.calendar(config.Config((), {"HOME": "/h", "OBSIDIAN_MCP_WEEK_START": "funday"}))


def test_several_that_add_to_a_missing_note_at_once_all_add_to_one_note(opened: Opened) -> None:
    """PERIODIC-13: the first makes it, the others add to it."""
    app = opened({"T.md": "# {{title}}\n"}, daily_notes={"template": "T"})
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda n: run(app, content=f"- {n}"), range(8)))
    assert sum(answer["created"] for answer in made) == 1
    lines = files(app)["2026-11-22.md"].splitlines()
    assert lines[0] == "# 2026-11-22"
    assert sorted(lines[1:]) == [f"- {n}" for n in range(8)]
