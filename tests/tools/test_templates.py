"""Notes from templates, templates put into notes, notes named by the minute (PERIODIC-10, 12, 17 to 20)."""

from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, InvalidArguments, NoteNotFound, PropertiesUnreadable, TemplateFailed
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened


def run(app: App, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def text(app: App, path: str) -> str:
    return app.vaults.get().read_content(app.vaults.get().find(path)).text.body


def test_a_note_is_made_from_a_template_with_the_content_behind_it(opened: Opened) -> None:
    """PERIODIC-20"""
    settings = {"folder": "T", "dateFormat": "DD.MM.YYYY", "timeFormat": "H:mm"}
    app = opened({"T/Meeting.md": "# {{title}}\n{{date}} {{time}} {{date:YYYY}}\n"}, templates=settings)
    run(app, "create_note", name="Work/Talk", template="meeting", content="- hello")
    assert text(app, "Work/Talk.md") == "# Talk\n22.11.2026 9:05 2026\n- hello\n"
    run(app, "undo")
    with pytest.raises(NoteNotFound):
        run(app, "read_note", name="Work/Talk")


def test_properties_and_a_day_of_a_new_note_go_into_its_template(opened: Opened) -> None:
    """PERIODIC-20"""
    template = "---\ntype: meeting\ntags: [work]\nwith:\n---\n# {{date}} <% tp.date.now() %> <% tp.file.cursor() %>\n"
    app = opened({"T.md": template}, templater_obsidian={})
    given = {"with": "[[Anna]]", "tags": ["heron"], "due": "2026-12-01", "type": "call"}
    made = run(app, "create_note", name="N", template="T.md", date="tomorrow", properties=given, content="- venue")
    assert text(app, "N.md") == (
        '---\ntype: call\ntags:\n  - work\n  - heron\nwith: "[[Anna]]"\ndue: 2026-12-01\n---\n'
        "# 2026-11-23 2026-11-23 \n- venue\n"
    )
    assert made["cursor"] == "9:25"
    run(app, "create_note", name="P", properties={"a": 1}, content="x")
    assert text(app, "P.md") == "---\na: 1\n---\nx"
    for wrong in ({"date": "someday", "template": "T.md"}, {"date": "tomorrow"}):
        with pytest.raises(InvalidArguments, match="date"):
            run(app, "create_note", name="W", **wrong)


def test_the_cursor_of_a_template_is_told(opened: Opened) -> None:
    """PERIODIC-12"""
    template = "---\na: 1\n---\n<% tp.file.folder(true) %>: <% tp.file.cursor() %>"
    app = opened({"T.md": template}, templater_obsidian={})
    made = run(app, "create_note", name="A/B/x", template="T.md")
    assert made["cursor"] == "4:6"
    assert text(app, "A/B/x.md") == "---\na: 1\n---\nA/B: "


def test_a_template_that_is_refused_makes_no_note(opened: Opened) -> None:
    """PERIODIC-12: also where an included template is at fault."""
    files = {"T.md": '<% tp.file.include("[[T2]]") %>', "T2.md": '<% tp.system.prompt("Who?") %>'}
    app = opened(files, templater_obsidian={})
    with pytest.raises(TemplateFailed, match='Template "T2" line 1 uses tp'):
        run(app, "create_note", name="x", template="T")
    assert [str(entry.path) for entry in app.vaults.get().entries()] == ["T.md", "T2.md"]


def test_the_template_of_a_folder_is_used_where_that_is_asked(opened: Opened) -> None:
    """PERIODIC-20"""
    rules = [
        {"folder": "A", "template": "T/A.md"},
        {"folder": "A/B", "template": "T/B.md"},
        {"folder": "/", "template": "T/R.md"},
    ]
    files = {f"T/{name}.md": name for name in "ABR"}
    app = opened(files, templater_obsidian={"templates_folder": "T", "folder_templates": rules})
    for folder, made in {"A": "A", "A/B/C": "B", "D": "R"}.items():
        run(app, "create_note", name=f"{folder}/note", template="auto")
        assert text(app, f"{folder}/note.md") == made
    run(app, "create_note", name="A/plain", content="x")
    assert text(app, "A/plain.md") == "x"


def test_templates_are_listed_and_read(opened: Opened) -> None:
    """PERIODIC-20"""
    app = opened({"T/a.md": "{{title}}", "T/deep/b.md": "", "c.md": "", "T/x.png": ""}, templates={"folder": "T"})
    assert run(app, "list_templates")["templates"] == ["T/a.md", "T/deep/b.md"]
    assert run(app, "list_templates", template="A")["content"] == "{{title}}"
    assert run(app, "list_templates", template="b")["path"] == "T/deep/b.md"
    with pytest.raises(NoteNotFound, match=r"'T/a\.md', 'T/deep/b\.md'"):
        run(app, "list_templates", template="none")


def test_a_template_goes_into_a_note_and_its_properties_are_merged(opened: Opened) -> None:
    """PERIODIC-17, PERIODIC-18"""
    note = "---\r\ntags: [b]\r\nkind: own # mine\r\nempty:\r\n---\r\n# Log\r\nx\r\n\r\n## End\r\n"
    template = "---\ntags: [a, B]\nkind: other\nempty: now\nnew: {{title}}\n---\n- {{title}}\n"
    app = opened({"N.md": note, "T.md": template})
    answer = run(app, "insert_template", template="T", name="N", position="section", section="End")
    assert answer["changed"]
    assert text(app, "N.md") == (
        "---\r\ntags:\r\n  - b\r\n  - a\r\nkind: own # mine\r\nempty: now\r\nnew: N\r\n---\r\n"
        "# Log\r\nx\r\n\r\n## End\r\n- N\r\n"
    )
    run(app, "undo")
    assert text(app, "N.md") == note


@pytest.mark.parametrize(
    ("position", "written"),
    [("append", "---\na: 1\n---\n# H\ntext\nT\n"), ("prepend", "---\na: 1\n---\nT\n# H\ntext\n")],
)
def test_the_text_of_a_template_goes_to_either_end(opened: Opened, position: str, written: str) -> None:
    """PERIODIC-18"""
    app = opened({"N.md": "---\na: 1\n---\n# H\ntext\n", "T.md": "T"})
    run(app, "insert_template", template="T", name="N", position=position)
    assert text(app, "N.md") == written


def test_a_template_whose_properties_are_broken_changes_nothing(opened: Opened) -> None:
    """PERIODIC-18"""
    app = opened({"N.md": "x", "T.md": "---\na: [\n---\ntext"})
    with pytest.raises(TemplateFailed, match="cannot be read"):
        run(app, "insert_template", template="T", name="N")
    assert text(app, "N.md") == "x"


def test_unique_notes_are_named_by_the_next_free_minute(opened: Opened) -> None:
    """PERIODIC-19"""
    app = opened({"202611220905.md": ""})
    assert run(app, "create_note", name="unique:")["path"] == "202611220906.md"
    assert run(app, "create_note", name="unique:Idea")["path"] == "202611220905 Idea.md"


def test_unique_notes_have_a_folder_a_format_and_a_template(opened: Opened) -> None:
    """PERIODIC-19"""
    settings = {"folder": "Z", "format": "YYYY-MM-DD HHmm", "template": "T"}
    app = opened({"T.md": "# {{title}}\n"}, zk_prefixer=settings)
    assert run(app, "create_note", name="unique:Idea", content="x")["path"] == "Z/2026-11-22 0905 Idea.md"
    assert text(app, "Z/2026-11-22 0905 Idea.md") == "# 2026-11-22 0905 Idea\nx\n"


def test_a_daily_note_is_created_as_the_vault_makes_it(opened: Opened) -> None:
    """PERIODIC-11"""
    app = opened({"T.md": "# {{date:dddd}}\n"}, daily_notes={"template": "T"})
    made = run(app, "create_note", name="daily:tomorrow", content="- x")
    assert made["path"] == "2026-11-23.md"
    assert text(app, "2026-11-23.md") == "# Monday\n- x\n"
    with pytest.raises(AppError, match="exists already"):
        run(app, "create_note", name="daily:tomorrow", content="y")


def test_properties_of_the_content_come_before_those_of_the_template(opened: Opened) -> None:
    """PERIODIC-20"""
    app = opened({"T/Head.md": "---\nstatus: new\ntags: [a]\n---\n# {{title}}\n"}, templates={"folder": "T"})
    content = "---\ntags: [b]\nstatus: mine\n---\nText\n"
    run(app, "create_note", name="Note", template="Head", content=content)
    made = (app.vaults.get().files.root / "Note.md").read_bytes()
    assert made == b"---\ntags:\n  - b\n  - a\nstatus: mine\n---\n# Note\nText\n"
    with pytest.raises(PropertiesUnreadable):
        run(app, "create_note", name="Other", template="Head", content="---\na: [\n---\n")
    assert not (app.vaults.get().files.root / "Other.md").exists()
