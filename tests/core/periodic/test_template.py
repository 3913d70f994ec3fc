"""Variables of templates, and Templater's commands without JavaScript (PERIODIC-10, PERIODIC-12)."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.calendar.locale import ENGLISH
from obsidian_mcp.core.periodic.settings import PeriodRule, RuleSource
from obsidian_mcp.core.periodic.template import Variables, fill, fill_periodic
from obsidian_mcp.core.periodic.templater import Surroundings, TemplateTarget, render, take_cursor
from obsidian_mcp.errors import TemplateFailed

NOW = datetime.fromisoformat("2026-11-22T09:05")
VARIABLES = Variables("The note", NOW)
TARGET = TemplateTarget("A/B/2026-11-20.md", NOW, NOW, NOW, system_path="/v/A/B/2026-11-20.md")


def _rule(source: RuleSource = "periodic-notes") -> PeriodRule:
    return PeriodRule("day", "", "YYYY-MM-DD", "t", source, configured=True)


@pytest.mark.parametrize(
    ("template", "written"),
    [
        ("{{title}} {{TITLE}} {{x}}", "The note The note {{x}}"),
        ("{{date}} {{time}}", "2026-11-22 09:05"),
        ("{{DATE:DD.MM.YY}} {{time:H}}", "22.11.26 9"),
        ("{{date:}} or {{title}}, {{time:H}}", "2026-11-22 or The note, 9"),
        ("{{date+1d}} {{ date }} {{title:x}}", "{{date+1d}} {{ date }} {{title:x}}"),
    ],
)
def test_the_variables_of_the_app(template: str, written: str) -> None:
    """PERIODIC-10"""
    assert fill(template, VARIABLES) == written


@pytest.mark.parametrize(
    ("template", "written"),
    [
        ("{{date+1M:YYYY-MM-DD}}", "2026-02-28"),
        ("{{date -2w}} {{ date+1m:HH:mm }}", "2026-01-17 09:06"),
        ("{{date:}} or {{ time: }}, {{time:H}}", "The note or 09:05, 9"),
        ("{{yesterday}} {{tomorrow}}", "2026-01-30 2026-02-01"),
        ("{{month:D}} {{quarter+1Q:YYYY-MM-DD}} {{year:dddd}}", "1 2026-04-01 Thursday"),
        ("{{monday:D}} {{week}} {{x}} {{date+99999y}}", "{{monday:D}} {{week}} {{x}} {{date+99999y}}"),
        ("{{time}}", "09:05"),
    ],
)
def test_the_variables_of_periodic_notes(template: str, written: str) -> None:
    """PERIODIC-10: the day is the note's, the time of day is now."""
    assert fill_periodic(template, VARIABLES, _rule(), date(2026, 1, 31)) == written


def test_the_bare_date_is_the_name_of_a_plugins_note() -> None:
    """PERIODIC-10"""
    assert fill_periodic("{{date}}", VARIABLES, _rule(), date(2026, 1, 31)) == "The note"
    assert fill_periodic("{{date}}", VARIABLES, _rule("core"), date(2026, 1, 31)) == "2026-01-31"


def _run(template: str, surroundings: Surroundings | None = None, target: TemplateTarget = TARGET) -> str:
    return render("T", template, target, surroundings or Surroundings()).text


@pytest.mark.parametrize(
    ("template", "written"),
    [
        ('<% tp.date.now("Do MMMM YYYY", -7) %>', "15th November 2026"),
        ('<% tp.date.now("YYYY-MM-DD", 1, tp.file.title, "YYYY-MM-DD") %>', "2026-11-21"),
        ('<% tp.date.now("YYYY-MM-DD", "P-1M") %>', "2026-10-22"),
        ('<% tp.date.now("HH:mm", "PT2H") %> <% tp.date.now("YYYY-MM-DD", "-P1Y2D") %>', "11:05 2025-11-20"),
        ('<% tp.date.weekday("YYYY-MM-DD", 0) %>', "2026-11-22"),
        ('<% tp.date.weekday("YYYY-MM-DD", 8, "2026-11-20") %>', "2026-11-23"),
        ('<% tp.date.tomorrow() %> <% tp.date.yesterday("D") %>', "2026-11-23 21"),
        ("<% tp.file.folder() %> <% tp.file.folder(true) %>", "B A/B"),
        ("<% tp.file.path(true) %> <% tp.file.path() %>", "A/B/2026-11-20.md /v/A/B/2026-11-20.md"),
        ('a\n<%- "x" -%>\nb', "axb"),
        ('a  <%_ "x" _%>  \nb', "axb"),
        ('<% "a" + tp.file.title %>', "a2026-11-20"),
        ("<% await tp.file.creation_date() %>", "2026-11-22 09:05"),
        ("<% 7 %> <% 'it\\'s\\t' + true + -1.5 %>", "7 it's\ttrue-1.5"),
        ('<% tp.file.exists("x.md") %>', "false"),
    ],
)
def test_commands_of_templater_run(template: str, written: str) -> None:
    """PERIODIC-12"""
    assert _run(template) == written


def test_weeks_of_templates_begin_as_the_vault_says() -> None:
    """PERIODIC-12"""
    monday = Surroundings(locale=ENGLISH.with_first_day(1))
    assert _run('<% tp.date.weekday("YYYY-MM-DD", 0) %>', monday) == "2026-11-16"


def test_a_date_is_found_within_a_longer_name() -> None:
    """PERIODIC-12"""
    template = '<% tp.date.now("D", 0, "2026-11-20 Friday", "YYYY-MM-DD") %>'
    assert _run(template) == "20"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ('tp.system.prompt("Who?")', 'tp.system.prompt("Who?")'),
        ('tp.file.title.split(" ")[1]', 'tp.file.title.split(" ")[1]'),
        ("moment().format()", "moment().format()"),
        ("* tR += 1", "* tR += 1"),
        ("+ tp.date.now()", "+ tp.date.now()"),
        ("tp.file.title()", "tp.file.title()"),
        ("tp.date.now", "tp.date.now"),
        ("tp.date.now(", "tp.date.now("),
        ("tp.user.mine()", "tp.user.mine()"),
        ("1 - 1", "1 - 1"),
        ("tp.frontmatter.a.b()", "tp.frontmatter.a.b()"),
    ],
)
def test_what_needs_javascript_is_refused_by_name(command: str, shown: str) -> None:
    """PERIODIC-12"""
    opening = "<%" if command[0] in "*+" else "<% "
    with pytest.raises(TemplateFailed) as refused:
        _run(f"ok\n\n{opening}{command} %>")
    assert f'Template "T" line 3 uses {shown}: only Templater in the app can run that.' in refused.value.message


def test_the_properties_of_an_included_note_are_merged_into_those_of_the_whole() -> None:
    """PERIODIC-12"""
    notes = {
        "Inner": "---\ntags: [a, b]\nkind: <% tp.file.title %>\nown: inner\n---\nbody",
        "Outer": '---\ntags: [c]\n---\n<% tp.file.include("[[Inner]]") %>!',
        "Broken": "---\na: [\n---\nbody",
    }
    vault = Surroundings(include=notes.get)

    assert _run('<% tp.file.include("[[Inner]]") %>', vault) == (
        "---\ntags: [a, b]\nkind: 2026-11-20\nown: inner\n---\nbody"
    )
    assert _run('---\ntags: [b, x]\nown: mine\n---\n# T\n<% tp.file.include("[[Outer]]") %>', vault) == (
        "---\ntags:\n  - b\n  - x\n  - a\n  - c\nown: mine\nkind: 2026-11-20\n---\n# T\nbody!"
    )
    with pytest.raises(TemplateFailed, match=r"the properties of \[\[Broken\]\] cannot be read"):
        _run('<% tp.file.include("[[Broken]]") %>', vault)


@pytest.mark.parametrize(
    "command",
    ["1 + 1", 'tp.date.now("D", "soon")', 'tp.date.now("D", 0, "x", "YYYY")', "tp.date.now(1)", "tp.file.cursor('a')"],
)
def test_values_that_cannot_be_read_are_errors(command: str) -> None:
    """PERIODIC-12"""
    with pytest.raises(TemplateFailed, match='Template "T" line 1: '):
        _run(f"<% {command} %>")


def test_an_included_template_runs_and_is_refused_as_a_whole() -> None:
    """PERIODIC-12"""
    notes = {
        "T2": "in <% tp.file.title %>",
        "Bad": "\n<% tp.system.clipboard() %>",
        "Loop": '<% tp.file.include("[[Loop]]") %>',
    }
    vault = Surroundings(include=notes.get)

    assert _run('<% tp.file.include("[[T2]]") %>!', vault) == "in 2026-11-20!"
    with pytest.raises(TemplateFailed, match='Template "Bad" line 2 uses tp'):
        _run('<% tp.file.include("[[Bad]]") %>', vault)
    with pytest.raises(TemplateFailed, match="includes itself"):
        _run('<% tp.file.include("[[Loop]]") %>', vault)
    with pytest.raises(TemplateFailed, match="not in the vault"):
        _run('<% tp.file.include("[[None]]") %>', vault)


def test_properties_come_from_the_note_before() -> None:
    """PERIODIC-12"""
    target = TemplateTarget("n.md", NOW, NOW, NOW, properties={"a b": [1, "x"], "ok": True}, tags=("#a", "#b"))
    rendered = render(
        "T", '<% tp.frontmatter["a b"] %> <% tp.frontmatter.ok %> <% tp.frontmatter.no %>', target, Surroundings()
    )
    assert rendered.text == "1,x true "
    assert len(rendered.warnings) == 1
    assert _run("<% tp.file.tags %>", target=target) == "#a,#b"


def test_the_cursor_with_the_lowest_number_is_reported() -> None:
    """PERIODIC-12"""
    text, place = take_cursor(_run("a\nbc<% tp.file.cursor(2) %>\nd<% tp.file.cursor(1) %>e"))
    assert (text, place) == ("a\nbc\nde", (3, 2))
    assert take_cursor("plain") == ("plain", None)


@given(st.text(alphabet="a\n\r <>%_-{}\"'()+.tpfile"))
def test_any_template_is_run_or_refused(template: str) -> None:
    """PERIODIC-12: a template without commands stays as it is."""
    try:
        written = _run(template)
    except TemplateFailed:
        return
    assert "<%" in template or written == template
